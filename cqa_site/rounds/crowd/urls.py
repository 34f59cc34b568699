"""URLs for crowd links: entry, end of participation, and the researchers' pages."""

from django.urls import path

from . import pages, participation, platform

CROWD = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/crowd/"
PERSON = f"{CROWD}people/<uuid:person_id>/"

urlpatterns = [
    path("join/done/", pages.participation_end, name="participation_end"),
    path("join/stop/", pages.participation_stop, name="participation_stop"),
    path("join/back/", participation.way_back, name="participation_back"),
    path("join/fault/", pages.participation_fault, name="participation_fault"),
    path("join/start/", pages.join_start, name="join_start"),
    path("join/<str:secret>/", pages.join, name="join"),
    path("crowd/hooks/<uuid:link_id>/", platform.platform_hook, name="platform_hook"),
    path(CROWD, pages.crowd_links, name="crowd_links"),
    path(f"{CROWD}<uuid:link_id>/close/", pages.crowd_link_close, name="crowd_link_close"),
    path(
        f"{CROWD}<uuid:link_id>/connect/", platform.crowd_link_connect, name="crowd_link_connect"
    ),
    path(f"{PERSON}release/", pages.participant_release, name="participant_release"),
    path(f"{PERSON}fault/", pages.participant_fault, name="participant_fault"),
]
