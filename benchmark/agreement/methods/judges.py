"""Judges beside each other: the leaderboard of those who usually make one.

They are ranked by the interval alpha of their totals with people's. The range of a rank holds
every place that the intervals allow: a judge stands above another for certain only where its
whole interval does.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .draws import Figure
from .grid import SheetRater
from .verdict import by_unscored

PER = 1_000
MICRO = 1_000_000


def judge_row(judge: SheetRater, sheets: pd.DataFrame, parts: Figure) -> Figure:
    """One line of the board.

    Parameters
    ----------
    judge
        Who it is.
    sheets
        The judge's rows of the table; `cost_micro` and `seconds` of each where known.
    parts
        Figures made elsewhere: agreement, pair, alternative, consistency, length.
    """
    pair, test = parts["pair"], parts["alternative"]["total"]
    consistency, split = parts["consistency"], parts["consistency"]["columns"]["total"]
    return {
        "key": judge.key,
        "name": judge.name,
        "kind": judge.kind,
        "family": judge.family,
        "sheets": judge.sheets,
        "answers": int(sheets.loc[sheets["total"].notna(), "answer"].nunique()),
        "agreement": parts["agreement"]["total"]["alpha_interval"],
        "pearson": pair["columns"]["total"]["pearson"],
        "within": pair["systems"]["pearson"]["within"],
        "bias": pair["columns"]["total"]["bias"],
        "rho": test["rho"],
        "omega": test["omega"],
        "consistency": split["reliability"],
        "exact": split["exact"],
        "replicates": consistency["replicates"],
        "unscored": by_unscored(judge.unscored, judge.sheets)["numbers"],
        "length_slope": parts["length"]["own"]["slope"],
        "cost": _per_thousand(sheets, "cost_micro", MICRO),
        "seconds": _per_thousand(sheets, "seconds", 1),
    }


def ranked(rows: list[Figure]) -> list[Figure]:
    """The rows best first, with the range of ranks of those that have an interval.

    Judges without a figure of agreement come last, without a rank.
    """
    known = [row for row in rows if row["agreement"]["value"] is not None]
    spans = [row for row in known if row["agreement"]["low"] is not None]
    for row in rows:
        own = row["agreement"]
        row["rank"] = row["rank_low"] = row["rank_high"] = None
        if own["value"] is None:
            continue
        row["rank"] = 1 + sum(each["agreement"]["value"] > own["value"] for each in known)
        if own["low"] is not None and len(spans) == len(known):
            above = sum(each["agreement"]["low"] > own["high"] for each in spans)
            below = sum(each["agreement"]["high"] < own["low"] for each in spans)
            row["rank_low"], row["rank_high"] = 1 + above, len(known) - below
    return sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0, row["name"]))


def _per_thousand(sheets: pd.DataFrame, column: str, unit: int) -> float | None:
    """For 1,000 answers scored, over the sheets that say it; None where none does."""
    if column not in sheets.columns:
        return None
    known = sheets[sheets[column].notna()]
    scored = int(known.loc[known["total"].notna(), "answer"].nunique())
    spent = float(np.nansum(known[column].to_numpy(dtype=float)))
    return round(spent / unit / scored * PER, 6) if scored else None
