"""Kinds of rounds: their interface, their registry, and their menu entries."""

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

# The interface of a kind of work, which defines what is specific to the kind.
#
# A kind registers one object in its app's ``ready()``. Rounds and sheets store the name of their
# kind, so the engine can look up the kind from any such row.


class RoundNotReady(Exception):
    """The round cannot do this now; the message says why."""


class SheetNotValid(Exception):
    """The sheet cannot be submitted; the message says why, and ``missing`` lists form parts."""

    def __init__(self, message: str, missing: list[str]) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True)
class Audit:
    """The verbs in a study's history for events that concern a kind's rounds and raters."""

    round: str
    person: str
    # Verbs for decisions about people, where they differ from the default.
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
    """A known answer offered to a round; ``reason`` explains why the round cannot use it.

    ``source`` is the sheet, the item or the thing with the answer, and ``item`` represents it in
    tables. ``people`` is the number of people who agreed on the answer or settled a dispute. It is
    None for the answer of an item, which can have ``notes`` instead. ``is_present`` means that the
    item is already in the round.
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
        """The id of the sheet or thing; for an item, the round's id and the position."""
        if self.people is None:
            return f"{self.source.round.public_id}-{self.source.position}"
        return str(self.source.public_id)


@dataclass(frozen=True)
class Exercise:
    """An item with a known answer that trains people before their work.

    ``template`` renders it with ``context``; ``where`` is the place in the guideline.
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
    """A kind's texts on shared pages, which may be lazily translated."""

    rounds: str | Promise
    # One sentence about the work in such a round.
    about: str | Promise
    things: str | Promise
    # The page with the results of the rounds.
    results: str | Promise
    # The name for submitted work, and the label of the button for a new round.
    work: str | Promise = SHEETS
    new: str | Promise = NEW_ROUND


class TaskKind:
    """One kind of human work: the interface between the engine and the kind.

    Its subclasses are serving policies: sheets are served one by one or assigned in advance
    (`cqa_site.rounds.lifecycle`), and labels are served in blocks
    (`annotation.labelling.actions.blocks`).
    """

    name: ClassVar[str]
    audit: ClassVar[Audit]
    # The URL name of the work page, with the arguments (study, round).
    work_page: ClassVar[str]
    words: ClassVar[Words]
    # The section of the study's menu that lists its rounds, and the URL name of the results page,
    # if any.
    section: ClassVar[str]
    results_page: ClassVar[str] = ""
    # URL prefixes within a study of other pages that belong to its rounds.
    under: ClassVar[tuple[str, ...]] = ()
    # Glossary terms used in its plan.
    terms: ClassVar[tuple[str, ...]] = ()
    # Whether items can be hidden control items, because they have right answers.
    takes_controls: ClassVar[bool] = False
    # Whether crowd participants may enter its rounds, and the header template of the links page.
    takes_crowd: ClassVar[bool] = False
    crowd_head: ClassVar[str] = "rounds/crowd/_head.html"
    # Whether all work is assigned when the round is drawn.
    is_assigned: ClassVar[bool] = False
    # Whether its rounds can pause.
    pauses: ClassVar[bool] = False
    # Whether people train on separate pages, with `exercises`; sheets have examples instead.
    trains_on_pages: ClassVar[bool] = False
    # The template for a round's guideline.
    guideline_text: ClassVar[str] = "rounds/work_pages/_instructions_text.html"
    # Whether the kind has its own exclusion rule, which never overrides a researcher's decision.
    excludes_by_rule: ClassVar[bool] = False
    Round: ClassVar[type[models.Round]]
    Item: ClassVar[type[Model]]
    Slot: ClassVar[type[Model]]
    # The model with a row for each submission; rows are only added.
    Event: ClassVar[type[Model]]
    # Functions called with (round_, actor) when a round is closed, in the same transaction. Apps
    # that depend on the kind's app set them in ``ready()``.
    after_closing: tuple[Callable[..., object], ...] = ()
    # Selects skipped sheets or answers, for kinds in which people can skip.
    skipped: ClassVar[Q | None] = None
    # Counts the decisions pending in a study's rounds; set in the same ``ready()``.
    waits: Callable[[Any], int] | None = None

    def has_guideline(self, round_: models.Round) -> bool:
        return bool(round_.instructions)

    @property
    def can_train(self) -> bool:
        """Whether there are right answers with which people can train and qualify."""
        return self.trains_on_pages

    def exercises(self, round_: models.Round) -> list[Exercise]:
        """Return the training items, followed by the qualification items."""
        return []

    def draw_exercises(self, round_: Any, wanted: int) -> None:
        """Choose this number of training items; raises RoundNotReady if there are too few."""

    @property
    def moves(self) -> tuple[str, ...]:
        """The possible actions on a round, as named in URLs."""
        return ("open", "pause", "close", "reopen") if self.pauses else ("open", "close", "reopen")

    @property
    def rounds_page(self) -> str:
        return f"{self.audit.round}s"

    @property
    def answer_pages(self) -> tuple[str, ...]:
        """Names of the URLs that receive people's work."""
        return (f"{self.work_page}_save", f"{self.work_page}_submit")

    def own(self, round_: models.Round) -> Any:
        """Return the round as an instance of the kind's model; makes a query only if needed."""
        return getattr(round_, self.row) if type(round_) is models.Round else round_

    @property
    def row(self) -> str:
        """The name of the attribute that links a round to its row in the kind's own table."""
        return str(self.Round._meta.model_name)

    def count_own(self, rounds: Iterable[models.Round], user: User) -> dict[int, int]:
        """Count a person's finished work by round or, for assigned work, the remaining work."""
        raise NotImplementedError

    def most_items(self, round_: models.Round) -> int:
        """Return the maximum number of items for one person."""
        raise NotImplementedError

    def why_none(self, round_: models.Round, rater: Rater) -> str:
        """Serve the next piece of work; return the reason if there is none, otherwise "".

        ``stopped`` and ``not_qualified`` screen out a crowd participant.
        """
        raise NotImplementedError

    def is_done_by(self, round_: models.Round, place: models.Place) -> bool:
        """Whether a rater who has begun has no work left at present; serves nothing."""
        raise NotImplementedError

    def leave_out(self, place: models.Place) -> int:
        """Reopen the slots of an excluded rater; return their number."""
        raise NotImplementedError

    def count_again(self, place: models.Place) -> int:
        """Reinstate work whose slots nobody has filled; return the number of sheets that count."""
        raise NotImplementedError

    def count_free(self, round_: models.Round) -> int:
        """Count the items available now to a new participant."""
        raise NotImplementedError

    def paces(self, round_: models.Round, **where: Any) -> Iterable[tuple[int, int, int, Any]]:
        """Yield rater, items done, items skipped and mean seconds; ``where`` filters raters."""
        raise NotImplementedError

    def seconds_worked(self, round_: models.Round) -> Iterable[tuple[int, Any]]:
        """Yield rater and active seconds on everything served, examples included."""
        raise NotImplementedError

    def measures(self, round_: models.Round) -> tuple[str, ...]:
        """Return the names of the measures that the round's rules can use."""
        raise NotImplementedError

    def last_answers(
        self, round_: models.Round, most: int, *, with_majority: bool = False, **where: Any
    ) -> dict[int, list[RecentAnswer]]:
        """Map raters to their last answers, newest first, up to a maximum per rater.

        ``where`` filters raters. Takes one query, or two if the majority of other raters is
        included.
        """
        raise NotImplementedError

    def control_answers(
        self, round_: models.Round, **where: Any
    ) -> dict[int, list[ControlAnswer]]:
        """Map raters to their answers to hidden control items, in the order served."""
        return {}

    def answer_fields(self, round_: Any) -> dict[str, Field]:
        """Return form fields for a known answer; control items store their values."""
        raise NotImplementedError

    def control_offers(self, round_: Any) -> list[OfferedAnswer]:
        """Return known answers from other rounds, including those that this round cannot use."""
        return []

    def take_controls(self, round_: Any, offers: list[OfferedAnswer], actor: User) -> None:
        """Create control items from offered answers in a locked round."""
        raise NotImplementedError

    def value_counts(self, round_: models.Round) -> list[int]:
        """Return the number of answers in the round with each value."""
        raise NotImplementedError

    def stop(self, place: models.Place, *, withdraws: bool) -> None:
        """Release the slots of a person who stops, and void their work if they withdraw it."""
        raise NotImplementedError

    def counts(self) -> dict[str, Any]:
        """Return the progress annotations for rounds: ``size``, ``wanted`` and ``done``."""
        raise NotImplementedError

    def make_slots(self, round_: Any) -> None:
        """Create the slots when a draft opens; raises RoundNotReady if it cannot open."""
        raise NotImplementedError

    def check_removal(self, round_: Any) -> None:
        """Raise RoundNotReady if a draft cannot be deleted."""

    def check_reopening(self, round_: Any) -> None:
        """Raise RoundNotReady if a closed round cannot be reopened."""

    def check_correction(self, round_: Any, after: dict[str, Any]) -> None:
        """Raise RoundNotReady if a running round cannot have one of the new values."""

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
        """Describe the work that counts towards the number of items required by a crowd link."""
        raise NotImplementedError

    def check_work(self) -> Iterable[str]:
        """Yield a sentence for each inconsistent row of served work found by the policy."""
        return ()

    def check(self) -> Iterable[str]:
        """Yield a sentence for every other stored row that is inconsistent."""
        return ()


class SheetKind(TaskKind):
    """A kind whose work consists of sheets, however they are served.

    ``Content`` is a frozen dataclass with the content of a form. Drafts, conflicting drafts and
    events store it as JSON.
    """

    # The URL name of one sheet, with the arguments (study, sheet).
    sheet_page: ClassVar[str]
    # The field of items and sheets that refers to the thing itself.
    subject: ClassVar[str]
    # Related objects loaded with a sheet, so that serving and saving need no further queries.
    needed: ClassVar[tuple[str, ...]]
    # Related objects loaded with an item to show it to researchers.
    item_needed: ClassVar[tuple[str, ...]]
    Sheet: ClassVar[type[Model]]
    Conflict: ClassVar[type[Model]]
    Content: ClassVar[type[Any]]
    # Fields of a sheet that `settle` sets from the last submission.
    settled: ClassVar[tuple[str, ...]]
    # The columns that make up a sheet's value, as its rater saw it; empty if every sheet is
    # different.
    value: ClassVar[tuple[Any, ...]] = ()
    # Figures on a person's counted sheets for the round's page, as aggregates by name.
    figures: ClassVar[dict[str, Any]] = {}
    # Whether answers are submitted at once, without a draft.
    submits_at_once: ClassVar[bool] = False
    takes_controls = True
    # The largest difference between a right answer and the known answer; None if it must be equal.
    tolerance: ClassVar[float | None] = None
    tolerance_text: ClassVar[str | Promise] = ""
    # Whether figures represent the population of the items, so that only drawn items may count.
    is_sample: ClassVar[bool] = False

    @property
    def can_train(self) -> bool:
        return self.takes_controls

    @property
    def likeness(self) -> tuple[str, ...]:
        """The columns that are equal in items and sheets about the same thing."""
        return (self.subject,)

    def sheets(self, *around: str) -> QuerySet[Any]:
        """Return sheets with their subjects and the named related rows."""
        around = around or ("round__study", "rater", "slot")
        return self.Sheet._default_manager.select_related(*around, *self.needed)

    def begin(self, round_: Any, item: Any, rater: Rater) -> dict[str, Any]:
        """Return the fields of a new sheet other than the common fields."""
        return {}

    def submitted(self, sheet: Any) -> Any:
        """Return the content submitted last; empty before the first submission."""
        raise NotImplementedError

    def problem(self, sheet: Any, content: Any) -> SheetNotValid | None:
        """Return the problem that prevents submission; None if there is no problem."""
        raise NotImplementedError

    def settle(self, sheet: Any, content: Any) -> None:
        """Set the sheet's fields from submitted content; the engine saves the sheet."""
        raise NotImplementedError

    def mark(self, sheet: Any, key: Any) -> tuple[int, int]:
        """Return the number of matched parts of a known answer, and the number of all parts."""
        raise NotImplementedError

    def difference(self, sheet: Any, known: Any) -> float:
        """Return the difference between a sheet and a known answer; 0 if they match."""
        met, parts = self.mark(sheet, known)
        return parts - met

    def tolerance_in(self, round_: Any) -> float:
        """Return the largest difference from a known answer that counts as right in this round."""
        own = round_.control_tolerance
        return float(self.tolerance or 0 if own is None else own)

    def is_right(self, round_: Any, sheet: Any, known: Any) -> bool:
        """Whether a sheet is within the round's tolerance of a known answer."""
        return self.difference(sheet, known) <= self.tolerance_in(round_)

    def answer_of(self, sheet: Any) -> dict[str, Any]:
        """Return a submitted sheet's answer in the format of a known answer."""
        return {name: getattr(sheet, name) for name in self.answer_fields(sheet.round)}

    def fits(self, round_: Any) -> Q:
        """Select the items and sheets of other rounds that ask the same question as this round."""
        return Q()

    def alike(self, round_: Any) -> Q:
        """Select the sheets of other rounds whose answers can be known answers in this round."""
        return self.fits(round_)

    def copied(self, round_: Any, row: Any) -> Any:
        """Return the subject of an item or sheet from another round, copied if necessary."""
        return getattr(row, self.subject)

    def proposed_answer(self, round_: Any, item: Any) -> dict[str, Any]:
        """Return a known answer to prefill, if the kind has one."""
        return {}

    def slots(self, round_: Any, items: Iterable[int]) -> Mapping[int, int]:
        """Return the number of sheets that each item needs when the round opens."""
        raise NotImplementedError

    def check_opening(self, round_: Any) -> None:
        """Raise RoundNotReady if the round cannot open."""

    def keep_earlier(self, sheet: Any, sent: Any) -> None:
        """Keep a copy of the draft that new content will replace, if it is worth keeping."""

    def event_fields(self, sheet: Any, content: Any) -> dict[str, Any]:
        """Return the fields of a submission other than the common fields."""
        return {}

    def content_of(self, sheet: Any) -> Any:
        """Return the content of a sheet's form: the draft, or the submitted content."""
        return self.submitted(sheet) if sheet.draft is None else self.Content(**sheet.draft)


_KINDS: dict[Hashable, TaskKind] = {}


def register(kind: TaskKind) -> None:
    """Register a kind; called once in an app's ``ready()``."""
    _KINDS[kind.name] = kind


def kinds() -> list[TaskKind]:
    return list(_KINDS.values())


def kind_of(row: Any) -> TaskKind:
    """Return the kind of a round or sheet; rounds may be plain `Round` instances."""
    return _KINDS[row.kind_name or row.kind]


def sheet_kind_of(row: Any) -> SheetKind:
    kind = kind_of(row)
    assert isinstance(kind, SheetKind)  # noqa: S101
    return kind


def round_head(round_: Any) -> dict[str, Any]:
    """Return the template context for the header of a page about a round."""
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
    """Yield the menu entries of each kind: its rounds, and its results page if it has one."""
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
