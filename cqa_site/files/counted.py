"""Kinds of objects that files bring and an import counts; an app registers those of its rooms."""

from dataclasses import dataclass
from typing import Any

RESULTS = ("new", "same", "changed", "rejected")


@dataclass(frozen=True, slots=True)
class Counted:
    """One kind of object.

    ``new`` says how many (``shown``) are new, where they are worth a word; ``column`` heads them
    in the list of files. Of what ``is_shared`` several files may bring the same.
    """

    name: str
    title: Any
    new: Any = ""
    column: Any = ""
    is_shared: bool = False


COUNTED: dict[str, Counted] = {}


def register_counted(*found: Counted) -> None:
    """Make kinds of objects known, in the order in which tables show them."""
    COUNTED.update({each.name: each for each in found})


def empty_counts() -> dict[str, dict[str, int]]:
    """Zeros for every kind of object and every result."""
    return {name: dict.fromkeys(RESULTS, 0) for name in COUNTED}
