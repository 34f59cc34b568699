"""What makes two requests the same request.

A stored reply may stand in for a request only if everything that can change the answer is
equal. What cannot change it (deadlines, prices, how many run at once, how often it was
tried) is no argument here, so that changing such a setting never asks for an answer again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

KEY_VERSION = 1
_EXACT_INTEGERS = 2**53
_SORTED = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True)
_ORDERED = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """One text for one value: sorted names, no spaces, ASCII, whole floats as integers.

    Raises
    ------
    ValueError
        For NaN and infinities.
    TypeError
        For what JSON has no form for.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": [True, "é"]})
    '{"a":[true,"\\\\u00e9"],"b":1}'
    """
    return _SORTED.encode(_plain_numbers(value))


def ordered_json(value: Any) -> str:
    """As `canonical_json`, but with names in the order given.

    The order of a schema's properties is the order a constrained model writes them in, so it
    changes the answer.
    """
    return _ORDERED.encode(_plain_numbers(value))


def digest(document: Any) -> str:
    """Hexadecimal SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


def content_key(
    *,
    origin: str,
    model: str,
    messages: Sequence[Mapping[str, str]],
    params: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    replicate: int,
) -> str:
    """Key under which a reply may be found again.

    Parameters
    ----------
    origin
        Base address of the endpoint: two servers may offer different weights under one name.
    model
        Name asked for.
    messages
        As sent, in order.
    params
        Sampling parameters as sent; the order of their names says nothing.
    schema
        JSON schema as sent, or None. Its order counts, see `ordered_json`.
    replicate
        0, 1, …: repetitions are meant to be answered anew.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    return digest(
        {
            "version": KEY_VERSION,
            "origin": origin,
            "model": model,
            "messages": [dict(message) for message in messages],
            # A parameter may hold a schema or a grammar of its own.
            "params": {name: ordered_json(value) for name, value in params.items()},
            "schema": None if schema is None else ordered_json(schema),
            "replicate": replicate,
        }
    )


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, (str, int)):
        return value
    # A temperature read back from the database as 0.0 is the temperature 0.
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return int(value)
    if isinstance(value, Mapping):
        return {name: _plain_numbers(child) for name, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_numbers(child) for child in value]
    return value
