"""Keys of a site in a backup: sealed with a passphrase, so that the file alone opens nothing."""

import base64
import json
import os
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings

from .refusals import BackupRefused, Damaged

# 128 MiB and about half a second for each passphrase that somebody tries.
COST, BLOCK_SIZE, LANES = 2**17, 8, 1
# A file that asks for more than this is not one of ours.
MOST_COST = 2**20
SHORTEST = 8
Keys = dict[str, Any]


def keys_here() -> Keys:
    """The keys that open what is encrypted in the database; a restore needs no others."""
    return {"SECRETS_KEYS": list(settings.SECRETS_KEYS)}


def seal(keys: Keys, passphrase: str) -> bytes:
    """Encrypt keys; all that is needed to open them but the passphrase stands beside them."""
    if len(passphrase) < SHORTEST:
        raise BackupRefused(f"The passphrase needs at least {SHORTEST} characters.")
    salt, nonce = os.urandom(16), os.urandom(12)
    told = {"kdf": "scrypt", "n": COST, "r": BLOCK_SIZE, "p": LANES, "cipher": "AES-256-GCM"}
    told |= {"salt": _text(salt), "nonce": _text(nonce)}
    box = AESGCM(_derived(passphrase, told))
    sealed = box.encrypt(nonce, json.dumps(keys).encode(), _bound(told))
    return json.dumps(told | {"sealed": _text(sealed)}).encode()


def unseal(content: bytes, passphrase: str) -> Keys:
    """Decrypt keys; a wrong passphrase is refused in words."""
    try:
        told = json.loads(content)
        sealed = base64.b64decode(told.pop("sealed"))
        box = AESGCM(_derived(passphrase, told))
        keys: Keys = json.loads(box.decrypt(base64.b64decode(told["nonce"]), sealed, _bound(told)))
    except InvalidTag:
        raise BackupRefused("This is not the passphrase that the backup was made with.") from None
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise Damaged("the keys") from problem
    return keys


def _derived(passphrase: str, told: dict[str, Any]) -> bytes:
    is_ours = (told["kdf"], told["r"], told["p"]) == ("scrypt", BLOCK_SIZE, LANES)
    if not is_ours or told["n"] > MOST_COST:
        raise BackupRefused("The keys in the backup are sealed in a way unknown here.")
    salt = base64.b64decode(told["salt"])
    return Scrypt(salt, 32, n=told["n"], r=told["r"], p=told["p"]).derive(passphrase.encode())


def _bound(told: dict[str, Any]) -> bytes:
    """What stands beside the keys cannot be changed either."""
    return json.dumps(told, sort_keys=True).encode()


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
