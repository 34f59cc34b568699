"""Words of an answer with their places; citations and marks are no words."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")

Place = tuple[int, int]


def word_places(text: str, start: int = 0, stop: int | None = None) -> list[Place]:
    """Where words stand: letters and digits, joined by an apostrophe, hyphen or inner point.

    Parameters
    ----------
    text : str
        Any text.
    start, stop : int
        Part of the text to read; places still count from the beginning of the text.

    Examples
    --------
    >>> word_places("It's a 3.5-inch disk.")
    [(0, 4), (5, 6), (7, 15), (16, 20)]
    """
    end = len(text) if stop is None else stop
    return [match.span() for match in _WORD.finditer(text, start, end)]


def words_of(text: str) -> list[str]:
    """Words in reading order without regard to case."""
    return [word.casefold() for word in _WORD.findall(text)]


def blanked(text: str, places: Iterable[Place]) -> str:
    """The text with spaces at some places, so that all other places stay the same."""
    parts, end = [], 0
    for start, stop in sorted(places):
        begin = max(start, end)
        parts += [text[end:begin], " " * (stop - begin)]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def trimmed(text: str, start: int, end: int) -> Place:
    """The part without the white space around it; nothing at its start where that is all it is.

    Examples
    --------
    >>> trimmed("Oak:  elm \n", 4, 11), trimmed("Oak:\n", 4, 5)
    ((6, 9), (4, 4))
    """
    part = text[start:end]
    kept = part.strip()
    first = start + (part.index(kept) if kept else 0)
    return first, first + len(kept)
