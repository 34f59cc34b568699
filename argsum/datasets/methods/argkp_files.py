"""ArgKP-2021: three files per split, from a folder or a ZIP archive of them.

``arguments_<split>``, ``key_points_<split>`` and ``labels_<split>`` for any of train, dev and
test. Ids are unique only within a split; a pair without a label is undecided.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from argsum.datasets.methods.argument_columns import (
    as_label,
    as_stance,
    as_text,
    named_rows,
    take_rows,
)
from argsum.datasets.methods.argument_files import ArgumentFile
from argsum.datasets.methods.raw_cells import (
    CellBuilder,
    Misfit,
    RawArgument,
    RawCell,
    RawKeyPoint,
)
from cqa_site.tabular import Problem, Row, UnreadableFile, printable_name
from cqa_site.tabular.archives import folder_members, unpacked

PARTS = ("arguments", "key_points", "labels")
ARGKP_SPLITS = ("train", "dev", "test")
ENDINGS = (".csv", ".tsv", ".jsonl", ".json")
_Place = tuple[RawCell, int]


def read_argkp(path: str | os.PathLike[str], *, name: str) -> ArgumentFile:
    """Read the splits that a folder or a ZIP archive holds.

    Parameters
    ----------
    path : path
        A folder, or an archive; folders inside the archive do not matter, other members are
        left alone, and nothing is unpacked under a name that the archive chose.
    name : str
        What the person calls it, for messages.

    Returns
    -------
    ArgumentFile
        Cells of train, dev and test in this order; the file of a problem is the member.

    Raises
    ------
    UnreadableFile
        If no split is there, one of its three files is missing or there twice, or a file cannot
        be trusted.
    """
    if Path(path).is_dir():
        return _read_members(folder_members(Path(path), is_wanted), name)
    with unpacked(path, name=name, is_wanted=is_wanted) as members:
        return _read_members(members, name)


def is_wanted(member: str) -> bool:
    """Whether a file of that name (without folders) belongs to the triple."""
    return _part_of(member) is not None


def _part_of(member: str) -> tuple[str, str] | None:
    stem, ending = os.path.splitext(member.lower())
    part, _, split = stem.rpartition("_")
    is_known = part in PARTS and split in ARGKP_SPLITS and ending in ENDINGS
    return (split, part) if is_known else None


def _read_members(members: Mapping[str, Path], name: str) -> ArgumentFile:
    files: dict[tuple[str, str], tuple[str, Path]] = {}
    for member, path in members.items():
        key = _part_of(member)
        if key in files:
            raise UnreadableFile(name, f"holds {files[key][0]} and {member}; one is expected")
        if key is not None:
            files[key] = (member, path)
    splits = [split for split in ARGKP_SPLITS if any((split, part) in files for part in PARTS)]
    if not splits:
        reason = (
            "holds no arguments_….csv, key_points_….csv and labels_….csv for train, dev or test"
        )
        raise UnreadableFile(name, reason)
    build, problems = CellBuilder(), []
    for split in splits:
        for part in PARTS:
            if (split, part) not in files:
                raise UnreadableFile(name, f"holds files of {split}, but no {part}_{split}.csv")
        problems += _Split(build, split).read({part: files[split, part] for part in PARTS})
    return ArgumentFile(cells=build.cells, problems=problems)


class _Split:
    """The three files of one split, whose ids mean something only here."""

    def __init__(self, build: CellBuilder, split: str) -> None:
        self.build = build
        self.split = split
        self.arguments: dict[str, _Place] = {}
        self.key_points: dict[str, _Place] = {}

    def read(self, files: Mapping[str, tuple[str, Path]]) -> list[Problem]:
        """Arguments and key points first, then what connects them."""
        takers = {
            "arguments": (self._take_argument, ("arg_id", "argument", "topic", "stance")),
            "key_points": (self._take_key_point, ("key_point_id", "key_point", "topic", "stance")),
            "labels": (self._take_label, ("arg_id", "key_point_id", "label")),
        }
        problems: list[Problem] = []
        for part, (take, needed) in takers.items():
            member, path = files[part]
            rows = named_rows(path, name=member, needed=needed)
            problems += take_rows(rows, take, file=printable_name(member))
        return problems

    def _cell(self, row: Row) -> RawCell:
        return self.build.cell(as_text(row.values, "topic"), as_stance(row.values), self.split)

    def _take_argument(self, row: Row) -> None:
        key = _new_id(row, "arg_id", self.arguments)
        text = as_text(row.values, "argument")
        cell = self._cell(row)
        new = RawArgument(key, text, None, row.number)
        place, is_repeat = self.build.add_argument(cell, new)
        cell.repeats += is_repeat
        self.arguments[key] = (cell, place)

    def _take_key_point(self, row: Row) -> None:
        key = _new_id(row, "key_point_id", self.key_points)
        text = as_text(row.values, "key_point")
        cell = self._cell(row)
        new = RawKeyPoint(key, text, row.number)
        self.key_points[key] = (cell, self.build.add_key_point(cell, new))

    def _take_label(self, row: Row) -> None:
        cell, argument = _known_id(row, "arg_id", self.arguments)
        other, key_point = _known_id(row, "key_point_id", self.key_points)
        if cell is not other:
            raise Misfit("key_point_id", "belongs to another topic or stance than the argument")
        is_match = as_label(row.values)
        if is_match is not None:
            self.build.add_match(cell, argument, key_point, is_match)


def _new_id(row: Row, column: str, known: Mapping[str, _Place]) -> str:
    key = as_text(row.values, column)
    if not key.strip():
        raise Misfit(column, "is empty")
    if key in known:
        raise Misfit(column, f"{key[:40]!a} stands in this file already")
    return key


def _known_id(row: Row, column: str, known: Mapping[str, _Place]) -> _Place:
    key = as_text(row.values, column)
    if key not in known:
        raise Misfit(column, f"{key[:40]!a} is no {column} of this split")
    return known[key]
