"""Keys of a judgement held against the criteria asked for: "7" and "C7" are the seventh.

What does not fit is named, not mended. A judge that was shown 15 criteria and answers 16 … 30 has
probably counted on from something else, but whether its 16 is our 1 nobody knows.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

_NUMBER = re.compile(r"[Cc]?(0|[1-9][0-9]{0,3})")
_MOST_SHOWN = 5


class Reading(StrEnum):
    """What a judgement turned out to be; everything but `VALID` is unscored."""

    VALID = "valid"
    EMPTY = "empty"  # no text, reasoning only, or an object without keys
    TRUNCATED = "truncated"
    REFUSED = "refused"
    NO_JSON = "no_json"  # prose, or no object that strict JSON accepts
    AMBIGUOUS = "ambiguous"  # two different objects
    NOT_SCHEMA = "not_schema"  # another shape: no object, no key with a number, odd entries
    DUPLICATE_KEYS = "duplicate_keys"  # a key twice, or "1" beside "C1"
    RENUMBERED = "renumbered"  # numbers of another row: 16 … 30
    MISSING_KEYS = "missing_keys"
    EXTRA_KEYS = "extra_keys"
    NOT_A_WHOLE_NUMBER = "not_a_whole_number"  # 0.5, "1.0", "1", true, null
    OUT_OF_RANGE = "out_of_range"  # a whole number that the criterion cannot give


class Unusable(Exception):
    """A judgement, or one entry of it, without points."""

    def __init__(self, reading: Reading, detail: str) -> None:
        super().__init__(f"{reading}: {detail}")
        self.reading = reading
        self.detail = detail


def entries_by_criterion(said: object, wanted: Sequence[str]) -> dict[str, object]:
    """Entries by criterion, exactly those wanted and in their order.

    Parameters
    ----------
    said : object
        Anything a JSON decoder gives.
    wanted : sequence of str
        "C1", "C2", …

    Raises
    ------
    Unusable
        With one of `EMPTY`, `NOT_SCHEMA`, `DUPLICATE_KEYS`, `RENUMBERED`, `MISSING_KEYS`,
        `EXTRA_KEYS`; where several hold, the first.
    """
    if said is None or said == {}:
        raise Unusable(Reading.EMPTY, "no scores")
    if not isinstance(said, Mapping):
        raise Unusable(Reading.NOT_SCHEMA, "no list of criteria with their points")
    entries = _named(said)
    missing = [key for key in wanted if key not in entries]
    extra = [key for key in entries if key not in wanted]
    if missing and not any(map(is_criterion, entries)):
        raise Unusable(Reading.NOT_SCHEMA, f"{_shown(extra)}: no number of a criterion")
    if missing and _is_another_row(entries, wanted):
        raise Unusable(Reading.RENUMBERED, f"{_span(entries)} instead of {_span(wanted)}")
    if missing:
        detail = f"{_shown(missing)} missing"
        more = f"; {_shown(extra)} not asked for" if extra else ""
        raise Unusable(Reading.MISSING_KEYS, detail + more)
    if extra:
        raise Unusable(Reading.EXTRA_KEYS, f"{_shown(extra)} not asked for")
    return {key: entries[key] for key in wanted}


def without_extras(said: object, wanted: Sequence[str]) -> object:
    """The entries of an object that were asked for; anything else as it is."""
    if not isinstance(said, Mapping):
        return said
    return {key: entry for key, entry in said.items() if _name(key) in wanted}


def is_criterion(key: str) -> bool:
    """Whether a key looks like the number of a criterion, of whatever rubric."""
    return _NUMBER.fullmatch(key) is not None


def _named(said: Mapping[object, object]) -> dict[str, object]:
    entries: dict[str, object] = {}
    for key, entry in said.items():
        name = _name(key)
        if name in entries:
            raise Unusable(Reading.DUPLICATE_KEYS, f"{name} is there twice")
        entries[name] = entry
    return entries


def _name(key: object) -> str:
    match = _NUMBER.fullmatch(str(key))
    return f"C{match[1]}" if match else str(key)


def _is_another_row(found: Iterable[str], wanted: Sequence[str]) -> bool:
    """Whether all keys are numbers and are those wanted moved by a step, or none of those."""
    keys = list(found)
    if not all(map(is_criterion, keys)):
        return False
    is_apart = not set(keys) & set(wanted)
    steps = {have - want for have, want in zip(_numbers(keys), _numbers(wanted), strict=False)}
    return is_apart or (len(keys) == len(wanted) and len(steps) == 1)


def _numbers(keys: Iterable[str]) -> list[int]:
    return sorted(int(key[1:]) for key in keys)


def _span(keys: Iterable[str]) -> str:
    numbers = _numbers(keys)
    return f"C{numbers[0]} … C{numbers[-1]}"


def _shown(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _MOST_SHOWN} more" if len(keys) > _MOST_SHOWN else ""
    return ", ".join(key[:40] for key in keys[:_MOST_SHOWN]) + more
