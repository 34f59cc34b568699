"""The leaderboard by the recipe of the CompQA paper, from the same table of sheets.

Every sheet counts by itself, also where one answer has several; points are taken as they were
given, off the scale or not; a row is the unweighted mean of a system's scenario means, whatever
they are made of. So its figures can be held against the paper's. They have no intervals, because
the paper's sds are no basis for any, and they are no means to rank by.

Source: CompQA paper, tables 3 and 5; the recipes themselves stand in `score_recipes`.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from benchmark.leaderboard.methods.data import Scored, judge_keys
from benchmark.leaderboard.methods.figures import PaperCell, PaperRecipe, PaperRow
from benchmark.leaderboard.methods.options import PEOPLE, TOTAL, BoardOptions
from benchmark.leaderboard.methods.recipes import cell_scores, system_scores

# Column of the table: JSON of a judge's whole numbers of which some are off the scale.
GIVEN = "off_scale_points"
# Of a rater's kind, where the sheets of several people were made one.
CONSOLIDATED = "reference"


def paper_recipe(table: pd.DataFrame, scored: Scored, options: BoardOptions) -> PaperRecipe:
    """Compute the paper's leaderboard.

    Parameters
    ----------
    table
        As `make_board` takes it; with the column `GIVEN`, points off the scale count as the
        paper took them, without it those sheets are dropped.
    scored
        Names the judges and systems.
    options
        Which column is averaged.
    """
    sheets = paper_sheets(table, options)
    order = {each: at for at, each in enumerate(scored.judges)}
    places = {each: at for at, each in enumerate(scored.systems)}
    if sheets.empty:
        return PaperRecipe(cells=(), rows=(), has_given=GIVEN in table)
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
        has_given=GIVEN in table,
    )


def paper_sheets(table: pd.DataFrame, options: BoardOptions) -> pd.DataFrame:
    """The sheets that count, with ``points`` (NaN: incomplete) and ``is_off`` (off the scale).

    Of people's sheets of an answer that has consolidated ones, only those count: they already
    hold what the single people said.
    """
    is_consolidated = table["rater_kind"] == CONSOLIDATED
    settled = set(table.loc[is_consolidated, "answer_id"])
    is_person = (judge_keys(table) == PEOPLE) & ~is_consolidated
    kept = table[~(is_person & table["answer_id"].isin(settled))]
    points = kept[options.column].to_numpy(dtype=float).copy()
    is_off = np.zeros(len(kept), dtype=bool)
    if GIVEN in kept:
        texts = kept[GIVEN].fillna("").to_numpy()
        for at in np.flatnonzero((texts != "") & np.isnan(points)):
            points[at] = _given(json.loads(texts[at]), options)
            is_off[at] = True
    return kept.assign(points=points, is_off=is_off)


def _given(given: dict[str, float], options: BoardOptions) -> float:
    """The column's points; NaN unless every criterion of it was given."""
    keys = options.criteria.get(options.column, (options.column,))
    return sum(given.get(key, np.nan) for key in keys)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
