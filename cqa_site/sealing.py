"""Encryption of stored secrets with keys that are not in the database."""

from collections.abc import Iterable, Iterator
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models, transaction

# Columns with encrypted secrets, as bytes or as strings inside JSON. Apps add their own columns.
HELD: list[tuple[type[models.Model], str]] = []
# The first characters of every Fernet token created in this century.
TOKEN = b"gAAAAA"


class KeyUnreadable(Exception):
    """Raised if a stored secret cannot be decrypted with the configured keys."""


def seal(secret: str) -> bytes:
    """Encrypt a secret with the first configured key."""
    return _box(settings.SECRETS_KEYS).encrypt(secret.encode())


def unseal(ciphertext: bytes | memoryview) -> str:
    """Decrypt a secret with any configured key; raises KeyUnreadable."""
    try:
        return _box(settings.SECRETS_KEYS).decrypt(bytes(ciphertext)).decode()
    except InvalidToken:
        raise KeyUnreadable(
            "A stored secret cannot be read with SECRETS_KEYS. Enter it again, or restore the "
            "key it was stored with."
        ) from None


def reseal(*, using: str = "default", older: Iterable[str] = ()) -> tuple[int, list[str]]:
    """Encrypt every stored secret again with the first configured key.

    ``older`` contains additional decryption keys that are no longer configured. Returns the number
    of rows with secrets, and the names of the rows that no key can decrypt; these do not change.
    """
    # Without a configured key, nothing can be encrypted.
    box = _box([*settings.SECRETS_KEYS, *older]) if settings.SECRETS_KEYS else None
    count, unreadable = 0, []
    for row, column in _held(using):
        count += 1
        try:
            setattr(row, column, resealed(box, getattr(row, column)))
        except InvalidToken:
            unreadable.append(f"{row._meta.verbose_name} {row}")
        else:
            row.save(using=using, update_fields=[column])
    return count, unreadable


@transaction.atomic
def reseal_all() -> int:
    """Encrypt all secrets again, or none; raises KeyUnreadable if a secret cannot be decrypted."""
    count, unreadable = reseal()
    if unreadable:
        raise KeyUnreadable(f"No key in SECRETS_KEYS can decrypt the secret of: {unreadable[0]}.")
    return count


def secrets_held() -> Iterator[bytes]:
    """Yield every stored secret in its encrypted form."""
    for row, column in _held("default"):
        yield from _tokens(getattr(row, column))


def resealed(box: MultiFernet | None, value: Any) -> Any:
    """Return a value with its secrets encrypted again with the first key; raises InvalidToken."""
    if isinstance(value, dict):
        return {key: resealed(box, part) for key, part in value.items()}
    if isinstance(value, list):
        return [resealed(box, part) for part in value]
    if not _is_token(value):
        return value
    if box is None:
        raise InvalidToken
    return box.rotate(value).decode() if isinstance(value, str) else box.rotate(bytes(value))


def _held(using: str) -> Iterator[tuple[models.Model, str]]:
    """Yield each row with secrets, and the name of the column that contains them."""
    for model, column in HELD:
        for row in model._default_manager.using(using).iterator():
            if any(_tokens(getattr(row, column))):
                yield row, column


def _tokens(value: Any) -> Iterator[bytes]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _tokens(part)
    elif _is_token(value):
        yield value.encode() if isinstance(value, str) else bytes(value)


def _is_token(value: Any) -> bool:
    if isinstance(value, str):
        return value.startswith(TOKEN.decode())
    return isinstance(value, bytes | memoryview) and bytes(value).startswith(TOKEN)


def _box(keys: Iterable[str]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
