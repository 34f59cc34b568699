"""Where preferences and scores contradict each other, on pairs of systems and on questions.

A pair contradicts if the one who is preferred has fewer points. Pairs that either of the two
leaves even neither agree nor contradict; they are counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from benchmark.preferences.methods.paired import Verdicts
from benchmark.preferences.methods.verdicts import FIRST, SECOND
from cqa_site.stats.clustered import clustered_mean
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.ratings import FloatArray

# Figures that differ by less are even.
_DECIMALS = 7
ONE_SYSTEM = "fewer than 2 systems have both a strength and scores"
EVEN = "no pair of systems is decided by both"
NO_INTERVAL = "each system is in many pairs, so the share has no interval"


@dataclass(frozen=True, kw_only=True)
class Contradictions:
    """How often the two disagree about which of two is better.

    Attributes
    ----------
    share
        Contradicting pairs ÷ pairs that both decide, 0 to 1.
    n_decided, n_contradicting, n_even
        Pairs that both decide; of them contradicting; pairs that one of the two leaves even.
    pairs
        The contradicting pairs of systems, the preferred one first; empty for questions.
    """

    share: Estimate
    n_decided: int
    n_contradicting: int
    n_even: int
    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def contradicting_systems(
    systems: tuple[str, ...],
    strengths: FloatArray,
    means: FloatArray,
    confidence: float = 0.95,
    reason: str | None = None,
) -> Contradictions:
    """Compare the two on every pair of systems; without an interval, see `compare_rankings`.

    Examples
    --------
    >>> found = contradicting_systems(("a", "b", "c"), np.arange(3.0), np.array([1.0, 0.0, 2.0]))
    >>> round(found.share.value, 4), found.pairs
    (0.3333, (('b', 'a'),))
    """
    reason = reason or (ONE_SYSTEM if len(systems) < 2 else None)
    first, second = np.triu_indices(0 if reason else len(systems), k=1)
    signs = _sign(strengths[first] - strengths[second])
    product = signs * _sign(means[first] - means[second])
    pairs = tuple(
        (systems[one], systems[other]) if sign > 0 else (systems[other], systems[one])
        for one, other, sign, both in zip(first, second, signs, product, strict=True)
        if both < 0
    )
    n_decided = int((product != 0).sum())
    share = Estimate(
        value=len(pairs) / n_decided if n_decided else None,
        statistic="share of pairs of systems that contradict",
        recipe="contradicting pairs of systems divided by pairs that both decide",
        reason=reason or (NO_INTERVAL if n_decided else EVEN),
        confidence=confidence,
        n_items=len(systems),
        n_pairable_items=len(systems),
        n_raters=2,
        n_values=n_decided,
    )
    return Contradictions(
        share=share,
        n_decided=n_decided,
        n_contradicting=len(pairs),
        n_even=len(product) - n_decided,
        pairs=pairs,
    )


def contradicting_questions(
    verdicts: Verdicts,
    scores: pd.DataFrame,
    *,
    confidence: float = 0.95,
) -> Contradictions:
    """Compare the two on every question and pair of systems that has verdicts and both scores.

    Parameters
    ----------
    verdicts
        Several verdicts on one question and pair of systems are added up.
    scores
        Rows are systems, columns questions, values points; NaN where there is none.
    confidence
        Of the interval of the share, which is over questions.
    """
    frame = verdicts.frame
    worth = frame["outcome"].map({FIRST: 1.0, SECOND: -1.0}).fillna(0.0) * frame["weight"]
    keys = ["question", "first", "second"]
    met = frame.assign(worth=worth).groupby(keys, sort=True)["worth"].sum().reset_index()
    points = scores.rename(index=str).stack().dropna().to_dict()
    gap = [
        points.get((row.first, row.question), np.nan)
        - points.get((row.second, row.question), np.nan)
        for row in met[["question", "first", "second"]].itertuples(index=False)
    ]
    met = met.assign(product=_sign(met["worth"].to_numpy()) * _sign(np.array(gap, dtype=float)))
    known = met.dropna(subset=["product"])
    decided = known[known["product"] != 0]
    against = decided["product"] < 0
    share = clustered_mean(
        decided["question"].tolist(),
        against.astype(float).tolist(),
        [1] * len(decided),
        confidence=confidence,
        limits=(0.0, 1.0),
    )
    return Contradictions(
        share=share,
        n_decided=len(decided),
        n_contradicting=int(against.sum()),
        n_even=len(known) - len(decided),
    )


def _sign(differences: FloatArray) -> FloatArray:
    return np.asarray(np.sign(np.round(differences, _DECIMALS)))
