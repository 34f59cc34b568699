"""The words of an import: what a file says, and what came of it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from annotation.corpus.models.questions import text_key

Unit = tuple[str, str, str]
ItemKey = tuple[str, str]
RaterKey = tuple[str, str]
OBJECTS = (
    "comparisons",
    "arguments",
    "questions",
    "systems",
    "answers",
    "campaigns",
    "items",
    "raters",
    "votes",
    "sheets",
    "cells",
    "key_points",
    "matches",
    "sets",
    "counts",
    "metrics",
)
RESULTS = ("new", "same", "changed", "rejected")


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater's answer to one item as a file states it.

    ``external_id`` is the vote's own id in the source; without one a vote is
    known by its item and rater.
    """

    rater_kind: str
    rater_id: str
    rater_name: str = ""
    label: int | None = None
    state: str = "answered"
    external_id: str = ""
    at: datetime | None = None
    active_ms: int | None = None
    is_extra: bool = False
    is_flagged: bool = False
    is_rater_excluded: bool = False
    skip_reason: str = ""
    block: int = 0
    position: int = 0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a file: an argument, perhaps as an item of a campaign, perhaps with votes.

    ``item_id`` names the item inside the campaign; "" makes the argument itself
    the item. With ``keeps_first_copy`` a second, different vote of the same
    rater is flagged instead of rejected.
    """

    row: int | None
    object1: str
    object2: str
    text: str
    place: str = ""
    source_url: str = ""
    argument_id: str = ""
    campaign: str = ""
    item_id: str = ""
    control_label: int | None = None
    is_retired: bool = False
    votes: tuple[Vote, ...] = ()
    keeps_first_copy: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """One answer of a file: known by the file's name, its place there and its choice.

    ``arguments`` are the sentences it may cite, under their numbers; with
    ``joins_arguments`` the file has none and those of the same pair in the
    study are meant. ``column`` says where in the record the text stands.
    """

    row: int | None
    object1: str
    object2: str
    text: str
    source: str
    position: int
    system: str
    system_kind: str
    aspect: str = ""
    wording: str = ""
    scenario: int = 0
    choice: int = 1
    arguments: tuple[tuple[int, str], ...] = ()
    joins_arguments: bool = False
    column: str = ""


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """One question of a list: it is the one with this pair, aspect and wording, or a new one."""

    row: int | None
    object1: str
    object2: str
    aspect: str = ""
    wording: str = ""


@dataclass(frozen=True, slots=True)
class Flag:
    """A row that was rejected, or kept with a remark.

    ``place`` is the sheet of a workbook or the member of an archive that the row stands in.
    """

    row: int | None
    column: str
    reason: str
    is_rejection: bool = False
    object: str = "votes"
    place: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about the file as a whole."""

    text: str


@dataclass(frozen=True, slots=True)
class Near:
    """A text of a row that is nearly one of the study's; a person says whether it is the same.

    ``about`` says in words what both are about; ``decision`` is empty while nobody has decided.
    """

    row: int
    about: str
    given: str
    found: str
    answer: int
    likeness: float
    decision: str = ""


@dataclass(frozen=True, slots=True)
class Extra:
    """Something that another app takes from a file; ``book`` names who (see `registry`).

    ``is_row`` is false for what stands for many rows of the file at once.
    """

    book: ClassVar[str] = ""
    is_row: ClassVar[bool] = False

    row: int | None


Line = Entry | AnswerEntry | QuestionEntry | Extra | Flag | Note | Near
Row = tuple[str, int]


def empty_counts() -> dict[str, dict[str, int]]:
    """Zeros for every kind of object and every result."""
    return {name: dict.fromkeys(RESULTS, 0) for name in OBJECTS}


@dataclass
class Outcome:
    """What an import did, or would do."""

    counts: dict[str, dict[str, int]] = field(default_factory=empty_counts)
    flags: list[Flag] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    campaign_ids: list[int] = field(default_factory=list)
    near: list[Near] = field(default_factory=list)
    _rows: set[Row] = field(default_factory=set)
    _rejected: dict[str, set[Row]] = field(default_factory=dict)
    _rejected_as_a_whole: int = 0
    _has_other_than_rows: bool = False

    @property
    def rejected(self) -> int:
        """Rows that cannot be imported, each once however much is wrong with it."""
        return len(set().union(*self._rejected.values())) + self._rejected_as_a_whole

    @property
    def rows(self) -> dict[str, int | None]:
        """Rows of the file: read, rejected, and the problems of those, perhaps several of each.

        ``read`` is None where the reader takes many rows at once.
        """
        read = None if self._has_other_than_rows else len(self._rows)
        problems = sum(flag.is_rejection for flag in self.flags)
        return {"read": read, "rejected": self.rejected, "problems": problems}

    @property
    def added(self) -> int:
        """New objects of every kind."""
        return sum(counts["new"] for counts in self.counts.values())

    @property
    def changed(self) -> int:
        """Objects that are there with another content."""
        return sum(counts["changed"] for counts in self.counts.values())

    def saw(self, line: "Line") -> None:
        """Count the row that a line comes from."""
        if isinstance(line, Extra) and not line.is_row:
            self._has_other_than_rows = True
        elif not isinstance(line, Note) and line.row is not None:
            self._rows.add((getattr(line, "place", ""), line.row))

    def flag(self, flag: Flag) -> None:
        """Keep a remark; a rejected row is counted once under its object."""
        self.flags.append(flag)
        if not flag.is_rejection:
            return
        rejected = self._rejected.setdefault(flag.object, set())
        if flag.row is None:
            self._rejected_as_a_whole += 1
        elif (flag.place, flag.row) in rejected:
            return
        else:
            rejected.add((flag.place, flag.row))
        self.counts[flag.object]["rejected"] += 1


def unit_of(entry: Entry) -> Unit:
    """What makes an argument that argument: its pair, and its sentence's hash."""
    return (entry.object1, entry.object2, text_key(entry.text))


def item_of(entry: Entry) -> ItemKey:
    """Campaign and item id; without an id the argument's own hash names the item."""
    if entry.item_id:
        return entry.campaign, entry.item_id
    pair = text_key(f"{entry.object1}\x00{entry.object2}")
    return entry.campaign, f"unit:{pair[:16]}:{text_key(entry.text)}"


def rater_of(vote: Vote) -> RaterKey:
    """Kind and id of a vote's rater."""
    return vote.rater_kind, vote.rater_id
