"""Kinds of runs: requests, readings, storage and pages, with raters and menu entries."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast, overload

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _
from rest_framework.serializers import Serializer

from cqa_site.judging.chat import digest
from cqa_site.judging.extraction import UnscoredReason
from cqa_site.judging.prompts import PromptLayout
from cqa_site.people.models import Rater, Study
from cqa_site.web.navigation import Finder, MenuEntry
from .models import Call, PromptVersion, Reply, Run

if TYPE_CHECKING:
    from cqa_site.people.access import StudyRequest


# Parts of a kind of run outside the engine: prompts, menu section, items of requests


class RunStart(Protocol):
    """The body of a request that starts a run, and the function that creates the run's form."""

    @property
    def body(self) -> type[Any]:
        """The serializer of the body."""

    @property
    def form(self) -> Callable[..., Any]:
        """Return the form for a study, a user and the values of the body."""


@dataclass(frozen=True, slots=True)
class PromptKind:
    """One kind of prompt, with its name, its placeholders and the file with its default text."""

    name: Promise
    layout: PromptLayout
    file: Path


@dataclass(frozen=True, slots=True)
class Home:
    """The menu section of a kind's runs, and the address and title of their list."""

    section: str
    route: str
    title: Promise


def _keys(items: Sequence[Any]) -> tuple[int, ...]:
    return tuple(row.pk for row in items)


@dataclass(frozen=True, slots=True)
class PreviewTargets:
    """The items for previewing the prompts of one kind of run.

    Parameters
    ----------
    name
        Name of one item.
    items
        All items in a study that such a prompt may contain.
    draft
        Returns an unsaved run with this prompt, and the items in its request.
    ids
        Returns identifiers of the request's subject: the items' keys, or values derived from them.
    """

    name: Promise
    items: Callable[[Study], QuerySet[Any]]
    draft: Callable[[Study, PromptVersion, Any], tuple[Run, list[Any]]]
    ids: Callable[[Sequence[Any]], tuple[int, ...]] = _keys


@dataclass(frozen=True, slots=True)
class RequestItem:
    """One item in a request, with its ``value`` or, if it has none, the ``reason``."""

    text: str
    context: str
    value: str = ""
    note: str = ""
    reason: str = ""
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Titles:
    """The column titles in a table of requests."""

    item: Promise
    value: Promise
    note: Promise


@dataclass(frozen=True, slots=True)
class CallSubjects:
    """The names for the items in requests of one kind of run.

    ``items`` maps calls to their items, with None for a deleted item; it needs a bounded number of
    queries.
    """

    titles: Titles
    items: Callable[[Study, Sequence[Call]], dict[int, list[RequestItem | None]]]


def _nothing(_run: Run, _calls: Iterable[Call]) -> None:
    """Add nothing."""


@dataclass(frozen=True, slots=True)
class ApiExtension:
    """API fields of one kind of run; for other kinds they have a default value.

    ``add_to_calls`` adds the data for these fields to requests of the kind's runs; it needs a
    bounded number of queries.
    """

    run: type[Serializer[Any]] = Serializer
    run_detail: type[Serializer[Any]] = Serializer
    call: type[Serializer[Any]] = Serializer
    call_detail: type[Serializer[Any]] = Serializer
    add_to_calls: Callable[[Run, Iterable[Call]], None] = _nothing


# The contract between an app and the engine: requests, readings, storage and pages
#
# The engine deals with calls, money and time, but not with labels. Each app registers a `RunKind`
# for each of its kinds of runs when it is loaded. This way, the pages of one app can show, start
# and list the runs of another app without importing it.


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One request made by the app.

    Parameters
    ----------
    messages
        Chat messages, beginning with the part that all calls of a run share.
    schema
        JSON schema of the answer; sent only to endpoints that follow a schema.
    flags
        Flags about the judged texts, such as removed invisible characters.
    """

    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any] | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyReading:
    """The reading of a reply.

    Parameters
    ----------
    value
        The value that the app stores, in any form.
    reason
        Empty if every item of the call has a value; otherwise the reason why not. A call with a
        reason is sent again; if this does not help, it ends unscored with this reason.
    """

    value: Any = None
    reason: str = ""
    is_refusal: bool = False
    is_truncated: bool = False

    @classmethod
    def unscored(cls, reason: str, value: Any = None) -> "ReplyReading":
        """Return a reading without a usable value; ``value`` is the part that is still stored."""
        return cls(
            value,
            str(reason),
            reason == UnscoredReason.REFUSED,
            reason == UnscoredReason.TRUNCATED,
        )


@dataclass(frozen=True, slots=True)
class EndedCall:
    """An ended call: done with a value, or unscored with a reason."""

    call: Call
    fence: int
    reading: ReplyReading


@dataclass(frozen=True, slots=True)
class Subject:
    """One subject to judge, with a name that is unique in the run, and its primary keys."""

    name: str
    ids: tuple[int, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Subjects(Sequence[Subject]):
    """Subjects stored as primary keys only, because a run may have a hundred thousand.

    Parameters
    ----------
    prefix
        A subject's name consists of this prefix and its first primary key.
    keys
        Primary keys (``"q"``) of all subjects in order.
    starts
        The index in ``keys`` at which each subject begins; a range if every subject has one key.
    """

    prefix: str
    keys: Sequence[int]
    starts: Sequence[int]

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, place: int) -> Subject: ...
    @overload
    def __getitem__(self, place: slice) -> list[Subject]: ...
    def __getitem__(self, place: int | slice) -> Subject | list[Subject]:
        """Return one subject, or a list for a slice."""
        if isinstance(place, slice):
            return [self[index] for index in range(len(self))[place]]
        place = range(len(self))[place]
        end = self.starts[place + 1] if place + 1 < len(self) else len(self.keys)
        ids = tuple(self.keys[self.starts[place] : end])
        return Subject(f"{self.prefix}{ids[0]}", ids)


class RunKind(Protocol):
    """One kind of run, with its contract with the engine, its pages and its API."""

    name: str
    # The name of runs of this kind, and the menu section that lists them.
    title: Promise
    home: Home
    parser_version: int
    # The term for a call without a usable value; kinds that write texts do not score anything.
    unusable: Promise = _("Unscored")
    prompts: Mapping[str, PromptKind]
    tried_on: PreviewTargets
    call_subjects: CallSubjects
    # For the list in the API: related tables that its fields need, and filters by public ids.
    related: tuple[str, ...] = ()
    filters: Mapping[str, str] = MappingProxyType({})
    # Dotted paths of its view, its start in the API, and its additional API fields, which are
    # loaded on first use.
    view_path: str
    start_path: str
    told_path: str = ""

    @property
    def values_title(self) -> Promise | str:
        """The title above the distribution of `values` on pages."""

    @property
    def dominance(self) -> float | None:
        """The share of one value that triggers a pre-flight warning; None if values are sizes."""

    def begin(self, run: Run) -> None:
        """Create the app's own rows for a run, in the transaction that creates the run."""

    def subjects(self, run: Run) -> Sequence[Subject]:
        """Return all subjects of the run in the order of their calls; see `Subjects`."""

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Return the requests for some subjects in order; the number of queries is bounded."""

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read one reply without accessing the database."""

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store the results of ended calls, inside the transaction that ends these calls."""

    def values(self, run: Run) -> dict[str, int]:
        """Count how often each value was given, for the pre-flight; see `planning.dominant`."""

    def texts(self, run: Run) -> Sequence[str]:
        """Return the texts written so far if replies of this kind are prose; otherwise nothing."""

    def check(self, run: Run) -> list[str]:
        """List contradictions between stored results and the ledger."""

    def page(self, request: "StudyRequest", study: "Study", run: Run) -> HttpResponse:
        """Render the page of one run."""
        return cast(HttpResponse, import_string(self.view_path)(request, study, run))

    def start(self) -> RunStart:
        """Return the API's request body for starting a run of the kind, with its form."""
        return cast(RunStart, import_string(self.start_path))

    def told(self) -> ApiExtension:
        """Return the kind's additional API fields for runs and calls."""
        return (
            cast(ApiExtension, import_string(self.told_path)) if self.told_path else ApiExtension()
        )

    def about(self, run: Run) -> str:
        """Describe the target of a run in a few words."""
        return str(self.title)


KINDS: dict[str, RunKind] = {}


def register(kind: RunKind) -> None:
    """Register a kind of run; called once from an app's ``ready()``."""
    KINDS[kind.name] = kind


def kind_named(name: str) -> RunKind:
    """Return the kind with this name; KeyError if no app registered it."""
    return KINDS[name]


def kind_of(run: Run) -> RunKind:
    """Return the kind of a run."""
    return KINDS[run.kind]


def about(run: Run) -> str:
    """Describe the target of a run briefly, or return the kind's name if no app registered it."""
    return kind_of(run).about(run) if run.kind in KINDS else run.kind


def unusable(run: Run) -> Promise:
    """Return the kind's term for calls without a usable value."""
    return kind_of(run).unusable if run.kind in KINDS else RunKind.unusable


@cache
def prompt_kinds() -> Mapping[str, PromptKind]:
    """Return all kinds of prompts, in the order in which their kinds of runs were registered."""
    return {name: prompt for kind in KINDS.values() for name, prompt in kind.prompts.items()}


def run_kind_of(prompt_kind: str) -> RunKind:
    """Return the kind of run that uses a kind of prompt; KeyError if none does."""
    for kind in KINDS.values():
        if prompt_kind in kind.prompts:
            return kind
    raise KeyError(prompt_kind)


# Raters that represent the runs of judges

IDENTITY_FIELDS = ("endpoint", "origin", "model", "prompt", "params")


def rater_of(run: Run, name: str = "", **also: Any) -> Rater:
    """Return the rater for this model, prompt and parameters, created on first use.

    ``also`` contains further values that distinguish judges. The default ``name`` consists of the
    model and the prompt.
    """
    identity = {field: run.spec[field] for field in IDENTITY_FIELDS} | also
    rater, _is_new = Rater.objects.get_or_create(
        study=run.study,
        kind=Rater.Kind.MODEL,
        external_id=digest(identity),
        defaults={"name": (name or f"{run.spec['model']} · {run.prompt}")[:120]},
    )
    return rater


# Runs, prompts and endpoints in the menu of a study

RUNS = Finder(
    kind=_("Run"),
    rows=lambda study: Run.objects.filter(study=study).select_related("prompt"),
    fields=("name", "number", "prompt__name"),
    page="run",
    name=lambda run: f"#{run.number} {run.name or run.prompt.name}",
)


def run_entries() -> Iterator[MenuEntry]:
    """Yield the menu entries for lists of runs, and then for prompts and endpoints."""
    for home in dict.fromkeys(kind.home for kind in KINDS.values()):
        yield MenuEntry(home.section, home.title, home.route, 40, waits=partial(_waiting, home))
    yield MenuEntry("judges", _("Prompts"), "prompts", place=80)
    tour = _(
        "Connect language models here. A small one is built in, so that you can try "
        "everything without a key."
    )
    yield MenuEntry("judges", _("Endpoints"), "endpoints", place=90, tour=tour)


def _waiting(home: Home, study: Any) -> int:
    """Count the runs in a list that wait for a decision."""
    listed = [name for name, kind in KINDS.items() if kind.home == home]
    return Run.objects.filter(study=study, kind__in=listed, state__in=Run.WAITING).count()
