"""Simulations, their execution, and the limits of their figures."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cqa_site.stats.verdicts import LEVEL

# Draws one study of n units; whether the sentence was false (or found), or the interval covered.
# None: nothing was printed. This does not count for intervals; for sentences, it is not false.
Study = Callable[[int, np.random.Generator], bool | None]
Counted = Literal["false", "covered", "found"]

MOST_FALSE, LEAST_COVERED, LEAST_FOUND = 0.05, 0.93, 0.8


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """One verdict sentence or interval, with the studies that test it.

    Attributes
    ----------
    says
        The sentence or interval as shown on pages.
    rule
        Its key in `cqa_site.stats.verdicts.RULES`; "interval" for an interval.
    truth
        The truth in the simulated studies.
    counts
        "false": the sentence is untrue, at most 5 %. "covered": the interval covers the truth, at
        least 93 %. "found": power, at least 80 %.
    sizes, unit
        The smallest n for which it is printed, then larger values.
    study
        Draws one study.
    quick, full
        Number of studies drawn at each size.
    """

    says: str
    rule: str
    truth: str
    counts: Counted
    sizes: tuple[int, ...]
    unit: str
    study: Study
    quick: int = 100
    full: int = 2000


class Share(NamedTuple):
    """How often something happened in ``n`` studies."""

    value: float
    n: int

    @property
    def error(self) -> float:
        """Monte Carlo standard error; the share is kept away from 0 and 1."""
        if not self.n:
            return float("nan")
        share = min(max(self.value, 1 / (self.n + 2)), 1 - 1 / (self.n + 2))
        return (share * (1 - share) / self.n) ** 0.5


def run(simulation: Simulation, size: int, studies: int) -> Share:
    """Draw studies of one size with a fixed seed."""
    key = f"{simulation.says}|{simulation.truth}|{size}".encode()
    generator = np.random.default_rng(zlib.crc32(key))
    results = [simulation.study(size, generator) for _ in range(studies)]
    known = [bool(each) for each in results if each is not None or simulation.counts != "covered"]
    return Share(sum(known) / len(known) if known else float("nan"), len(known))


def is_broken(simulation: Simulation, share: Share, cells: int) -> bool:
    """Whether a share is more than two Monte Carlo standard errors beyond its limit.

    With several cells, its exact binomial tail must also be below 5 % after Bonferroni correction:
    among a hundred cells of few studies, some exceed two errors by chance.
    """
    from scipy import special

    if excess(simulation, share) <= 2 or cells == 1 or not share.n:
        return excess(simulation, share) > 2
    happened = round(share.value * share.n)
    if simulation.counts == "false":
        tail = special.bdtrc(happened - 1, share.n, MOST_FALSE)
    else:
        least = LEAST_COVERED if simulation.counts == "covered" else LEAST_FOUND
        tail = special.bdtr(happened, share.n, least)
    return bool(tail < LEVEL / max(1, cells))


def excess(simulation: Simulation, share: Share) -> float:
    """Return how far a share is beyond its limit, in Monte Carlo standard errors.

    The result is infinite if no study printed the interval.
    """
    if not share.n:
        return float("inf")
    if simulation.counts == "false":
        error = (MOST_FALSE * (1 - MOST_FALSE) / share.n) ** 0.5
        return (share.value - MOST_FALSE) / error
    least = LEAST_COVERED if simulation.counts == "covered" else LEAST_FOUND
    return (least - share.value) / (least * (1 - least) / share.n) ** 0.5
