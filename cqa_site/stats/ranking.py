"""Rankings of systems with rank ranges, and their correlation between raters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.correlation import NAMES, Correlation, check_correlation, weighted_correlations
from cqa_site.stats.estimate import NO_VALUES, Estimate, RankPosition, Standing, check_confidence
from cqa_site.stats.intervals import mean_bounds
from cqa_site.stats.means import PairDifference, clustered_mean, compare_pairs, tie_groups
from cqa_site.stats.verdicts import RULES

_CHUNK_CELLS = 8_000_000


def ranks_of(values: FloatArray) -> IntArray:
    """Rank the systems in each row, 1 best: one more than the number of better systems."""
    rows = max(1, _CHUNK_CELLS // values.shape[1] ** 2)
    blocks = [values[start : start + rows] for start in range(0, len(values), rows)]
    return np.concatenate(
        [1 + (block[:, None, :] > block[:, :, None]).sum(axis=2) for block in blocks]
    )


# A leaderboard that says how sure it is: means, ranks with their ranges, groups, pairs.
#
# Intervals are those of means over questions; ranks follow from the tests of all pairs, so no
# range says more than a test does.

NO_SYSTEMS = "there are no systems to compare"
TOO_FEW_QUESTIONS = "fewer than 3 questions have a score of every system, too few to compare"
INTERVAL = "Student's t over questions, corrected for skewness"

# Means that differ by less than this are equal; adding in another order moves the last digits.
_DECIMALS = 9


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """A leaderboard.

    Attributes
    ----------
    standings
        Best first; in the order handed in if nothing can be compared.
    pairs
        Every two systems, in the order of the board.
    n_common, n_questions
        Questions with a score of every system; with a score of any.
    detectable
        A difference between any two systems that these questions find with power .8.
    interval, confidence
        How the intervals were made.
    reason
        Reason for missing figures.
    """

    standings: tuple[Standing, ...]
    pairs: tuple[PairDifference, ...] = field(default=(), repr=False)
    n_common: int
    n_questions: int
    detectable: float | None = None
    interval: str = INTERVAL
    confidence: float
    reason: str | None = None


def rank_systems(
    scores: pd.DataFrame, *, confidence: float = 0.95, highest: float | None = None
) -> Ranking:
    """Rank systems on the questions that all of them answered.

    Parameters
    ----------
    scores
        Rows are systems, columns questions, values mean scores in points over the replicates
        and choices of that question; NaN where there is none. Questions that some system
        lacks do not count, since means over different questions cannot be compared.
    confidence
        Of intervals; systems are separable where Holm's adjusted p lies below 1 - confidence.
    highest
        Most points; with it intervals of means end there, and at 0.

    Returns
    -------
    Ranking
        With fewer than 3 common questions or no system only counts and a reason; with fewer than
        the rule "leader" asks for only means, ranks and p.

    Raises
    ------
    ValueError
        A system occurs twice, or a score is infinite.

    Notes
    -----
    Questions are the clusters (Miller 2024). All rank ranges hold together with the confidence of
    the corrected tests (Mogstad et al. 2024). `python -m benchmarks.verdicts --only scores` says
    how often intervals hold the truth.

    Examples
    --------
    >>> scores = pd.DataFrame([[3, 5, 4, 6] * 3, [1, 2, 2, 2] * 3], index=["b", "a"])
    >>> board = rank_systems(scores)
    >>> [(each.system, each.mean, each.rank_low, each.rank_high) for each in board.standings]
    [('b', 4.5, 1, 1), ('a', 1.75, 2, 2)]
    """
    check_confidence(confidence)
    if not scores.index.is_unique:
        raise ValueError("a system occurs twice in the table of scores")
    values = scores.to_numpy(dtype=float)
    if np.isinf(values).any():
        raise ValueError("a score is infinite")
    rated = ~np.isnan(values)
    common = values[:, rated.all(axis=0)] if len(values) else values
    names, per_system = [str(name) for name in scores.index], rated.sum(axis=1)
    n, n_questions = common.shape[1], int(rated.any(axis=0).sum())
    if not names or n < 3:
        rows = zip(names, per_system, strict=True)
        return Ranking(
            standings=tuple(Standing(system=name, n_questions=int(own)) for name, own in rows),
            n_common=n,
            n_questions=n_questions,
            reason=TOO_FEW_QUESTIONS if names else NO_SYSTEMS,
            confidence=confidence,
        )
    means = np.round(common.mean(axis=1), _DECIMALS)
    order = np.argsort(-means, kind="stable")
    names, common = [names[place] for place in order], common[order]
    pairs = compare_pairs(names, common, confidence)
    places = places_of(means[order], pairs, is_enough=RULES["leader"].allows(n))
    bounds = _bounds(common, confidence, highest)
    detectable = [pair.detectable for pair in pairs if pair.detectable is not None]
    return Ranking(
        standings=tuple(
            Standing(
                system=name,
                mean=float(common[at].mean()),
                low=bounds[at][0],
                high=bounds[at][1],
                n_questions=int(per_system[order[at]]),
                **vars(places[at]),
            )
            for at, name in enumerate(names)
        ),
        pairs=pairs,
        n_common=n,
        n_questions=n_questions,
        detectable=max(detectable, default=None),
        confidence=confidence,
    )


def _bounds(
    common: FloatArray, confidence: float, highest: float | None
) -> list[tuple[float | None, float | None]]:
    """Return the interval of each mean; none for equal scores or too few questions."""
    if not RULES["mean"].allows(common.shape[1]):
        return [(None, None)] * len(common)
    bounds = np.array(mean_bounds(common.T, confidence))
    bounds = bounds if highest is None else np.clip(bounds, 0, highest)
    return [(None, None) if np.isnan(low) else (float(low), float(high)) for low, high in bounds.T]


def places_of(
    values: FloatArray, pairs: tuple[PairDifference, ...], *, is_enough: bool = True
) -> list[RankPosition]:
    """Return ranks, rank ranges and tie groups of systems in the order of the board.

    Parameters
    ----------
    values : shape (n_systems,)
        The figure that ranks them, rounded so that equal ones are equal.
    pairs
        All pairs, in the order of the board.
    is_enough
        Whether there are enough questions for ranges and groups.
    """
    ranks = ranks_of(values[None, :])[0]
    if not is_enough:
        return [RankPosition(rank=int(rank)) for rank in ranks]
    separable = separable_table(len(values), pairs)
    above, below = np.tril(separable).sum(axis=1), np.triu(separable).sum(axis=1)
    groups = tie_groups(separable)
    return [
        RankPosition(
            rank=int(ranks[at]),
            rank_low=1 + int(above[at]),
            rank_high=len(values) - int(below[at]),
            tie_group=int(groups[at]),
        )
        for at in range(len(values))
    ]


def separable_table(n_systems: int, pairs: tuple[PairDifference, ...]) -> np.ndarray:
    """Tabulate which systems can be told apart.

    `pairs` are all pairs, in the order of the board.
    """
    table = np.zeros((n_systems, n_systems), dtype=bool)
    table[np.triu_indices(n_systems, k=1)] = [pair.is_separable for pair in pairs]
    return table | table.T


# Do two raters rank systems alike, and do they rank the answers to one question alike?
#
# The two differ: raters who see the same good and bad systems correlate across systems even
# when they cannot tell two answers to one question apart.

COLUMNS = ("system", "question", "x", "y")
LEAST_SYSTEMS = 3
FEW_SYSTEMS = f"fewer than {LEAST_SYSTEMS} systems"
NO_SPREAD = "one of the two gave all systems the same value"
NO_INTERVAL = "fewer than {} systems, too few for an interval"
ALL_ALIKE = "both order the systems in exactly the same way, or in reverse; that has no interval"


@dataclass(frozen=True, kw_only=True)
class WithinAndAcross:
    """Correlation of two raters across systems and within questions.

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
    table: pd.DataFrame, kind: Correlation = "pearson", *, confidence: float = 0.95
) -> WithinAndAcross:
    """Correlate two columns of scores across systems and within questions.

    Parameters
    ----------
    table
        Columns system, question, x, y; rows lacking x or y are dropped, several rows of a
        system and question (choices, replicates) are averaged.
    kind : {"pearson", "spearman", "kendall"}
        Used at both levels.
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
    correlations, skipped = _per_question(kind, x, y)
    return WithinAndAcross(
        across=_across(kind, x, y, about),
        within=_within(kind, correlations, about),
        within_sd=float(np.std(correlations, ddof=1)) if len(correlations) > 1 else None,
        n_systems=x.shape[0],
        n_questions=x.shape[1],
        n_questions_used=len(correlations),
        skipped=dict(skipped),
    )


def _matrices(table: pd.DataFrame) -> tuple[FloatArray, FloatArray, int]:
    """Return both values of each system (row) and question (column), NaN where missing."""
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
    correlations: list[float] = []
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
            correlations.append(value)
    return np.array(correlations), skipped


def _within(kind: Correlation, correlations: FloatArray, about: dict[str, Any]) -> Estimate:
    about = {
        **about,
        "statistic": f"mean {NAMES[kind]} within questions",
        "recipe": "correlation over the systems of each question, then the mean over questions",
    }
    if not len(correlations):
        return Estimate(value=None, reason="no question has a correlation", **about)
    mean = clustered_mean(
        range(len(correlations)),
        correlations.tolist(),
        [1] * len(correlations),
        confidence=about["confidence"],
    )
    return replace(mean, **about)
