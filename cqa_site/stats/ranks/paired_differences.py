"""Which systems can be told apart: paired differences, Holm's correction, tie groups.

Every difference is taken question by question, so what makes a question hard for all systems
drops out.

Source: Miller (2024), Adding Error Bars to Evals, on paired differences over questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.ratings import FloatArray, IntArray

_CHUNK_CELLS = 8_000_000


@dataclass(frozen=True, kw_only=True)
class PairDifference:
    """One system minus another, over the common questions.

    Attributes
    ----------
    first, second
        Systems; `first` is not below `second` on the board.
    mean, low, high
        Mean paired difference and its percentile interval from the shared bootstrap.
    p, p_holm
        Two-sided, of the paired t test; and after Holm over all pairs compared.
    is_separable
        Whether `p_holm` lies below 1 - confidence.
    detectable
        Smallest true difference this many questions would find (see `smallest_detectable`).
    """

    first: str
    second: str
    mean: float
    low: float
    high: float
    p: float
    p_holm: float
    is_separable: bool
    detectable: float


def compare_pairs(
    names: list[str], common: FloatArray, means: FloatArray, confidence: float
) -> tuple[PairDifference, ...]:
    """Difference of every two systems.

    Parameters
    ----------
    names
        Systems, best first.
    common : shape (n_systems, n_questions)
        Scores without gaps, at least 2 questions.
    means : shape (n_resamples, n_systems)
        Means of all systems in each resample of the questions.
    confidence
        Of the intervals; 1 - confidence is the level of Holm's correction.
    """
    first, second = np.triu_indices(len(names), k=1)
    if not len(first):
        return ()
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    columns: dict[str, list[FloatArray]] = {"mean": [], "low": [], "high": [], "p": [], "sd": []}
    for block in _blocks(len(first), max(common.shape[1], len(means))):
        differences = (common[first[block]] - common[second[block]]).T
        low, high = np.quantile(means[:, first[block]] - means[:, second[block]], tails, axis=0)
        for name, values in (
            ("mean", differences.mean(axis=0)),
            ("low", low),
            ("high", high),
            ("p", paired_t_p(differences)),
            ("sd", differences.std(axis=0, ddof=1)),
        ):
            columns[name].append(values)
    found = {name: np.concatenate(blocks) for name, blocks in columns.items()}
    adjusted = holm(found["p"])
    detectable = smallest_detectable(found["sd"], common.shape[1], level=1 - confidence)
    return tuple(
        PairDifference(
            first=names[first[place]],
            second=names[second[place]],
            mean=float(found["mean"][place]),
            low=float(found["low"][place]),
            high=float(found["high"][place]),
            p=float(found["p"][place]),
            p_holm=float(adjusted[place]),
            is_separable=bool(adjusted[place] < 1 - confidence),
            detectable=float(detectable[place]),
        )
        for place in range(len(first))
    )


def paired_t_p(differences: FloatArray) -> FloatArray:
    """Two-sided p of each column of paired differences, shape (n_pairs,).

    Parameters
    ----------
    differences : shape (n_questions, n_pairs)
        At least 2 questions.

    Notes
    -----
    Student's t, not a share of resamples: that share cannot fall below 1 / (resamples + 1),
    and Holm over the 1,225 pairs of 50 systems asks for 0.00004 before it separates any two.
    The exact test that flips signs of differences can never give less than ``2**(1 - n)``
    for n questions, so neither does this; it also settles columns without spread.
    """
    n = len(differences)
    mean = differences.mean(axis=0)
    error = differences.std(axis=0, ddof=1) / n**0.5
    rounding = 1e-12 * np.abs(differences).max(axis=0, initial=0.0)
    t = np.divide(mean, error, out=np.zeros_like(mean), where=error > rounding)
    p = np.asarray(2 * special.stdtr(n - 1, -np.abs(t)), dtype=np.float64)
    certain = (error <= rounding) & (np.abs(mean) > rounding)
    return np.maximum(np.where(certain, 0.0, p), 2.0 ** (1 - n))


def tie_groups(separable: np.ndarray) -> IntArray:
    """Group of each system, 1 first: all systems that cannot be told from the group's top.

    Parameters
    ----------
    separable : bool, shape (n_systems, n_systems), symmetric
        Systems in the order of the board.

    Notes
    -----
    The best system not yet in a group opens one. A system of few certain differences may
    belong to a higher group than one above it on the board: it is *not separable* from that
    group's top, whatever its mean.
    """
    groups = np.zeros(len(separable), dtype=np.int64)
    while (groups == 0).any():
        top = int(np.flatnonzero(groups == 0)[0])
        joins = (groups == 0) & ~separable[top]
        joins[top] = True
        groups[joins] = groups.max() + 1
    return groups


def smallest_detectable(
    sd: FloatArray, n_questions: int, *, level: float = 0.05, power: float = 0.8
) -> FloatArray:
    """Smallest true mean difference a paired two-sided test finds with the given power.

    ``(t[1 - level/2] + t[power]) sd / sqrt(n)`` with n - 1 degrees of freedom.

    >>> float(np.round(smallest_detectable(np.array([2.0]), 100)[0], 3))
    0.566
    """
    freedom = n_questions - 1
    reach = special.stdtrit(freedom, 1 - level / 2) + special.stdtrit(freedom, power)
    return np.asarray(reach * sd / n_questions**0.5, dtype=np.float64)


def halving_n(values: FloatArray) -> int | None:
    """How many more items would halve the t interval of a mean, if they spread alike.

    A bit less than three times as many as there are: few items also pay for not knowing the
    spread. None for fewer than 2 values or values without spread, which have no interval.

    >>> halving_n(np.array([1.0, 2.0, 3.0, 4.0] * 10))
    113
    """
    known = values[~np.isnan(values)]
    n = len(known)
    if n < 2 or np.ptp(known) == 0:
        return None

    def width(sizes: IntArray) -> FloatArray:
        return np.asarray(special.stdtrit(sizes - 1, 0.975) / np.sqrt(sizes), dtype=np.float64)

    sizes = np.arange(n, 4 * n + 1)
    # Widths fall with the size, and four times as many items always suffice.
    return int(np.argmax(width(sizes) <= width(sizes[:1]) / 2))


def _blocks(n: int, cells_each: int) -> Iterator[slice]:
    size = max(1, _CHUNK_CELLS // cells_each)
    return (slice(start, start + size) for start in range(0, n, size))
