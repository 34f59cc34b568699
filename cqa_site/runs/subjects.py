"""What requests of a run are about, and what was read from their replies: the kinds say it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import part_of
from cqa_site.runs.models import Call, Run


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a request is about; ``value`` is what was read of it, ``reason`` why nothing."""

    text: str
    context: str
    value: str = ""
    note: str = ""
    reason: str = ""
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Titles:
    """What the columns of a table of requests are called."""

    item: Promise
    value: Promise
    note: Promise


@dataclass(frozen=True, slots=True)
class CallSubjects:
    """How one kind of run says what its requests are about.

    ``items`` takes calls and returns call → its items, None for one that is gone; a bounded
    number of queries.
    """

    titles: Titles
    items: Callable[[Study, Sequence[Call]], dict[int, list[Item | None]]]


def items_of(run: Run, calls: Sequence[Call]) -> dict[int, list[Item | None]]:
    """Call → what it is about."""
    return subjects_of(run).items(run.study, calls)


def subjects_of(run: Run) -> CallSubjects:
    """How the kind of a run says what its requests are about."""
    found: CallSubjects = part_of(run.kind, "subjects")
    return found
