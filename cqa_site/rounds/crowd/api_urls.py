"""Addresses of crowd links in the REST interface, for rounds of every kind."""

from cqa_site.api.addresses import CREATE, LIST, S, address, resource

from .api import CrowdLinkViews, ParticipantViews

ANY = S + "rounds/<uuid:any_round_id>/"

urlpatterns = [
    *resource(
        ANY + "crowd-links/",
        "crowd_links",
        "crowd_link",
        CrowdLinkViews,
        "close",
        listed=CREATE,
    ),
    address(ANY + "participants/", "participants", ParticipantViews, **LIST),
    address(
        ANY + "participants/<uuid:public_id>/release/",
        "participant_release",
        ParticipantViews,
        post="release",
    ),
    address(
        ANY + "participants/<uuid:public_id>/fault/",
        "participant_fault",
        ParticipantViews,
        post="fault",
    ),
]
