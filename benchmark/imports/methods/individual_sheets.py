"""Individual score sheets of CompQA's raters before they were consolidated into one table.

There is one tab-separated file per person, with one row per answer and the columns
``score_dict.1`` … ``score_dict.15``. All files have rows for the same answers; rows that a person
did not score are empty. Points are used unchanged, so a sheet can be incomplete or have values
outside the scale.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.tabular import UnreadableFile, open_table
from .human_scores import letters_of

COLUMN = "score_dict.{}"
_ABOUT = ("object1", "object2", "comparison", "filename")

# File, objects and letters of an answer: the release has no other identifier for it.
Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class OwnSheets:
    """Scores of one person.

    ``points`` has a row for each scored answer and a column for each criterion, with NaN for empty
    cells; ``whole`` is a mask of the rows whose points are complete and on the scale.
    """

    name: str
    places: tuple[Place, ...]
    points: pd.DataFrame
    whole: np.ndarray


def is_own_sheets(path: str | os.PathLike[str]) -> bool:
    """Return whether the file has the columns of a person's individual sheets."""
    with open_table(path, kind="tsv") as table:
        return COLUMN.format(1) in table.columns


def read_own_sheets(path: str | os.PathLike[str], rubric: Rubric) -> OwnSheets:
    """Read the rows that the person scored; the file name identifies the person.

    Raises
    ------
    UnreadableFile
        If a column is missing, or a cell is not a number; the message gives its row.
    """
    columns = {key: COLUMN.format(at) for at, key in enumerate(rubric.keys, start=1)}
    places, rows = [], []
    with open_table(path, kind="tsv") as table:
        table.require((*_ABOUT, *columns.values()))
        for row in table.rows:
            cells = {key: str(row.values[column] or "") for key, column in columns.items()}
            if not any(map(str.strip, cells.values())):
                continue
            about = [str(row.values[heading] or "") for heading in _ABOUT]
            places.append((about[3], about[0], about[1], letters_of(about[2])))
            rows.append(
                [_points(cell, table.name, row.number, key) for key, cell in cells.items()]
            )
    points = pd.DataFrame(rows, columns=list(rubric.keys), dtype=float)
    return OwnSheets(Path(path).stem, tuple(places), points, _whole(points, rubric))


def shared_sheets(
    first: OwnSheets, second: OwnSheets
) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Return both people's points for answers that both scored, and a mask of complete rows."""
    at = {place: row for row, place in enumerate(second.places)}
    pairs = [(row, at[place]) for row, place in enumerate(first.places) if place in at]
    ones, others = [list(side) for side in zip(*pairs, strict=True)] if pairs else ([], [])
    is_whole = first.whole[ones] & second.whole[others]
    return (
        first.points.iloc[ones].reset_index(drop=True),
        second.points.iloc[others].reset_index(drop=True),
        is_whole,
    )


def _points(cell: str, file: str, row: int, key: str) -> float:
    if not cell.strip():
        return math.nan
    try:
        return float(cell)
    except ValueError as problem:
        message = f"row {row}, {key}: {cell[:20]!a} is not a number"
        raise UnreadableFile(file, message) from problem


def _whole(points: pd.DataFrame, rubric: Rubric) -> np.ndarray:
    top = np.array([criterion.maximum for criterion in rubric.criteria], dtype=float)
    values = points.to_numpy(dtype=float)
    # Comparisons with NaN are false.
    return np.asarray(((values >= 0) & (values <= top) & (values * 2 % 1 == 0)).all(axis=1))
