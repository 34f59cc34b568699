"""Arguments and key points of one cell, and the columns that contain them."""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from cqa_site.tabular import (
    BadCell,
    ReadingLog,
    Table,
    TableRow,
    UnreadableFile,
    Value,
    open_table,
)
from cqa_site.tabular.cells import as_flag, as_number, as_text as cell_text, is_missing, trimmed
from cqa_site.tabular.layout import bare

# Every reader of argument files builds the same structure with `CellBuilder`, which joins rows
# about the same argument and finds contradictory rows.
LONGEST_TOPIC = 500
LONGEST_TEXT = 10_000
LONGEST_NAME = 120


class RawArgument(NamedTuple):
    """One argument or key point: its id in the file ("" if it has none) and its exact text.

    ``quality`` is 0–1, or None if the file does not give it. ``row`` is the row of its first
    occurrence.
    """

    name: str
    text: str
    quality: float | None = None
    row: int | None = None


@dataclass
class RawCell:
    """One topic and stance (1, -1, or 0 for no stance) with its data from a file.

    ``matches`` maps (position of the argument, position of the key point), from 0, to whether they
    match; a missing pair is undecided. ``repeats`` counts arguments that occurred again with the
    same text and another id. ``again`` contains the positions of arguments whose match is repeated
    in another row.
    """

    topic: str
    stance: int
    split: str = ""
    arguments: list[RawArgument] = field(default_factory=list)
    key_points: list[RawArgument] = field(default_factory=list)
    matches: dict[tuple[int, int], bool] = field(default_factory=dict)
    repeats: int = 0
    again: set[int] = field(default_factory=set)

    def groups(self) -> list[str]:
        """Return the group of each argument, named by topic, stance and matching key points."""
        points: list[list[str]] = [[] for _argument in self.arguments]
        for (argument, key_point), is_match in self.matches.items():
            if is_match:
                points[argument].append(self.key_points[key_point].text)
        return [group_name(self.topic, self.stance, point) for point in points]

    def matched(self) -> list[int | None]:
        """Count the matching key points of each argument; None if the cell has no key points."""
        if not self.key_points:
            return [None] * len(self.arguments)
        counts = [0] * len(self.arguments)
        for (argument, _), is_match in self.matches.items():
            counts[argument] += is_match
        return list(counts)


def group_name(topic: str, stance: int, key_points: Iterable[str]) -> str:
    """Return a name for the group of arguments of one cell with the same key points."""
    return "\n".join([topic, str(stance), *sorted(key_points)])


class CellBuilder:
    """Builds cells from rows; topics and stances keep the order of their first appearance."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, int], RawCell] = {}
        self._arguments: dict[tuple[str, int, str], int] = {}
        self._key_points: dict[tuple[str, int, str], int] = {}

    @property
    def cells(self) -> list[RawCell]:
        """Cells read so far that have arguments."""
        return [cell for cell in self._cells.values() if cell.arguments]

    def cell(self, topic: str, stance: int, split: str = "") -> RawCell:
        """Return the cell of a topic and stance. Raises BadCell if its split differs."""
        if not topic.strip():
            raise BadCell("topic", "is empty")
        if len(topic) > LONGEST_TOPIC:
            raise BadCell("topic", f"longer than {LONGEST_TOPIC} characters")
        raw_cell = self._cells.setdefault((topic, stance), RawCell(topic, stance, split))
        if raw_cell.split != split:
            reason = (
                f"this topic and stance have {raw_cell.split or 'no split'} earlier in the file"
            )
            raise BadCell("set", reason)
        return raw_cell

    def add_argument(self, cell: RawCell, new: RawArgument) -> tuple[int, bool]:
        """Return the argument's position in its cell, and whether its text has occurred before."""
        _check("argument", new.text, new.name)
        key = (cell.topic, cell.stance, new.text)
        if key not in self._arguments:
            self._arguments[key] = len(cell.arguments)
            cell.arguments.append(new)
            return self._arguments[key], False
        place = self._arguments[key]
        cell.arguments[place] = _joined(cell.arguments[place], new)
        return place, True

    def add_key_point(self, cell: RawCell, new: RawArgument) -> int:
        _check("key_point", new.text, new.name)
        key = (cell.topic, cell.stance, new.text)
        if key not in self._key_points:
            self._key_points[key] = len(cell.key_points)
            cell.key_points.append(new)
        return self._key_points[key]

    def add_match(self, cell: RawCell, argument: int, key_point: int, is_match: bool) -> None:
        """Store a label. Raises BadCell if the pair already has another label."""
        known = cell.matches.get((argument, key_point))
        if known not in (None, is_match):
            raise BadCell("label", "the same pair has another label earlier in the file")
        if known and is_match:
            cell.again.add(argument)
        cell.matches[argument, key_point] = is_match


def _check(column: str, text: str, name: str) -> None:
    if not text.strip():
        raise BadCell(column, "is empty")
    if len(text) > LONGEST_TEXT:
        raise BadCell(column, f"longer than {LONGEST_TEXT:,} characters")
    if len(name) > LONGEST_NAME:
        raise BadCell(f"{column}_id", f"longer than {LONGEST_NAME} characters")


def _joined(known: RawArgument, new: RawArgument) -> RawArgument:
    """Add a later row's quality to the argument. Raises BadCell if it has a different quality."""
    if new.quality is None or new.quality == known.quality:
        return known
    if known.quality is not None:
        raise BadCell("quality", f"the same argument has {known.quality:g} earlier in the file")
    return known._replace(quality=new.quality)


# An invalid cell raises `BadCell` with the name of its column.
T = TypeVar("T")

# In lower case, with letters and digits only.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "topic": ("topic", "motion"),
    "argument": ("argument", "text", "sentence", "comment"),
    "key_point": ("keypoint", "kp", "summary", "referencesummary"),
    "stance": ("stance", "polarity", "stancewa"),
    "label": ("label", "match", "ismatch"),
    "set": ("set", "split"),
    "quality": ("quality", "argumentquality", "ibmprodebqs", "wa", "macep"),
    "arg_id": ("argid", "argumentid", "id"),
    "key_point_id": ("keypointid", "kpid"),
}
# Qualities of ArgQ-30k, which occur together; the first is read unless another one is chosen.
BESIDE = ("wa", "macep")
# The name that `cqa_site.tabular` gives a column with an empty header.
_UNNAMED = re.compile(r"Column \d+|Unnamed: \d+")
# Regressors can exceed 1; the released qualities reach 1.07.
QUALITY_SLACK = 0.25
_STANCES = {
    **dict.fromkeys(("1", "pro", "for", "support", "supporting", "positive"), 1),
    **dict.fromkeys(("-1", "con", "against", "oppose", "opposing", "negative"), -1),
    **dict.fromkeys(("", "0", "none"), 0),
}
_SPLITS = {
    **dict.fromkeys(("dev", "val", "valid", "validation", "development"), "dev"),
    **dict.fromkeys(("train", "training"), "train"),
    "test": "test",
    "": "",
}


def named_table(
    path: str | os.PathLike[str],
    *,
    name: str,
    needed: Collection[str],
    optional: Collection[str] = (),
    quality: str = "",
    log: ReadingLog | None = None,
    **how: Any,
) -> Table:
    """Open a table and rename its columns to the names in `ALIASES`; other columns are left out.

    ``quality`` is the header of the quality to read if a file has several qualities. ``log`` and
    ``how`` are passed to `cqa_site.tabular.open_table`.

    Raises
    ------
    UnreadableFile
        Also if a required column is missing or two columns have the same meaning.
    """
    table = open_table(path, name=name, log=log, **how)
    try:
        columns = _columns(table.name, table.columns, [*needed, *optional], quality)
        if missing := [column for column in needed if column not in columns]:
            raise UnreadableFile(table.name, f"has no column {missing[0]!a}")
    except UnreadableFile:
        table.close()
        raise
    if log is not None:
        left = (header for header in table.columns if header not in columns.values())
        log.unread += [header for header in left if not _UNNAMED.fullmatch(header)]
    rows = table.rows
    table.columns = list(columns)
    table.rows = (
        TableRow(row.number, {column: row.values[header] for column, header in columns.items()})
        for row in rows
    )
    return table


def named_columns(headers: Iterable[str]) -> set[str]:
    """Return the names from `ALIASES` that the headers stand for."""
    return {column for header in headers if (column := _column_of(header, ALIASES))}


def quality_columns(headers: Iterable[str]) -> list[str]:
    """Return the quality headers, starting with the default.

    Examples
    --------
    >>> quality_columns(["topic", "MACE-P", "WA"])
    ['WA', 'MACE-P']
    """
    names = ALIASES["quality"]
    columns = [header for header in headers if _plain(header) in names]
    return sorted(columns, key=lambda header: names.index(_plain(header)))


def _plain(header: str) -> str:
    # A repeated header ends with a number.
    return bare(header.rsplit(" (", 1)[0] if header.endswith(")") else header)


def _column_of(header: str, wanted: Collection[str]) -> str | None:
    plain = _plain(header)
    return next((column for column in wanted if plain in ALIASES[column]), None)


def _columns(
    file: str, headers: list[str], wanted: Collection[str], quality: str = ""
) -> dict[str, str]:
    columns: dict[str, str] = {}
    qualities = quality_columns(headers)
    if not quality and sorted(map(_plain, qualities)) == sorted(BESIDE):
        quality = qualities[0]
    for header in headers:
        column = _column_of(header, wanted)
        if column == "quality" and quality and header != quality:
            continue
        if column in columns:
            reason = f"two columns have the same meaning: {columns[column]!a} and {header!a}"
            raise UnreadableFile(file, reason, column=header[:80])
        if column is not None:
            columns[column] = header
    return columns


def as_text(values: Mapping[str, Value], column: str) -> str:
    """Return text unchanged, a whole number as digits, and "" for an empty cell."""
    try:
        return cell_text(values.get(column)) or ""
    except ValueError as error:
        raise BadCell(column, str(error)) from None


def as_stance(values: Mapping[str, Value], *, is_needed: bool = True) -> int:
    """Return 1 or -1, or 0 if the stance is missing, which only some files allow."""
    text = as_text(values, "stance")
    stance = _one_of(_STANCES, "stance", text, "1, -1, pro, con")
    if is_needed and stance == 0:
        raise BadCell("stance", f"{text[:40]!a} is not one of 1, -1, pro, con")
    return stance


def as_split(values: Mapping[str, Value]) -> str:
    """Return the split in its standard spelling, or "" if the cell is empty."""
    return _one_of(_SPLITS, "set", as_text(values, "set"), "train, dev, test")


def as_label(values: Mapping[str, Value]) -> bool | None:
    """Return whether a pair matches, or None if it is undecided."""
    value = values.get("label")
    if isinstance(value, str) and value.strip().lower() == "undecided":
        return None
    if isinstance(value, str) and trimmed(value) in ("1.0", "0.0"):
        value = float(value)
    try:
        return as_flag(value)
    except ValueError:
        raise BadCell("label", f"{str(value)[:40]!a} is not one of 1, 0") from None


def as_quality(values: Mapping[str, Value]) -> float | None:
    """Return the quality, or None for an empty cell; predictions may slightly exceed 1."""
    value = values.get("quality")
    if is_missing(value):
        return None
    # The number is too small for a thousands separator, so a comma is the decimal point.
    point = value.replace(",", ".") if isinstance(value, str) else value
    try:
        number = as_number(point)
    except ValueError:
        number = None
    if number is None or not -QUALITY_SLACK <= number <= 1 + QUALITY_SLACK:
        raise BadCell("quality", f"{str(value)[:40]!a} is not a number from 0 to 1")
    return number


def _one_of(offered: Mapping[str, T], column: str, text: str, choices: str) -> T:
    plain = text.strip().lower().removesuffix(".0")
    if plain not in offered:
        raise BadCell(column, f"{text[:40]!a} is not one of {choices}")
    return offered[plain]
