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
    why_unranked,
)
from benchmark.preferences.methods.davidson_newton import LOG_NOTHING, Maxima, chances, maximise
from benchmark.preferences.methods.paired import Verdicts
from benchmark.preferences.methods.verdicts import BOTH_BAD, FIRST, SECOND
from cqa_site.stats.ratings import IntArray

NO_VERDICTS = "there are no verdicts"
NOT_LINKED = "no two systems are linked by verdicts in both directions"
ENDLESS_TIES = (
    "ties and wins are too one-sided: no circle of verdicts has more wins than ties, "
    "so strengths and tie parameter would grow without end"
)


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
        Natural logarithm, at the maximum, of the probability of these verdicts.
    components
        Systems linked by verdicts in both directions; the first component is the ranked one.
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
    """Find the most likely strengths.

    The largest set of systems that verdicts link in both directions is ranked (of equal ones
    that with more verdicts); a system outside has no finite strength there, and is named.

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
    n = len(counts.systems)
    links = was_as_good(counts.first, counts.second, counts.total, n)
    parts = strong_components(links)
    size = _verdicts_within(verdicts, counts.systems, parts)
    parts.sort(key=lambda each: (-len(each), -size[each[0]], each[0]))
    names = tuple(tuple(counts.systems[at] for at in each) for each in parts)
    if len(parts[0]) < 2:
        unranked = dict.fromkeys(counts.systems, NOT_LINKED)
        return Strengths(
            components=names, unranked=unranked, n_left_out=len(verdicts), reason=NOT_LINKED
        )
    reasons = why_unranked(links, parts[0])
    return _fit(
        verdicts.among(names[0]),
        components=names,
        unranked={counts.systems[place]: why for place, why in reasons.items()},
        n_left_out=len(verdicts) - size[parts[0][0]],
    )


def _verdicts_within(
    verdicts: Verdicts, systems: tuple[str, ...], parts: list[IntArray]
) -> dict[int, int]:
    """First place of each part → verdicts between its systems."""
    part = {systems[place]: int(each[0]) for each in parts for place in each}
    first, second = verdicts.frame["first"].map(part), verdicts.frame["second"].map(part)
    within = first[first == second].value_counts()
    return {int(each[0]): int(within.get(int(each[0]), 0)) for each in parts}


def _fit(
    verdicts: Verdicts,
    *,
    components: tuple[tuple[str, ...], ...],
    unranked: dict[str, str],
    n_left_out: int,
) -> Strengths:
    counts, outcome = verdicts.count(), verdicts.frame["outcome"]
    n_both_bad = int((outcome == BOTH_BAD).sum())
    found = Strengths(
        components=components,
        unranked=unranked,
        n_verdicts=len(verdicts),
        n_ties=int((~outcome.isin([FIRST, SECOND])).sum()) - n_both_bad,
        n_both_bad=n_both_bad,
        n_left_out=n_left_out,
    )
    if not has_finite_ties(counts.first, counts.second, counts.total, len(counts.systems)):
        unranked = unranked | dict.fromkeys(counts.systems, ENDLESS_TIES)
        return replace(found, unranked=unranked, reason=ENDLESS_TIES)
    best = maximise(counts.first, counts.second, counts.total[None])
    if not best.converged[0]:
        raise NotConvergedError(
            f"strengths of {len(counts.systems)} systems did not settle in {best.n_steps} steps"
        )
    return _named(found, counts.systems, best)


def _named(found: Strengths, systems: tuple[str, ...], best: Maxima) -> Strengths:
    values = best.log_strengths[0]
    order = np.argsort(-values, kind="stable")
    nothing_tied = found.n_ties + found.n_both_bad == 0
    return replace(
        found,
        systems=tuple(systems[place] for place in order),
        log_strengths=tuple(float(values[place]) for place in order),
        nu=0.0 if nothing_tied else math.exp(best.log_nu[0]),
        log_likelihood=float(best.log_likelihood[0]),
    )
