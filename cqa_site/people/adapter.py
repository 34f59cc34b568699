"""How the account library behaves here."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse


class InvitationOnlyAdapter(DefaultAccountAdapter):
    """Closes the public sign-up that the account library would offer."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never: an invitation creates its account in its own view."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Answer 429 with a page of its own once there were too many wrong passwords."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError as error:
            raise ImmediateHttpResponse(ratelimit.respond_429(request)) from error

    def format_email_subject(self, subject: str) -> str:
        """No prefix: the subject names the product itself."""
        return subject

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Back to the account page."""
        return reverse("account")
