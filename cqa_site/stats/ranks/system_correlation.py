"""Do two raters rank systems alike, and do they rank the answers to one question alike?

The two differ: raters who see the same good and bad systems correlate across systems even
when they cannot tell two answers to one question apart.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from cqa_site.stats.clustered import TOO_FEW_CLUSTERS, clustered_mean
from cqa_site.stats.correlation import NAMES, in_chunks
from cqa_site.stats.estimate import NO_VALUES, Estimate, check_confidence
from cqa_site.stats.intervals import UndefinedIntervalError, bootstrap_interval
from cqa_site.stats.ratings import FloatArray
from cqa_site.stats.weighted_correlation import (
    Correlation,
    check_correlation,
    weighted_correlations,
)

COLUMNS = ("system", "question", "x", "y")
LEAST_SYSTEMS = 3
FEW_SYSTEMS = f"fewer than {LEAST_SYSTEMS} systems"
NO_SPREAD = "one of the two gave all systems the same value"


@dataclass(frozen=True, kw_only=True)
class WithinAndAcross:
    """Correlation of two raters on two levels.

    Attributes
    ----------
    across
        Correlation of the systems' means; its interval resamples systems and questions.
    within
        Mean over questions of the correlation over the systems; resamples questions.
    within_sd
        Sample sd (ddof 1) of the correlations of the questions; None below two.
    n_systems, n_questions, n_questions_used
        With a pair of values; questions whose correlation is defined.
    skipped
        Reason -> number of questions without a correlation.
    """

    across: Estimate
    within: Estimate
    within_sd: float | None
    n_systems: int
    n_questions: int
    n_questions_used: int
    skipped: dict[str, int] = field(default_factory=dict)


def within_and_across(
    table: pd.DataFrame,
    kind: Correlation = "pearson",
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> WithinAndAcross:
    """Correlate two columns of scores across systems and within questions.

    Parameters
    ----------
    table
        Columns system, question, x, y; rows lacking x or y are dropped, several rows of a
        system and question (choices, replicates) are averaged.
    kind : {"pearson", "spearman", "kendall"}
        Of both levels.
    confidence, n_resamples, seed
        Of the percentile bootstraps.

    Notes
    -----
    System level and item level of Deutsch, Dror and Roth (2021), who show that systems must
    be resampled as well as inputs; with 5 to 10 systems the interval across is very wide.
    A question needs `LEAST_SYSTEMS` systems, and values that differ on both sides.

    Raises
    ------
    ValueError
        A column is absent or the kind unknown.
    """
    check_correlation(kind)
    check_confidence(confidence)
    absent = [column for column in COLUMNS if column not in table.columns]
    if absent:
        raise ValueError(f"the table of scores lacks columns: {', '.join(absent)}")
    x, y, n_dropped = _matrices(table)
    about: dict[str, Any] = {
        "confidence": confidence,
        "n_items": len(table),
        "n_pairable_items": len(table) - n_dropped,
        "n_raters": 2,
        "n_values": 2 * (len(table) - n_dropped),
        "n_dropped_items": n_dropped,
    }
    options = {"n_resamples": n_resamples, "seed": seed}
    found, skipped = _per_question(kind, x, y)
    return WithinAndAcross(
        across=_across(kind, x, y, about, **options),
        within=_within(kind, found, about, **options),
        within_sd=float(np.std(found, ddof=1)) if len(found) > 1 else None,
        n_systems=x.shape[0],
        n_questions=x.shape[1],
        n_questions_used=len(found),
        skipped=dict(skipped),
    )


def _matrices(table: pd.DataFrame) -> tuple[FloatArray, FloatArray, int]:
    """Both values of each system (row) and question (column), NaN where missing."""
    complete = table.dropna(subset=["x", "y"])
    means = complete.groupby(["system", "question"], sort=True, observed=True)[["x", "y"]].mean()
    x, y = (means[column].unstack("question").to_numpy(dtype=float) for column in ("x", "y"))
    return x, y, len(table) - len(complete)


def _across(
    kind: Correlation,
    x: FloatArray,
    y: FloatArray,
    about: dict[str, Any],
    *,
    n_resamples: int,
    seed: int,
) -> Estimate:
    n_systems, n_questions = x.shape
    about = {
        **about,
        "statistic": f"{NAMES[kind]} across systems",
        "recipe": "correlation of the systems' means, each over the questions with both values",
    }
    if n_systems < LEAST_SYSTEMS:
        return Estimate(value=None, reason=FEW_SYSTEMS if n_systems else NO_VALUES, **about)

    def resampled(questions: FloatArray, systems: FloatArray) -> FloatArray:
        met = questions @ (~np.isnan(x)).astype(float).T
        means = [questions @ np.nan_to_num(each).T / np.maximum(met, 1) for each in (x, y)]
        # A system none of whose questions was drawn has no mean, so it does not weigh.
        return weighted_correlations(kind, means[0], means[1], systems * (met > 0))

    value = float(resampled(np.ones((1, n_questions)), np.ones((1, n_systems)))[0])
    if np.isnan(value):
        return Estimate(value=None, reason=NO_SPREAD, **about)
    if n_questions < 3:
        return Estimate(value=value, reason=TOO_FEW_CLUSTERS, **about)
    generator = np.random.default_rng([seed, n_systems])

    def both_resampled(questions: FloatArray) -> FloatArray:
        shares = np.full(n_systems, 1 / n_systems)
        systems = generator.multinomial(n_systems, shares, size=len(questions)).astype(float)
        paired = np.hstack([questions, systems])
        return in_chunks(
            lambda rows: resampled(rows[:, :n_questions], rows[:, n_questions:]),
            paired,
            n_systems**2,
        )

    once = np.ones(n_questions, dtype=np.int64)
    confidence = about["confidence"]
    try:
        low, high = bootstrap_interval(
            both_resampled, once, confidence=confidence, n_resamples=n_resamples, seed=seed
        )
    except UndefinedIntervalError as error:
        return Estimate(value=value, reason=str(error), **about)
    interval = f"systems and questions bootstrap, percentile, {n_resamples} resamples, seed {seed}"
    return Estimate(value=value, low=low, high=high, interval=interval, **about)


def _per_question(
    kind: Correlation, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, Counter[str]]:
    found: list[float] = []
    skipped: Counter[str] = Counter()
    for own_x, own_y in zip(x.T, y.T, strict=True):
        rated = ~np.isnan(own_x)
        if rated.sum() < LEAST_SYSTEMS:
            skipped[FEW_SYSTEMS] += 1
            continue
        ones = np.ones((1, int(rated.sum())))
        value = float(weighted_correlations(kind, own_x[rated], own_y[rated], ones)[0])
        if np.isnan(value):
            skipped[NO_SPREAD] += 1
        else:
            found.append(value)
    return np.array(found), skipped


def _within(
    kind: Correlation,
    found: FloatArray,
    about: dict[str, Any],
    *,
    n_resamples: int,
    seed: int,
) -> Estimate:
    about = {
        **about,
        "statistic": f"mean {NAMES[kind]} within questions",
        "recipe": "correlation over the systems of each question, then the mean over questions",
    }
    if not len(found):
        return Estimate(value=None, reason="no question has a correlation", **about)
    mean = clustered_mean(
        range(len(found)),
        found.tolist(),
        [1] * len(found),
        confidence=about["confidence"],
        n_resamples=n_resamples,
        seed=seed,
    )
    return Estimate(
        value=mean.value,
        low=mean.low,
        high=mean.high,
        interval=mean.interval,
        reason=mean.reason,
        **about,
    )
