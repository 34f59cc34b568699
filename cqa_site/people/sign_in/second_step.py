"""Sessions and second steps, with stricter forms than those of the account library."""

import logging
import struct
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import get_adapter
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.forms import ResetPasswordForm
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.db import DatabaseError, transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import resolve
from django.utils import timezone
from django.utils.translation import gettext as _
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

from cqa_site.people.access import RESEARCHERS, is_administrator, memberships_of, record
from cqa_site.people.models import User
from cqa_site.sealing import KeyUnreadable, seal, unseal
from cqa_site.web.housekeeping import chore
from cqa_site.web.pages import Middleware

logger = logging.getLogger(__name__)
# Minimum interval between updates of a session row, because people label many times a minute.
NOTED_KEY, EVERY_SECONDS = "noted", 600
# Time of the first entry, stored with the response that started the session.
BEGAN_KEY = "began"
LONGEST_AGENT = 200
BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari")
BROWSER_NAMES = {"Edg": "Edge", "OPR": "Opera"}
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS", "CrOS", "Linux")
SYSTEM_NAMES = {"Mac OS": "macOS", "CrOS": "ChromeOS"}


@dataclass(frozen=True)
class SeenSession:
    """A row of the session list."""

    device: str
    place: str
    last_seen: datetime
    is_this: bool


class SessionStore(DatabaseSessions):
    """Sessions that end a fixed time after sign-in, regardless of use."""

    def get_session_cookie_age(self) -> int:
        """Return the seconds left; a write to an anonymous or crowd session restarts the time."""
        now = time.time()
        return max(0, int(self.get(BEGAN_KEY, now) + settings.SESSION_COOKIE_AGE - now))


class NoteSession(Middleware):
    """Middleware that updates the session list of people with an account."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code < 500:
            try:
                _note(request)
            except DatabaseError as error:  # the response is sent anyway
                logger.warning("A session was not recorded: %s", type(error).__name__)
        return response


def _note(request: HttpRequest) -> None:
    if not request.user.is_authenticated or request.user.is_participant:
        return
    key = request.session.session_key
    noted, at = request.session.get(NOTED_KEY, ("", 0))
    if not key or (noted == key and time.time() - at < EVERY_SECONDS):
        return
    request.session[NOTED_KEY] = [key, time.time()]
    request.session.setdefault(BEGAN_KEY, time.time())
    if noted != key:
        UserSession.objects.filter(session_key=noted).delete()
    UserSession.objects.update_or_create(
        session_key=key,
        defaults={
            "user": request.user,
            "ip": shortened(get_adapter().get_client_ip(request)),
            "user_agent": request.headers.get("User-Agent", "")[:LONGEST_AGENT],
            "last_seen_at": timezone.now(),
        },
    )


def sessions_of(request: HttpRequest) -> list[SeenSession]:
    """Return the user's own sessions, newest first, and delete sessions that have ended."""
    _note(request)
    rows = UserSession.objects.purge_and_list(request.user)
    here = request.session.session_key
    lines = [
        SeenSession(
            device=device(row.user_agent),
            place=network(row.ip),
            last_seen=row.last_seen_at,
            is_this=row.session_key == here,
        )
        for row in rows
    ]
    return sorted(lines, key=lambda line: (line.is_this, line.last_seen), reverse=True)


@chore("ended sign-ins")
def forget_places() -> int:
    oldest = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    return UserSession.objects.filter(last_seen_at__lt=oldest).delete()[0]


def end_sessions(*, user: User) -> None:
    """End all sessions of a person, including unlisted sessions."""
    User.objects.filter(pk=user.pk).update(sign_outs=F("sign_outs") + 1)
    user.refresh_from_db(fields=["sign_outs"])


def shortened(address: str) -> str:
    """Return an IP address without its last part, for storage."""
    return network(address).partition("/")[0]


def network(address: str) -> str:
    """Return the network of an IP address, which is too general to identify a person."""
    length = 24 if ip_address(address).version == 4 else 48
    return str(ip_network(f"{address}/{length}", strict=False))


def device(agent: str) -> str:
    """Return the names of the browser and operating system found in the user agent."""
    browser = next((name for name in BROWSERS if f"{name}/" in agent), "")
    system = next((name for name in SYSTEMS if name in agent), "")
    names = BROWSER_NAMES.get(browser, browser), SYSTEM_NAMES.get(system, system)
    if not browser or not system:
        return names[0] or names[1] or _("Another program")
    return _("%(browser)s on %(system)s") % {"browser": names[0], "system": names[1]}


# Set if the provider confirms that the person completed a second step there.
VOUCHED_KEY = "provider_second_step"
# When the provider last identified the person; a redirect from the provider proves nothing.
SHOWN_KEY = "provider_shown_at"
STEPS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
# Pages available before the second step, such as set-up, identity confirmation and sign-out.
OPEN_BEFORE = {
    "account_logout", "account_reauthenticate", "health", "mfa_activate_totp", "mfa_add_webauthn",
    "mfa_generate_recovery_codes", "mfa_index", "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn", "mfa_view_recovery_codes", "openid_connect_callback",
    "openid_connect_login", "provider_once_more", "work_worker",
}  # fmt: skip


def needs_second_step(user: User) -> bool:
    """Return whether the site's setting requires a second step for the user's roles."""
    required = settings.MFA_REQUIRED
    if not required or user.is_participant:
        return False
    if "everyone" in required or ("administrators" in required and is_administrator(user)):
        return True
    return "keys" in required and memberships_of(user).filter(role__in=RESEARCHERS).exists()


def has_second_step(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type__in=STEPS).exists()


def has_passed(request: HttpRequest, user: User) -> bool:
    """Return whether this session passed a second step, either here or at the provider."""
    records = get_authentication_records(request, user)
    return bool(request.session.get(VOUCHED_KEY)) or any(
        record.get("method") == "mfa" for record in records
    )


def vouches(sociallogin: Any) -> bool:
    """Return whether the signed token's `amr` shows a second step that the site trusts."""
    claims = getattr(sociallogin, "claims", None)
    if claims is None:
        return False
    trusted = settings.OIDC_PROVIDERS[sociallogin.account.provider].second_step
    if isinstance(trusted, bool):
        return trusted
    claim = claims.get("amr")
    return isinstance(claim, list) and any(method in trusted for method in claim)


def shown_at(sociallogin: Any) -> float:
    """Return when the provider last identified the person, or 0 if the token does not say."""
    moment = getattr(sociallogin, "claims", {}).get("auth_time")
    return min(moment, time.time()) if isinstance(moment, int | float) else 0


def is_recent(at: float) -> bool:
    """Return whether the identity was confirmed recently."""
    return time.time() - at < REAUTHENTICATION_TIMEOUT


def may_make_tokens(request: HttpRequest, user: User) -> bool:
    """Return whether the user may create tokens.

    Tokens outlast sessions, so users with a second step must complete it first.
    """
    if not needs_second_step(user) and not has_second_step(user):
        return True
    return has_passed(request, user)


class AskFirst(Middleware):
    """Middleware that sends users who still need a second step to the page that sets it up."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.MFA_REQUIRED or not request.user.is_authenticated:
            return self.get_response(request)
        if has_passed(request, request.user) or not needs_second_step(request.user):
            return self.get_response(request)
        is_open = resolve(request.path_info).url_name in OPEN_BEFORE
        return self.get_response(request) if is_open else redirect("mfa_index")


# Storage and checks of passkeys and one-time codes
#
# The account library checks the challenge, signature and key. However, it accepts pages of
# subdomains, does not count uses, and fails on malformed responses and on secrets that no key can
# decrypt. This module fixes these problems.

# Errors raised when parsing data that no browser sends.
MISSHAPEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, struct.error)
COUNT = "uses"
LONGEST_NAME = 60


class SecondStepAdapter(DefaultMFAAdapter):
    """Adapter that encrypts secrets, names devices, and protects the last required step."""

    def encrypt(self, text: str) -> str:
        return seal(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt a secret.

        If no key fits, return a random secret, so that every code is wrong. An empty secret would
        allow anyone to compute its codes.
        """
        try:
            return unseal(encrypted_text.encode())
        except KeyUnreadable:
            return generate_totp_secret()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Return whether the step can be deleted; users who need a second step must keep one."""
        others = Authenticator.objects.filter(user=authenticator.user, type__in=STEPS)
        return others.exclude(pk=authenticator.pk).exists() or not needs_second_step(
            authenticator.user
        )

    def generate_authenticator_name(self, user: User, type: str) -> str:
        """Return the browser and system of the request as the name of the device."""
        return device(context.request.headers.get("User-Agent", ""))


def is_readable(step: Authenticator) -> bool:
    """Return whether the site's keys can decrypt the secret of an app or of recovery codes."""
    try:
        unseal((step.data.get("secret") or step.data.get("seed") or "").encode())
    except KeyUnreadable:
        return False
    return True


class AddForm(AddWebAuthnForm):
    """A form for a new passkey, which can be used without the password."""

    passwordless = None
    name = forms.CharField(max_length=LONGEST_NAME, required=False)

    def clean(self) -> dict[str, Any]:
        """Reject an invalid passkey or a passkey from another page."""
        try:
            data: dict[str, Any] = super().clean()
            if credential := data.get("credential"):
                _require_own_page(RegistrationResponse.from_dict(credential).response.client_data)
        except MISSHAPEN:
            raise _wrong() from None
        return data


class _PasskeyChecks:
    """Checks for every use of a passkey, in addition to the library's checks."""

    cleaned_data: dict[str, Any]

    def clean_credential(self) -> Authenticator:
        credential = self.cleaned_data["credential"]
        try:
            response = AuthenticationResponse.from_dict(credential).response
            _require_own_page(response.client_data)
            passkey: Authenticator = super().clean_credential()  # type: ignore[misc]
        except MISSHAPEN:
            raise _wrong() from None
        if not _goes_up(passkey, response.authenticator_data.counter):
            record(
                study=None, actor=passkey.user, verb="passkey_copied", subject=str(passkey.user)
            )
            raise _wrong()
        return passkey


class SecondStepForm(_PasskeyChecks, AuthenticateWebAuthnForm):
    """A form that asks for a passkey after the password."""


class SignInForm(_PasskeyChecks, LoginWebAuthnForm):
    """A form that asks for a passkey instead of the password."""


class OnceMoreForm(_PasskeyChecks, ReauthenticateWebAuthnForm):
    """A form that asks for a passkey before a sensitive action."""


def _require_own_page(client_data: Any) -> None:
    if urlsplit(client_data.origin).netloc != context.request.get_host():
        raise ValueError("another origin")


@transaction.atomic
def _goes_up(used: Authenticator, count: int) -> bool:
    """Store the use counter and return whether it increased.

    If it did not, two devices share one key. Many devices do not count uses, and send 0.
    """
    stored = Authenticator.objects.select_for_update().get(pk=used.pk)
    before = stored.data.get(COUNT, stored.wrap().authenticator_data.counter)
    if (count or before) and count <= before:
        return False
    used.data[COUNT] = stored.data[COUNT] = count
    stored.save(update_fields=["data"])
    return True


def _wrong() -> forms.ValidationError:
    return forms.ValidationError(_("This passkey does not match. Try again."))


class ForgottenPassword(ResetPasswordForm):
    """A form that sends a link only to accounts with a password, not to provider-only accounts."""

    users: list[User]

    def clean_email(self) -> str:
        """Return the address; accounts without a password are left out."""
        email: str = super().clean_email()
        self.users = [user for user in self.users if user.has_usable_password()]
        return email
