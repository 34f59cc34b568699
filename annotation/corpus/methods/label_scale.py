"""Relevance labels as whole numbers of a scale, from text or sheet cells."""

import re
from collections.abc import Collection

RELEVANCE_SCALE = range(4)
_DIGITS = re.compile("-?[0-9]{1,9}")


def parse_label(value: object, scale: Collection[int] = RELEVANCE_SCALE) -> int | None:
    """The label in a cell, None for an empty one.

    Parameters
    ----------
    value : object
        Text ("2"), a whole number (2 or, from a sheet, 2.0), "" or None.
    scale : collection of int
        Labels that exist.

    Raises
    ------
    ValueError
        With a reason naming the scale; a label is never rounded or clipped.

    Examples
    --------
    >>> parse_label("0"), parse_label(3.0), parse_label(" ")
    (0, 3, None)
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    number = _whole_number(value)
    if number is None or number not in scale:
        offered = ", ".join(str(label) for label in sorted(scale))
        raise ValueError(f"{str(value)[:40]!a} is not a label of the scale {offered}")
    return number


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if _DIGITS.fullmatch(text) else None
