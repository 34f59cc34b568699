"""Accounts come from invitations only."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class InvitationOnlyAdapter(DefaultAccountAdapter):
    """Closes the public sign-up that the account library would offer."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never: an invitation creates its account in its own view."""
        return False
