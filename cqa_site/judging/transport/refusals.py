"""What an HTTP status other than 200 means for a request."""

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from ..chat import CallFailed, Failure
from ..completions import storable

LONGEST_WAIT = 900.0
SHORTEST_WAIT = 1.0
LONGEST_MESSAGE = 300
_NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}


def failure_of(
    status: int,
    headers: Mapping[str, str],
    document: Any,
    *,
    body: str = "",
    milliseconds: int = 0,
) -> CallFailed:
    """The failure that a status stands for.

    Parameters
    ----------
    status
        HTTP status, or the one named in an error document that came with a 200.
    headers
        Of the reply, with lower-case names.
    document
        The reply's JSON, or None.
    body, milliseconds
        Kept with the failure; the body is already free of keys.
    """
    error = document.get("error") if isinstance(document, Mapping) else None
    details = error if isinstance(error, Mapping) else {}
    said = details.get("message") if details else error
    message = f"the endpoint answered {status}"
    if isinstance(said, str) and said.strip():
        message += ": " + " ".join(storable(said).split())[:LONGEST_MESSAGE]
    # The values may be of any type, also of one that no set takes.
    has_no_money = str(details.get("code")) in _NO_MONEY or str(details.get("type")) in _NO_MONEY
    return CallFailed(
        _kind(status, has_no_money),
        message,
        retry_after=retry_after(headers),
        status=status,
        body=body,
        milliseconds=milliseconds,
    )


def status_inside(document: Any) -> int | None:
    """The status of an error that was sent with a 200, as routers in front of models do."""
    if not isinstance(document, Mapping) or "choices" in document:
        return None
    error = document.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code <= 599 else None


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait as a server asks, from 1 to 900, or None if it asks nothing readable.

    Parameters
    ----------
    headers
        ``retry-after-ms`` (milliseconds) goes before ``retry-after`` (seconds, whole or not,
        or an HTTP date; RFC 9110, section 10.2.3).
    now
        Seconds since the epoch; the present if None.

    Examples
    --------
    >>> retry_after({"retry-after": "2.5"}), retry_after({"retry-after": "86400"})
    (2.5, 900.0)
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None:
            return _clamped(seconds * unit)
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        return _clamped(date.timestamp() - (time.time() if now is None else now))
    except (ValueError, OverflowError):
        return None


def _kind(status: int, has_no_money: bool) -> Failure:
    if status == 402 or (status in (403, 429) and has_no_money):
        return Failure.QUOTA
    if status == 429:
        return Failure.THROTTLED
    if status in (401, 403):
        return Failure.DENIED
    if status in (408, 409, 425) or status >= 500:
        return Failure.SERVER
    return Failure.REQUEST


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _clamped(seconds: float) -> float:
    return min(LONGEST_WAIT, max(SHORTEST_WAIT, seconds))
