"""When a sentence of verdict may be printed: its test, its family, its margin, its smallest n.

Pages, boards and runs ask here before they say that one thing is above another, that something
is close enough, or that agreement suffices. A figure may always be shown; a verdict needs its
rule. `docs/statistics.md` lists the rules, `python -m benchmarks.verdicts` simulates them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from cqa_site.stats.intervals import LEAST_CLUSTERS, LEAST_RATED
from cqa_site.stats.reliability.marks import FIRM, TENTATIVE

# Of every test and every family; intervals cover 1 - LEVEL.
LEVEL = 0.05

Direction = Literal["above", "below", "not_shown"]
Reliability = Literal["firm", "tentative", "not_shown", "too_little", "no_interval"]


class Bounds(Protocol):
    """An estimate with an interval, or without one."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True, kw_only=True)
class VerdictRule:
    """What has to be true of data before a verdict is printed about them.

    Attributes
    ----------
    test
        The test or interval that decides.
    family
        What is tested together, and how that is corrected.
    margin
        How close is close enough; empty where the verdict is about a direction.
    least, unit
        The smallest n for which the verdict is printed, and what is counted.
    """

    test: str
    family: str
    margin: str = ""
    least: int
    unit: str

    def allows(self, n: int) -> bool:
        """Whether there is enough for a verdict, whichever."""
        return n >= self.least


def direction_of(found: Bounds, zero: float = 0.0) -> Direction:
    """On which side of ``zero`` the whole interval lies; without an interval nothing is shown."""
    if found.low is None or found.high is None:
        return "not_shown"
    if found.low > zero:
        return "above"
    return "below" if found.high < zero else "not_shown"


def reliability_of(alpha: Bounds) -> Reliability:
    """What the interval of an alpha allows to conclude; without an interval nothing."""
    if alpha.low is None or alpha.high is None:
        return "no_interval"
    if alpha.low >= TENTATIVE:
        return "firm" if alpha.low >= FIRM else "tentative"
    return "not_shown" if alpha.high >= TENTATIVE else "too_little"


# Names of rules stand in `docs/statistics.md`, which a test compares with this table.
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
        test="per person, t over questions of who comes closer; partial conjunction over people",
        family="rules and columns of a judge for no, judges for yes; Bonferroni",
        margin="epsilon, .1 to .2 of the answers",
        least=10,
        unit="questions with 30 answers by two people and the judge",
    ),
    "agreement of a judge": VerdictRule(
        test="jackknife over questions of alpha with people minus people's own",
        family="rules and columns of a judge for no, judges for yes; Bonferroni",
        margin=".1 of alpha",
        least=25,
        unit="questions with 30 answers by two people and the judge",
    ),
    "mean of a judge": VerdictRule(
        test="t over questions, inclusion of the interval",
        family="rules and columns of a judge for no, judges for yes; Bonferroni",
        margin="5 % of the maximum",
        least=10,
        unit="questions with 30 answers by people and the judge",
    ),
    "unscored replies": VerdictRule(
        test="exact binomial over answers",
        family="rules and columns of a judge for no; Bonferroni",
        margin="5 % of the replies",
        least=1,
        unit="replies",
    ),
    "consistency of a judge": VerdictRule(
        test="jackknife over questions of the logarithm of F",
        family="rules and columns of a judge for no; Bonferroni",
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
        family="all raters ranked beside each other, of which the best is named; Bonferroni",
        least=100,
        unit="items with two ratings of the group and one of the other rater",
    ),
    "below a mark": VerdictRule(
        test="exact 95 % interval of a share (Clopper-Pearson) below a mark, at one look",
        family="each rater alone",
        margin="the mark that the round sets",
        least=1,
        unit="control answers",
    ),
    "below a mark at any look": VerdictRule(
        test="mixture likelihood ratio of 20 or more against the mark (Robbins 1970)",
        family="each rater alone, all looks together",
        margin="the mark that the round sets",
        least=1,
        unit="control answers",
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
        unit="comments with, and without, for the interval of the change; the test needs none",
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
        test="t over questions, of what leaving out each changes in the arcsine of the expected "
        "score by penalized strengths",
        family="all pairs of ranked systems, Holm",
        least=10,
        unit="questions with a verdict between ranked systems",
    ),
}


def corrected_level(level: float, m: int) -> float:
    """The level of each of m tests after Bonferroni; m below 1 counts as 1."""
    return level / max(1, m)


def least_to_differ(n_pairs: int = 1) -> int:
    """Common questions from which any of so many pairs of systems can be told apart.

    No p of n questions lies below 2^(1 - n), and Holm asks one pair for less than LEVEL / n_pairs.

    >>> [least_to_differ(n_pairs) for n_pairs in (1, 6, 45)]
    [10, 10, 11]
    """
    needed = 2 + math.floor(math.log2(max(n_pairs, 1) / LEVEL))
    return max(RULES["leader"].least, needed)
