"""The answers behind a figure of agreement, from the rows of the snapshot that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from benchmark.leaderboard.reports.filters import Filters, narrowed
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.web.tables import TableData

from .choice import PEOPLE, TOTAL

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from benchmark.agreement.methods.grid import Grid

NOBODY = ""


@dataclass(frozen=True)
class Wanted:
    """Whose points of which column; with `points` and `others` only answers that got them."""

    rater: str
    other: str
    column: str
    points: float | None = None
    others: float | None = None
    condition: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str], grid: Grid, condition: str = "") -> Wanted:
        """Read an address; unknown raters fall back to the judge with most sheets and people."""
        known = [PEOPLE, *(each.key for each in grid.raters)]
        judges = sorted(grid.judges, key=lambda each: -each.sheets)
        usual = judges[0].key if judges else PEOPLE
        rater, other = query.get("rater", usual), query.get("other", PEOPLE)
        column = query.get("criterion", TOTAL)
        return cls(
            rater=rater if rater in known else usual,
            other=other if other in known else NOBODY,
            column=column if column in grid.columns else TOTAL,
            points=_number(query.get("points")),
            others=_number(query.get("others")),
            condition=condition,
        )


def table_and_grid(rows: bytes, rubric: Rubric, condition: str = "") -> tuple[pd.DataFrame, Grid]:
    """The sheets of a snapshot, or those of one condition, as stored, and arranged."""
    from benchmark.agreement.methods.grid import grid_of
    from benchmark.leaderboard.reports.rows import read_rows

    table = narrowed(read_rows(rows), Filters(condition=condition))
    return table, grid_of(table, rubric)


def behind(table: pd.DataFrame, grid: Grid, wanted: Wanted) -> pd.DataFrame:
    """Answers that both raters scored, largest difference first.

    Columns: those of the answer, ``points`` and ``others``, ``difference`` (first minus second)
    and ``sheet``, one sheet of the first rater (or of anybody, for the mean of all people).
    Without a second rater all answers of the first, most points first.
    """
    about = table.drop_duplicates("answer").set_index("answer").loc[grid.answers]
    about = about.assign(points=grid.column(wanted.rater, wanted.column))
    about["others"] = grid.column(wanted.other, wanted.column) if wanted.other else float("nan")
    about["difference"] = about["points"] - about["others"]
    about["sheet"] = _sheets(table, grid, wanted.rater).reindex(about.index)
    needed = ["points", "others"] if wanted.other else ["points"]
    found = about.dropna(subset=needed)
    for name in ("points", "others"):
        if (value := getattr(wanted, name)) is not None:
            found = found[(_halves(found[name]) == value).to_numpy()]
    by = found["difference"].abs() if wanted.other else found["points"]
    return found.iloc[(-by).argsort(kind="stable").to_numpy()]


def rows_table(found: pd.DataFrame, names: tuple[str, str], column: str) -> TableData:
    """The rows as a file."""
    columns = [_("Object 1"), _("Object 2"), _("Aspect"), _("System"), _("Scenario")]
    columns += [_("Condition"), _("Choice"), _("Answer"), _("Sheet")]
    columns += [f"{names[0]}: {column}", f"{names[1]}: {column}", _("Difference")]
    parts = ["object1", "object2", "aspect", "system", "scenario", "condition", "choice"]
    parts += ["answer_id", "sheet"]
    rows = [
        [*(row[part] for part in parts), *(_cell(row[part]) for part in _POINTS)]
        for row in found.to_dict("records")
    ]
    return TableData(columns, rows, name="score-rows")


_POINTS = ("points", "others", "difference")


def shown_rows(found: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of one page: missing points are None."""
    return [row | {part: _cell(row[part]) for part in _POINTS} for row in found.to_dict("records")]


def _sheets(table: pd.DataFrame, grid: Grid, rater: str) -> pd.Series:
    """Answer → one sheet of the rater, the first replicate."""
    if rater == PEOPLE:
        own = table[table["rater_id"].isin([each.key for each in grid.people])]
    else:
        own = table[table["rater_id"] == rater]
    first = own.sort_values("replicate", kind="stable").drop_duplicates("answer")
    return first.set_index("answer")["sheet"]


def _halves(points: pd.Series) -> pd.Series | np.ndarray:
    """Points as the confusion table counts them: means go to the nearest half."""
    return (points * 2 + 0.5) // 1 / 2


def _cell(value: float) -> float | None:
    return None if value != value else float(value)  # NaN differs from itself


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
