"""Kinds of rounds: the contract, the registry, and the menu entries."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.db.models import Model, Q, QuerySet
from django.forms import Field
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from cqa_site.people.models import Rater, User
from cqa_site.web.navigation import Finder, MenuEntry
from . import models
from .models import Round
from .rules.measures import ControlAnswer, RecentAnswer

# The contract of a kind of work: what is special about it; the engine does the rest.
#
# A kind registers one object in its app's ``ready()``. Rounds and sheets name their kind, so every
# part of the engine finds what it needs from the row in its hand.


class RoundNotReady(Exception):
    """The round cannot do this now; the message says why."""


class SheetNotValid(Exception):
    """The sheet cannot be submitted; the message says why, ``missing`` names parts of the form."""

    def __init__(self, message: str, missing: list[str]) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True)
class Audit:
    """The verbs a study's history uses for events of a kind's rounds and raters."""

    round: str
    person: str
    # Decisions about people that it has other words for.
    decisions: Mapping[str, str] = field(default_factory=dict)

    def of_round(self, act: str) -> str:
        return f"{self.round}_{act}"


@dataclass(frozen=True)
class Card:
    """The text of a round's card on a person's home page."""

    text: str
    button: str
    badge: str


@dataclass(frozen=True)
class OfferedAnswer:
    """A known answer that a round can take; ``reason`` says why it cannot.

    ``source`` is the sheet, the item or the thing that has the answer, and ``item`` shows it in
    tables. ``people`` agreed on the answer; of a settled dispute, they decided it. The answer of
    an item has none, but ``notes``. ``is_present`` says whether the round has the item already.
    """

    source: Any
    item: Any
    known: Mapping[str, Any]
    people: int | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    is_settled: bool = False
    is_present: bool = False
    reason: str | Promise = ""

    @property
    def id(self) -> str:
        """The sheet or thing; of an item, the round and the position."""
        if self.people is None:
            return f"{self.source.round.public_id}-{self.source.position}"
        return str(self.source.public_id)


@dataclass(frozen=True)
class Exercise:
    """An item with a known answer that trains people before their work.

    ``template`` shows it with ``context``; ``where`` is the place in the guideline.
    """

    key: str
    template: str
    context: Mapping[str, Any]
    choices: list[tuple[str, str]]
    right: str
    why: str = ""
    where: str = ""


SHEETS, NEW_ROUND = _("Sheets"), _("New round")


@dataclass(frozen=True)
class Words:
    """A kind's words on shared pages; each may be translated lazily."""

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
    """One kind of human work: the contract between the engine and the kind.

    Its children are the policies of serving: sheets are served one by one or assigned to desks
    (`cqa_site.rounds.lifecycle`), and labels are served in blocks
    (`annotation.labelling.actions.blocks`).
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
    # Whether an item can be a hidden control item, because there is a right answer.
    takes_controls: ClassVar[bool] = False
    # Whether people of a crowd link may come into its rounds, and the head of the page of links.
    takes_crowd: ClassVar[bool] = False
    crowd_head: ClassVar[str] = "rounds/crowd/_head.html"
    # Whether everybody's work is drawn with the round, so that nothing else is served.
    is_assigned: ClassVar[bool] = False
    # Whether its rounds can pause.
    pauses: ClassVar[bool] = False
    # Whether people train on pages of their own, with `exercises`; sheets have examples instead.
    trains_on_pages: ClassVar[bool] = False
    # The template that shows a round's guideline.
    guideline_text: ClassVar[str] = "rounds/work_pages/_instructions_text.html"
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

    def has_guideline(self, round_: models.Round) -> bool:
        return bool(round_.instructions)

    @property
    def can_train(self) -> bool:
        """Whether there are right answers, on which people can train and qualify."""
        return self.trains_on_pages

    def exercises(self, round_: models.Round) -> list[Exercise]:
        """Return the items on which people train, those for the qualification last."""
        return []

    def draw_exercises(self, round_: Any, wanted: int) -> None:
        """Choose as many items to train on; raises RoundNotReady if there are too few."""

    @property
    def moves(self) -> tuple[str, ...]:
        """The possible actions on a round, as its addresses name them."""
        return ("open", "pause", "close", "reopen") if self.pauses else ("open", "close", "reopen")

    @property
    def rounds_page(self) -> str:
        return f"{self.audit.round}s"

    @property
    def answer_pages(self) -> tuple[str, ...]:
        """Names of the addresses that receive people's work."""
        return (f"{self.work_page}_save", f"{self.work_page}_submit")

    def own(self, round_: models.Round) -> Any:
        """Return the round as a row of the kind; no query if it was loaded together with it."""
        return getattr(round_, self.row) if type(round_) is models.Round else round_

    @property
    def row(self) -> str:
        """The attribute of a round that holds its row in the kind's own table."""
        return str(self.Round._meta.model_name)

    def count_own(self, rounds: Iterable[models.Round], user: User) -> dict[int, int]:
        """Count a person's finished work by round; for assigned work, the remaining work."""
        raise NotImplementedError

    def most_items(self, round_: models.Round) -> int:
        """Return the maximum number of items for one person."""
        raise NotImplementedError

    def why_none(self, round_: models.Round, rater: Rater) -> str:
        """Serve, and return why the rater has no work; empty if there is some.

        ``stopped`` and ``not_qualified`` screen out a crowd participant.
        """
        raise NotImplementedError

    def is_done_by(self, round_: models.Round, place: models.Place) -> bool:
        """Whether a rater who has begun has nothing left at present; serves nothing."""
        raise NotImplementedError

    def leave_out(self, place: models.Place) -> int:
        """Reopen the slots an excluded rater held; return their number."""
        raise NotImplementedError

    def count_again(self, place: models.Place) -> int:
        """Count work again if nobody filled its slot meanwhile; return the number of sheets."""
        raise NotImplementedError

    def count_free(self, round_: models.Round) -> int:
        """Count the items available now to a new participant."""
        raise NotImplementedError

    def paces(self, round_: models.Round, **where: Any) -> Iterable[tuple[int, int, int, Any]]:
        """Yield rater, items done, items skipped and mean seconds; ``where`` selects raters."""
        raise NotImplementedError

    def seconds_worked(self, round_: models.Round) -> Iterable[tuple[int, Any]]:
        """Yield rater and active seconds on everything served, examples included."""
        raise NotImplementedError

    def measures(self, round_: models.Round) -> tuple[str, ...]:
        """Return the names of the measures that rules of the round can look at."""
        raise NotImplementedError

    def last_answers(
        self, round_: models.Round, most: int, *, with_majority: bool = False, **where: Any
    ) -> dict[int, list[RecentAnswer]]:
        """Map raters to their last answers, newest first, up to a maximum for each.

        ``where`` selects raters. One query, and another with the majority of others.
        """
        raise NotImplementedError

    def control_answers(
        self, round_: models.Round, **where: Any
    ) -> dict[int, list[ControlAnswer]]:
        """Map raters to their answers on hidden control items, in the order served."""
        return {}

    def answer_fields(self, round_: Any) -> dict[str, Field]:
        """Return form fields for a known answer; their values are what a control item holds."""
        raise NotImplementedError

    def control_offers(self, round_: Any) -> list[OfferedAnswer]:
        """Return known answers from other rounds, even if this round cannot take them."""
        return []

    def take_controls(self, round_: Any, offers: list[OfferedAnswer], actor: User) -> None:
        """Make offered answers control items of a locked round."""
        raise NotImplementedError

    def value_counts(self, round_: models.Round) -> list[int]:
        """Count each value among the round's answers."""
        raise NotImplementedError

    def stop(self, place: models.Place, *, withdraws: bool) -> None:
        """Release the slots of a person who stops, and void the work they withdraw."""
        raise NotImplementedError

    def counts(self) -> dict[str, Any]:
        """Return the progress columns of rounds: ``size``, ``wanted`` and ``done``."""
        raise NotImplementedError

    def make_slots(self, round_: Any) -> None:
        """Create the slots when a draft opens; raises RoundNotReady if it cannot open."""
        raise NotImplementedError

    def check_removal(self, round_: Any) -> None:
        """Raise RoundNotReady if a draft cannot be deleted."""

    def check_reopening(self, round_: Any) -> None:
        """Raise RoundNotReady if a closed round cannot be reopened."""

    def check_correction(self, round_: Any, after: dict[str, Any]) -> None:
        """Raise RoundNotReady if a running round cannot take a value."""

    def corrected(self, round_: Any, before: dict[str, Any]) -> None:
        """Apply the consequences of changed values in a running round, in the same transaction."""

    def closed(self, round_: Any, actor: User) -> None:
        """Apply the consequences of closing a round, in the same transaction."""

    def card(self, done: int) -> Card:
        """Return the card of an open round on a person's home page.

        ``done`` counts finished work or, for assigned work, the remaining work.
        """
        raise NotImplementedError

    def asks(self, items: int) -> str:
        """Describe the work to crowd participants before they begin."""
        raise NotImplementedError

    def counted(self) -> str:
        """Describe what counts towards the number of items a crowd link requires."""
        raise NotImplementedError

    def check_work(self) -> Iterable[str]:
        """Yield a sentence for each inconsistent row of served work, as the policy checks it."""
        return ()

    def check(self) -> Iterable[str]:
        """Yield a sentence for each other stored row that is inconsistent."""
        return ()


class SheetKind(TaskKind):
    """A kind whose work consists of sheets, however they are served.

    ``Content`` is a frozen dataclass with the content of a form; as a dictionary it is the JSON of
    drafts, conflicting drafts and events.
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
    Conflict: ClassVar[type[Model]]
    Content: ClassVar[type[Any]]
    # Fields of a sheet that `settle` sets: they follow from the last submission.
    settled: ClassVar[tuple[str, ...]]
    # The columns that together are a sheet's value, as its person saw it; none where every sheet
    # is different.
    value: ClassVar[tuple[Any, ...]] = ()
    # Figures of a person's counted sheets on the round's page: name to aggregate over sheets.
    figures: ClassVar[dict[str, Any]] = {}
    # Whether an answer is submitted at once, so that none is ever a draft.
    submits_at_once: ClassVar[bool] = False
    takes_controls = True
    # How far an answer to one may be from the known answer; None where it must be the same.
    tolerance: ClassVar[float | None] = None
    tolerance_text: ClassVar[str | Promise] = ""
    # Whether figures stand for what the items were drawn from, so that no others may join them.
    is_sample: ClassVar[bool] = False

    @property
    def can_train(self) -> bool:
        return self.takes_controls

    @property
    def likeness(self) -> tuple[str, ...]:
        """The columns of items and sheets that are equal where they are about the same thing."""
        return (self.subject,)

    def sheets(self, *around: str) -> QuerySet[Any]:
        """Return sheets with their subject and these related rows."""
        around = around or ("round__study", "rater", "slot")
        return self.Sheet._default_manager.select_related(*around, *self.needed)

    def begin(self, round_: Any, item: Any, rater: Rater) -> dict[str, Any]:
        """Return the fields of a new sheet beyond the common ones."""
        return {}

    def submitted(self, sheet: Any) -> Any:
        """Return the content submitted last; empty before the first submission."""
        raise NotImplementedError

    def problem(self, sheet: Any, content: Any) -> SheetNotValid | None:
        """Return why the content cannot be submitted; None if it can."""
        raise NotImplementedError

    def settle(self, sheet: Any, content: Any) -> None:
        """Set the sheet's fields from submitted content; the engine saves it."""
        raise NotImplementedError

    def mark(self, sheet: Any, key: Any) -> tuple[int, int]:
        """Return the number of matched parts of a known answer and of all its parts."""
        raise NotImplementedError

    def difference(self, sheet: Any, known: Any) -> float:
        """Return how far a sheet is from the known answer of a control item; 0 if it matches."""
        met, parts = self.mark(sheet, known)
        return parts - met

    def tolerance_in(self, round_: Any) -> float:
        """Return how far a right answer may be from a known one in this round."""
        own = round_.control_tolerance
        return float(self.tolerance or 0 if own is None else own)

    def is_right(self, round_: Any, sheet: Any, known: Any) -> bool:
        """Whether a sheet is as near to a known answer as the round demands."""
        return self.difference(sheet, known) <= self.tolerance_in(round_)

    def answer_of(self, sheet: Any) -> dict[str, Any]:
        """Return a submitted sheet's answer in the shape of a known one."""
        return {name: getattr(sheet, name) for name in self.answer_fields(sheet.round)}

    def fits(self, round_: Any) -> Q:
        """Select items and sheets of other rounds about which this round asks the same."""
        return Q()

    def alike(self, round_: Any) -> Q:
        """Select sheets of other rounds whose answers can be known answers in this one."""
        return self.fits(round_)

    def copied(self, round_: Any, row: Any) -> Any:
        """Return what an item or sheet of another round is about, as this round needs it."""
        return getattr(row, self.subject)

    def proposed_answer(self, round_: Any, item: Any) -> dict[str, Any]:
        """Return a known answer to begin with, where the kind knows one."""
        return {}

    def slots(self, round_: Any, items: Iterable[int]) -> Mapping[int, int]:
        """Return the number of sheets each item needs when the round opens."""
        raise NotImplementedError

    def check_opening(self, round_: Any) -> None:
        """Raise RoundNotReady if the round cannot open."""

    def keep_earlier(self, sheet: Any, sent: Any) -> None:
        """Keep the draft that a submission is about to replace, if it is worth keeping."""

    def event_fields(self, sheet: Any, content: Any) -> dict[str, Any]:
        """Return the fields of a submission beyond the common ones."""
        return {}

    def content_of(self, sheet: Any) -> Any:
        """Return the content of a sheet's form: the draft, or the submitted content."""
        return self.submitted(sheet) if sheet.draft is None else self.Content(**sheet.draft)


_KINDS: dict[Hashable, TaskKind] = {}


def register(kind: TaskKind) -> None:
    """Register a kind; called once from an app's ``ready()``."""
    _KINDS[kind.name] = kind


def kinds() -> list[TaskKind]:
    return list(_KINDS.values())


def kind_of(row: Any) -> TaskKind:
    """Return the kind of a round or sheet, also of a round loaded as a plain `Round`."""
    return _KINDS[row.kind_name or row.kind]


def sheet_kind_of(row: Any) -> SheetKind:
    kind = kind_of(row)
    assert isinstance(kind, SheetKind)  # noqa: S101
    return kind


def round_head(round_: Any) -> dict[str, Any]:
    """Return the context of the head of a page about a round."""
    kind = kind_of(round_)
    names = {"study": round_.study, "round": kind.own(round_), "kind": kind}
    return names | {"home_name": kind.rounds_page}


ROUNDS = Finder(
    kind=_("Round"),
    rows=lambda study: Round.objects.filter(study=study),
    fields=("name",),
    page=lambda round_: kind_of(round_).audit.round,
)


def round_entries() -> Iterator[MenuEntry]:
    """Yield the menu entries of each kind: its rounds, and its results if it has such a page."""
    also = _("consent screening quiz training qualification survey guideline")
    yield MenuEntry("study", _("Onboarding"), "onboardings", place=20, also=also)
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
