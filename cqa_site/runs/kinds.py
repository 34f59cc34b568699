"""What an app tells the engine about its kind of run: how to ask, how to read, where to store.

The engine knows calls, money and time; it knows nothing of labels. An app registers one
`RunKind` per kind of job when it is loaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, overload

from django.utils.functional import Promise
from django.utils.module_loading import import_string

from .models import Call, Reply, Run


@dataclass(frozen=True, slots=True)
class Question:
    """One request as the app wants it asked.

    Parameters
    ----------
    messages
        Chat messages, the part that all calls of a run share first.
    schema
        JSON schema of the answer; sent only to endpoints that honour one.
    flags
        What was noticed about the judged texts, such as invisible characters taken out.
    """

    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any] | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply means.

    Parameters
    ----------
    value
        What the app stores; whatever shape it likes.
    reason
        Empty if every item of the call has a value; else why not. Such a reply is asked
        for again, and if that does not help, the call ends unscored with this reason.
    """

    value: Any = None
    reason: str = ""
    is_refusal: bool = False
    is_truncated: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """A call that is over: done with a value, or unscored with a reason."""

    call: Call
    fence: int
    reading: Reading


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing to be judged: a name unique in the run, and the primary keys behind it."""

    name: str
    ids: tuple[int, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Subjects(Sequence[Subject]):
    """Subjects kept as their primary keys alone: a run may have a hundred thousand.

    Parameters
    ----------
    prefix
        A subject is named by this and the first of its primary keys.
    keys
        Primary keys (``"q"``), subject after subject.
    starts
        Where in ``keys`` each subject begins; a range where every subject has one.
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
        """One subject, or some of them."""
        if isinstance(place, slice):
            return [self[one] for one in range(len(self))[place]]
        place = range(len(self))[place]
        end = self.starts[place + 1] if place + 1 < len(self) else len(self.keys)
        ids = tuple(self.keys[self.starts[place] : end])
        return Subject(f"{self.prefix}{ids[0]}", ids)


class RunKind(Protocol):
    """One kind of run."""

    parser_version: int
    # Stands before the spread of `values` on pages.
    values_title: Promise | str
    # Share of one value from which the pre-flight warns; None where values are sizes of prose.
    dominance: float | None

    def begin(self, run: Run) -> None:
        """Make the app's own rows of a run, in the transaction that makes the run."""

    def subjects(self, run: Run) -> Sequence[Subject]:
        """All subjects of the run, in the order in which they should be asked; see `Subjects`."""

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[Question]:
        """The requests for some subjects, in the same order; bounded number of queries."""

    def read(self, run: Run, call: Call, reply: Reply) -> Reading:
        """Read one reply; no database access."""

    def store(self, run: Run, ended: Sequence[Ended]) -> None:
        """Store what ended, inside the transaction that ends the calls."""

    def values(self, run: Run) -> dict[str, int]:
        """How often each value was given so far, for the pre-flight; see `spread.dominant`."""

    def texts(self, run: Run) -> Sequence[str]:
        """What was written so far, for kinds whose replies are prose; else nothing."""

    def check(self, run: Run) -> list[str]:
        """Sentences about stored results that contradict the ledger."""


KINDS: dict[str, str] = {}


def register(name: str, path: str) -> None:
    """Make a kind of run known; ``path`` names its class, which is imported at first use."""
    KINDS[name] = path


@cache
def kind_named(name: str) -> RunKind:
    """The kind of that name; KeyError if no app registered it."""
    kind: RunKind = import_string(KINDS[name])()
    return kind


def kind_of(run: Run) -> RunKind:
    """The kind of a run."""
    return kind_named(run.kind)
