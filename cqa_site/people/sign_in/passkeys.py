"""Passkeys and one-time codes: how the account library keeps and checks them here.

The library checks challenge, signature and key. It accepts pages of subdomains, keeps no count of
uses and stumbles over answers of another shape and over secrets that no key reads; all of that is
closed here.
"""

import struct
from typing import Any
from urllib.parse import urlsplit

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
from django import forms
from django.db import transaction
from django.utils.translation import gettext as _
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.sealing import KeyUnreadable, seal, unseal

from .second_step import STEPS, needs_second_step
from .sessions import device

# What parsing raises when it is not given what a browser sends.
MISSHAPEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, struct.error)
COUNT = "uses"
LONGEST_NAME = 60


class SecondStepAdapter(DefaultMFAAdapter):
    """Secrets encrypted, names that say something, and the last step stays where it is needed."""

    def encrypt(self, text: str) -> str:
        """Keep secrets of apps and recovery codes unreadable without the site's keys."""
        return seal(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Read them; where no key does, a secret that nobody has, so that every code is wrong.

        Never an empty one: everybody could reckon its codes.
        """
        try:
            return unseal(encrypted_text.encode())
        except KeyUnreadable:
            return generate_totp_secret()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Not the last one of somebody who needs one."""
        others = Authenticator.objects.filter(user=authenticator.user, type__in=STEPS)
        return others.exclude(pk=authenticator.pk).exists() or not needs_second_step(
            authenticator.user
        )

    def generate_authenticator_name(self, user: User, type: str) -> str:
        """The browser where it was made."""
        return device(context.request.headers.get("User-Agent", ""))


def is_readable(step: Authenticator) -> bool:
    """Whether the site's keys read what an app or recovery codes are made from."""
    try:
        unseal((step.data.get("secret") or step.data.get("seed") or "").encode())
    except KeyUnreadable:
        return False
    return True


class AddForm(AddWebAuthnForm):
    """A new passkey; every one can be used without the password."""

    passwordless = None
    name = forms.CharField(max_length=LONGEST_NAME, required=False)

    def clean(self) -> dict[str, Any]:
        """Refuse what is no passkey, or one of another page."""
        try:
            data: dict[str, Any] = super().clean()
            if given := data.get("credential"):
                _require_own_page(RegistrationResponse.from_dict(given).response.client_data)
        except MISSHAPEN:
            raise _wrong() from None
        return data


class _Checked:
    """What every use of a passkey has to pass besides the library's checks."""

    cleaned_data: dict[str, Any]

    def clean_credential(self) -> Authenticator:
        """The passkey that was used."""
        given = self.cleaned_data["credential"]
        try:
            said = AuthenticationResponse.from_dict(given).response
            _require_own_page(said.client_data)
            found: Authenticator = super().clean_credential()  # type: ignore[misc]
        except MISSHAPEN:
            raise _wrong() from None
        if not _goes_up(found, said.authenticator_data.counter):
            record(study=None, actor=found.user, verb="passkey_copied", subject=str(found.user))
            raise _wrong()
        return found


class SecondStepForm(_Checked, AuthenticateWebAuthnForm):
    """A passkey after the password."""


class SignInForm(_Checked, LoginWebAuthnForm):
    """A passkey instead of the password."""


class OnceMoreForm(_Checked, ReauthenticateWebAuthnForm):
    """A passkey before something delicate."""


def _require_own_page(client_data: Any) -> None:
    if urlsplit(client_data.origin).netloc != context.request.get_host():
        raise ValueError("another origin")


@transaction.atomic
def _goes_up(used: Authenticator, count: int) -> bool:
    """Count a use. Where the count does not go up two devices hold one key; many do not count."""
    stored = Authenticator.objects.select_for_update().get(pk=used.pk)
    before = stored.data.get(COUNT, stored.wrap().authenticator_data.counter)
    if (count or before) and count <= before:
        return False
    used.data[COUNT] = stored.data[COUNT] = count
    stored.save(update_fields=["data"])
    return True


def _wrong() -> forms.ValidationError:
    return forms.ValidationError(_("This passkey does not fit. Try again."))
