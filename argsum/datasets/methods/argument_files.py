"""Read files of arguments: ArgKP, argument pairs, lists and rated arguments."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from argsum.datasets.methods.argument_cells import (
    LONGEST_TEXT,
    CellBuilder,
    RawArgument,
    RawCell,
    as_label,
    as_quality,
    as_split,
    as_stance,
    as_text,
    named_table,
    quality_columns,
)
from cqa_site.tabular import BadCell, Problem, Table, TableRow, UnreadableFile, preview
from cqa_site.tabular.binary_formats import folder_members, unpacked


# A file of pairs has one row per argument and key point (topic, argument, key_point, stance,
# label, set, quality), like the processed files of the argument summarization paper; an argument
# without a key point has a row with an empty key point and label. A file of pairs without a label
# column, like the file of Debate (topic, argument, summary, stance), contains only matches, and
# all other pairs are undecided. A list has one row per argument (topic, argument; stance and
# quality if known) and no references.
@dataclass(frozen=True)
class ArgumentFile:
    """Cells read from a file; invalid rows appear only in ``problems``.

    ``has_label`` is false for pairs without a label column.
    """

    cells: list[RawCell]
    problems: list[Problem] = field(default_factory=list)
    has_label: bool = True


def read_argument_pairs(path: str | os.PathLike[str], *, name: str, **how: Any) -> ArgumentFile:
    """Read a file of argument–key point pairs; ``how`` is passed to `cqa_site.tabular.open_table`.

    Without a label column, every row is a match, and every repetition of a text counts as another
    argument. Raises UnreadableFile if the file as a whole is unusable; see
    `cqa_site.tabular`.
    """
    needed = ("topic", "argument", "key_point", "stance")
    optional = ("label", "set", "quality", "arg_id", "key_point_id")
    with named_table(path, name=name, needed=needed, optional=optional, **how) as table:
        return _read_arguments(table)


def read_argument_list(path: str | os.PathLike[str], *, name: str, **how: Any) -> ArgumentFile:
    """Read a list of arguments without references. Raises the errors of `read_argument_pairs`."""
    needed, optional = ("topic", "argument"), ("stance", "set", "quality", "arg_id")
    with named_table(path, name=name, needed=needed, optional=optional, **how) as table:
        return _read_arguments(table)


def _read_arguments(table: Table) -> ArgumentFile:
    build, has_label = CellBuilder(), "label" in table.columns
    needs_stance = "key_point" in table.columns
    take = partial(_take_row, build=build, has_label=has_label, needs_stance=needs_stance)
    problems = [problem for problem in table.records(take) if problem]
    return ArgumentFile(build.cells, problems, has_label=has_label)


def _take_row(row: TableRow, *, build: CellBuilder, has_label: bool, needs_stance: bool) -> None:
    values = row.values
    is_match = as_label(values) if has_label else True
    key_point = as_text(values, "key_point")
    if has_label and is_match is not None and not key_point.strip():
        raise BadCell("key_point", "is empty, but the pair has a label")
    name, text = as_text(values, "arg_id"), as_text(values, "argument")
    argument = RawArgument(name, text, as_quality(values), row.number)
    stance = as_stance(values, is_needed=needs_stance)
    cell = build.cell(as_text(values, "topic"), stance, as_split(values))
    place, is_repeat = build.add_argument(cell, argument)
    cell.repeats += is_repeat and not has_label
    if key_point.strip():
        point = RawArgument(as_text(values, "key_point_id"), key_point, row=row.number)
        number = build.add_key_point(cell, point)
        if is_match is not None:
            build.add_match(cell, place, number, is_match)


# Files ``arguments_<split>``, ``key_points_<split>`` and ``labels_<split>`` for train, dev or
# test. Ids are unique only within a split; a pair without a label is undecided.
ARGKP_PARTS = ("arguments", "key_points", "labels")
ARGKP_SPLITS = ("train", "dev", "test")
ENDINGS = (".csv", ".tsv", ".jsonl", ".json")
_Place = tuple[RawCell, int]


def read_argkp(path: str | os.PathLike[str], *, name: str) -> ArgumentFile:
    """Read the splits in a folder or ZIP archive; problems name the member file.

    Folders inside an archive and other members are ignored, and no name from the archive is used
    for unpacking.

    Raises
    ------
    UnreadableFile
        If there is no split, if one of its three files is missing or occurs twice, or if a file
        is unusable.
    """
    if Path(path).is_dir():
        return _read_members(folder_members(Path(path), is_wanted), name)
    with unpacked(path, name=name, is_wanted=is_wanted) as members:
        return _read_members(members, name)


def is_wanted(member: str) -> bool:
    """Return whether a file name (without folders) is one of a split's three files."""
    return _part_of(member) is not None


def _part_of(member: str) -> tuple[str, str] | None:
    stem, ending = os.path.splitext(member.lower())
    part, _, split = stem.rpartition("_")
    is_known = part in ARGKP_PARTS and split in ARGKP_SPLITS and ending in ENDINGS
    return (split, part) if is_known else None


def _read_members(members: Mapping[str, Path], name: str) -> ArgumentFile:
    files: dict[tuple[str, str], tuple[str, Path]] = {}
    for member, path in members.items():
        key = _part_of(member)
        if key in files:
            raise UnreadableFile(
                name, f"contains both {files[key][0]} and {member}; one is expected"
            )
        if key is not None:
            files[key] = (member, path)
    splits = [
        split for split in ARGKP_SPLITS if any((split, part) in files for part in ARGKP_PARTS)
    ]
    if not splits:
        reason = (
            "contains no arguments_….csv, key_points_….csv and labels_….csv for train, dev or test"
        )
        raise UnreadableFile(name, reason)
    build, problems = CellBuilder(), []
    for split in splits:
        for part in ARGKP_PARTS:
            if (split, part) not in files:
                raise UnreadableFile(name, f"contains files of {split}, but no {part}_{split}.csv")
        problems += _SplitFiles(build, split).read(
            {part: files[split, part] for part in ARGKP_PARTS}
        )
    return ArgumentFile(cells=build.cells, problems=problems)


class _SplitFiles:
    """The three files of one split; their ids are valid only within the split."""

    def __init__(self, build: CellBuilder, split: str) -> None:
        self.build = build
        self.split = split
        self.arguments: dict[str, _Place] = {}
        self.key_points: dict[str, _Place] = {}

    def read(self, files: Mapping[str, tuple[str, Path]]) -> list[Problem]:
        """Read arguments and key points first, then their labels."""
        takers = {
            "arguments": (self._take_argument, ("arg_id", "argument", "topic", "stance")),
            "key_points": (self._take_key_point, ("key_point_id", "key_point", "topic", "stance")),
            "labels": (self._take_label, ("arg_id", "key_point_id", "label")),
        }
        problems: list[Problem] = []
        for part, (take, needed) in takers.items():
            member, path = files[part]
            with named_table(path, name=member, needed=needed) as table:
                problems += filter(None, table.records(take))
        return problems

    def _cell(self, row: TableRow) -> RawCell:
        return self.build.cell(as_text(row.values, "topic"), as_stance(row.values), self.split)

    def _take_argument(self, row: TableRow) -> None:
        key = _new_id(row, "arg_id", self.arguments)
        text = as_text(row.values, "argument")
        cell = self._cell(row)
        new = RawArgument(key, text, row=row.number)
        place, is_repeat = self.build.add_argument(cell, new)
        cell.repeats += is_repeat
        self.arguments[key] = (cell, place)

    def _take_key_point(self, row: TableRow) -> None:
        key = _new_id(row, "key_point_id", self.key_points)
        text = as_text(row.values, "key_point")
        cell = self._cell(row)
        new = RawArgument(key, text, row=row.number)
        self.key_points[key] = (cell, self.build.add_key_point(cell, new))

    def _take_label(self, row: TableRow) -> None:
        cell, argument = _known_id(row, "arg_id", self.arguments)
        other, key_point = _known_id(row, "key_point_id", self.key_points)
        if cell is not other:
            raise BadCell("key_point_id", "belongs to another topic or stance than the argument")
        is_match = as_label(row.values)
        if is_match is not None:
            self.build.add_match(cell, argument, key_point, is_match)


def _new_id(row: TableRow, column: str, known: Mapping[str, _Place]) -> str:
    key = as_text(row.values, column)
    if not key.strip():
        raise BadCell(column, "is empty")
    if key in known:
        raise BadCell(column, f"{key[:40]!a} appears twice in this file")
    return key


def _known_id(row: TableRow, column: str, known: Mapping[str, _Place]) -> _Place:
    key = as_text(row.values, column)
    if key not in known:
        raise BadCell(column, f"this split has no {column} {key[:40]!a}")
    return known[key]


class RatedRow(NamedTuple):
    """One rated argument on a topic; a missing stance is 0 and a missing split is ""."""

    row: int
    topic: str
    stance: int
    split: str
    text: str
    quality: float


@dataclass(frozen=True)
class RatedFile:
    """Rated arguments of a file; ``others`` are the quality columns other than ``column``."""

    rows: Sequence[RatedRow]
    column: str
    others: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)


def read_rated(
    path: str | os.PathLike[str], *, name: str, column: str = "", **how: Any
) -> RatedFile:
    """Read arguments with their quality; rows without a quality are left out.

    ``column`` is the header of the quality, by default the usual quality; ``how`` is passed to
    `cqa_site.tabular.open_table`, which also documents the errors.
    """
    known = quality_columns(preview(path, name=name, **how).columns)
    if not known or (column and column not in known):
        wanted = column or "quality"
        raise UnreadableFile(name, f"has no quality column {wanted!a}")
    chosen = column or known[0]
    needed, optional = ("topic", "argument", "quality"), ("stance", "set")
    about: dict[str, Any] = {"needed": needed, "optional": optional, "quality": chosen}
    with named_table(path, name=name, **about, **how) as table:
        records = [record for record in table.records(_rated_row) if record]
    rows = [record for record in records if isinstance(record, RatedRow)]
    problems = [record for record in records if isinstance(record, Problem)]
    others = tuple(header for header in known if header != chosen)
    return RatedFile(rows, chosen, others, problems)


def _rated_row(row: TableRow) -> RatedRow | None:
    """Return the argument of a row, or None if the row has no quality."""
    quality = as_quality(row.values)
    text, topic = as_text(row.values, "argument"), as_text(row.values, "topic")
    if not text.strip() or len(text) > LONGEST_TEXT:
        raise BadCell("argument", f"is not a text of 1 to {LONGEST_TEXT:,} characters")
    stance = as_stance(row.values, is_needed=False)
    if quality is None:
        return None
    return RatedRow(row.number, topic, stance, as_split(row.values), text, quality)
