"""Agreement between many raters and one other, as Krippendorff's alpha over mixed pairs only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_VALUE, Estimate, check_confidence
from cqa_site.stats.intervals import UndefinedIntervalError, jackknife_t_interval
from cqa_site.stats.ratings import FloatArray, IntArray, Ratings
from cqa_site.stats.reliability.coincidence import Level, check_level, distances

RECIPE = (
    "1 - observed / expected disagreement over all pairs of one rating of the group and the "
    "other rater's rating of the same item; pairs within the group do not count"
)
INTERVAL = "item jackknife, t"
DIFFERENCE_RECIPE = (
    "alpha of the group against the other rater minus alpha within the group, both over the items "
    "that the other and at least two of the group rated"
)
NO_SECOND = "no item was rated by two of the group and by the other rater"


def cross_alpha(
    ratings: Ratings, other: pd.Series, level: Level, confidence: float = 0.95
) -> Estimate:
    """Alpha between a group of raters and one rater outside it.

    The figure for "does the judge agree with people as people agree with each other": put it
    beside `krippendorff_alpha` of the group.

    Parameters
    ----------
    ratings
        The group; several ratings of an item and gaps are fine. Every rating counts once.
    other
        The other rater's values, indexed by item; items only one side rated do not count.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement.
    confidence
        Nominal coverage of the interval.

    Returns
    -------
    Estimate
        ``n_values`` counts the group's ratings that met one of the other rater;
        ``n_pairable_items`` the items both sides rated. Without value: nothing in common, or
        one value only. With one rating per item it equals `krippendorff_alpha` of the two.

    Notes
    -----
    Krippendorff (2011), agreement between an observer and a group, with coincidences as in
    the canonical alpha. The interval leaves out one item with all its pairs.
    """
    check_level(level)
    check_confidence(confidence)
    counts, own, scale = _shared(ratings, other)
    about: dict[str, Any] = {
        "statistic": "Krippendorff's alpha, group against one",
        "recipe": RECIPE,
        "level": level,
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": len(counts),
        "n_raters": ratings.n_raters + 1,
        "n_values": int(counts.sum()),
    }
    reason = _why_undefined(ratings, other, counts, scale)
    if reason is not None:
        return Estimate(value=None, reason=reason, **about)
    kinds, multiplicity = _kinds(counts, own)
    total = np.zeros((len(scale), len(scale)))
    np.add.at(total.T, own, counts)
    total = total + total.T
    value = _alpha(level, total, scale)
    left_out = np.array([_without(level, total, kind, scale) for kind in kinds])
    try:
        low, high = jackknife_t_interval(value, left_out, multiplicity, confidence)
    except UndefinedIntervalError as error:
        return Estimate(value=value, reason=str(error), **about)
    return Estimate(value=value, low=low, high=min(high, 1.0), interval=INTERVAL, **about)


def alpha_difference(
    ratings: Ratings, other: pd.Series, level: Level, confidence: float = 0.95
) -> Estimate:
    """Whether another rater agrees with a group as the group does with itself, on the same items.

    Two separate intervals that overlap say nothing about that: they come from different items,
    and neither is one of the difference.

    Parameters
    ----------
    ratings, other, level, confidence
        As `cross_alpha`.

    Returns
    -------
    Estimate
        `cross_alpha` minus alpha of the group, -2 to 2; above 0 the other rater agrees more.
        ``n_pairable_items`` are the items that carry both. The interval leaves out one item from
        both at once, so that what makes an item hard for everybody drops out.

    Notes
    -----
    Both alphas are computed from coincidences as in Krippendorff (2011).

    Simulated coverage at nominal .95, labels 0-3, three raters and one that is like them (1,000
    replicates, see tests/stats/test_alphas.py): .949 for 40 items, .942 for 150.
    """
    check_level(level)
    check_confidence(confidence)
    counts, own, scale = _shared(ratings, other)
    kept = counts.sum(axis=1) >= 2
    counts, own = counts[kept], own[kept]
    about: dict[str, Any] = {
        "statistic": "difference of Krippendorff's alphas, paired",
        "recipe": DIFFERENCE_RECIPE,
        "level": level,
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": len(counts),
        "n_raters": ratings.n_raters + 1,
        "n_values": int(counts.sum()) + len(counts),
    }
    if not len(counts):
        return Estimate(value=None, reason=NO_SECOND, **about)
    kinds, multiplicity = _kinds(counts, own)
    parts = [_both_sides(kind) for kind in kinds]
    totals = [
        np.asarray(np.tensordot(multiplicity, np.array(each), axes=1))
        for each in zip(*parts, strict=True)
    ]
    value = _difference(level, totals, scale)
    if np.isnan(value):
        return Estimate(value=None, reason=ONE_VALUE, **about)
    # Rounded: shares of pairs do not cancel to the last digit, and a value nobody gave is none.
    left_out = np.array(
        [
            _difference(level, [np.round(totals[at] - kind[at], 9) for at in (0, 1)], scale)
            for kind in parts
        ]
    )
    try:
        low, high = jackknife_t_interval(value, left_out, multiplicity, confidence)
    except UndefinedIntervalError as error:
        return Estimate(value=value, reason=str(error), **about)
    return Estimate(value=value, low=low, high=high, interval=INTERVAL, **about)


def _both_sides(kind: IntArray) -> tuple[FloatArray, FloatArray]:
    """Coincidences of one item: of the group with the other rater, and within the group."""
    counts, own = kind[:-1].astype(float), int(kind[-1])
    across = np.zeros((len(counts), len(counts)))
    across[:, own] += counts
    across[own, :] += counts
    within = (np.outer(counts, counts) - np.diag(counts)) / (counts.sum() - 1)
    return across, within


def _difference(level: Level, both: list[FloatArray], scale: FloatArray) -> float:
    across, within = (_alpha(level, each, scale) for each in both)
    return across - within


def _shared(ratings: Ratings, other: pd.Series) -> tuple[IntArray, IntArray, FloatArray]:
    """Counts of the group on shared items, the place of the other's value, and the scale."""
    values = other.dropna().astype(float)
    place = pd.Index(values.index).get_indexer(ratings.items)
    both = place >= 0
    theirs = values.to_numpy()[place[both]]
    scale = np.union1d(ratings.categories(), theirs)
    counts = ratings.counts(scale)[both]
    # Values met on shared items only: elsewhere they say nothing about this pair.
    used = counts.any(axis=0) | np.isin(scale, theirs)
    scale = scale[used]
    return counts[:, used], np.asarray(np.searchsorted(scale, theirs), dtype=np.int64), scale


def _why_undefined(
    ratings: Ratings, other: pd.Series, counts: IntArray, scale: FloatArray
) -> str | None:
    if ratings.n_values == 0 or other.dropna().empty:
        return NO_VALUES
    if not len(counts):
        return NO_OVERLAP
    return ONE_VALUE if len(scale) < 2 else None


def _kinds(counts: IntArray, own: IntArray) -> tuple[IntArray, IntArray]:
    rows, multiplicity = np.unique(np.column_stack([counts, own]), axis=0, return_counts=True)
    return rows, multiplicity


def _alpha(level: Level, coincidences: FloatArray, scale: FloatArray) -> float:
    margins = coincidences.sum(axis=0)
    used = margins > 0
    if used.sum() < 2:
        # Both sides gave the same single value on the shared items.
        return float("nan")
    table, left = coincidences[np.ix_(used, used)], margins[used]
    distance = distances(level, scale[used], left)
    expected = float(left @ distance @ left)
    return 1 - (float(left.sum()) - 1) * float((table * distance).sum()) / expected


def _without(level: Level, total: FloatArray, kind: IntArray, scale: FloatArray) -> float:
    counts, own = kind[:-1], kind[-1]
    rest = total.copy()
    rest[:, own] -= counts
    rest[own, :] -= counts
    return _alpha(level, rest, scale)
