"""The alternative annotator test: can a judge replace a human annotator?

One human is left out at a time. On each item the judge and that human are scored by how close they
come to the remaining humans; the judge beats the human if it comes as close, with epsilon as an
allowance for the human's higher cost.

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
section 3.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from scipy import special

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.ratings import Ratings
from cqa_site.stats.verdicts import (
    benjamini_yekutieli,
    most_of,
    p_above,
    p_below,
    ratio_pseudo_values,
)

Closeness = Literal["scores", "labels"]

# Values that the source advises: the more expensive the human, the larger the allowance.
EPSILON = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
LEAST_ITEMS = 30
LEAST_HUMANS = 2
LEAST_CLUSTERS = 10
ADVISED_HUMANS = 3
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class AnnotatorTest:
    """The judge compared with one human, each against the remaining humans.

    Attributes
    ----------
    rater
        The human.
    n_items
        Number of items rated by this human, the judge and at least one other human.
    judge_advantage, human_advantage
        Shares of items on which the judge, or the human, comes at least as close as the other, 0
        to 1; ties count for both.
    p
        p value of the hypothesis that the human's lead is epsilon or more.
    is_beaten
        Whether `p`, adjusted by the Benjamini-Yekutieli method, is at most the level.
    n_clusters, p_closer, p_farther
        Number of clusters of these items, and the p values, over clusters, of the hypotheses that
        the human's lead is epsilon or more, and that it is epsilon or less.
    reason
        Reason why this human was not tested.
    """

    rater: str
    n_items: int
    judge_advantage: float | None = None
    human_advantage: float | None = None
    p: float | None = None
    is_beaten: bool | None = None
    n_clusters: int = 0
    p_closer: float | None = None
    p_farther: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class AlternativeAnnotator:
    """The outcome of the alternative annotator test.

    Attributes
    ----------
    passed
        Whether `omega` is at least 0.5; None if undefined, with `reason`.
    omega
        Winning rate: share of tested humans that the judge beats, 0 to 1.
    rho
        Mean advantage probability of the judge over the tested humans, 0 to 1. It does not
        depend on epsilon: use it to compare judges.
    epsilon, level, closeness
        The settings.
    humans
        One entry for each human, including humans who were not tested.
    n_items
        Number of items rated by the judge and at least two humans.
    n_clusters, p_passed, p_failed
        Smallest number of clusters for any tested human, and one-sided p values of the hypotheses
        that the judge comes close enough for fewer than half of the tested humans, and that it
        falls short for half of them or fewer. A judge that has not passed has failed only if
        `p_failed` is small.
    caution
        Limits of a defined outcome, in plain words; otherwise empty.
    reason
        Reason for a missing outcome.
    """

    passed: bool | None = None
    omega: float | None = None
    rho: float | None = None
    epsilon: float
    level: float
    closeness: Closeness
    humans: tuple[AnnotatorTest, ...]
    n_items: int
    n_clusters: int = 0
    p_passed: float | None = None
    p_failed: float | None = None
    caution: str = ""
    reason: str = ""


def alternative_annotator_test(
    humans: Ratings,
    judge: pd.Series,
    *,
    closeness: Closeness = "scores",
    epsilon: float = 0.2,
    level: float = 0.05,
    least_items: int = LEAST_ITEMS,
    clusters: Mapping[Hashable, Hashable] | None = None,
) -> AlternativeAnnotator:
    """Test whether the judge represents the humans as well as a left-out human does.

    Parameters
    ----------
    humans
        The humans' ratings; gaps are allowed.
    judge
        The judge's values, indexed by item; missing for unscored items.
    closeness : {"scores", "labels"}
        Minus the root mean squared difference from the remaining humans, or the share of them
        with the same value (for unordered values).
    epsilon
        Lead allowed to the human, 0 to 1. The default in the source's code, 0.2, is for experts;
        see `EPSILON` for other humans.
    level
        False discovery rate of the Benjamini-Yekutieli correction.
    least_items
        Humans with fewer items are not tested, because the t test needs about 30.
    clusters
        Map of items to clusters, such as questions; by default, each item is its own cluster.
        `p_passed` and `p_failed` are computed over clusters and need at least `LEAST_CLUSTERS`
        clusters; everything else follows the source.

    Returns
    -------
    AlternativeAnnotator
        Undefined if fewer than two humans can be tested. With two humans, the test only shows
        which of them the judge is closer to; `caution` then says so.

    Raises
    ------
    ValueError
        If the closeness is unknown, or epsilon or the level is out of range.

    Notes
    -----
    For each human and item, ``d = [human at least as close] - [judge at least as close]``; a
    one-sided t test decides whether ``mean(d) < epsilon``. Without variation, the mean decides.
    `p_passed` and `p_failed` are partial conjunctions over humans (Benjamini and Heller 2008).
    """
    if closeness not in ("scores", "labels"):
        raise ValueError(f"closeness must be 'scores' or 'labels', not {closeness!r}")
    if not 0 <= epsilon <= 1 or not 0 < level < 1:
        raise ValueError("epsilon must be between 0 and 1, and level strictly between 0 and 1")
    grid, own, names, items = _grid(humans, judge)
    known = clusters or {}
    codes = pd.factorize(pd.Index([known.get(item, item) for item in items]))[0]
    comparisons = [
        _left_out(place, name, grid, own, codes, closeness, epsilon, least_items)
        for place, name in enumerate(names)
    ]
    comparisons = _corrected(comparisons, level)
    tested = [comparison for comparison in comparisons if comparison.p is not None]
    n_items = int(((~np.isnan(grid)).sum(axis=1) >= 2).sum())
    reason = _why_undefined(names, tested, least_items)
    omega = rho = p_passed = p_failed = None
    if not reason:
        omega = float(np.mean([bool(test.is_beaten) for test in tested]))
        rho = float(np.mean([test.judge_advantage or 0.0 for test in tested]))
        closer = [test.p_closer for test in tested if test.p_closer is not None]
        farther = [test.p_farther for test in tested if test.p_farther is not None]
        if len(closer) == len(tested):
            p_passed = most_of(np.array(closer), (len(tested) + 1) // 2)
            p_failed = most_of(np.array(farther), len(tested) // 2 + 1)
    return AlternativeAnnotator(
        passed=None if omega is None else omega >= 0.5,
        omega=omega,
        rho=rho,
        epsilon=epsilon,
        level=level,
        closeness=closeness,
        humans=tuple(comparisons),
        n_items=n_items,
        n_clusters=min((test.n_clusters for test in tested), default=0),
        p_passed=p_passed,
        p_failed=p_failed,
        caution="" if reason else _caution(len(tested)),
        reason=reason,
    )


def _grid(humans: Ratings, judge: pd.Series) -> tuple[FloatArray, FloatArray, list[str], pd.Index]:
    """Return both sides' values on the judge's items (NaN where missing), names and items."""
    grid = np.full((humans.n_items, humans.n_raters), np.nan)
    grid[humans.item_codes, humans.rater_codes] = humans.values
    values = judge.dropna().astype(float)
    place = pd.Index(values.index).get_indexer(humans.items)
    both = place >= 0
    names = [str(name) for name in humans.raters]
    return grid[both], values.to_numpy()[place[both]], names, humans.items[both]


def _left_out(
    place: int,
    name: str,
    grid: FloatArray,
    judge: FloatArray,
    clusters: IntArray,
    closeness: Closeness,
    epsilon: float,
    least_items: int,
) -> AnnotatorTest:
    human, others = grid[:, place], np.delete(grid, place, axis=1)
    usable = ~np.isnan(human) & ~np.isnan(others).all(axis=1)
    n = int(usable.sum())
    if n < max(least_items, 2):
        reason = f"only {n} answers shared with the judge and another person; {least_items} needed"
        return AnnotatorTest(rater=name, n_items=n, reason=reason)
    theirs = _closeness(human[usable], others[usable], closeness)
    ours = _closeness(judge[usable], others[usable], closeness)
    human_wins = (theirs >= ours - _ROUNDING).astype(float)
    judge_wins = (ours >= theirs - _ROUNDING).astype(float)
    codes = np.unique(clusters[usable], return_inverse=True)[1]
    n_clusters = int(codes.max()) + 1
    p_closer = p_farther = None
    if n_clusters >= LEAST_CLUSTERS:
        edges = np.asarray(np.bincount(codes, weights=human_wins - judge_wins), np.float64)
        values = ratio_pseudo_values(edges, np.bincount(codes).astype(np.float64))
        p_closer, p_farther = p_below(values, epsilon), p_above(values, epsilon)
    return AnnotatorTest(
        rater=name,
        n_items=n,
        judge_advantage=float(judge_wins.mean()),
        human_advantage=float(human_wins.mean()),
        p=_p_below(human_wins - judge_wins, epsilon),
        n_clusters=n_clusters,
        p_closer=p_closer,
        p_farther=p_farther,
    )


def _closeness(values: FloatArray, others: FloatArray, closeness: Closeness) -> FloatArray:
    if closeness == "labels":
        same = np.where(np.isnan(others), np.nan, others == values[:, None])
        return np.asarray(np.nanmean(same, axis=1))
    return np.asarray(-np.sqrt(np.nanmean((others - values[:, None]) ** 2, axis=1)))


def _p_below(differences: FloatArray, mark: float) -> float:
    """Return the one-sided p value of the t test that the mean is below `mark`."""
    n = len(differences)
    edge = float(differences.mean()) - mark
    error = float(differences.std(ddof=1)) / n**0.5
    if error < _ROUNDING:
        return 0.0 if edge < -_ROUNDING else 1.0
    return float(special.stdtr(n - 1, edge / error))


def _corrected(comparisons: list[AnnotatorTest], level: float) -> list[AnnotatorTest]:
    known = [comparison.p for comparison in comparisons if comparison.p is not None]
    adjusted = iter(benjamini_yekutieli(np.array(known)).tolist())
    return [
        comparison
        if comparison.p is None
        else replace(comparison, is_beaten=next(adjusted) <= level)
        for comparison in comparisons
    ]


def _why_undefined(names: list[str], tested: list[AnnotatorTest], least_items: int) -> str:
    if len(names) < LEAST_HUMANS:
        return f"the test needs {LEAST_HUMANS} people or more, not {len(names)}"
    if len(tested) < LEAST_HUMANS:
        return (
            f"fewer than {LEAST_HUMANS} people scored {least_items} answers that the judge and "
            "another person scored"
        )
    return ""


def _caution(n_humans: int) -> str:
    if n_humans >= ADVISED_HUMANS:
        return ""
    return (
        "with two people, the test only shows whether the judge is closer to one of them than "
        f"the other person is; {ADVISED_HUMANS} or more people are advised"
    )
