"""REST API URLs for crowd links, for rounds of every kind."""

from cqa_site.api.base import CREATE, LIST, S, address, resource
from .api import CrowdLinkViews, ParticipantViews

ANY = S + "rounds/<uuid:any_round_id>/"
PEOPLE = ANY + "participants/"
PERSON = PEOPLE + "<uuid:public_id>/"

urlpatterns = [
    *resource(
        ANY + "crowd-links/",
        "crowd_links",
        "crowd_link",
        CrowdLinkViews,
        "close connect",
        listed=CREATE,
    ),
    address(PEOPLE, "participants", ParticipantViews, **LIST),
    address(f"{PERSON}release/", "participant_release", ParticipantViews, post="release"),
    address(f"{PERSON}fault/", "participant_fault", ParticipantViews, post="fault"),
]
