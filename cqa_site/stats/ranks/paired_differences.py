"""Which systems can be told apart: paired differences, Holm's correction, groups.

Every difference is taken question by question, so what makes a question hard for all systems
drops out.

Source: Miller (2024), Adding Error Bars to Evals, on paired differences over questions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.skewed_means import mean_bounds, mean_p, with_skewness
from cqa_site.stats.verdicts import RULES

_CHUNK_CELLS = 8_000_000
# Points of each distribution that power is averaged over.
_POINTS = 32


@dataclass(frozen=True, kw_only=True)
class PairDifference:
    """One system minus another, over the common questions.

    Attributes
    ----------
    first, second
        Systems; `first` is not below `second` on the board.
    mean, low, high
        Mean paired difference and its interval, of this pair alone; None where there is none.
    p, p_holm
        Two-sided, of the paired test; and after Holm over all pairs compared.
    is_separable
        Whether `p_holm` lies below 1 - confidence, with enough questions for a verdict.
    detectable
        True difference that this many questions find with power .8 after the correction
        (`smallest_detectable`); None where they can find none.
    """

    first: str
    second: str
    mean: float
    low: float | None
    high: float | None
    p: float
    p_holm: float
    is_separable: bool
    detectable: float | None


def compare_pairs(
    names: list[str], common: FloatArray, confidence: float
) -> tuple[PairDifference, ...]:
    """Difference of every two systems.

    Parameters
    ----------
    names
        Systems, best first.
    common : shape (n_systems, n_questions)
        Scores without gaps, at least 2 questions.
    confidence
        Of the intervals; 1 - confidence is the level of Holm's correction.
    """
    first, second = np.triu_indices(len(names), k=1)
    if not len(first):
        return ()
    n, level = common.shape[1], 1 - confidence
    columns: list[FloatArray] = []
    for block in _blocks(len(first), n):
        differences = (common[first[block]] - common[second[block]]).T
        (low, high), p = mean_bounds(differences, confidence), mean_p(differences)
        # Where few questions differ, flips of signs do not reject 0; so the interval holds it.
        low, high = np.where(p >= level, [np.minimum(low, 0), np.maximum(high, 0)], [low, high])
        sd = differences.std(axis=0, ddof=1)
        columns.append(np.array([differences.mean(axis=0), low, high, p, sd]))
    mean, low, high, p, sd = np.concatenate(columns, axis=1)
    adjusted = holm(p)
    is_enough = RULES["leader"].allows(n)
    found = smallest_detectable(sd, n, level=level / len(first))
    return tuple(
        PairDifference(
            first=names[first[place]],
            second=names[second[place]],
            mean=float(mean[place]),
            low=_known(low[place], is_enough),
            high=_known(high[place], is_enough),
            p=float(p[place]),
            p_holm=float(adjusted[place]),
            is_separable=bool(is_enough and adjusted[place] < level),
            detectable=_known(found[place], is_enough),
        )
        for place in range(len(first))
    )


def _known(value: float, is_enough: bool) -> float | None:
    return float(value) if is_enough and math.isfinite(value) else None


def tie_groups(separable: np.ndarray) -> IntArray:
    """Group of each system, 1 first: no two systems of a group can be told apart.

    Parameters
    ----------
    separable : bool, shape (n_systems, n_systems), symmetric
        Systems in the order of the board.

    Notes
    -----
    Each system joins the first group none of whose members it can be told from, or opens one.
    So two systems of different groups need not be separable, and a system whose differences are
    uncertain may belong to a higher group than one above it on the board.
    """
    groups: list[list[int]] = []
    for system in range(len(separable)):
        for members in groups:
            if not separable[system, members].any():
                members.append(system)
                break
        else:
            groups.append([system])
    found = np.zeros(len(separable), dtype=np.int64)
    for number, members in enumerate(groups, start=1):
        found[members] = number
    return found


def smallest_detectable(
    sd: FloatArray, n_questions: int, *, level: float = 0.05, power: float = 0.8
) -> FloatArray:
    """True mean difference that a new study of as many questions finds with the given power.

    Parameters
    ----------
    sd
        Of the paired differences, estimated from as many questions.
    n_questions, level, power
        Of the two-sided test `mean_p`; for Holm over m pairs the level of its first step,
        level / m. Infinite where no p of so few questions lies below the level.

    Notes
    -----
    Averaged over what chance does to the estimated sd, to that of the new study and to its
    skewness, for differences that are normal.

    >>> smallest_detectable(np.array([2.0]), 100).round(2)
    array([0.57])
    """
    if n_questions < 2 or 2.0 ** (1 - n_questions) >= level:
        return np.full(np.shape(sd), np.inf)
    return np.asarray(sd * _detectable_sds(n_questions, level, power))


@lru_cache(maxsize=256)
def _detectable_sds(n: int, level: float, power: float) -> float:
    """The detectable difference in units of the estimated sd."""
    from scipy import special  # costly to load, and pages name this module at start

    quantiles = (np.arange(_POINTS) + 0.5) / _POINTS
    sds = np.sqrt(2 * special.gammaincinv((n - 1) / 2, quantiles) / (n - 1))
    pull = special.ndtri(quantiles) * (6 * (n - 1) / ((n - 2) * (n + 1) * (n + 3))) ** 0.5
    reach = np.full(_POINTS, special.stdtrit(n - 1, 1 - level / 2))
    needed = np.maximum(reach, with_skewness(reach, pull))[:, None] * sds
    low, high = 0.0, 2 * float(needed.max()) + 4
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        found = float(special.ndtr(middle * sds[:, None, None] - needed).mean())
        low, high = (middle, high) if found < power else (low, middle)
    return float(high / n**0.5)


def _blocks(n: int, cells_each: int) -> Iterator[slice]:
    size = max(1, _CHUNK_CELLS // cells_each)
    return (slice(start, start + size) for start in range(0, n, size))
