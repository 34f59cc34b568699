"""Addresses of crowd links: the way in, the end, and the researchers' pages."""

from django.urls import path

from . import end_pages, entry_pages, link_pages, signed_out

CROWD = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/crowd/"

urlpatterns = [
    path("join/done/", end_pages.participation_end, name="participation_end"),
    path("join/stop/", end_pages.participation_stop, name="participation_stop"),
    path("join/back/", signed_out.way_back, name="participation_back"),
    path("join/fault/", end_pages.participation_fault, name="participation_fault"),
    path("join/start/", entry_pages.join_start, name="join_start"),
    path("join/<str:secret>/", entry_pages.join, name="join"),
    path(CROWD, link_pages.crowd_links, name="crowd_links"),
    path(f"{CROWD}<uuid:link_id>/close/", link_pages.crowd_link_close, name="crowd_link_close"),
    path(
        f"{CROWD}people/<uuid:person_id>/release/",
        link_pages.participant_release,
        name="participant_release",
    ),
    path(
        f"{CROWD}people/<uuid:person_id>/fault/",
        link_pages.participant_fault,
        name="participant_fault",
    ),
]
