"""Verdicts that scores imply: of two answers to one question, the one with more points wins.

It shows what pairs would have said of answers that were scored, and how much of a ranking is
lost when points become verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmark.preferences.methods.pair_planning import PlannedPair
from benchmark.preferences.methods.paired import Verdicts
from benchmark.preferences.methods.verdicts import FIRST, LEFT, SECOND, TIE

COLUMNS = ("answer", "rater", "total")
# Totals are sums of points; adding in another order moves the last digits.
_DECIMALS = 9


@dataclass(frozen=True, kw_only=True)
class ImpliedVerdicts:
    """Verdicts of every rater who scored both answers of a pair.

    Attributes
    ----------
    verdicts
        The left answer of a pair is the first.
    n_without
        Pairs that no rater scored on both sides.
    """

    verdicts: Verdicts
    n_without: int


def verdicts_from_scores(
    pairs: Sequence[PlannedPair], scores: pd.DataFrame, *, margin: float = 0.0
) -> ImpliedVerdicts:
    """Turn scores into verdicts.

    Parameters
    ----------
    pairs
        Two answers each.
    scores
        Rows are sheets: ``answer``, ``rater``, ``total`` in points, NaN where unscored. Several
        sheets of a rater on an answer are averaged.
    margin
        In points, zero or more. A larger difference decides, a smaller or equal one is a tie.

    Raises
    ------
    ValueError
        A column is absent, or the margin is negative.
    """
    absent = [each for each in COLUMNS if each not in scores.columns]
    if absent:
        raise ValueError(f"the table of scores lacks columns: {', '.join(absent)}")
    if not margin >= 0:
        raise ValueError("a margin is zero points or more")
    totals = scores.dropna(subset=["total"]).groupby(["answer", "rater"], sort=True)["total"]
    points = totals.mean().rename("points").reset_index()
    asked = pd.DataFrame(
        {
            "pair": range(len(pairs)),
            "question": [each.question for each in pairs],
            "first": [each.left_system for each in pairs],
            "second": [each.right_system for each in pairs],
            "left": [each.left for each in pairs],
            "right": [each.right for each in pairs],
        }
    )
    left, right = (
        points.rename(columns={"answer": side, "points": f"{side}_points"})
        for side in ("left", "right")
    )
    both = asked.merge(left, on="left").merge(right, on=["right", "rater"]).sort_values("pair")
    gap = np.round((both["left_points"] - both["right_points"]).to_numpy(dtype=float), _DECIMALS)
    outcome = np.where(gap > margin, FIRST, np.where(gap < -margin, SECOND, TIE))
    return ImpliedVerdicts(
        verdicts=Verdicts.from_frame(both.assign(outcome=outcome, side=LEFT)),
        n_without=len(pairs) - int(both["pair"].nunique()),
    )
