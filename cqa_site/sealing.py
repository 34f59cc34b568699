"""Secrets at rest: encrypted with keys outside the database."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


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
