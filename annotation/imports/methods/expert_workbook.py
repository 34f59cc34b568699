"""The experts' labels: a workbook of batch sheets and one control sheet.

A batch sheet has one column of labels, by one expert, over numbered sentences;
it may be entirely unrated. The control sheet has several columns under the
same header, one per expert, over sentences without numbers. Sheets are titled
with people's names, which this module reads past and never returns.
"""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from annotation.corpus.methods.label_scale import RELEVANCE_SCALE, parse_label
from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, SheetRow, open_workbook

_NUMBERED = re.compile(r"(\d{1,4})\. (.*)", re.DOTALL)
# UTF-8 bytes of U+0080…U+00FF that were once shown as Latin-1; the second byte
# of a no-break space has since become an ordinary space.
_MISREAD = re.compile("\u00c2([\u0080-\u00bf ])|\u00c3([\u0080-\u00bf])")


@dataclass(frozen=True)
class ExpertLabel:
    """One row of a batch sheet.

    Attributes
    ----------
    row : int
        Sheet row.
    number : int or None
        The number written before the sentence, which `text` is without.
    label : int or None
        None where the expert left the cell empty.
    comment : str
        All text right of the label, "" if there is none.
    """

    row: int
    object1: str
    object2: str
    number: int | None
    text: str
    label: int | None
    comment: str


@dataclass(frozen=True)
class ExpertControl:
    """One row of the control sheet; `labels` follow the sheet's `raters`.

    `is_scored` is False where the sheet's own variance and mean were cleared
    although rows below have them: that item was left out of the published
    agreement. Below the last filled one the cells were merely never filled.
    """

    row: int
    object1: str
    object2: str
    text: str
    labels: tuple[int | None, ...]
    control_label: int | None
    is_scored: bool


@dataclass(frozen=True)
class ExpertSheet:
    """One sheet under a pseudonym; `position` counts from 1 in workbook order."""

    kind: Literal["batch", "control"]
    position: int
    name_pseudonym: str
    raters: tuple[str, ...]
    rows: tuple[ExpertLabel | ExpertControl, ...]
    problems: tuple[Problem, ...]

    @property
    def is_rated(self) -> bool:
        return any(_has_label(row) for row in self.rows)


@dataclass(frozen=True)
class _Layout:
    comparison: int
    text: int
    labels: tuple[int, ...]
    control: int | None
    statistics: tuple[int, ...]


def _has_label(row: ExpertLabel | ExpertControl) -> bool:
    if isinstance(row, ExpertLabel):
        return row.label is not None
    return any(label is not None for label in row.labels)


def match_key(text: str) -> str:
    """A key under which a sentence of the workbook meets the crowd's copy of it.

    Undoes UTF-8 misread as Latin-1, then takes runs of white space (no-break
    spaces included) as one space and drops it at the ends. For matching only:
    never store or show the result. Case and everything else stay, also a space
    before a full stop, because the release has pairs of sentences that differ
    in nothing else.

    Examples
    --------
    >>> match_key("ad\\u00c3\\u00a9 is fine\\u00c2 .") == match_key("ad\\u00e9 is fine\\u00a0 .")
    True
    """
    repaired = _MISREAD.sub(_reread, text)
    return " ".join(repaired.split())


def _reread(found: re.Match[str]) -> str:
    low, high = found.groups()
    if high is not None:
        return chr(ord(high) + 0x40)
    return "\u00a0" if low == " " else str(low)


def read_expert_workbook(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    scale: Collection[int] = RELEVANCE_SCALE,
    limits: Limits = DEFAULT_LIMITS,
) -> list[ExpertSheet]:
    """Read every sheet up to its last filled row.

    Returns
    -------
    list of ExpertSheet
        In workbook order: "Batch 1", "Batch 2", … and "Control 1". Raters of
        the control sheet are "Expert 1", … by column, not the people of the
        batches. Rows with a problem are in `problems` and not in `rows`; a
        sheet without the expected header has only a problem.

    Raises
    ------
    UnreadableFile
        If the file is no workbook or above the limits.
    """
    shown_name = name or Path(path).name
    sheets: list[ExpertSheet] = []
    reader = open_workbook(path, name=shown_name, limits=limits)
    try:
        for position, rows in groupby(reader.rows(), key=lambda row: row.sheet):
            sheets.append(_read_sheet(position + 1, list(rows), shown_name, scale))
    finally:
        reader.close()
    return _with_pseudonyms(sheets)


def _with_pseudonyms(sheets: list[ExpertSheet]) -> list[ExpertSheet]:
    counts = {"batch": 0, "control": 0}
    result = []
    for sheet in sheets:
        counts[sheet.kind] += 1
        pseudonym = f"{sheet.kind.capitalize()} {counts[sheet.kind]}"
        raters = sheet.raters if sheet.kind == "control" else (pseudonym,)
        result.append(
            ExpertSheet(sheet.kind, sheet.position, pseudonym, raters, sheet.rows, sheet.problems)
        )
    return result


def _read_sheet(
    position: int, rows: list[SheetRow], file: str, scale: Collection[int]
) -> ExpertSheet:
    place = f"{file}, sheet {position}"
    layout = _find_layout(rows[0].cells)
    if layout is None:
        reason = "the first row is not comparison, arguments, relevance"
        return ExpertSheet("batch", position, "", (), (), (Problem(place, 1, None, reason),))
    read: list[ExpertLabel | ExpertControl] = []
    problems = []
    last_scored = _last_scored_row(rows, layout)
    for row in rows[1:]:
        try:
            read.append(_read_row(row, layout, scale, last_scored))
        except ValueError as error:
            problems.append(Problem(place, row.number, None, str(error)))
    is_control = len(layout.labels) > 1
    raters = tuple(f"Expert {at}" for at in range(1, len(layout.labels) + 1))
    kind: Literal["batch", "control"] = "control" if is_control else "batch"
    return ExpertSheet(kind, position, "", raters, tuple(read), tuple(problems))


def _find_layout(header: list[Any]) -> _Layout | None:
    names = [str(cell).strip().lower() if cell is not None else "" for cell in header]
    labels = tuple(at for at, name in enumerate(names) if name == "relevance")
    if "comparison" not in names or "arguments" not in names or not labels:
        return None
    control = [at for at, name in enumerate(names) if "supposed" in name]
    return _Layout(
        comparison=names.index("comparison"),
        text=names.index("arguments"),
        labels=labels,
        control=control[0] if control else None,
        statistics=tuple(at for at, name in enumerate(names) if name in ("var", "mean")),
    )


def _cell(row: SheetRow, at: int) -> Any:
    return row.cells[at] if at < len(row.cells) else None


def _has_statistics(row: SheetRow, layout: _Layout) -> bool:
    return any(_cell(row, at) is not None for at in layout.statistics)


def _last_scored_row(rows: list[SheetRow], layout: _Layout) -> int:
    return max((row.number for row in rows[1:] if _has_statistics(row, layout)), default=0)


def _read_row(
    row: SheetRow, layout: _Layout, scale: Collection[int], last_scored: int
) -> ExpertLabel | ExpertControl:
    object1, object2 = _split_pair(_cell(row, layout.comparison))
    text = _cell(row, layout.text)
    if not isinstance(text, str):
        raise ValueError("the sentence is missing or not text")
    labels = tuple(parse_label(_cell(row, at), scale) for at in layout.labels)
    if len(labels) == 1:
        number, bare = _split_number(text)
        comment = _comment(row, layout.labels[0])
        return ExpertLabel(row.number, object1, object2, number, bare, labels[0], comment)
    control = None if layout.control is None else _cell(row, layout.control)
    is_scored = _has_statistics(row, layout) or row.number > last_scored
    known = parse_label(control, scale)
    return ExpertControl(row.number, object1, object2, text, labels, known, is_scored)


def _split_pair(cell: Any) -> tuple[str, str]:
    parts = cell.split(" vs ") if isinstance(cell, str) else []
    if len(parts) != 2 or not all(part.strip() for part in parts):
        raise ValueError("the comparison is not 'object vs object'")
    return parts[0], parts[1]


def _split_number(text: str) -> tuple[int | None, str]:
    found = _NUMBERED.fullmatch(text)
    return (int(found[1]), found[2]) if found else (None, text)


def _comment(row: SheetRow, label_at: int) -> str:
    return "\n".join(str(cell) for cell in _filled(row.cells[label_at + 1 :]))


def _filled(cells: list[Any]) -> Iterator[Any]:
    return (cell for cell in cells if cell is not None)
