"""Who comes in by a provider: the account they have, the one they get, or the words why not."""

import logging
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from cqa_site.people.access import record
from cqa_site.people.actions.invitations import (
    InvitationSpent,
    accept_invitation,
    find_invitation,
)
from cqa_site.people.models import Invitation, User
from cqa_site.people.tokens import revoke_token
from cqa_site.people.views.pages import closed_door

from .connection import bounded
from .groups import apply_groups, rules_for
from .providers import OpenIDProvider
from .second_step import has_second_step, is_recent, shown_at

INVITATION_KEY = "invitation"
logger = logging.getLogger(__name__)


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Decides who a provider may let in."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Only the providers of the site's setting; rows of the library's table count for none."""
        from allauth.socialaccount.adapter import _build_apps_from_settings

        found = _build_apps_from_settings(provider=provider, client_id=client_id)
        return [app for apps in found.values() for app in apps]

    def get_requests_session(self) -> Any:
        """Requests that end in time."""
        return bounded(super().get_requests_session())

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        """Back to the page of all ways to sign in."""
        return reverse("mfa_index")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Say that it did not work, without a word of what the provider sent."""
        why = type(exception).__name__ if exception else str(error)
        logger.warning("Signing in by %s failed: %s", provider.sub_id, why)
        raise refusal(
            request,
            401,
            _("Signing in with %s did not work") % provider.name,
            _("You did not sign in, and nothing has changed. Begin again on the sign-in page."),
        )

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse whoever may not come in; give the others what their groups give."""
        provider = provider_of(sociallogin)
        sociallogin.token = None  # nothing is asked for in the person's name later on
        _require_address(request, sociallogin, provider)
        _require_shown_again(request, sociallogin, provider)
        connects = sociallogin.state.get("process") == AuthProcess.CONNECT
        if connects or not sociallogin.is_existing:
            return
        user = sociallogin.user
        if sociallogin._did_authenticate_by_email:
            _join(request, user)
        if user.is_active:
            apply_groups(user=user, provider=provider, claims=sociallogin.claims)

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """An account for whoever was invited, is in a group that has a role, or as is set."""
        provider = provider_of(sociallogin)
        email = sociallogin.email_addresses[0].email
        if User.objects.filter(email__iexact=email).exists():
            raise refusal(
                request,
                409,
                _("There is an account with this address"),
                _("Sign in to it as you did before, then connect %s on the page of your account.")
                % provider.name,
            )
        if provider.new_people == "anyone" or rules_for(provider, sociallogin.claims):
            return True
        if _invitation(request) is not None:
            return True
        raise refusal(
            request,
            403,
            _("You have no account here"),
            _("Ask an admin of your study for an invitation, and open its link first."),
        )

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Make the account, with what the invitation and the groups give, or none of it."""
        provider, user = provider_of(sociallogin), sociallogin.user
        user.name = str(sociallogin.claims.get("name") or "")[:120]
        user.email = sociallogin.email_addresses[0].email
        user.set_unusable_password()
        try:
            with transaction.atomic():
                sociallogin.save(request)
                details = {"provider": provider.id}
                record(study=None, actor=user, verb="account_made", subject=str(user), **details)
                apply_groups(user=user, provider=provider, claims=sociallogin.claims)
                self._accept(request, sociallogin)
        except (IntegrityError, InvitationSpent):
            raise refusal(
                request,
                409,
                _("The account was not made"),
                _("Somebody was faster: the invitation or the address is in use. Begin again."),
            ) from None
        return user

    def _accept(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        invitation = _invitation(request)
        if invitation is None:
            return
        if not invitation.study.memberships.filter(user=sociallogin.user).exists():
            accept_invitation(invitation=invitation, user=sociallogin.user)
        request.session.pop(INVITATION_KEY, None)
        study = reverse("study", args=[invitation.study.public_id])
        sociallogin.state["next"] = invitation.leads_to or study


def provider_of(sociallogin: SocialLogin) -> OpenIDProvider:
    """The provider of a sign-in, as the site's setting describes it."""
    return settings.OIDC_PROVIDERS[sociallogin.account.provider]


def refusal(request: HttpRequest, status: int, title: str, text: str) -> ImmediateHttpResponse:
    """An answer that ends the sign-in, in words."""
    return ImmediateHttpResponse(closed_door(request, status=status, title=title, text=text))


def _require_address(
    request: HttpRequest, sociallogin: SocialLogin, provider: OpenIDProvider
) -> None:
    """Raise with the words why not, unless the person has an address that may come in."""
    found = next((each for each in sociallogin.email_addresses if each.verified), None)
    if found is None:
        text = _("%s did not say that your email address is verified.") % provider.name
    elif not found.email.isascii():  # letters that look or compare like those of another address
        text = _("The site takes email addresses of plain letters, digits and signs only.")
    elif provider.domains and found.email.rpartition("@")[2] not in provider.domains:
        text = _("Your email address is of another domain than the site accepts.")
    else:
        return
    raise refusal(request, 403, _("You cannot sign in with this address"), text)


def _require_shown_again(
    request: HttpRequest, sociallogin: SocialLogin, provider: OpenIDProvider
) -> None:
    """Raise where the provider let a person through whom it was told to ask."""
    was_told = (sociallogin.state.get("data") or {}).get("again")
    if was_told and not is_recent(shown_at(sociallogin)):
        title = _("%s did not ask who you are") % provider.name
        text = _(
            "It let you through, so ways to sign in stay as they are. Tell whoever looks after "
            "the site: it has to say when you signed in there (auth_time)."
        )
        raise refusal(request, 403, title, text)


def _join(request: HttpRequest, user: User) -> None:
    """Open an account to whoever has its address, and close it to whoever made it.

    Nobody proved the address when the account was made. The library takes the password and the
    sessions; tokens go here. Where there is another way in, only its owner connects a provider.
    """
    if has_second_step(user) or SocialAccount.objects.filter(user=user).exists():
        raise refusal(
            request,
            409,
            _("Your account has another way to sign in"),
            _("Sign in to it as you did before, then connect the provider on its page."),
        )
    for token in user.api_tokens.filter(revoked_at=None):
        revoke_token(token=token, actor=user)
    record(study=None, actor=user, verb="account_joined", subject=str(user))


def _invitation(request: HttpRequest) -> Invitation | None:
    """The invitation whose link this browser opened, while it can be used."""
    found = find_invitation(request.session.get(INVITATION_KEY, ""))
    return found if found is not None and found.is_open else None
