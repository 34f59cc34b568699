"""The contract of a kind of work: what is special about it; the engine does the rest.

A kind registers one object in its app's ``ready()``. Rounds and sheets name their kind, so every
part of the engine finds what it needs from the row in its hand.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import QuerySet

from cqa_site.people.models import Rater, User

from .models import Item, KeptDraft, Round, Sheet, SheetEvent, Slot


class RoundNotReady(Exception):
    """The round cannot do that now; the message says why."""


class SheetNotValid(Exception):
    """The sheet cannot be submitted; the message says why, ``missing`` names parts of the form."""

    def __init__(self, message: str, missing: list[str]) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True)
class Audit:
    """The words that a study's history uses for acts on rounds and people of the kind."""

    round: str
    person: str


@dataclass(frozen=True)
class Card:
    """Words of a round on a person's first page."""

    text: str
    button: str
    badge: str


@dataclass(frozen=True)
class Words:
    """What the pages that kinds share call things; each may be translated lazily."""

    rounds: str
    # One sentence: what people do in such a round.
    about: str
    things: str
    # The page that shows what the rounds found.
    results: str


class TaskKind:
    """One kind of work for people.

    ``Content`` is a frozen dataclass of what stands on a form; as a dictionary it is the JSON of
    drafts, kept drafts and events.
    """

    name: ClassVar[str]
    audit: ClassVar[Audit]
    # Names of addresses: the work page with (study, round), and one sheet with (study, sheet).
    work_page: ClassVar[str]
    sheet_page: ClassVar[str]
    words: ClassVar[Words]
    # The tab of a study under which the address named ``results_page`` stands, if there is one.
    section: ClassVar[str] = ""
    results_page: ClassVar[str] = ""
    # The field of items and sheets that holds the thing itself.
    subject: ClassVar[str]
    # Whether people of a crowd link may come into its rounds.
    takes_crowd: ClassVar[bool] = False
    # What is read with a sheet, so that serving, saving and showing ask nothing more.
    needed: ClassVar[tuple[str, ...]]
    # What is read with an item to show researchers what was drawn.
    item_needed: ClassVar[tuple[str, ...]]
    Round: ClassVar[type[Round]]
    Item: ClassVar[type[Item]]
    Slot: ClassVar[type[Slot]]
    Sheet: ClassVar[type[Sheet]]
    Event: ClassVar[type[SheetEvent]]
    Kept: ClassVar[type[KeptDraft]]
    Content: ClassVar[type[Any]]
    # Fields of a sheet that `settle` sets: they follow from the last submission.
    settled: ClassVar[tuple[str, ...]]
    # Figures of a person's counted sheets on the round's page: name to aggregate over sheets.
    figures: ClassVar[dict[str, Any]] = {}
    # Whether everybody's sheets are drawn with the round, so that nothing else is served.
    is_assigned: ClassVar[bool] = False

    def begin(self, round_: Any, item: Any, rater: Rater) -> dict[str, Any]:
        """Fields of a new sheet beyond those that every sheet has."""
        return {}

    def submitted(self, sheet: Any) -> Any:
        """The content that was submitted last, empty before that."""
        raise NotImplementedError

    def problem(self, sheet: Any, content: Any) -> SheetNotValid | None:
        """Why the content cannot be submitted; None where it can."""
        raise NotImplementedError

    def settle(self, sheet: Any, content: Any) -> None:
        """Set what the sheet keeps of a submitted content; the engine saves it."""
        raise NotImplementedError

    def mark(self, sheet: Any, key: Any) -> tuple[int, int]:
        """How many parts of a known answer were met, of how many."""
        raise NotImplementedError

    def slots(self, round_: Any, items: Iterable[int]) -> Mapping[int, int]:
        """How many sheets each item asks for, when the round opens."""
        raise NotImplementedError

    def check_opening(self, round_: Any) -> None:
        """Raise RoundNotReady if the round cannot open."""

    def closed(self, round_: Any, actor: User) -> None:
        """What follows from closing a round, in the same transaction."""

    def keep_earlier(self, sheet: Any, sent: Any) -> None:
        """Keep the draft that what was sent is about to replace, where that is worth keeping."""

    def event_fields(self, sheet: Any, content: Any) -> dict[str, Any]:
        """Fields of a submission beyond those that every submission has."""
        return {}

    def card(self, done: int) -> Card:
        """What a person's first page says about an open round.

        ``done`` counts the sheets they submitted; of assigned sheets, those they have still to do.
        """
        raise NotImplementedError

    def check(self) -> Iterable[str]:
        """A sentence for every stored row that contradicts itself."""
        return ()

    def content_of(self, sheet: Any) -> Any:
        """What stands on the form of a sheet: the draft, or what was submitted."""
        return self.submitted(sheet) if sheet.draft is None else self.Content(**sheet.draft)


_KINDS: dict[Hashable, TaskKind] = {}


def register(kind: TaskKind) -> None:
    """Make a kind known; called once from an app's ``ready()``."""
    _KINDS[kind.name] = kind


def kinds() -> list[TaskKind]:
    """All kinds, in the order in which their apps came."""
    return list(_KINDS.values())


def known_rounds() -> QuerySet[Round]:
    """Rounds of registered kinds; labels are rounds too, and have an engine of their own."""
    return Round.objects.filter(kind__in=list(_KINDS))


def kind_of(row: Any) -> TaskKind:
    """The kind of a round or sheet; of a round read as a plain `Round`, too."""
    return _KINDS[row.kind_name or row.kind]
