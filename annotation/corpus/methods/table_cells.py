"""Cells of any table as values of our fields; a cell that does not fit raises ValueError."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from urllib.parse import urlsplit

from cqa_site.tabular import Value

FLAGS = ("is_extra", "is_excluded", "is_flagged")
RATER_KINDS = ("person", "expert", "model", "classifier", "reference")
STATES = ("served", "answered", "skipped", "expired", "void")
SKIP_REASONS = ("unclear", "broken", "unknown", "offensive", "other")
_LONGEST_URL = 2_000
_LARGEST_NUMBER = 2**31 - 1


def as_text(value: Value) -> str | None:
    """Text as it is; a whole number as its digits; None for an empty cell."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise ValueError("is neither text nor a number")


def _object(text: str | None) -> str:
    if text is None or not text.strip():
        raise ValueError("is empty")
    return text


def _argument(text: str | None) -> str:
    return text or ""


def _optional(text: str | None) -> str | None:
    return text if text and text.strip() else None


def _url(text: str | None) -> str | None:
    """An http(s) address; anything else could become a harmful link on a page."""
    given = _optional(text)
    if given is None:
        return None
    address = given.strip()
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or len(address) > _LONGEST_URL:
        raise ValueError("is not an http(s) address")
    return address


def _moment(text: str | None) -> datetime | None:
    given = _optional(text)
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given.strip())
    except ValueError:
        raise ValueError(f"{given[:40]!a} is no date and time (write 2024-01-31T14:05)") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _one_of(*offered: str) -> Callable[[str | None], str | None]:
    def read(text: str | None) -> str | None:
        given = _optional(text)
        if given is not None and given.strip().lower() not in offered:
            raise ValueError(f"{given[:40]!a} is none of {', '.join(offered)}")
        return given.strip().lower() if given else None

    return read


def _flag(text: str | None) -> bool | None:
    given = _one_of("true", "false", "1", "0", "yes", "no")(text)
    return None if given is None else given in ("true", "1", "yes")


def _count(text: str | None) -> int | None:
    given = _optional(text)
    if given is None:
        return None
    digits = given.strip()
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= 10
    if not is_number or int(digits) > _LARGEST_NUMBER:
        raise ValueError(f"{given[:40]!a} is no whole number of zero or more")
    return int(digits)


CELL_READERS: Mapping[str, Callable[[str | None], object]] = {
    "object1": _object,
    "object2": _object,
    "text": _argument,
    "source_url": _url,
    "external_id": _optional,
    "rater": _optional,
    "started": _moment,
    "comment": _optional,
    "rater_kind": _one_of(*RATER_KINDS),
    "state": _one_of(*STATES),
    **dict.fromkeys(FLAGS, _flag),
    "skip_reason": _one_of(*SKIP_REASONS),
    "active_ms": _count,
    "block": _count,
    "position": _count,
}
