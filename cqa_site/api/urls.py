"""Addresses about studies and their people in the REST interface."""

from django.urls import path

from .addresses import CHANGE, CREATE, LIST, S, address, resource
from .people import InvitationViews, LogViews, MemberViews
from .studies import MeView, StudyDetailViews, StudyNameViews

urlpatterns = [
    path("me/", MeView.as_view(), name="api_me"),
    address("studies/", "studies", StudyNameViews, **CREATE),
    address(S, "study", StudyDetailViews, **CHANGE),
    address(S + "log/", "log", LogViews, **LIST),
    *resource(S + "members/", "members", "member", MemberViews, row={"patch": "partial_update"}),
    *resource(
        S + "invitations/",
        "invitations",
        "invitation",
        InvitationViews,
        "revoke",
        listed=CREATE,
    ),
]
