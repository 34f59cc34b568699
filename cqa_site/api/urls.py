"""Addresses about studies and their people in the REST interface."""

from django.urls import path

from .base import CREATE, LIST, S, address, resource
from .studies import InvitationViews, LogViews, MemberViews, MeView, StudyNameViews

urlpatterns = [
    path("me/", MeView.as_view(), name="api_me"),
    address("studies/", "studies", StudyNameViews, **CREATE),
    address(S + "log/", "log", LogViews, **LIST),
    *resource(S + "members/", "members", "member", MemberViews, row={"patch": "partial_update"}),
    *resource(
        S + "invitations/", "invitations", "invitation", InvitationViews, "revoke", listed=CREATE
    ),
]
