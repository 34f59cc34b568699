"""Columns of argument files: the names they go by, and their cells as values.

A cell that does not fit raises `Misfit` with the name of its column.
"""

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from argsum.datasets.methods.raw_cells import CellBuilder, Misfit, RawCell
from cqa_site.tabular import Problem, Row, UnreadableFile, Value, open_table, printable_name

T = TypeVar("T")

# Lower case, without anything but letters and digits.
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
# Qualities of ArgQ-30k that stand side by side; the first is read unless another one is named.
BESIDE = ("wa", "macep")
# What `cqa_site.tabular` calls a column whose header is empty.
_UNNAMED = re.compile(r"Column \d+|Unnamed: \d+")
# Regressors overshoot; the released qualities reach 1.07.
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
_LABELS = {
    **dict.fromkeys(("1", "true", "yes"), True),
    **dict.fromkeys(("0", "false", "no"), False),
    **dict.fromkeys(("", "undecided"), None),
}


def named_rows(
    path: str | os.PathLike[str],
    *,
    name: str,
    needed: Collection[str],
    optional: Collection[str] = (),
    quality: str = "",
) -> Iterator[Row]:
    """Rows of a file under the names of `ALIASES`; other columns are left out.

    ``quality`` is the header of the quality to read, where a file has several.

    Raises
    ------
    UnreadableFile
        Also if a needed column is missing or two columns have the same meaning.
    """
    with open_table(path, name=name) as table:
        found = _columns(table.name, table.columns, [*needed, *optional], quality)
        missing = [column for column in needed if column not in found]
        if missing:
            raise UnreadableFile(table.name, f"has no column {missing[0]!a}")
        for row in table.rows:
            values = {column: row.values[header] for column, header in found.items()}
            yield Row(row.number, values)


def named_columns(headers: Iterable[str]) -> set[str]:
    """Which of the columns of `ALIASES` a header has."""
    return {column for header in headers if (column := _column_of(header, ALIASES))}


def unread_columns(headers: Iterable[str]) -> tuple[str, ...]:
    """Columns of a header that mean nothing here; one without a name is a count of the rows."""
    return tuple(
        printable_name(each, 40)
        for each in headers
        if not _column_of(each, ALIASES) and not _UNNAMED.fullmatch(each)
    )


def quality_columns(headers: Iterable[str]) -> list[str]:
    """Headers of qualities, the one that is usually read first.

    Examples
    --------
    >>> quality_columns(["topic", "MACE-P", "WA"])
    ['WA', 'MACE-P']
    """
    names = ALIASES["quality"]
    found = [header for header in headers if _plain(header) in names]
    return sorted(found, key=lambda header: names.index(_plain(header)))


def _plain(header: str) -> str:
    # A repeated header arrives with a number behind it.
    bare = header.rsplit(" (", 1)[0] if header.endswith(")") else header
    return "".join(char for char in bare.lower() if char.isalnum())


def _column_of(header: str, wanted: Collection[str]) -> str | None:
    plain = _plain(header)
    return next((column for column in wanted if plain in ALIASES[column]), None)


def _columns(
    file: str, headers: list[str], wanted: Collection[str], quality: str = ""
) -> dict[str, str]:
    found: dict[str, str] = {}
    qualities = quality_columns(headers)
    if not quality and sorted(map(_plain, qualities)) == sorted(BESIDE):
        quality = qualities[0]
    for header in headers:
        column = _column_of(header, wanted)
        if column == "quality" and quality and header != quality:
            continue
        if column in found:
            reason = f"two columns say the same: {found[column]!a} and {header!a}"
            raise UnreadableFile(file, reason, column=header[:80])
        if column is not None:
            found[column] = header
    return found


def as_text(values: Mapping[str, Value], column: str) -> str:
    """Text as it is, a whole number as its digits, "" for an empty cell."""
    value = values.get(column)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Misfit(column, "is neither text nor a number")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def as_stance(values: Mapping[str, Value], *, is_needed: bool = True) -> int:
    """1 or -1; 0 without a stance, which only some files may leave out."""
    given = as_text(values, "stance")
    stance = _one_of(_STANCES, "stance", given, "1, -1, pro, con")
    if is_needed and stance == 0:
        raise Misfit("stance", f"{given[:40]!a} is none of 1, -1, pro, con")
    return stance


def as_split(values: Mapping[str, Value]) -> str:
    """The split in its fixed spelling; "" without one."""
    return _one_of(_SPLITS, "set", as_text(values, "set"), "train, dev, test")


def as_label(values: Mapping[str, Value]) -> bool | None:
    """Whether a pair matches; None where that is undecided."""
    value = values.get("label")
    given = str(value) if isinstance(value, bool) else as_text(values, "label")
    return _one_of(_LABELS, "label", given, "1, 0")


def as_quality(values: Mapping[str, Value]) -> float | None:
    """A number from 0 to 1, which a predicted one may pass a little; None for an empty cell."""
    given = as_text(values, "quality").strip()
    if not given:
        return None
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not -QUALITY_SLACK <= number <= 1 + QUALITY_SLACK:
        raise Misfit("quality", f"{given[:40]!a} is no number from 0 to 1")
    return number


def _one_of(offered: Mapping[str, T], column: str, given: str, shown: str) -> T:
    plain = given.strip().lower().removesuffix(".0")
    if plain not in offered:
        raise Misfit(column, f"{given[:40]!a} is none of {shown}")
    return offered[plain]


def cell_of(build: CellBuilder, values: Mapping[str, Value], **stance: Any) -> RawCell:
    """The cell that a row belongs to."""
    return build.cell(as_text(values, "topic"), as_stance(values, **stance), as_split(values))


def take_rows(rows: Iterator[Row], take: Callable[[Row], None], *, file: str) -> Iterator[Problem]:
    """Hand each row on; those that do not fit come back as problems."""
    for row in rows:
        try:
            take(row)
        except Misfit as misfit:
            yield Problem(file, row.number, misfit.column, misfit.reason)
