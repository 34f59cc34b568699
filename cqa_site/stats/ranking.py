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
    """Rank the systems in each row; a rank is one more than the number of better systems."""
    rows = max(1, _CHUNK_CELLS // values.shape[1] ** 2)
    blocks = [values[start : start + rows] for start in range(0, len(values), rows)]
    return np.concatenate(
        [1 + (block[:, None, :] > block[:, :, None]).sum(axis=2) for block in blocks]
    )


# A leaderboard with its uncertainty: means, ranks with their ranges, groups, pairs.
#
# Intervals are for means over questions; rank ranges follow from the tests of all pairs, so no
# range claims more than a test shows.

NO_SYSTEMS = "there are no systems to compare"
TOO_FEW_QUESTIONS = "fewer than 3 questions have a score for every system, too few to compare"
INTERVAL = "Student's t over questions, corrected for skewness"

# Means this close count as equal, because the order of addition changes the last digits.
_DECIMALS = 9


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """A leaderboard.

    Attributes
    ----------
    standings
        Best first; in input order if nothing can be compared.
    pairs
        All pairs of systems, in the order of the board.
    n_common, n_questions
        Number of questions with a score for every system, and for at least one system.
    detectable
        The smallest difference between two systems that can be detected with these questions at a
        power of .8.
    interval, confidence
        Method and confidence of the intervals.
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
        Rows are systems, and columns are questions. Values are mean scores in points over the
        replicates and choices of a question; NaN if missing. Questions without a score for every
        system do not count, since means over different questions cannot be compared.
    confidence
        Confidence of the intervals; systems are separable if Holm's adjusted p is below 1 -
        confidence.
    highest
        Maximum score; if given, intervals for means are truncated at 0 and at this maximum.

    Returns
    -------
    Ranking
        With fewer than 3 common questions or no systems, it contains only counts and a reason;
        with fewer questions than the "leader" rule requires, only means, ranks and p values.

    Raises
    ------
    ValueError
        If a system occurs twice or a score is infinite.

    Notes
    -----
    Questions are the clusters (Miller 2024). All rank ranges together have the confidence of the
    corrected tests (Mogstad et al. 2024). `python -m benchmarks.verdicts --only scores` reports
    how often intervals contain the truth.

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
    """Return the interval for each mean, except for equal scores or too few questions."""
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
        The figure by which systems are ranked, rounded so that equal figures compare equal.
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


# Agreement of two raters on the ranking of systems, and on the ranking of answers to a question.
#
# The two differ: raters who find the same systems good or bad correlate across systems even if
# they cannot tell two answers to one question apart.

COLUMNS = ("system", "question", "x", "y")
LEAST_SYSTEMS = 3
FEW_SYSTEMS = f"fewer than {LEAST_SYSTEMS} systems"
NO_SPREAD = "one of the two gave all systems the same value"
NO_INTERVAL = "fewer than {} systems, too few for an interval"
ALL_ALIKE = "both rank the systems in the same or the reverse order, so there is no interval"


@dataclass(frozen=True, kw_only=True)
class WithinAndAcross:
    """Correlation between two raters across systems and within questions.

    Attributes
    ----------
    across
        Correlation of the systems' means; its interval applies to other systems like these, on the
        same number of questions.
    within
        Mean over questions of the correlation over the systems; its interval resamples questions.
    within_sd
        Sample sd (ddof 1) of the correlations within questions; None for fewer than two questions.
    n_systems, n_questions, n_questions_used
        Number of systems and questions with a pair of values, and of questions whose correlation
        is defined.
    skipped
        Number of questions without a correlation, by reason.
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
        Columns system, question, x, y; rows without x or y are dropped, and several rows for one
        system and question (choices, replicates) are averaged.
    kind : {"pearson", "spearman", "kendall"}
        Used at both levels.
    confidence
        Nominal coverage of both intervals.

    Notes
    -----
    These are the system level and the item level of Deutsch, Dror and Roth (2021), who show that
    systems, like inputs, are a sample. Across systems, resampling draws the same few systems again
    and again, so the coverage is too low; Fisher's z of the systems' means needs no resampling.
    For ranks, its variance follows Bonett and Wright (2000) and Fieller, Hartley and Pearson
    (1957); Student's t instead of the normal quantile allows for systems that are not normally
    distributed. A question needs `LEAST_SYSTEMS` systems and values that differ on both sides.

    Raises
    ------
    ValueError
        If a column is absent or the kind is unknown.
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
    """Return both values for each system (row) and question (column), NaN where missing."""
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
