"""Arguments and reference key points of one topic and stance, as files bring them.

Every reader of argument files builds the same shape with `CellBuilder`, which joins rows that
name the same argument and finds rows that contradict each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

LONGEST_TOPIC = 500
LONGEST_TEXT = 10_000
LONGEST_NAME = 120


class Misfit(ValueError):
    """A row cannot be taken; ``column`` says which of its cells is at fault."""

    def __init__(self, column: str, reason: str) -> None:
        self.column = column
        self.reason = reason
        super().__init__(f"{column}: {reason}")


class RawArgument(NamedTuple):
    """One argument: the id its file gives it ("" for none), its text exactly as given.

    ``quality`` is 0–1, None where the file does not say. ``row`` is where it was read first.
    """

    name: str
    text: str
    quality: float | None = None
    row: int | None = None


class RawKeyPoint(NamedTuple):
    """One reference key point, as `RawArgument`."""

    name: str
    text: str
    row: int | None = None


@dataclass
class RawCell:
    """One topic and stance (1, -1, or 0 without one) with what a file says about it.

    ``matches`` maps (position of the argument, position of the key point), from 0, to whether
    they match; a pair that is not there is undecided. ``repeats`` counts arguments that were
    read again under another id with the same text; ``again`` are positions of those with a match
    that stood in one more row.
    """

    topic: str
    stance: int
    split: str = ""
    arguments: list[RawArgument] = field(default_factory=list)
    key_points: list[RawKeyPoint] = field(default_factory=list)
    matches: dict[tuple[int, int], bool] = field(default_factory=dict)
    repeats: int = 0
    again: set[int] = field(default_factory=set)

    def groups(self) -> list[str]:
        """For each argument topic, stance and the key points that it matches, as one text."""
        points: list[list[str]] = [[] for _argument in self.arguments]
        for (argument, key_point), is_match in self.matches.items():
            if is_match:
                points[argument].append(self.key_points[key_point].text)
        return [group_name(self.topic, self.stance, each) for each in points]

    def matched(self) -> list[int | None]:
        """For each argument how many key points it matches; None in a cell without any."""
        if not self.key_points:
            return [None] * len(self.arguments)
        counts = [0] * len(self.arguments)
        for (argument, _), is_match in self.matches.items():
            counts[argument] += is_match
        return list(counts)


def group_name(topic: str, stance: int, key_points: Iterable[str]) -> str:
    """What arguments of one cell with the same key points share."""
    return "\n".join([topic, str(stance), *sorted(key_points)])


class CellBuilder:
    """Collects rows into cells, in the order in which topics and stances appear."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, int], RawCell] = {}
        self._arguments: dict[tuple[str, int, str], int] = {}
        self._key_points: dict[tuple[str, int, str], int] = {}

    @property
    def cells(self) -> list[RawCell]:
        """What was read so far; without cells that hold no argument."""
        return [cell for cell in self._cells.values() if cell.arguments]

    def cell(self, topic: str, stance: int, split: str = "") -> RawCell:
        """The cell of a topic and stance; raises Misfit if it is in another split already."""
        if not topic.strip():
            raise Misfit("topic", "is empty")
        if len(topic) > LONGEST_TOPIC:
            raise Misfit("topic", f"longer than {LONGEST_TOPIC} characters")
        found = self._cells.setdefault((topic, stance), RawCell(topic, stance, split))
        if found.split != split:
            reason = f"this topic and stance were {found.split or 'without a split'} before"
            raise Misfit("set", reason)
        return found

    def add_argument(self, cell: RawCell, new: RawArgument) -> tuple[int, bool]:
        """Position of the argument in its cell, and whether its text was there already."""
        _check("argument", new.text, new.name)
        key = (cell.topic, cell.stance, new.text)
        if key not in self._arguments:
            self._arguments[key] = len(cell.arguments)
            cell.arguments.append(new)
            return self._arguments[key], False
        place = self._arguments[key]
        cell.arguments[place] = _joined(cell.arguments[place], new)
        return place, True

    def add_key_point(self, cell: RawCell, new: RawKeyPoint) -> int:
        """Position of the key point in its cell."""
        _check("key_point", new.text, new.name)
        key = (cell.topic, cell.stance, new.text)
        if key not in self._key_points:
            self._key_points[key] = len(cell.key_points)
            cell.key_points.append(new)
        return self._key_points[key]

    def add_match(self, cell: RawCell, argument: int, key_point: int, is_match: bool) -> None:
        """Keep a label; raises Misfit if the same pair was labelled otherwise."""
        known = cell.matches.get((argument, key_point))
        if known not in (None, is_match):
            raise Misfit("label", "the same pair was labelled otherwise before")
        if known and is_match:
            cell.again.add(argument)
        cell.matches[argument, key_point] = is_match


def _check(column: str, text: str, name: str) -> None:
    if not text.strip():
        raise Misfit(column, "is empty")
    if len(text) > LONGEST_TEXT:
        raise Misfit(column, f"longer than {LONGEST_TEXT:,} characters")
    if len(name) > LONGEST_NAME:
        raise Misfit(f"{column}_id", f"longer than {LONGEST_NAME} characters")


def _joined(known: RawArgument, new: RawArgument) -> RawArgument:
    """A later row may add the quality, and may not contradict it."""
    if new.quality is None or new.quality == known.quality:
        return known
    if known.quality is not None:
        raise Misfit("quality", f"the same argument had {known.quality:g} before")
    return known._replace(quality=new.quality)
