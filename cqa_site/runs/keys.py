"""API keys: encrypted with a key outside the database, bound to the address they belong to."""

from cqa_site.sealing import KeyUnreadable, seal, unseal

from .models import Endpoint

__all__ = ["KeyUnreadable", "clear_key", "open_key", "seal", "set_key", "unseal"]


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
