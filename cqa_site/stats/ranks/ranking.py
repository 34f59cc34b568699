"""A leaderboard that says how sure it is: means, ranks with their ranges, groups, pairs.

Intervals are those of means over questions; ranks follow from the tests of all pairs, so no range
says more than a test does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.estimate import check_confidence
from cqa_site.stats.ranks.paired_differences import PairDifference, compare_pairs, tie_groups
from cqa_site.stats.ranks.rank_ranges import ranks_of
from cqa_site.stats.ranks.standing import Standing
from cqa_site.stats.skewed_means import mean_bounds
from cqa_site.stats.verdicts import RULES

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
        Why there are no figures.
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
    found = [each.detectable for each in pairs if each.detectable is not None]
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
        detectable=max(found, default=None),
        confidence=confidence,
    )


def _bounds(
    common: FloatArray, confidence: float, highest: float | None
) -> list[tuple[float | None, float | None]]:
    """Interval of each mean; none for equal scores and for too few questions."""
    if not RULES["mean"].allows(common.shape[1]):
        return [(None, None)] * len(common)
    bounds = np.array(mean_bounds(common.T, confidence))
    bounds = bounds if highest is None else np.clip(bounds, 0, highest)
    return [(None, None) if np.isnan(low) else (float(low), float(high)) for low, high in bounds.T]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a system stands; see `Standing`."""

    rank: int
    rank_low: int | None = None
    rank_high: int | None = None
    tie_group: int | None = None


def places_of(
    values: FloatArray, pairs: tuple[PairDifference, ...], *, is_enough: bool = True
) -> list[Place]:
    """Ranks, their ranges, and groups of systems in the order of the board.

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
        return [Place(rank=int(rank)) for rank in ranks]
    separable = separable_table(len(values), pairs)
    above, below = np.tril(separable).sum(axis=1), np.triu(separable).sum(axis=1)
    groups = tie_groups(separable)
    return [
        Place(
            rank=int(ranks[at]),
            rank_low=1 + int(above[at]),
            rank_high=len(values) - int(below[at]),
            tie_group=int(groups[at]),
        )
        for at in range(len(values))
    ]


def separable_table(n_systems: int, pairs: tuple[PairDifference, ...]) -> np.ndarray:
    """Whether two systems can be told apart; `pairs` are all pairs, in the order of the board."""
    table = np.zeros((n_systems, n_systems), dtype=bool)
    table[np.triu_indices(n_systems, k=1)] = [pair.is_separable for pair in pairs]
    return table | table.T
