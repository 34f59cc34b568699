"""Leaderboard and tables of the CompQA paper, computed from score sheets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd

from benchmark.leaderboard.methods.data import ScoreArrays, judge_keys
from benchmark.leaderboard.methods.figures import PaperCell, PaperRecipe, PaperRow
from benchmark.leaderboard.methods.options import PEOPLE, TOTAL, BoardOptions
from benchmark.rubrics.methods.rubric import Rubric

# The tables of the CompQA paper, computed from score sheets
#
# A sheet has one rater's points for one answer. It is a row with the columns of `ABOUT` and one
# column for each criterion, NaN if missing. Totals are 0 … 19, and higher is better. A sheet
# without points for a criterion has no total and is left out of all figures; every figure has its
# number of sheets. These recipes of the paper treat answers as independent, although choices and
# systems share questions, so their sds cannot be used for intervals.
#
# Source: CompQA paper, section 4, tables 3 to 5 and figures 6 and 7. The recipes were worked out
# from the released scores, because the paper does not give them.

ANSWER = ("system", "scenario", "question", "choice")
ABOUT = (*ANSWER, "rater")
CELL = ("rater", "system", "scenario")
Over = Literal["cells", "answers"]


class SheetError(ValueError):
    """Raised if a table does not contain score sheets."""


def with_totals(sheets: pd.DataFrame, rubric: Rubric) -> pd.DataFrame:
    """Add columns for the total and for each group, NaN if any of its points are missing.

    Points are used unchanged, so values outside the scale must be removed first or, as in the
    paper, left in.

    Raises
    ------
    SheetError
        If columns are missing, or if a rater has two sheets for one answer.
    """
    _check_columns(sheets, (*ABOUT, *rubric.keys))
    if sheets.duplicated(list(ABOUT)).any():
        raise SheetError("a rater has two sheets for one answer")
    sums = {"total": rubric.keys} | {
        group.key: tuple(criterion.key for criterion in rubric.of_group(group.key))
        for group in rubric.groups
    }
    totals = {
        name: sheets[list(keys)].astype(float).sum(axis=1, min_count=len(keys))
        for name, keys in sums.items()
    }
    return sheets.assign(**totals)


def cell_scores(sheets: pd.DataFrame, column: str = "total") -> pd.DataFrame:
    """Return leaderboard cells (table 5): mean and sample sd over answers.

    Parameters
    ----------
    sheets : DataFrame
        Result of `with_totals`.
    column : str
        "total", or the key of a group or criterion.

    Returns
    -------
    DataFrame indexed by rater, system, scenario
        The columns mean, sd (ddof 1, NaN for a single answer), n (sheets with a value) and
        dropped (sheets without a value). A cell without values keeps its row.
    """
    return _mean_and_sd(sheets, CELL, column)


def system_scores(cells: pd.DataFrame) -> pd.DataFrame:
    """Return leaderboard rows (table 3): unweighted means of a system's cells and of their sds.

    The paper prints the mean of sds after ±; it is not the sd of a sample. Missing cells and sds
    are left out; ``cells`` is the number of cells with a mean.

    Returns
    -------
    DataFrame indexed by rater, system
        mean, sd, cells, n, dropped.
    """
    groups = cells.groupby(level=["rater", "system"], sort=False)
    columns = {
        "mean": groups["mean"].mean(),
        "sd": groups["sd"].mean(),
        "cells": groups["mean"].count(),
        "n": groups["n"].sum(),
        "dropped": groups["dropped"].sum(),
    }
    return pd.DataFrame(columns)


def scenario_scores(
    sheets: pd.DataFrame, column: str = "total", *, over: Over = "answers"
) -> pd.DataFrame:
    """Return the data of figures 6 and 7: means of scenarios 1–4 over all answers or cells.

    Returns
    -------
    DataFrame indexed by rater, scenario
        The columns of `cell_scores`; over cells, mean and sample sd are those of cell means.
    """
    sheet = sheets[sheets["scenario"].isin(range(1, 5))]
    if over == "answers":
        return _mean_and_sd(sheet, ("rater", "scenario"), column)
    return _over_cells(cell_scores(sheet, column), ("rater", "scenario"), ddof=1)


def group_scores(sheets: pd.DataFrame, rubric: Rubric, *, over: Over = "answers") -> pd.DataFrame:
    """Return the data of figure 7: `scenario_scores` by group, the first level of the index."""
    frames = {group.key: scenario_scores(sheets, group.key, over=over) for group in rubric.groups}
    return pd.concat(frames, names=["group"])


def aspect_scores(
    sheets: pd.DataFrame, has_aspect: pd.Series, *, over: Over = "cells"
) -> pd.DataFrame:
    """Return table 4: scores of answers to questions with and without an aspect.

    Parameters
    ----------
    sheets : DataFrame
        Result of `with_totals`.
    has_aspect : Series of bool, with the rows of ``sheets``
        Whether the question of each sheet names an aspect.
    over : {"cells", "answers"}
        The paper prints the mean of cell means ± their population sd (ddof 0), which shows how
        much systems and scenarios differ, not how much answers do. Over answers, the sd has
        ddof 1.

    Returns
    -------
    DataFrame indexed by rater, aspect
        mean, sd, n, dropped; over cells, also ``cells``.
    """
    marked = sheets.assign(aspect=has_aspect.to_numpy(dtype=bool))
    if over == "answers":
        return _mean_and_sd(marked, ("rater", "aspect"), "total")
    cells = _mean_and_sd(marked, ("rater", "aspect", "system", "scenario"), "total")
    return _over_cells(cells, ("rater", "aspect"), ddof=0)


def _mean_and_sd(sheets: pd.DataFrame, by: Iterable[str], column: str) -> pd.DataFrame:
    groups = sheets.groupby(list(by), sort=False)[column]
    n = groups.count()
    columns = {
        "mean": groups.mean(),
        "sd": groups.std(ddof=1),
        "n": n,
        "dropped": groups.size() - n,
    }
    return pd.DataFrame(columns)


def _over_cells(cells: pd.DataFrame, by: Iterable[str], *, ddof: int) -> pd.DataFrame:
    groups = cells.groupby(level=list(by), sort=False)
    columns = {
        "mean": groups["mean"].mean(),
        "sd": groups["mean"].std(ddof=ddof),
        "cells": groups["mean"].count(),
        "n": groups["n"].sum(),
        "dropped": groups["dropped"].sum(),
    }
    return pd.DataFrame(columns)


def _check_columns(table: pd.DataFrame, needed: Iterable[str]) -> None:
    missing = [column for column in needed if column not in table.columns]
    if missing:
        raise SheetError(f"the table of sheets lacks columns: {', '.join(missing)}")
    about = table[[column for column in ABOUT if column in table.columns]]
    if about.isna().to_numpy().any():
        raise SheetError("a sheet lacks its rater or answer")


# The leaderboard by the recipe of the CompQA paper, from the same table of sheets
#
# Every sheet counts, even if an answer has several. Points are used as given, even outside the
# scale. A row is the unweighted mean of a system's scenario means. Therefore its figures can be
# compared with the paper's. They have no intervals, because the paper's sds cannot be used for
# intervals, and they are not suitable for ranking.
#
# Source: CompQA paper, tables 3 and 5.

# Column with a judge's points as JSON, if some of them are outside the scale.
OFF_SCALE = "off_scale_points"
# Kind of a rater whose sheets combine those of several people.
CONSOLIDATED = "reference"


def paper_recipe(table: pd.DataFrame, scored: ScoreArrays, options: BoardOptions) -> PaperRecipe:
    """Compute the paper's leaderboard.

    Parameters
    ----------
    table
        A table for `make_board`. With the column `OFF_SCALE`, points outside the scale count, as
        in the paper; without it, sheets with such points are dropped.
    scored
        Arrays with the names of judges and systems.
    options
        Options with the column to average.
    """
    sheets = paper_sheets(table, options)
    order = {judge: at for at, judge in enumerate(scored.judges)}
    places = {system: at for at, system in enumerate(scored.systems)}
    if sheets.empty:
        return PaperRecipe(cells=(), rows=(), has_given=OFF_SCALE in table)
    frame = pd.DataFrame(
        {
            "rater": judge_keys(sheets).map(order),
            "system": sheets["system_id"].map(places),
            "scenario": sheets["scenario"].astype(int),
            TOTAL: sheets["points"],
        }
    ).sort_values(["rater", "system", "scenario"], kind="stable")
    cells = cell_scores(frame)
    is_off = sheets["is_off"] & sheets["points"].notna()
    off = is_off.groupby([frame["rater"], frame["system"], frame["scenario"]]).sum()
    judges = scored.judges
    return PaperRecipe(
        cells=tuple(
            PaperCell(
                judge=judges[key[0]],
                system=int(key[1]),
                scenario=int(key[2]),
                mean=_number(row["mean"]),
                sd=_number(row["sd"]),
                n=int(row["n"]),
                dropped=int(row["dropped"]),
                off_scale=int(off[key]),
            )
            for key, row in cells.iterrows()
        ),
        rows=tuple(
            PaperRow(
                judge=judges[key[0]],
                system=int(key[1]),
                mean=_number(row["mean"]),
                sd=_number(row["sd"]),
                cells=int(row["cells"]),
                n=int(row["n"]),
            )
            for key, row in system_scores(cells).iterrows()
        ),
        has_given=OFF_SCALE in table,
    )


def paper_sheets(table: pd.DataFrame, options: BoardOptions) -> pd.DataFrame:
    """Return counted sheets with ``points`` (NaN: incomplete) and ``is_off`` (outside the scale).

    If an answer has consolidated sheets, people's other sheets for it are left out, because the
    consolidated sheets already contain their scores.
    """
    is_consolidated = table["rater_kind"] == CONSOLIDATED
    settled = set(table.loc[is_consolidated, "answer_id"])
    is_person = (judge_keys(table) == PEOPLE) & ~is_consolidated
    sheets = table[~(is_person & table["answer_id"].isin(settled))]
    points = sheets[options.column].to_numpy(dtype=float).copy()
    is_off = np.zeros(len(sheets), dtype=bool)
    if OFF_SCALE in sheets:
        texts = sheets[OFF_SCALE].fillna("").to_numpy()
        for at in np.flatnonzero((texts != "") & np.isnan(points)):
            points[at] = _given(json.loads(texts[at]), options)
            is_off[at] = True
    return sheets.assign(points=points, is_off=is_off)


def _given(points: dict[str, float], options: BoardOptions) -> float:
    """Return the column's points; NaN unless all its criteria have points."""
    keys = options.criteria.get(options.column, (options.column,))
    return sum(points.get(key, np.nan) for key in keys)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
