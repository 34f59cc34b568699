"""Account library adapters for invitation-only accounts and for provider accounts."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import clear_authentication_records
from allauth.account.utils import get_next_redirect_url
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from ..access import memberships_of, record, revoke_token
from ..actions import InvitationSpent, accept_invitation, find_invitation
from ..models import Invitation, User
from ..views.studies import closed_door
from .openid import bounded
from .providers import OpenIDProvider
from .roles import apply_groups, provider_to_ask, rules_for
from .second_step import SHOWN_KEY, VOUCHED_KEY, has_second_step, is_recent, shown_at, vouches

logger = logging.getLogger(__name__)


class InvitationOnlyAdapter(DefaultAccountAdapter):
    """Adapter that disables the account library's public sign-up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False, because accounts from invitations are created in a separate view."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Return 429 with our own page after too many wrong passwords."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError as error:
            raise ImmediateHttpResponse(ratelimit.respond_429(request)) from error

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return the counter key of an e-mail address, which does not depend on the host name."""
        return str(credentials.get("email", "")).lower()

    def pre_login(
        self, request: HttpRequest, user: User, *, signal_kwargs: Any, **kwargs: Any
    ) -> HttpResponse | None:
        """Send users with a role from a provider group to that provider to confirm the role."""
        answer: HttpResponse | None = super().pre_login(
            request, user, signal_kwargs=signal_kwargs, **kwargs
        )
        if answer is not None:
            return answer
        came_by_one = "sociallogin" in (signal_kwargs or {})
        if (provider := provider_to_ask(user, came_by_one=came_by_one)) is None:
            return None
        clear_authentication_records(request)  # nobody has signed in yet
        return closed_door(
            request,
            status=403,
            title=_("Your role is assigned by %s") % provider.name,
            text=_("Sign in with this provider, so that it can confirm your role."),
            providers=[provider],
            next_page=get_next_redirect_url(request),
        )

    def post_login(
        self, request: HttpRequest, user: User, *, signal_kwargs: Any, **kwargs: Any
    ) -> HttpResponse:
        """Store whether the provider checked a second step, and when it identified the person."""
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
        """Log every change of a sign-in method, and notify the person."""
        record(study=None, actor=user, verb=template_prefix.rpartition("/")[2], subject=str(user))
        try:
            super().send_notification_mail(template_prefix, user, context, email)
        except OSError as error:  # the change itself is already stored
            logger.error("E-mail about %s was not sent: %s", template_prefix, type(error).__name__)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Return the methods for confirming one's identity, with the labels for our pages."""
        words = {
            "reauthenticate": _("Use your password"),
            "mfa_reauthenticate": _("Use a code"),
            "mfa_reauthenticate:webauthn": _("Use your passkey"),
        }
        methods = super().get_reauthentication_methods(user)
        return [method | {"description": words[method["id"]]} for method in methods]

    def format_email_subject(self, subject: str) -> str:
        """Return the subject without a prefix, because the subject already names the product."""
        return subject

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        """Return the page after sign-out.

        Crowd participants cannot use the sign-in form, so their page explains how to return.
        """
        if not (isinstance(request.user, User) and request.user.is_participant):
            return str(super().get_logout_redirect_url(request))
        membership = memberships_of(request.user).first()
        page = membership and reverse("study", args=[membership.study.public_id])
        return f"{reverse('participation_back')}?{urlencode({'next': page or ''})}"

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")


# Sign-in through a provider

INVITATION_KEY = "invitation"


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Adapter that decides who may sign in through a provider."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return only the providers in `OIDC_PROVIDERS`, not those in the library's table."""
        from allauth.socialaccount.adapter import _build_apps_from_settings

        by_provider = _build_apps_from_settings(provider=provider, client_id=client_id)
        return [app for apps in by_provider.values() for app in apps]

    def get_requests_session(self) -> Any:
        """Return a session with a time limit for requests."""
        return bounded(super().get_requests_session())

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        return reverse("mfa_index")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Report the failure without showing the provider's response."""
        why = type(exception).__name__ if exception else str(error)
        logger.warning("Signing in by %s failed: %s", provider.sub_id, why)
        raise refusal(
            request,
            401,
            _("Could not sign in with %s") % provider.name,
            _("You are not signed in, and nothing has changed. Start again on the sign-in page."),
        )

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse people who may not sign in, and apply the groups of everyone else."""
        provider = provider_of(sociallogin)
        sociallogin.token = None  # the site makes no later requests on the person's behalf
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
        """Return whether an invitation, a group or a setting allows a new account."""
        provider = provider_of(sociallogin)
        email = sociallogin.email_addresses[0].email
        if User.objects.filter(email__iexact=email).exists():
            raise refusal(
                request,
                409,
                _("An account with this address already exists"),
                _("Sign in to that account as before, then connect %s on your account page.")
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
        """Create the account and all roles from the invitation and groups, or nothing."""
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
                _("The account was not created"),
                _(
                    "The invitation or the address has just been used by someone "
                    "else. Start again."
                ),
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
    """Return the provider of a sign-in, as defined in `OIDC_PROVIDERS`."""
    return settings.OIDC_PROVIDERS[sociallogin.account.provider]


def refusal(request: HttpRequest, status: int, title: str, text: str) -> ImmediateHttpResponse:
    """Return a response that ends the sign-in with an explanation."""
    return ImmediateHttpResponse(closed_door(request, status=status, title=title, text=text))


def _require_address(
    request: HttpRequest, sociallogin: SocialLogin, provider: OpenIDProvider
) -> None:
    """Raise a refusal unless the person has an allowed, verified address."""
    address = next(
        (email_address for email_address in sociallogin.email_addresses if email_address.verified),
        None,
    )
    if address is None:
        text = _("%s did not confirm that your email address is verified.") % provider.name
    elif not address.email.isascii():  # could look or compare like another address
        text = _("The site only accepts email addresses with plain letters, digits and symbols.")
    elif provider.domains and address.email.rpartition("@")[2] not in provider.domains:
        text = _("The site does not accept email addresses from your domain.")
    else:
        return
    raise refusal(request, 403, _("You cannot sign in with this address"), text)


def _require_shown_again(
    request: HttpRequest, sociallogin: SocialLogin, provider: OpenIDProvider
) -> None:
    """Raise a refusal if the provider skipped the requested new sign-in."""
    was_told = (sociallogin.state.get("data") or {}).get("again")
    if was_told and not is_recent(shown_at(sociallogin)):
        title = _("%s did not ask you to sign in again") % provider.name
        text = _(
            "Your sign-in methods were not changed. Tell the site administrator that the "
            "provider must state when you signed in there (auth_time)."
        )
        raise refusal(request, 403, title, text)


def _join(request: HttpRequest, user: User) -> None:
    """Give an account to the owner of its address, and end the access of its creator.

    The address was not verified when the account was created. The library removes the password and
    the sessions, and this function revokes the tokens. If the account has another sign-in method,
    only its owner can connect a provider.
    """
    if has_second_step(user) or SocialAccount.objects.filter(user=user).exists():
        raise refusal(
            request,
            409,
            _("Your account has another way to sign in"),
            _("Sign in to that account as before, then add the provider on your account page."),
        )
    for token in user.api_tokens.filter(revoked_at=None):
        revoke_token(token=token, actor=user)
    record(study=None, actor=user, verb="account_joined", subject=str(user))


def _invitation(request: HttpRequest) -> Invitation | None:
    """Return the invitation that this browser opened if it is still usable; otherwise None."""
    invitation = find_invitation(request.session.get(INVITATION_KEY, ""))
    return invitation if invitation is not None and invitation.is_open else None
