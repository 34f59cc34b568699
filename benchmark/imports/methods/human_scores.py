"""The consolidated human scores of CompQA: one row an answer, points C1 … C15.

Tab-separated, texts quoted with line breaks inside. The points are means of two annotators where
there were two, so halves occur. An answer's total is the sum of its points; the column ``score``
is one annotator's and 0 where that one did not score the answer. One text has swallowed the rows
below it, because a quotation mark in it was never closed: it ends at its first tab.
"""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.rubrics.methods.rubric import Rubric, RubricError
from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, Row, UnreadableFile, open_table

_ABOUT = ("object1", "object2", "comparison", "model", "scenario")
_TEXTS = ("object1", "object2", "comparison", "model")


@dataclass(frozen=True)
class HumanScore:
    """One scored answer.

    Attributes
    ----------
    row : int
        Physical line on which the record starts.
    system, scenario : str, int
        Who wrote the answer under which prompt, 0 for none, as `raw_answers` has it.
    aspect : str or None
        None where the cell is empty.
    text : str
        Up to its first tab.
    swallowed : int
        How many rows stood behind that tab.
    points : dict of str to float
        Criterion → points as in the file.
    off_scale : tuple of str
        Criteria whose points are not 0 … maximum in steps of 0.5: slips of the annotators (three
        in the release), which the paper's totals contain.
    blanks : tuple of str
        Criteria whose cell is empty (none in the release, where 0 stands instead). They have no
        points, and the row has no total.
    stated_score : float or None
        The column that is not the total.
    """

    row: int
    system: str
    scenario: int
    object1: str
    object2: str
    aspect: str | None
    text: str
    swallowed: int
    points: dict[str, float]
    off_scale: tuple[str, ...]
    blanks: tuple[str, ...]
    stated_score: float | None

    @property
    def total(self) -> float | None:
        """Sum of the points; None if one is missing."""
        return None if self.blanks else sum(self.points.values())


class _BadCell(Exception):
    def __init__(self, column: str, reason: str) -> None:
        super().__init__(reason)
        self.column = column
        self.reason = reason


def read_human_scores(
    path: str | os.PathLike[str],
    rubric: Rubric,
    *,
    name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[HumanScore | Problem]:
    """Read the rows in file order; columns that are not used here may be anything.

    Parameters
    ----------
    path : path
        Where the table lies.
    rubric : Rubric
        Which criteria to expect; half points are on the scale whether or not it allows them.
    name : str, optional
        What the file is called in messages; the path's last part by default.
    limits : Limits
        What the file may cost.

    Yields
    ------
    HumanScore or Problem
        One for each row.

    Raises
    ------
    UnreadableFile
        At the first step if a column is missing, later if the file is damaged.
    """
    shown_name = name or Path(path).name
    halves = replace(rubric, allows_halves=True)
    with open_table(path, name=shown_name, kind="tsv", limits=limits) as table:
        missing = [each for each in (*_ABOUT, *rubric.keys) if each not in table.columns]
        if missing:
            raise UnreadableFile(table.name, f"no column {', '.join(missing)}")
        for row in table.rows:
            try:
                yield _read_row(row, halves)
            except _BadCell as bad:
                yield Problem(table.name, row.number, bad.column, bad.reason)


def _read_row(row: Row, rubric: Rubric) -> HumanScore:
    cells = {column: str(value or "") for column, value in row.values.items()}
    empty = [column for column in _TEXTS if not cells[column].strip()]
    if empty:
        raise _BadCell(empty[0], "is empty")
    text, _tab, behind = cells["comparison"].partition("\t")
    blanks = tuple(key for key in rubric.keys if not cells[key].strip())
    points = {key: _number(cells[key], key) for key in rubric.keys if key not in blanks}
    return HumanScore(
        row=row.number,
        system=cells["model"],
        scenario=_scenario(cells["scenario"], cells["model"]),
        object1=cells["object1"],
        object2=cells["object2"],
        aspect=cells.get("aspect", "").strip() or None,
        text=text,
        swallowed=behind.count("\n"),
        points=points,
        off_scale=tuple(key for key, each in points.items() if _is_off(key, each, rubric)),
        blanks=blanks,
        stated_score=_number(cells["score"], "score") if cells.get("score") else None,
    )


def _number(cell: str, column: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise _BadCell(column, f"{cell[:20]!a} is no number")
    return number


def _is_off(key: str, points: float, rubric: Rubric) -> bool:
    try:
        rubric.check_points(key, points)
    except RubricError:
        return True
    return False


def _scenario(cell: str, system: str) -> int:
    """Systems without scenarios have their own name there."""
    if cell in ("1", "2", "3", "4"):
        return int(cell)
    if cell not in ("", system):
        raise _BadCell("scenario", f"{cell[:20]!a} is neither 1 to 4 nor the system's name")
    return 0
