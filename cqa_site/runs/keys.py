"""API keys: encrypted with a key outside the database, bound to the address they belong to."""

from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models, transaction

from .models import Endpoint, Run


class KeyUnreadable(Exception):
    """A stored secret cannot be decrypted with the configured keys."""


def _box() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.SECRETS_KEYS])


def seal(secret: str) -> bytes:
    """Encrypt a secret with the first configured key."""
    return _box().encrypt(secret.encode())


def unseal(ciphertext: bytes | memoryview) -> str:
    """Decrypt with any configured key; raises KeyUnreadable."""
    try:
        return _box().decrypt(bytes(ciphertext)).decode()
    except InvalidToken:
        raise KeyUnreadable(
            "A stored secret cannot be read with SECRETS_KEYS. Enter it again, or restore the "
            "key it was stored with."
        ) from None


def set_key(endpoint: Endpoint, secret: str) -> None:
    """Store a key for the endpoint's present address, in memory; the caller saves."""
    endpoint.key_ciphertext = seal(secret)
    endpoint.key_origin = endpoint.origin
    endpoint.key_last4 = secret[-4:] if len(secret) >= 12 else ""


def clear_key(endpoint: Endpoint) -> None:
    """Forget the key, in memory; the caller saves."""
    endpoint.key_ciphertext, endpoint.key_origin, endpoint.key_last4 = b"", "", ""


def open_key(endpoint: Endpoint) -> str:
    """The key in the clear, for the address it was given for and no other; else empty."""
    return unseal(endpoint.key_ciphertext) if endpoint.has_key else ""


@transaction.atomic
def reseal() -> int:
    """Encrypt every stored secret with the first configured key; return how many there are.

    All of them or none: raises KeyUnreadable at one that no configured key reads.
    """
    keys = _reseal(Endpoint.objects.all(), "key_ciphertext")
    return keys + _reseal(Run.objects.all(), "webhook_ciphertext")


def _reseal(rows: models.QuerySet[Any, Any], column: str) -> int:
    found = rows.exclude(**{column: b""}).select_for_update().values_list("pk", column)
    for key, ciphertext in found:
        rows.filter(pk=key).update(**{column: seal(unseal(ciphertext))})
    return len(found)
