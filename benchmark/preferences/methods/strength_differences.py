"""Which systems preferences can tell apart: differences of log strengths, Holm's correction."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from benchmark.preferences.methods.davidson import Strengths
from benchmark.preferences.methods.davidson_newton import chances
from benchmark.preferences.methods.penalized import Penalized, centred_pseudo_values
from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.ranks.paired_differences import PairDifference, smallest_detectable
from cqa_site.stats.ratings import FloatArray, IntArray

# Strengths that differ by less are equal; the digits after that are the search's.
DECIMALS = 7


def strength_differences(
    strengths: Strengths, fits: Penalized, n_questions: IntArray, confidence: float
) -> tuple[PairDifference, ...]:
    """Compare every two ranked systems.

    Parameters
    ----------
    strengths
        The fit.
    fits
        With and without each question, systems in the order of ``strengths``.
    n_questions : shape (n_systems,)
        With a verdict about each.
    confidence
        Of the intervals; 1 - confidence is the level of Holm's correction.

    Notes
    -----
    Tested is the expected score of the one against the other (wins and half the ties), on the
    scale of its arcsine. The difference of log strengths says the same of close systems, but its
    standard error grows faster than it does for a system that loses nearly always (Hauck and
    Donner 1977), which then could not be told from anything; that of the score itself shrinks
    there, so that few verdicts seem to show too much. The arcsine's hardly changes. Student's t
    over questions, of what leaving out each of them changes; clusters of unlike weight leave it
    fewer degrees of freedom than their number (Imbens and Kolesár 2016, section 3). How many
    fewer is a choice that keeps 5 % in `benchmarks.verdicts`. No p of n questions lies below
    2^(1 - n), as in the exact test that flips signs.
    """
    values = np.array(strengths.log_strengths)
    first, second = np.triu_indices(len(values), k=1)
    gaps = fits.log_strengths[:, first] - fits.log_strengths[:, second]
    low, high = t_bounds(values[first] - values[second], centred_pseudo_values(gaps), confidence)
    # Without the last tie nu would fall to 0 at once: it is held where all verdicts put it.
    scores = centred_pseudo_values(_arcsine(gaps, fits.log_nu[0]))
    n, k, level = len(scores), len(values), 1 - confidence
    asked = np.minimum(n_questions[first], n_questions[second])
    freedom = np.clip(np.minimum(asked, n - (k - 1) / 2) - 1, 1, None)
    p = np.maximum(_t_p(scores, freedom), 2.0 ** (1 - asked))
    adjusted = holm(p)
    sd = scores.std(axis=0, ddof=1)
    sizes = 1 + freedom.astype(np.int64)
    found = [
        smallest_detectable(each * (size / n) ** 0.5, int(size), level=level / len(first))
        for each, size in zip(sd, sizes, strict=True)
    ]
    return tuple(
        PairDifference(
            first=strengths.systems[one],
            second=strengths.systems[other],
            mean=float(values[one] - values[other]),
            low=float(low[place]),
            high=float(high[place]),
            p=float(p[place]),
            p_holm=float(adjusted[place]),
            is_separable=bool(adjusted[place] < level),
            detectable=_gap(float(found[place]), fits.log_nu[0]),
        )
        for place, (one, other) in enumerate(zip(first, second, strict=True))
    )


def t_bounds(
    values: FloatArray, pseudo: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Intervals by Student's t over questions, out to the likeliest value and beyond.

    Parameters
    ----------
    values : shape (n_figures,)
        The likeliest ones, which are farther from 0 than penalized ones.
    pseudo : shape (n_questions, n_figures)
        `centred_pseudo_values` of the penalized ones.
    confidence
        Nominal coverage.
    """
    n = len(pseudo)
    centre = pseudo.mean(axis=0)
    reach = special.stdtrit(n - 1, (1 + confidence) / 2) * pseudo.std(axis=0, ddof=1) / n**0.5
    return np.minimum(values, centre) - reach, np.maximum(values, centre) + reach


def _t_p(pseudo: FloatArray, freedom: FloatArray) -> FloatArray:
    """Two-sided p of "the mean is 0" for each column; rounding is no spread."""
    mean = np.round(pseudo.mean(axis=0), DECIMALS)
    error = np.maximum(pseudo.std(axis=0, ddof=1) / len(pseudo) ** 0.5, 10.0**-DECIMALS)
    return np.asarray(2 * special.stdtr(freedom, -np.abs(mean) / error))


def _arcsine(gaps: FloatArray, log_nu: float) -> FloatArray:
    """Of wins minus losses of the first that are expected; 0 for equal systems."""
    win, loss, _tie = chances(gaps, np.array(log_nu))
    return np.arcsin(win - loss)


def _gap(arcsine: float, log_nu: float) -> float | None:
    """The difference of log strengths with this arcsine; None beyond every difference."""
    if not arcsine < math.pi / 2:
        return None
    lead, nu = math.sin(arcsine), math.exp(log_nu)
    root = (lead * nu) ** 2 + 4 * (1 - lead**2)
    return 2 * math.log((lead * nu + root**0.5) / (2 * (1 - lead)))
