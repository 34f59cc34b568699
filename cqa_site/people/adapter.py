"""How the account library behaves here."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import clear_authentication_records
from allauth.account.utils import get_next_redirect_url
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from .access import memberships_of, record
from .models import User
from .sign_in.second_step import SHOWN_KEY, VOUCHED_KEY, shown_at, vouches
from .sign_in.ways import provider_to_ask
from .views.pages import closed_door

logger = logging.getLogger(__name__)


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

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """One count for an address, under whichever name of the site it is tried."""
        return str(credentials.get("email", "")).lower()

    def pre_login(
        self, request: HttpRequest, user: User, *, signal_kwargs: Any, **kwargs: Any
    ) -> HttpResponse | None:
        """Lead whoever has a role from a group to its provider, whatever else they have shown."""
        answer: HttpResponse | None = super().pre_login(
            request, user, signal_kwargs=signal_kwargs, **kwargs
        )
        if answer is not None:
            return answer
        came_by_one = "sociallogin" in (signal_kwargs or {})
        if (provider := provider_to_ask(user, came_by_one=came_by_one)) is None:
            return None
        clear_authentication_records(request)  # nobody came in
        return closed_door(
            request,
            status=403,
            title=_("Your role here comes from %s") % provider.name,
            text=_("Sign in there: it knows whether you still have it."),
            providers=[provider],
            next_page=get_next_redirect_url(request),
        )

    def post_login(
        self, request: HttpRequest, user: User, *, signal_kwargs: Any, **kwargs: Any
    ) -> HttpResponse:
        """Remember where the provider took the second step, and when it asked who it is."""
        sociallogin = (signal_kwargs or {}).get("sociallogin")
        request.session[SHOWN_KEY] = shown_at(sociallogin)
        if vouches(sociallogin):
            request.session[VOUCHED_KEY] = True
        answer: HttpResponse = super().post_login(
            request, user, signal_kwargs=signal_kwargs, **kwargs
        )
        return answer

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Tell a person, and the log, that a way to sign in changed: all changes pass here."""
        record(study=None, actor=user, verb=template_prefix.rpartition("/")[2], subject=str(user))
        try:
            super().send_notification_mail(template_prefix, user, context, email)
        except OSError as error:  # what changed has changed
            logger.error("A mail about %s was not sent: %s", template_prefix, type(error).__name__)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Ways to show once more that it is you, in the words of our pages."""
        words = {
            "reauthenticate": _("Use your password"),
            "mfa_reauthenticate": _("Use a code"),
            "mfa_reauthenticate:webauthn": _("Use your passkey"),
        }
        found = super().get_reauthentication_methods(user)
        return [each | {"description": words[each["id"]]} for each in found]

    def format_email_subject(self, subject: str) -> str:
        """No prefix: the subject names the product itself."""
        return subject

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        """People of a crowd link have no form to sign in by: they learn their way back."""
        if not (isinstance(request.user, User) and request.user.is_participant):
            return str(super().get_logout_redirect_url(request))
        membership = memberships_of(request.user).first()
        page = membership and reverse("study", args=[membership.study.public_id])
        return f"{reverse('participation_back')}?{urlencode({'next': page or ''})}"

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Back to the account page."""
        return reverse("account")
