"""Strengths of systems from verdicts on pairs: the model of Bradley and Terry with ties.

Every system has a strength; the larger the ratio of two strengths, the likelier the stronger one
is preferred, and the closer they are, the likelier a tie. Both bad is a tie here, since it says
nothing about which answer is better; how often it was said stands apart.

Source: Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments. Journal of the American Statistical Association 65, 317-328.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from benchmark.preferences.methods.connectivity import (
    has_finite_ties,
    strong_components,
    was_as_good,
)
from benchmark.preferences.methods.davidson_newton import LOG_NOTHING, chances, maximise
from benchmark.preferences.methods.paired import PairCounts, Verdicts
from benchmark.preferences.methods.penalized import penalized
from benchmark.preferences.methods.verdicts import BOTH_BAD, FIRST, SECOND
from cqa_site.stats.ratings import FloatArray, IntArray

NO_VERDICTS = "there are no verdicts"
NOT_COMPARED = "it was never compared with the ranked systems, directly or through others"


class NotConvergedError(RuntimeError):
    """The likelihood has a maximum, but the search did not reach it."""


class Chance(NamedTuple):
    """What the model expects of one comparison; the three add up to 1."""

    win: float
    loss: float
    tie: float

    @property
    def score(self) -> float:
        """Wins and half the ties, 0 to 1."""
        return self.win + self.tie / 2


@dataclass(frozen=True, kw_only=True)
class Strengths:
    """What verdicts say about systems.

    Attributes
    ----------
    systems, log_strengths
        The ranked systems, the strongest first; log strengths have the mean 0.
    nu
        Tie parameter, 0 or more: two equal systems tie with probability ``nu / (2 + nu)``.
        None without strengths.
    log_likelihood
        Natural logarithm, at the maximum, of the probability of these verdicts; None where
        strengths are penalized.
    is_penalized
        Whether some strength has no limit, so that these are penalized ones (`penalized`).
    components
        Systems linked by verdicts; the first component is the ranked one.
    unranked
        System → why it has no strength.
    n_verdicts, n_ties, n_both_bad
        Verdicts between ranked systems; of them, ties without both bad; and both bad.
    n_left_out
        Verdicts about a system that is not ranked.
    reason
        Why there are no strengths at all.
    """

    systems: tuple[str, ...] = ()
    log_strengths: tuple[float, ...] = ()
    nu: float | None = None
    log_likelihood: float | None = None
    is_penalized: bool = False
    components: tuple[tuple[str, ...], ...] = ()
    unranked: dict[str, str] = field(default_factory=dict)
    n_verdicts: int = 0
    n_ties: int = 0
    n_both_bad: int = 0
    n_left_out: int = 0
    reason: str | None = None

    @property
    def log_nu(self) -> float:
        """Of the tie parameter, as `davidson_newton` takes it."""
        return math.log(self.nu) if self.nu else LOG_NOTHING

    def by_system(self) -> dict[str, float]:
        """Log strength of each ranked system."""
        return dict(zip(self.systems, self.log_strengths, strict=True))

    def chance(self, first: str, second: str) -> Chance:
        """How a comparison of two ranked systems is expected to end.

        Raises
        ------
        KeyError
            A system has no strength.
        """
        strength = self.by_system()
        d = np.array(strength[first] - strength[second])
        return Chance(*(float(each) for each in chances(d, np.array(self.log_nu))))


def fit_strengths(verdicts: Verdicts) -> Strengths:
    """Find the most likely strengths, or penalized ones where some have no limit.

    The largest set of systems that verdicts link is ranked (of equal ones that with more
    verdicts); a system outside is named.

    Raises
    ------
    NotConvergedError
        Newton's method did not reach the maximum that exists.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("a", "b", "first")] * 3 + [("a", "b", "second")] + [("a", "b", "tie")] * 2
    >>> table = pd.DataFrame(rows, columns=["first", "second", "outcome"])
    >>> table = table.assign(question=range(6), pair=range(6), rater="r", side="left")
    >>> found = fit_strengths(Verdicts.from_frame(table))
    >>> found.systems, [round(each, 4) for each in found.log_strengths], round(found.nu, 4)
    (('a', 'b'), [0.5493, -0.5493], 1.1547)
    """
    verdicts = verdicts.with_weight()
    if not len(verdicts):
        return Strengths(reason=NO_VERDICTS)
    counts = verdicts.count()
    links = was_as_good(counts.first, counts.second, counts.total, len(counts.systems))
    parts = strong_components(links | links.T)
    size = _verdicts_within(verdicts, counts.systems, parts)
    parts.sort(key=lambda each: (-len(each), -size[each[0]], each[0]))
    names = tuple(tuple(counts.systems[at] for at in each) for each in parts)
    ranked = verdicts.among(names[0])
    outcome = ranked.frame["outcome"]
    n_both_bad = int((outcome == BOTH_BAD).sum())
    found = Strengths(
        components=names,
        unranked={name: NOT_COMPARED for each in names[1:] for name in each},
        n_verdicts=len(ranked),
        n_ties=int((~outcome.isin([FIRST, SECOND])).sum()) - n_both_bad,
        n_both_bad=n_both_bad,
        n_left_out=len(verdicts) - len(ranked),
    )
    return _fit(found, ranked.count())


def _verdicts_within(
    verdicts: Verdicts, systems: tuple[str, ...], parts: list[IntArray]
) -> dict[int, int]:
    """First place of each part → verdicts between its systems."""
    part = {systems[place]: int(each[0]) for each in parts for place in each}
    first, second = verdicts.frame["first"].map(part), verdicts.frame["second"].map(part)
    within = first[first == second].value_counts()
    return {int(each[0]): int(within.get(int(each[0]), 0)) for each in parts}


def _fit(found: Strengths, counts: PairCounts) -> Strengths:
    total, n = counts.total, len(counts.systems)
    links = was_as_good(counts.first, counts.second, total, n)
    is_linked = len(strong_components(links)) == 1
    if is_linked and has_finite_ties(counts.first, counts.second, total, n):
        best = maximise(counts.first, counts.second, total[None])
        if not best.converged[0]:
            raise NotConvergedError(
                f"strengths of {n} systems did not settle in {best.n_steps} steps"
            )
        found = replace(found, log_likelihood=float(best.log_likelihood[0]))
        return _named(found, counts.systems, best.log_strengths[0], float(best.log_nu[0]))
    fit = penalized(counts.first, counts.second, total[None])
    found = replace(found, is_penalized=True)
    return _named(found, counts.systems, fit.log_strengths[0], float(fit.log_nu[0]))


def _named(
    found: Strengths, systems: tuple[str, ...], values: FloatArray, log_nu: float
) -> Strengths:
    order = np.argsort(-values, kind="stable")
    nothing_tied = found.n_ties + found.n_both_bad == 0
    return replace(
        found,
        systems=tuple(systems[place] for place in order),
        log_strengths=tuple(float(values[place]) for place in order),
        nu=0.0 if nothing_tied else math.exp(log_nu),
    )
