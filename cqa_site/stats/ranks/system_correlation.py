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
from scipy import special

from cqa_site.stats.clustered import clustered_mean
from cqa_site.stats.correlation import NAMES
from cqa_site.stats.estimate import NO_VALUES, Estimate, check_confidence
from cqa_site.stats.ratings import FloatArray
from cqa_site.stats.verdicts import RULES
from cqa_site.stats.weighted_correlation import (
    Correlation,
    check_correlation,
    weighted_correlations,
)

COLUMNS = ("system", "question", "x", "y")
LEAST_SYSTEMS = 3
FEW_SYSTEMS = f"fewer than {LEAST_SYSTEMS} systems"
NO_SPREAD = "one of the two gave all systems the same value"
NO_INTERVAL = "fewer than {} systems, too few for an interval"
ALL_ALIKE = "both order the systems in exactly the same way, or in reverse; that has no interval"


@dataclass(frozen=True, kw_only=True)
class WithinAndAcross:
    """Correlation of two raters on two levels.

    Attributes
    ----------
    across
        Correlation of the systems' means; its interval is about other systems like these, on as
        many questions.
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
) -> WithinAndAcross:
    """Correlate two columns of scores across systems and within questions.

    Parameters
    ----------
    table
        Columns system, question, x, y; rows lacking x or y are dropped, several rows of a
        system and question (choices, replicates) are averaged.
    kind : {"pearson", "spearman", "kendall"}
        Of both levels.
    confidence
        Nominal coverage of both intervals.

    Notes
    -----
    System level and item level of Deutsch, Dror and Roth (2021), who show that systems are a
    sample as well as inputs. Across, resampling few systems draws the same ones again and again
    and holds too little; Fisher's z of the systems' means needs no resample. Its variance for
    ranks is that of Bonett and Wright (2000) and Fieller, Hartley and Pearson (1957); Student's t
    for the normal quantile pays for systems that are not normally distributed.
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
    found, skipped = _per_question(kind, x, y)
    return WithinAndAcross(
        across=_across(kind, x, y, about),
        within=_within(kind, found, about),
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


def _across(kind: Correlation, x: FloatArray, y: FloatArray, about: dict[str, Any]) -> Estimate:
    n_systems = len(x)
    about = {
        **about,
        "statistic": f"{NAMES[kind]} across systems",
        "recipe": "correlation of the systems' means, each over the questions with both values",
    }
    if n_systems < LEAST_SYSTEMS:
        return Estimate(value=None, reason=FEW_SYSTEMS if n_systems else NO_VALUES, **about)
    own_x, own_y = np.nanmean(x, axis=1), np.nanmean(y, axis=1)
    value = float(weighted_correlations(kind, own_x, own_y, np.ones((1, n_systems)))[0])
    if np.isnan(value):
        return Estimate(value=None, reason=NO_SPREAD, **about)
    if not RULES["systems"].allows(n_systems):
        reason = NO_INTERVAL.format(RULES["systems"].least)
        return Estimate(value=value, reason=reason, **about)
    if abs(value) > 1 - 1e-9:
        return Estimate(value=value, reason=ALL_ALIKE, **about)
    variance = {
        "pearson": 1 / (n_systems - 3),
        "spearman": (1 + value**2 / 2) / (n_systems - 3),
        "kendall": 0.437 / (n_systems - 4),
    }[kind]
    upto = (1 + about["confidence"]) / 2
    reach = float(special.stdtrit(n_systems - 2, upto)) * variance**0.5
    low, high = np.tanh(np.arctanh(value) + np.array([-reach, reach])).tolist()
    return Estimate(value=value, low=low, high=high, interval="Fisher z over systems, t", **about)


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
    )
    return Estimate(
        value=mean.value,
        low=mean.low,
        high=mean.high,
        interval=mean.interval,
        reason=mean.reason,
        **about,
    )
