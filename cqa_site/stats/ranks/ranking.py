"""A leaderboard that says how sure it is: means, rank ranges, tie groups, pairs.

One bootstrap of questions serves every figure, and every resample scores all systems on the
same questions, so that ranks and differences are paired.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from cqa_site.stats.estimate import check_confidence
from cqa_site.stats.ranks.paired_differences import PairDifference, compare_pairs, tie_groups
from cqa_site.stats.ranks.rank_ranges import rank_ranges
from cqa_site.stats.ranks.standing import Standing
from cqa_site.stats.ratings import FloatArray, IntArray

NO_SYSTEMS = "there are no systems to compare"
TOO_FEW_QUESTIONS = "fewer than 3 questions have a score of every system, too few to compare"
INTERVAL = "question bootstrap, paired over systems, percentile"

# Means that differ by less than this are equal; adding in another order moves the last digits.
_DECIMALS = 9
_CHUNK_CELLS = 8_000_000


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
        Median over pairs of the smallest difference these questions can find.
    interval, confidence, n_resamples, seed
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
    n_resamples: int
    seed: int
    reason: str | None = None


def rank_systems(
    scores: pd.DataFrame,
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Rank systems on the questions that all of them answered.

    Parameters
    ----------
    scores
        Rows are systems, columns questions, values mean scores in points over the replicates
        and choices of that question; NaN where there is none. Questions that some system
        lacks do not count, since means over different questions cannot be compared.
    confidence, n_resamples, seed
        Of the percentile bootstrap over questions; systems are separable where Holm's
        adjusted p lies below 1 - confidence.

    Returns
    -------
    Ranking
        With fewer than 3 common questions or no system only counts and a reason.

    Raises
    ------
    ValueError
        A system occurs twice, or a score is infinite.

    Notes
    -----
    Questions are the clusters (Miller 2024). The rank range is the middle `confidence` of a
    system's rank over the resamples: it describes how the board could have come out, and is
    not a simultaneous confidence set (Mogstad et al. 2024). P values are those of
    `paired_t_p`.

    Simulated coverage of a difference at nominal .95 (2,000 replicates, scores 0-19, see
    tests/stats/test_coverage.py): .939 for 50 questions, .944 for 200.

    Examples
    --------
    >>> scores = pd.DataFrame([[3, 5, 4, 6], [1, 2, 2, 2]], index=["b", "a"])
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
    about: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples, "seed": seed}
    if not names or common.shape[1] < 3:
        rows = zip(names, per_system, strict=True)
        return Ranking(
            standings=tuple(Standing(system=name, n_questions=int(n)) for name, n in rows),
            n_common=common.shape[1],
            n_questions=int(rated.any(axis=0).sum()),
            reason=TOO_FEW_QUESTIONS if names else NO_SYSTEMS,
            **about,
        )
    order = np.argsort(-_rounded(common.mean(axis=1)), kind="stable")
    names, common = [names[place] for place in order], common[order]
    means = _resampled_means(common, n_resamples, seed)
    pairs = compare_pairs(names, common, means, confidence)
    return Ranking(
        standings=_standings(names, common, means, pairs, per_system[order], confidence),
        pairs=pairs,
        n_common=common.shape[1],
        n_questions=int(rated.any(axis=0).sum()),
        detectable=float(np.median([pair.detectable for pair in pairs])) if pairs else None,
        **about,
    )


def _resampled_means(common: FloatArray, n_resamples: int, seed: int) -> FloatArray:
    """Mean of each system in each resample of questions, shape (n_resamples, n_systems)."""
    n = common.shape[1]
    generator = np.random.default_rng(seed)
    rows = max(1, _CHUNK_CELLS // n)
    sizes = [min(rows, n_resamples - start) for start in range(0, n_resamples, rows)]
    draws = (generator.multinomial(n, np.full(n, 1 / n), size=size) for size in sizes)
    return np.concatenate([_rounded(draw.astype(float) @ common.T / n) for draw in draws])


def _standings(
    names: list[str],
    common: FloatArray,
    means: FloatArray,
    pairs: tuple[PairDifference, ...],
    per_system: IntArray,
    confidence: float,
) -> tuple[Standing, ...]:
    own = common.mean(axis=1)
    places = places_of(_rounded(own), means, pairs, confidence)
    return tuple(
        Standing(system=name, mean=float(own[at]), n_questions=int(per_system[at]), **vars(place))
        for at, (name, place) in enumerate(zip(names, places, strict=True))
    )


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where resamples put a system; see `Standing`."""

    low: float
    high: float
    rank: int
    rank_low: int
    rank_high: int
    p_best: float
    tie_group: int


def places_of(
    values: FloatArray, draws: FloatArray, pairs: tuple[PairDifference, ...], confidence: float
) -> list[Place]:
    """Intervals, ranks with their ranges, and tie groups of systems in the order of the board.

    Parameters
    ----------
    values : shape (n_systems,)
        The figure that ranks them, rounded so that equal ones are equal.
    draws : shape (n_resamples, n_systems)
        The same figure in each resample.
    pairs
        All pairs, in the order of the board.
    confidence
        Of intervals and rank ranges.
    """
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    ranks = rank_ranges(values, draws, confidence)
    group = tie_groups(separable_table(len(values), pairs))
    return [
        Place(
            low=float(low[at]),
            high=float(high[at]),
            rank=int(ranks.rank[at]),
            rank_low=int(ranks.low[at]),
            rank_high=int(ranks.high[at]),
            p_best=float(ranks.p_best[at]),
            tie_group=int(group[at]),
        )
        for at in range(len(values))
    ]


def separable_table(n_systems: int, pairs: tuple[PairDifference, ...]) -> np.ndarray:
    """Whether two systems can be told apart; `pairs` are all pairs, in the order of the board."""
    table = np.zeros((n_systems, n_systems), dtype=bool)
    table[np.triu_indices(n_systems, k=1)] = [pair.is_separable for pair in pairs]
    return table | table.T


def _rounded(means: FloatArray) -> FloatArray:
    return np.asarray(np.round(means, _DECIMALS), dtype=np.float64)
