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


def contradiction_shares(strengths: FloatArray, means: FloatArray) -> FloatArray:
    """Share of contradicting pairs of systems in each row; NaN where no pair is decided.

    Parameters
    ----------
    strengths, means : shape (n_rows, n_systems)
        NaN makes the whole row undefined.

    Examples
    --------
    >>> contradiction_shares(np.array([[3.0, 2.0, 1.0]]), np.array([[5.0, 6.0, 4.0]])).round(4)
    array([0.3333])
    """
    first, second = np.triu_indices(strengths.shape[1], k=1)
    signs = _sign(strengths[:, first] - strengths[:, second])
    product = signs * _sign(means[:, first] - means[:, second])
    decided = (product != 0).sum(axis=1)
    against = (product < 0).sum(axis=1).astype(float)
    shares = np.full(len(product), np.nan)
    np.divide(against, decided, out=shares, where=decided > 0)
    shares[np.isnan(product).any(axis=1)] = np.nan
    return shares


def contradicting_systems(
    systems: tuple[str, ...], strengths: FloatArray, means: FloatArray
) -> tuple[tuple[tuple[str, str], ...], int]:
    """Pairs of systems that contradict, the preferred one first, and how many pairs are even."""
    first, second = np.triu_indices(len(systems), k=1)
    signs = _sign(strengths[first] - strengths[second])
    product = signs * _sign(means[first] - means[second])
    names = [
        (systems[one], systems[other]) if sign > 0 else (systems[other], systems[one])
        for one, other, sign, both in zip(first, second, signs, product, strict=True)
        if both < 0
    ]
    return tuple(names), int((product == 0).sum())


def contradicting_questions(
    verdicts: Verdicts,
    scores: pd.DataFrame,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Contradictions:
    """Compare the two on every question and pair of systems that has verdicts and both scores.

    Parameters
    ----------
    verdicts
        Several verdicts on one question and pair of systems are added up.
    scores
        Rows are systems, columns questions, values points; NaN where there is none.
    confidence, n_resamples, seed
        Of the interval of the share, which resamples questions.
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
        n_resamples=n_resamples,
        seed=seed,
    )
    return Contradictions(
        share=share,
        n_decided=len(decided),
        n_contradicting=int(against.sum()),
        n_even=len(known) - len(decided),
    )


def _sign(differences: FloatArray) -> FloatArray:
    return np.asarray(np.sign(np.round(differences, _DECIMALS)))
