"""Which systems preferences can tell apart: differences of log strengths, Holm's correction."""

from __future__ import annotations

import numpy as np
from scipy import special

from benchmark.preferences.methods.davidson import Strengths
from benchmark.preferences.methods.davidson_newton import chances
from benchmark.preferences.methods.preference_bootstrap import DECIMALS
from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.ranks.paired_differences import PairDifference, smallest_detectable
from cqa_site.stats.ratings import FloatArray


def strength_differences(
    strengths: Strengths, draws: FloatArray, n_questions: int, confidence: float
) -> tuple[PairDifference, ...]:
    """Compare every two ranked systems.

    Parameters
    ----------
    strengths
        The fit.
    draws : shape (n_resamples, n_systems)
        Log strengths in each resample of the questions, systems in the order of the fit.
    n_questions, confidence
        Resampled questions; 1 - confidence is the level of Holm's correction.

    Notes
    -----
    P is that of Student's t with one degree of freedom less than there are questions; a share of
    resamples could not fall below 1 / (resamples + 1), which is too much for Holm over many
    pairs. Tested is the expected score of the stronger system against the weaker, minus one
    half, over its standard deviation among the resamples. The difference of log strengths says
    the same of close systems, but its own standard deviation grows faster than it does for a
    system that loses nearly always (Hauck and Donner 1977), which then could not be told from
    anything.
    """
    values = np.array(strengths.log_strengths)
    first, second = np.triu_indices(len(values), k=1)
    gap = values[first] - values[second]
    drawn = draws[:, first] - draws[:, second]
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    lead = _expected_lead(gap, strengths.log_nu)
    lead_error = _deviation(_expected_lead(drawn, strengths.log_nu))
    p = np.asarray(2 * special.stdtr(n_questions - 1, -np.abs(lead) / lead_error))
    adjusted = holm(p)
    level = 1 - confidence
    spread = _deviation(drawn) * n_questions**0.5
    detectable = smallest_detectable(spread, n_questions, level=level)
    return tuple(
        PairDifference(
            first=strengths.systems[one],
            second=strengths.systems[other],
            mean=float(gap[place]),
            low=float(low[place]),
            high=float(high[place]),
            p=float(p[place]),
            p_holm=float(adjusted[place]),
            is_separable=bool(adjusted[place] < level),
            detectable=float(detectable[place]),
        )
        for place, (one, other) in enumerate(zip(first, second, strict=True))
    )


def _expected_lead(gap: FloatArray, log_nu: float) -> FloatArray:
    """Wins and half the ties of the first, minus one half."""
    win, loss, _tie = chances(gap, np.array(log_nu))
    return np.asarray((win - loss) / 2)


def _deviation(drawn: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(drawn.std(axis=0, ddof=1), 10.0**-DECIMALS))
