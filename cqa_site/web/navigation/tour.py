"""A tour of a study: the pages of the menu that say what they are for, one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass

from .menu import Shown, ShownGroup

# Of an address: that its page is a stop.
TOUR = "tour"


@dataclass(frozen=True)
class Stop:
    """One page of a tour; ``back`` and ``on`` are empty where there is none."""

    number: int
    stops: int
    title: str
    says: str
    back: str = ""
    on: str = ""


def first_stop(groups: Iterable[ShownGroup]) -> str:
    """The address at which a tour begins; empty for whoever has none."""
    return next((_address(each) for each in _stops(groups)), "")


def stop_at(groups: Iterable[ShownGroup], here: str) -> Stop | None:
    """The stop at a page's address; none where a tour does not stop."""
    stops = _stops(groups)
    at = next((at for at, each in enumerate(stops) if each.url == here), None)
    if at is None:
        return None
    around = {place: _address(stops[place]) for place in (at - 1, at + 1)
              if 0 <= place < len(stops)}  # fmt: skip
    entry = stops[at].entry
    return Stop(
        at + 1,
        len(stops),
        str(entry.title),
        str(entry.tour),
        back=around.get(at - 1, ""),
        on=around.get(at + 1, ""),
    )


def _stops(groups: Iterable[ShownGroup]) -> list[Shown]:
    return [each for shown in groups for each in shown.entries if each.entry.tour]


def _address(shown: Shown) -> str:
    return f"{shown.url}?{TOUR}=1"
