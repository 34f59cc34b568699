"""Kinds of rounds: the contract, the registry, and the menu entries."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.db.models import Model, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from cqa_site.people.models import Rater, User
from cqa_site.web.navigation import Finder, MenuEntry

from . import models
from .models import Round

# The contract of a kind of work: what is special about it; the engine does the rest.
#
# A kind registers one object in its app's ``ready()``. Rounds and sheets name their kind, so every
# part of the engine finds what it needs from the row in its hand.


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
    # Decisions about people that it has other words for.
    decisions: Mapping[str, str] = field(default_factory=dict)
    # What the history calls a round, where addresses have another word.
    noun: str = ""

    def of_round(self, act: str) -> str:
        """The verb of an act on a round."""
        return f"{self.noun or self.round}_{act}"


@dataclass(frozen=True)
class Card:
    """Words of a round on a person's first page."""

    text: str
    button: str
    badge: str


SHEETS, NEW_ROUND = _("Sheets"), _("New round")


@dataclass(frozen=True)
class Words:
    """What the pages that kinds share call things; each may be translated lazily."""

    rounds: str | Promise
    # One sentence: what people do in such a round.
    about: str | Promise
    things: str | Promise
    # The page that shows what the rounds found.
    results: str | Promise
    # What people hand in, and the button for another round.
    work: str | Promise = SHEETS
    new: str | Promise = NEW_ROUND


class TaskKind:
    """One kind of work for people: what the engine asks whoever serves it, and how.

    Its children are the policies of serving: sheets come one by one or lie on desks
    (`cqa_site.rounds.lifecycle`), labels come in blocks (`annotation.labelling.actions.blocks`).
    """

    name: ClassVar[str]
    audit: ClassVar[Audit]
    # The name of the address of the work page, with (study, round).
    work_page: ClassVar[str]
    words: ClassVar[Words]
    # The group of the study's menu in which its rounds stand, and the address named
    # ``results_page``, if there is one.
    section: ClassVar[str]
    results_page: ClassVar[str] = ""
    # Where else pages live that belong to its rounds, as addresses begin inside a study.
    under: ClassVar[tuple[str, ...]] = ()
    # Words of the glossary that its plan uses.
    terms: ClassVar[tuple[str, ...]] = ()
    # Whether people of a crowd link may come into its rounds, and the head of the page of links.
    takes_crowd: ClassVar[bool] = False
    crowd_head: ClassVar[str] = "rounds/crowd/_head.html"
    # Whether everybody's work is drawn with the round, so that nothing else is served.
    is_assigned: ClassVar[bool] = False
    # Whether its rounds can pause.
    pauses: ClassVar[bool] = False
    # Whether a rule of its own excludes people, who are left to a person that decided about them.
    excludes_by_rule: ClassVar[bool] = False
    Round: ClassVar[type[models.Round]]
    Item: ClassVar[type[Model]]
    Slot: ClassVar[type[Model]]
    # A row for each time somebody handed something in; rows are only added.
    Event: ClassVar[type[Model]]
    # What else follows from closing a round, with (round_, actor), in the same transaction: rooms
    # above the kind's own set it in their app's ``ready()``.
    after_closing: tuple[Callable[..., object], ...] = ()
    # Which of its sheets or answers say nothing, where somebody can hand in such.
    skipped: ClassVar[Q | None] = None
    # How many things of its rounds wait for somebody's decision, in a study; set there, too.
    waits: Callable[[Any], int] | None = None

    @property
    def moves(self) -> tuple[str, ...]:
        """What can be done with a round, as its addresses name it."""
        return ("open", "pause", "close", "reopen") if self.pauses else ("open", "close", "reopen")

    @property
    def rounds_page(self) -> str:
        """The name of the address of its list of rounds."""
        return f"{self.audit.round}s"

    @property
    def answer_pages(self) -> tuple[str, ...]:
        """Names of the addresses to which people send their work."""
        return (f"{self.work_page}_save", f"{self.work_page}_submit")

    def own(self, round_: models.Round) -> Any:
        """The round as a row of the kind; no query where that was read with it."""
        return getattr(round_, self.row) if type(round_) is models.Round else round_

    @property
    def row(self) -> str:
        """What a round calls its row in the kind's own table."""
        return str(self.Round._meta.model_name)

    def count_own(self, rounds: Iterable[models.Round], user: User) -> dict[int, int]:
        """How much somebody has done, by round; of assigned work, what they have still to do."""
        raise NotImplementedError

    def most_items(self, round_: models.Round) -> int:
        """How many items one person can be served at most."""
        raise NotImplementedError

    def why_none(self, round_: models.Round, rater: Rater) -> str:
        """Serve, and say why nothing waits for the rater; empty while something does.

        ``stopped`` and ``not_qualified`` screen somebody of a crowd out.
        """
        raise NotImplementedError

    def is_done_by(self, round_: models.Round, place: models.Place) -> bool:
        """Whether nothing is left at present for somebody who began; serves nothing."""
        raise NotImplementedError

    def leave_out(self, place: models.Place) -> int:
        """Open to others what somebody excluded held; return how many slots that were."""
        raise NotImplementedError

    def count_again(self, place: models.Place) -> int:
        """Let work count again where nobody filled its slot meanwhile; return how much did."""
        raise NotImplementedError

    def count_free(self, round_: models.Round) -> int:
        """How many items are there at this moment for somebody who comes new."""
        raise NotImplementedError

    def paces(self, round_: models.Round, **where: Any) -> Iterable[tuple[int, int, int, Any]]:
        """Rater, how much they did, skipped of it, and mean seconds; ``where`` chooses raters."""
        raise NotImplementedError

    def stop(self, place: models.Place, *, withdraws: bool) -> None:
        """Give back what somebody holds who stops, and make void what they withdraw."""
        raise NotImplementedError

    def counts(self) -> dict[str, Any]:
        """Columns of rounds that say how far each is: ``size``, ``wanted`` and ``done``."""
        raise NotImplementedError

    def make_slots(self, round_: Any) -> None:
        """Make what is served when a draft opens; raises RoundNotReady if it cannot open."""
        raise NotImplementedError

    def check_removal(self, round_: Any) -> None:
        """Raise RoundNotReady if a draft cannot be removed."""

    def check_reopening(self, round_: Any) -> None:
        """Raise RoundNotReady if a closed round cannot be opened again."""

    def check_correction(self, round_: Any, after: dict[str, Any]) -> None:
        """Raise RoundNotReady if a round that runs cannot take a value."""

    def corrected(self, round_: Any, before: dict[str, Any]) -> None:
        """What follows from other values in a round that runs, in the same transaction."""

    def closed(self, round_: Any, actor: User) -> None:
        """What follows from closing a round, in the same transaction."""

    def card(self, done: int) -> Card:
        """What a person's first page says about an open round.

        ``done`` counts what they did; of assigned work, what they have still to do.
        """
        raise NotImplementedError

    def asks(self, items: int) -> str:
        """What is asked of people of a crowd, before they begin."""
        raise NotImplementedError

    def counted(self) -> str:
        """What counts towards the number that a crowd link asks for."""
        raise NotImplementedError

    def check_work(self) -> Iterable[str]:
        """A sentence for every row of served work that contradicts another; the policy's own."""
        return ()

    def check(self) -> Iterable[str]:
        """A sentence for every other stored row that contradicts itself."""
        return ()


class SheetKind(TaskKind):
    """A kind whose work are sheets: what it says of them, however they are served.

    ``Content`` is a frozen dataclass of what stands on a form; as a dictionary it is the JSON of
    drafts, kept drafts and events.
    """

    # The name of the address of one sheet, with (study, sheet).
    sheet_page: ClassVar[str]
    # The field of items and sheets that holds the thing itself.
    subject: ClassVar[str]
    # What a sheet is about: read with it, so that serving, saving and showing ask nothing more.
    needed: ClassVar[tuple[str, ...]]
    # What is read with an item to show researchers what was drawn.
    item_needed: ClassVar[tuple[str, ...]]
    Sheet: ClassVar[type[Model]]
    Kept: ClassVar[type[Model]]
    Content: ClassVar[type[Any]]
    # Fields of a sheet that `settle` sets: they follow from the last submission.
    settled: ClassVar[tuple[str, ...]]
    # Figures of a person's counted sheets on the round's page: name to aggregate over sheets.
    figures: ClassVar[dict[str, Any]] = {}

    def sheets(self, *around: str) -> QuerySet[Any]:
        """Sheets, each with what it is about, and with what is around it."""
        around = around or ("round__study", "rater", "slot")
        return self.Sheet._default_manager.select_related(*around, *self.needed)

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

    def keep_earlier(self, sheet: Any, sent: Any) -> None:
        """Keep the draft that what was sent is about to replace, where that is worth keeping."""

    def event_fields(self, sheet: Any, content: Any) -> dict[str, Any]:
        """Fields of a submission beyond those that every submission has."""
        return {}

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


def kind_of(row: Any) -> TaskKind:
    """The kind of a round or sheet; of a round read as a plain `Round`, too."""
    return _KINDS[row.kind_name or row.kind]


def sheet_kind_of(row: Any) -> SheetKind:
    """The kind of a round of sheets, or of a sheet."""
    kind = kind_of(row)
    assert isinstance(kind, SheetKind)  # noqa: S101
    return kind


# Rounds of every kind in the menu of a study, and what they found.


ROUNDS = Finder(
    kind=_("Round"),
    rows=lambda study: Round.objects.filter(study=study),
    fields=("name",),
    page=lambda round_: kind_of(round_).audit.round,
)


def round_entries() -> Iterator[MenuEntry]:
    """The list of a kind's rounds, and the page of results, where it has one."""
    for kind in kinds():
        page, words = kind.rounds_page, kind.words
        yield MenuEntry(
            kind.section,
            words.rounds,
            page,
            30,
            under=kind.under,
            waits=kind.waits,
            tour=words.about,
            also=_("export download"),
        )
        if kind.results_page:
            also = _("agreement alpha kappa export download")
            yield MenuEntry(kind.section, words.results, kind.results_page, place=20, also=also)
