"""Rules for verdicts, one-sided tests and adjusted p values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.estimate import FIRM, TENTATIVE
from cqa_site.stats.intervals import LEAST_CLUSTERS, LEAST_RATED, moments, without_skewness

# Rules for printing verdicts: the test, its family, its margin and the smallest n.
#
# Pages, boards and runs check these rules before they state that one thing is above another, that
# something is close enough, or that agreement suffices. A figure may always be shown; a verdict
# needs a rule. `docs/statistics.md` lists the rules, and `python -m benchmarks.verdicts` simulates
# them.

# Level of every test and every family; intervals cover 1 - LEVEL.
LEVEL = 0.05

Direction = Literal["above", "below", "not_shown"]
Reliability = Literal["firm", "tentative", "not_shown", "too_little", "no_interval"]


class Bounds(Protocol):
    """An estimate with or without an interval."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True, kw_only=True)
class VerdictRule:
    """The conditions that data must meet before a verdict about them is printed.

    Attributes
    ----------
    test
        The test or interval that decides.
    family
        The verdicts tested together, and the correction.
    margin
        The difference that counts as close enough; empty if the verdict is about a direction.
    least, unit
        The smallest n for which the verdict is printed, and its unit.
    """

    test: str
    family: str
    margin: str = ""
    least: int
    unit: str

    def allows(self, n: int) -> bool:
        """Return whether there are enough units for a verdict."""
        return n >= self.least


def direction_of(bounds: Bounds, zero: float = 0.0) -> Direction:
    """Return the side of ``zero`` that contains the whole interval, or "not_shown"."""
    if bounds.low is None or bounds.high is None:
        return "not_shown"
    if bounds.low > zero:
        return "above"
    return "below" if bounds.high < zero else "not_shown"


def reliability_of(alpha: Bounds) -> Reliability:
    """Return the reliability that an alpha's interval supports; "no_interval" if it has none."""
    if alpha.low is None or alpha.high is None:
        return "no_interval"
    if alpha.low >= TENTATIVE:
        return "firm" if alpha.low >= FIRM else "tentative"
    return "not_shown" if alpha.high >= TENTATIVE else "too_little"


# `docs/statistics.md` lists the rules by name; a test compares it with this table.
RULES = {
    "leader": VerdictRule(
        test="t over questions, paired and corrected for skewness; p at least 2^(1 - n)",
        family="all pairs of ranked systems, Holm",
        least=10,
        unit="common questions",
    ),
    "mean": VerdictRule(
        test="interval of t over questions, corrected for skewness",
        family="each mean alone",
        least=LEAST_CLUSTERS,
        unit="questions with a score",
    ),
    "systems": VerdictRule(
        test="Fisher's z of the systems' means, with t quantiles",
        family="each correlation alone",
        least=8,
        unit="systems",
    ),
    "difference": VerdictRule(
        test="paired t over questions or topics, corrected for skewness",
        family="all pairs that one table compares, Holm",
        least=8,
        unit="questions or topics with both values",
    ),
    "paired means": VerdictRule(
        test="t of paired differences, corrected for skewness; p at least 2^(1 - n)",
        family="all means that one sentence compares, Holm",
        least=10,
        unit="questions or answers with both values",
    ),
    "judge as a person": VerdictRule(
        test="t over questions of who comes closer, by person; partial conjunction over people",
        family="for no, rules and columns of a judge; for yes, judges; Bonferroni",
        margin="epsilon, .1 to .2 of the answers",
        least=10,
        unit="questions with 30 answers by two people and the judge",
    ),
    "agreement of a judge": VerdictRule(
        test="jackknife over questions of alpha with people minus the people's own alpha",
        family="for no, rules and columns of a judge; for yes, judges; Bonferroni",
        margin=".1 of alpha",
        least=25,
        unit="questions with 30 answers by two people and the judge",
    ),
    "mean of a judge": VerdictRule(
        test="t over questions, inclusion of the interval",
        family="for no, rules and columns of a judge; for yes, judges; Bonferroni",
        margin="5 % of the maximum",
        least=10,
        unit="questions with 30 answers by people and the judge",
    ),
    "unscored replies": VerdictRule(
        test="exact binomial over answers",
        family="for no, rules and columns of a judge; Bonferroni",
        margin="5 % of the replies",
        least=1,
        unit="reply",
    ),
    "consistency of a judge": VerdictRule(
        test="jackknife over questions of the logarithm of F",
        family="for no, rules and columns of a judge; Bonferroni",
        margin="reliability of .8 for yes, .667 for no",
        least=20,
        unit="questions with 30 answers judged twice",
    ),
    "closest judge": VerdictRule(
        test="jackknife over questions of the difference of two judges' alphas with people",
        family="all pairs of judges with a figure, Holm",
        least=20,
        unit="questions that both judges and people scored",
    ),
    "objects swapped": VerdictRule(
        test="interval of the mean change over questions",
        family="one run",
        least=LEAST_CLUSTERS,
        unit="questions in both orders",
    ),
    "one against a group": VerdictRule(
        test="interval of the difference of alphas (item jackknife, t corrected for skewness)",
        family="all raters ranked together, if the best one is named; Bonferroni",
        least=100,
        unit="items with two ratings by the group and one by the other rater",
    ),
    "below a mark": VerdictRule(
        test="exact 95 % interval of a share (Clopper-Pearson) below a mark, at one look",
        family="each rater alone",
        margin="the mark that the round sets",
        least=1,
        unit="control answer",
    ),
    "below a mark at any look": VerdictRule(
        test="mixture likelihood ratio of 20 or more against the mark (Robbins 1970)",
        family="each rater alone, all looks together",
        margin="the mark that the round sets",
        least=1,
        unit="control answer",
    ),
    "fall in accuracy": VerdictRule(
        test="Bernoulli CUSUM, one false signal in 1,000 control answers or more on average",
        family="each rater alone, all looks together; more false signals beyond 60 answers",
        margin="the two accuracies that the round sets",
        least=1,
        unit="control answer",
    ),
    "median below a floor": VerdictRule(
        test="rule “below a mark at any look” for the share that reaches the floor, against half",
        family="each crowd link alone, all looks together",
        margin="the hourly floor that the link sets",
        least=10,
        unit="participants who completed the work",
    ),
    "groups": VerdictRule(
        test="chi-squared that groups have equal shares; exact or permuted where counts are small",
        family="all rows of one table, and all its cells against the other groups; Holm",
        least=5,
        unit="comments in each of two groups",
    ),
    "trend": VerdictRule(
        test="Cochran-Armitage test of a linear trend; permuted where counts are small",
        family="all rows of one table, Holm",
        least=5,
        unit="comments with the key point and 5 without it, for the interval; the test has no "
        "minimum",
    ),
    "reliability": VerdictRule(
        test="interval of alpha (item jackknife, t corrected for skewness) above a mark",
        family="one figure for each sentence",
        margin=".667 for tentative and .8 for firm conclusions",
        least=LEAST_RATED,
        unit="items with two or more ratings, or questions whose answers are the items; 50 where "
        "one value holds over 80 % of the ratings",
    ),
    "preference": VerdictRule(
        test="t over questions, on the change in the arcsine of the expected score by penalized "
        "strengths when each question is left out",
        family="all pairs of ranked systems, Holm",
        least=10,
        unit="questions with a verdict between ranked systems",
    ),
}


def corrected_level(level: float, m: int) -> float:
    """Return the Bonferroni-corrected level of each of m tests; m below 1 counts as 1."""
    return level / max(1, m)


def least_to_differ(n_pairs: int = 1) -> int:
    """Return the minimum number of common questions that can separate one of this many pairs.

    No p value from n questions is below 2^(1 - n), and the first step of Holm's correction
    requires a p value below LEVEL / n_pairs.

    >>> [least_to_differ(n_pairs) for n_pairs in (1, 6, 45)]
    [10, 10, 11]
    """
    needed = 2 + math.floor(math.log2(max(n_pairs, 1) / LEVEL))
    return max(RULES["leader"].least, needed)


# One-sided tests of statistics from their leave-one-out values.
#
# They follow `cqa_site.stats.intervals`: Student's t, or the same t after Hall's (1992)
# transformation if skewness makes the result less certain.

# Power of the studies that `more_needed` plans.
POWER = 0.8
MOST_NEEDED = 100_000


def pseudo_values(value: float, left_out: FloatArray) -> FloatArray:
    """Return jackknife pseudo-values (Tukey 1958) from the leave-one-out values of a statistic."""
    n = len(left_out)
    return np.asarray(n * value - (n - 1) * left_out)


def ratio_pseudo_values(tops: FloatArray, bottoms: FloatArray) -> FloatArray:
    """Return pseudo-values of a ratio of sums, such as the mean of all values of clusters."""
    whole, under = tops.sum(), bottoms.sum()
    return pseudo_values(whole / under, (whole - tops) / (under - bottoms))


def p_above(values: FloatArray, mark: float) -> float:
    """Return the one-sided p value of the hypothesis that the mean is at or below ``mark``.

    The values must be independent.

    Parameters
    ----------
    values : shape (n,)
        Values such as pseudo-values, computed from units whose values lie between -1 and 1.
    mark
        The least favourable mean.

    Notes
    -----
    Values without spread show only that other values are rare: a mean at the mark requires other
    values in a share of ``|value - mark| / (1 + |value|)`` of the units, and the n units contain
    none.
    """
    from scipy import special

    n, mean = len(values), float(values.mean())
    if np.ptp(values) < 1e-9:
        apart = min(1.0, abs(mean - mark) / (1 + abs(mean)))
        return float((1 - apart) ** n) if mean > mark else 1.0
    distance, error, pull = moments(values[:, None] - mark)
    t = distance / error
    return float(special.stdtr(n - 1, -min(t[0], without_skewness(t, pull)[0])))


def p_below(values: FloatArray, mark: float) -> float:
    """Return the one-sided p value of the hypothesis that the mean is at or above ``mark``.

    The values must be independent.
    """
    return p_above(-values, -mark)


def most_of(p: FloatArray, least: int) -> float:
    """Return the p value of "fewer than ``least`` hypotheses are false" (a partial conjunction).

    Benjamini and Heller (2008), Screening for partial conjunction hypotheses, with Bonferroni.

    >>> round(most_of(np.array([0.5, 0.01, 0.02]), 2), 4)
    0.04
    """
    return min(1.0, (len(p) - least + 1) * float(np.sort(p)[least - 1]))


def more_needed(n: int, p: float, units: int, level: float) -> int:
    """Return the additional n needed to show a result in a share `POWER` of similar studies.

    Parameters
    ----------
    n
        Number of observations, such as answers, proportional to the number of units.
    p, units
        One-sided p value, and the number of units.
    level
        Level at which the result must be shown.

    Returns
    -------
    int
        0 if the data point the other way; at most `MOST_NEEDED`.
    """
    from scipy import special

    quantile = -float(special.stdtrit(units - 1, max(p, 1e-300))) if p < 0.5 else 0.0
    if quantile <= 0:
        return 0
    wanted = float(special.ndtri(1 - level) + special.ndtri(POWER))
    return min(MOST_NEEDED, max(1, math.ceil(n * ((wanted / quantile) ** 2 - 1))))


# Adjusted p values for many differences that are tested together.


def holm(p: FloatArray) -> FloatArray:
    """Return adjusted p values; reject those below the level (Holm 1979).

    The i-th smallest of m is multiplied by ``m - i + 1``, but is at least as large as the values
    before it and at most 1.

    >>> [round(float(value), 4) for value in holm(np.array([0.01, 0.04, 0.03]))]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted


def benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Return adjusted p values, valid under any dependence; reject those at or below the rate.

    The i-th smallest of m is multiplied by ``m / i (1 + 1/2 + ... + 1/m)``, but is at most as
    large as the values after it, and at most 1 (Benjamini and Yekutieli 2001).

    >>> [round(float(value), 4) for value in benjamini_yekutieli(np.array([0.03, 0.01]))]
    [0.045, 0.03]
    """
    m = len(p)
    places = np.arange(1, m + 1)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * m / places * (1 / places).sum()
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted
