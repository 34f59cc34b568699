"""Who needs a second step, who has taken it, and what the others may open until then."""

import time
from collections.abc import Callable
from typing import Any

from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import resolve

from cqa_site.people.access import RESEARCHERS, is_administrator, memberships_of
from cqa_site.people.models import User

# Set where the provider vouches for a second step of its own.
VOUCHED_KEY = "provider_second_step"
# When the person last showed the provider who they are; coming back from there shows nothing.
SHOWN_KEY = "provider_shown_at"
STEPS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
# What is there before the second step: making one, showing once more that it is you, leaving.
OPEN_BEFORE = {
    "account_logout",
    "account_reauthenticate",
    "health",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "mfa_generate_recovery_codes",
    "mfa_index",
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
    "mfa_view_recovery_codes",
    "openid_connect_callback",
    "openid_connect_login",
    "provider_once_more",
    "work_worker",
}


def needs_second_step(user: User) -> bool:
    """Whether the site's setting asks it of somebody with these roles."""
    required = settings.MFA_REQUIRED
    if not required or user.is_participant:
        return False
    if "everyone" in required or ("administrators" in required and is_administrator(user)):
        return True
    return "keys" in required and memberships_of(user).filter(role__in=RESEARCHERS).exists()


def has_second_step(user: User) -> bool:
    """Whether somebody has a passkey or an app here."""
    return Authenticator.objects.filter(user=user, type__in=STEPS).exists()


def has_passed(request: HttpRequest, user: User) -> bool:
    """Whether this session took a second step, here or at the provider."""
    records = get_authentication_records(request, user)
    return bool(request.session.get(VOUCHED_KEY)) or any(
        each.get("method") == "mfa" for each in records
    )


def vouches(sociallogin: Any) -> bool:
    """What the signed token says in `amr`, as far as the site's setting believes it."""
    claims = getattr(sociallogin, "claims", None)
    if claims is None:
        return False
    trusted = settings.OIDC_PROVIDERS[sociallogin.account.provider].second_step
    if isinstance(trusted, bool):
        return trusted
    said = claims.get("amr")
    return isinstance(said, list) and any(each in trusted for each in said)


def shown_at(sociallogin: Any) -> float:
    """When the provider asked the person for it, as the signed token says; 0 if it does not."""
    said = getattr(sociallogin, "claims", {}).get("auth_time")
    return min(said, time.time()) if isinstance(said, int | float) else 0


def is_recent(at: float) -> bool:
    """Whether somebody showed who they are a moment ago."""
    return time.time() - at < REAUTHENTICATION_TIMEOUT


def may_make_tokens(request: HttpRequest, user: User) -> bool:
    """A token lasts longer than a session, so it takes all that the account has to show."""
    if not needs_second_step(user) and not has_second_step(user):
        return True
    return has_passed(request, user)


class AskFirst:
    """Lead whoever needs a second step and took none to the page that makes one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on, or lead to the second step."""
        if not settings.MFA_REQUIRED or not request.user.is_authenticated:
            return self.get_response(request)
        if has_passed(request, request.user) or not needs_second_step(request.user):
            return self.get_response(request)
        return self.get_response(request) if _is_open(request) else redirect("mfa_index")


def _is_open(request: HttpRequest) -> bool:
    return resolve(request.path_info).url_name in OPEN_BEFORE
