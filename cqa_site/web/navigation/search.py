"""Things of a study by their names, for the search box: every app says what it has."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise

from .menu import RESEARCHERS

# So many of each kind.
SHOWN = 5


@dataclass(frozen=True)
class Finder:
    """One kind of thing.

    ``rows`` are those of a study in the order in which they are shown, ``fields`` what the words
    are looked for in, and ``page`` where a row leads.
    """

    kind: str | Promise
    rows: Callable[[Any], QuerySet[Any]]
    fields: tuple[str, ...]
    # The name of an address that takes the study and the row; the study alone if ``is_listed``.
    page: str | Callable[[Any], str]
    roles: frozenset[str] = RESEARCHERS
    is_listed: bool = False
    name: Callable[[Any], str] = str

    def url(self, study: Any, row: Any) -> str:
        """Where a row leads."""
        page = self.page if isinstance(self.page, str) else self.page(row)
        ids = [study.public_id] if self.is_listed else [study.public_id, row.public_id]
        return reverse(page, args=ids)


_FINDERS: list[Finder] = []


def add(*finders: Finder) -> None:
    """Have things found; called from an app's ``ready()``."""
    _FINDERS.extend(finders)


def find(study: Any, role: str, words: list[str]) -> list[dict[str, str]]:
    """Rows of every kind that hold all words: one query a kind."""
    return [
        {"kind": str(finder.kind), "name": finder.name(row)[:120], "url": finder.url(study, row)}
        for finder in _FINDERS
        if role in finder.roles
        for row in finder.rows(study).filter(_holding(finder.fields, words))[:SHOWN]
    ]


def _holding(fields: tuple[str, ...], words: list[str]) -> Q:
    condition = Q()
    for word in words:
        anywhere = Q()
        for field in fields:
            anywhere |= Q(**{f"{field}__icontains": word})
        condition &= anywhere
    return condition
