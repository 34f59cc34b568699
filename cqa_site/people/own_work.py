"""What waits for a person in a study: every app says what it has, the first page shows it."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.module_loading import import_string

from .models import Membership


@dataclass(frozen=True, slots=True)
class Waiting:
    """One card on a person's first page.

    Parameters
    ----------
    title, text
        What there is to do, and a sentence about it; nothing that the person may not know.
    button, url
        What leads there.
    badge
        How much of it is done or open; may be empty.
    """

    title: str
    text: str
    button: str
    url: str
    badge: str = ""


_SOURCES: list[str] = []


def register(path: str) -> None:
    """Make ``function(membership) -> list[Waiting]`` known by its dotted path."""
    if path not in _SOURCES:
        _SOURCES.append(path)


def waiting_for(membership: Membership) -> list[Waiting]:
    """Everything that waits for this member, app by app."""
    found: list[Waiting] = []
    for path in _SOURCES:
        source: Callable[[Membership], list[Waiting]] = import_string(path)
        found += source(membership)
    return found
