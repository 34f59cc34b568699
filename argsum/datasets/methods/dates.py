"""Days as files write them: ISO, day.month.year, and two orders of numbers between slashes."""

import re
from collections.abc import Iterable
from datetime import date
from enum import StrEnum

_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_DOTTED = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}|\d{2})(?:,? .*)?")
_PARTED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})(?:,? .*)?")
_NAMED = re.compile(
    r"(?:(\d{1,2})\.? ([a-z]{3})[a-z]*\.?,? (\d{4})|([a-z]{3})[a-z]*\.? (\d{1,2}),? (\d{4}))"
    r"(?: .*)?",
    re.IGNORECASE,
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
# Years of two digits: below it this century, from it on the last one.
_PIVOT = 70
MONTHS = 12


class Order(StrEnum):
    """What comes first between slashes; empty where nothing says it."""

    UNKNOWN = ""
    DAY = "day"
    MONTH = "month"


def order_of(texts: Iterable[str]) -> Order:
    """Which order a column of dates shows; the first number above 12 is a day.

    Examples
    --------
    >>> order_of(["3/4/2024", "13/4/2024"]), order_of(["3/4/2024"])
    (<Order.DAY: 'day'>, <Order.UNKNOWN: ''>)
    """
    for text in texts:
        if not (found := _PARTED.fullmatch(text.strip())):
            continue
        if int(found[1]) > MONTHS:
            return Order.DAY
        if int(found[2]) > MONTHS:
            return Order.MONTH
    return Order.UNKNOWN


def is_parted(text: str) -> bool:
    """Whether only the order of its column says what this date is."""
    found = _PARTED.fullmatch(text.strip())
    return found is not None and found[1] != found[2]


def as_date(text: str, order: Order = Order.UNKNOWN) -> date | None:
    """The day that a text names; None where it names none.

    Parameters
    ----------
    text : str
        ``2024-03-31`` with or without a time, ``20240331``, ``31.3.2024``, ``31/3/2024``,
        ``3/31/2024``, ``31 March 2024``, ``Mar 31, 2024``.
    order : Order
        Of numbers between slashes or hyphens; month first where it is unknown.

    Examples
    --------
    >>> as_date("31.3.24"), as_date("3/4/2024", Order.DAY), as_date("soon")
    (datetime.date(2024, 3, 31), datetime.date(2024, 4, 3), None)
    """
    plain = text.strip()
    if found := _ISO.fullmatch(plain) or _COMPACT.fullmatch(plain):
        return _day(found[1], found[2], found[3])
    if found := _DOTTED.fullmatch(plain):
        return _day(found[3], found[2], found[1])
    if found := _PARTED.fullmatch(plain):
        is_day_first = order == Order.DAY
        return _day(found[3], found[2 if is_day_first else 1], found[1 if is_day_first else 2])
    if found := _NAMED.fullmatch(plain):
        day, month, year = (found[1] or found[5], found[2] or found[4], found[3] or found[6])
        name = month.lower()
        return _day(year, _MONTHS.index(name) + 1, day) if name in _MONTHS else None
    return None


def _day(year: str, month: str | int, day: str) -> date | None:
    number = int(year)
    if len(year) == len("24"):
        number += 2000 if number < _PIVOT else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None
