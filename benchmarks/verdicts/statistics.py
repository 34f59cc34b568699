"""Intervals and verdicts that all packages share: cluster means, agreement and its sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from benchmarks.verdicts.simulating import Counted, Simulation
from cqa_site.stats.agreement import fleiss_kappa, gwet_ac, krippendorff_alpha, percent_agreement
from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.drift import is_below
from cqa_site.stats.estimate import FIRM, TENTATIVE, Estimate
from cqa_site.stats.intervals import (
    LEAST_CLUSTERS,
    LEAST_ONE_SIDED,
    LEAST_RATED,
    clopper_pearson_interval,
    median_estimate,
)
from cqa_site.stats.means import clustered_mean
from cqa_site.stats.ratings import Ratings
from cqa_site.stats.verdicts import RULES, reliability_of

Statistic = Callable[[Ratings], Estimate]
RATERS = 3
MANY = 60_000


def _covers(found: Estimate, truth: float) -> bool | None:
    if found.low is None or found.high is None:
        return None
    return bool(found.low <= truth <= found.high)


# -- labels -----------------------------------------------------------------------------------


def _grid(
    n: int, generator: np.random.Generator, *, shares: tuple[float, ...], wrong: float
) -> FloatArray:
    """Return labels by `RATERS` people, shape (n, RATERS); wrong labels are one step off."""
    true = generator.choice(len(shares), size=(n, 1), p=shares)
    beside = np.clip(true + generator.choice([-1, 1], size=(n, RATERS)), 0, len(shares) - 1)
    return np.where(generator.random((n, RATERS)) < wrong, beside, true).astype(float)


def _ratings(grid: FloatArray) -> Ratings:
    import pandas as pd

    items, raters = np.divmod(np.arange(grid.size), RATERS)
    return Ratings(items, raters, grid.ravel(), pd.RangeIndex(len(grid)), pd.RangeIndex(RATERS))


# Shares of the labels 0-3, and the share of wrong labels.
BALANCED = {"shares": (0.25, 0.25, 0.25, 0.25), "wrong": 0.25}
SKEWED = {"shares": (0.7, 0.2, 0.07, 0.03), "wrong": 0.25}
ONE_SIDED = {"shares": (0.88, 0.07, 0.03, 0.02), "wrong": 0.05}
ORDINAL: Statistic = partial(krippendorff_alpha, level="ordinal")
AGREEMENT: dict[str, Statistic] = {
    "ordinal alpha": ORDINAL,
    "nominal alpha": partial(krippendorff_alpha, level="nominal"),
    "interval alpha": partial(krippendorff_alpha, level="interval"),
    "Fleiss' kappa": fleiss_kappa,
    "AC2": partial(gwet_ac, level="ordinal", categories=[0, 1, 2, 3]),
    "percent agreement": percent_agreement,
}


@cache
def _truth(statistic: str, shares: tuple[float, ...], wrong: float) -> float:
    grid = _grid(MANY, np.random.default_rng(0), shares=shares, wrong=wrong)
    return AGREEMENT[statistic](_ratings(grid)).value or 0.0


def _of_labels(name: str, labels: dict, sizes: tuple[int, ...], truth: str) -> Simulation:
    def study(n: int, generator: np.random.Generator) -> bool | None:
        found = AGREEMENT[name](_ratings(_grid(n, generator, **labels)))
        return _covers(found, _truth(name, **labels))

    return Simulation(
        says=f"interval of {name}",
        rule="interval",
        truth=truth,
        counts="covered",
        sizes=sizes,
        unit="items",
        study=study,
        quick=150,
        full=2000,
    )


def _totals(n: int, generator: np.random.Generator) -> FloatArray:
    """Return points out of 19 by `RATERS` people, mostly high, shape (n, RATERS)."""
    true = generator.binomial(19, generator.beta(6, 2, size=n))[:, None]
    return np.clip(true + np.round(generator.normal(0, 1.5, size=(n, RATERS))), 0, 19)


@cache
def _truth_of_totals() -> float:
    many = _ratings(_totals(MANY, np.random.default_rng(0)))
    return AGREEMENT["interval alpha"](many).value or 0.0


def _covers_totals(n: int, generator: np.random.Generator) -> bool | None:
    found = AGREEMENT["interval alpha"](_ratings(_totals(n, generator)))
    return _covers(found, _truth_of_totals())


def _says_too_much(n: int, generator: np.random.Generator, *, wrong: float, mark: float) -> bool:
    """Whether alpha just below a mark is said to have reached the mark."""
    found = ORDINAL(_ratings(_grid(n, generator, shares=SKEWED["shares"], wrong=wrong)))
    reached = reliability_of(found)
    return reached == "firm" or (reached == "tentative" and mark == TENTATIVE)


def _says_too_little(n: int, generator: np.random.Generator) -> bool:
    """Whether alpha a little above the mark for tentative conclusions is said to be too low."""
    found = ORDINAL(_ratings(_grid(n, generator, shares=SKEWED["shares"], wrong=0.23)))
    return reliability_of(found) == "too_little"


def _level(says: str, study: Callable, truth: str) -> Simulation:
    counts: Counted = "false"
    return Simulation(
        says=says,
        rule="reliability",
        truth=truth,
        counts=counts,
        sizes=(LEAST_RATED, 40, 100),
        unit="items",
        study=study,
        quick=150,
        full=2000,
    )


# -- means ------------------------------------------------------------------------------------

VALUES: dict[str, tuple[Callable[[int, np.random.Generator], FloatArray], float]] = {
    "normal": (lambda n, generator: generator.normal(size=n), 0.0),
    "exponential": (lambda n, generator: generator.exponential(size=n), 1.0),
    "shares, most near 1": (lambda n, generator: generator.beta(5, 1, size=n), 5 / 6),
    "2 or 3 of 3": (lambda n, generator: generator.binomial(3, 0.85, size=n) / 3, 0.85),
    "points of 19": (lambda n, generator: generator.binomial(19, 0.8, size=n) * 1.0, 15.2),
}


def _of_means(name: str) -> Simulation:
    draw, truth = VALUES[name]

    def study(n: int, generator: np.random.Generator) -> bool | None:
        # Some clusters have two values; all values in a cluster are equal.
        sizes = generator.integers(1, 3, size=n)
        values = draw(n, generator)
        found = clustered_mean(range(n), (values * sizes).tolist(), sizes.tolist())
        return _covers(found, truth)

    return Simulation(
        says="interval of a mean over clusters",
        rule="interval",
        truth=f"values: {name}",
        counts="covered",
        sizes=(LEAST_CLUSTERS, 20, 60),
        unit="clusters",
        study=study,
        quick=400,
        full=4000,
    )


def _of_shares(n: int, generator: np.random.Generator) -> bool:
    low, high = clopper_pearson_interval(int(generator.binomial(n, 0.93)), n)
    return low <= 0.93 <= high


# -- medians ----------------------------------------------------------------------------------

REWARD = 2.0
# Hours worked: skewed times, whole minutes, and some people who take ten times as long.
HOURS: dict[str, Callable[[int, np.random.Generator], FloatArray]] = {
    "times skewed": lambda n, generator: generator.lognormal(-1.5, 0.6, size=n),
    "whole minutes": lambda n, generator: generator.integers(8, 23, size=n) / 60,
    "some very slow": lambda n, generator: (
        generator.lognormal(-1.5, 0.3, size=n) * generator.choice([1, 10], size=n, p=[0.8, 0.2])
    ),
}


@cache
def _median_rate(name: str) -> float:
    return float(np.median(REWARD / HOURS[name](MANY, np.random.default_rng(0))))


def _of_medians(name: str) -> tuple[Simulation, Simulation]:
    def estimate(n: int, generator: np.random.Generator) -> Estimate:
        return median_estimate(REWARD / HOURS[name](n, generator), "", unit="submissions")

    def covers(n: int, generator: np.random.Generator) -> bool | None:
        return _covers(estimate(n, generator), _median_rate(name))

    rule = "median below a floor"
    least = RULES[rule].least

    def says_below(n: int, generator: np.random.Generator) -> bool:
        """Whether any look, once a warning is possible, shows a median below the floor."""
        reached = np.cumsum(REWARD / HOURS[name](n, generator) >= _median_rate(name))
        looks = range(least, n + 1)
        return any(is_below(int(reached[look - 1]), look, 0.5) for look in looks)

    about = {"unit": "submissions", "quick": 400, "full": 4000, "truth": name}
    interval = Simulation(
        says="interval of a median", rule="interval", counts="covered", sizes=(6, 10, 30),
        study=covers, **about,
    )  # fmt: skip
    sentence = Simulation(
        says="This shows that the median is below the floor, however often you look", rule=rule,
        counts="false", sizes=(least, 30, 100), study=says_below, **about,
    )  # fmt: skip
    return interval, sentence


SIMULATIONS: tuple[Simulation, ...] = (
    *(_of_labels(name, BALANCED, (LEAST_RATED, 40, 100), "labels balanced") for name in AGREEMENT),
    *(
        _of_labels(name, SKEWED, (LEAST_RATED, 40, 100), "labels skewed")
        for name in AGREEMENT
        if name != "interval alpha"
    ),
    Simulation(
        says="interval of interval alpha",
        rule="interval",
        truth="points of 19, skewed",
        counts="covered",
        sizes=(LEAST_RATED, 40, 100),
        unit="items",
        study=_covers_totals,
        quick=150,
        full=2000,
    ),
    *(
        _of_labels(name, ONE_SIDED, (LEAST_ONE_SIDED, 100, 200), "one label prevails")
        for name in ("ordinal alpha", "nominal alpha", "Fleiss' kappa", "AC2")
    ),
    _level(
        "People agree well enough for tentative conclusions",
        partial(_says_too_much, wrong=0.25, mark=TENTATIVE),
        "alpha .66, labels skewed",
    ),
    _level(
        "People agree well enough for firm conclusions",
        partial(_says_too_much, wrong=0.14, mark=FIRM),
        "alpha .79, labels skewed",
    ),
    _level(
        "People agree, but not well enough for conclusions", _says_too_little, "alpha .68, skewed"
    ),
    *(_of_means(name) for name in VALUES),
    Simulation(
        says="interval of a share",
        rule="interval",
        truth="a share of .93",
        counts="covered",
        sizes=(1, 10, 30),
        unit="trials",
        study=_of_shares,
        quick=1000,
        full=5000,
    ),
    *(simulation for name in HOURS for simulation in _of_medians(name)),
)
