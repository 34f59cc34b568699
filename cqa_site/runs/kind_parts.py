"""What a kind of run is made of beside the engine's part: prompts, a home, texts of requests."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from rest_framework.serializers import Serializer

from cqa_site.judging.prompts import Layout
from cqa_site.people.models import Study
from cqa_site.runs.models import Call, PromptVersion, Run


@dataclass(frozen=True, slots=True)
class PromptKind:
    """One kind of prompt: its name, its placeholders and the file it begins with."""

    name: Promise
    layout: Layout
    file: Path


@dataclass(frozen=True, slots=True)
class Home:
    """The section in which runs of a kind stand, the address of their list, and its title."""

    section: str
    route: str
    title: Promise


def _keys(items: Sequence[Any]) -> tuple[int, ...]:
    return tuple(each.pk for each in items)


@dataclass(frozen=True, slots=True)
class Previewed:
    """What prompts of one kind of run are tried out on.

    Parameters
    ----------
    name
        What one item is called.
    items
        All items of a study that such a prompt may meet.
    draft
        An unsaved run with this prompt, and the items that its request is about.
    ids
        What the request's subject is known by: the items' keys, or what a kind makes of them.
    """

    name: Promise
    items: Callable[[Study], QuerySet[Any]]
    draft: Callable[[Study, PromptVersion, Any], tuple[Run, list[Any]]]
    ids: Callable[[Sequence[Any]], tuple[int, ...]] = _keys


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


def _nothing(_run: Run, _calls: Iterable[Call]) -> None:
    """Nothing to add."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the interface tells of one kind of run alone; of others these fields have a default.

    ``add_to_calls`` gives requests of a run of the kind what the fields need; a bounded number
    of queries.
    """

    run: type[Serializer[Any]] = Serializer
    run_detail: type[Serializer[Any]] = Serializer
    call: type[Serializer[Any]] = Serializer
    call_detail: type[Serializer[Any]] = Serializer
    add_to_calls: Callable[[Run, Iterable[Call]], None] = _nothing
