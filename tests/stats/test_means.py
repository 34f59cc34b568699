"""Estimates, intervals, means of clustered and of calibrated scores, and figures as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from cqa_site.stats.calibrated_mean import (
    LEAST_LABELLED,
    TOO_FEW_LABELLED,
    TOO_FEW_OTHERS,
    calibrated_mean,
)
from cqa_site.stats.estimate import (
    NO_VALUES,
    ONLY_IF_KNOWN,
    Estimate,
    StoredError,
    from_json,
    to_json,
)
from cqa_site.stats.intervals import (
    UndefinedIntervalError,
    clopper_pearson_interval,
    jackknife_t_interval,
    mean_interval,
)
from cqa_site.stats.means import clustered_mean

TOO_FEW_QUESTIONS = "an interval needs 10 or more questions"

COUNTS = {"n_items": 1, "n_pairable_items": 0, "n_raters": 1, "n_values": 1}
ABOUT = {"statistic": "toy", "recipe": "none"} | COUNTS


def test_half_an_answer_is_refused():
    for numbers in (
        {"value": float("nan"), "reason": "x"},
        {"value": 0.5, "low": 0.1, "high": float("inf")},
        {"value": 0.5, "low": 0.1, "reason": "x"},
        {"value": None},
        {"value": 0.5},
        {"value": None, "low": 0.1, "high": 0.2, "reason": "x"},
    ):
        with pytest.raises(ValueError, match=r"estimate|interval|undefined"):
            Estimate(**ABOUT, **numbers)


VALUES = np.array([1.0, 1.0, 2.0, 4.0, 4.0, 4.0, 9.0])


def test_the_jackknife_of_a_mean_is_its_t_interval_and_wider_where_values_are_skewed():
    kinds, multiplicity = np.unique(VALUES, return_counts=True)
    n = len(VALUES)
    left_out = (VALUES.sum() - kinds) / (n - 1)
    low, high = jackknife_t_interval(VALUES.mean(), left_out, multiplicity, least=6)
    error = VALUES.std(ddof=1) / n**0.5
    plain = stats.t.interval(0.95, n - 1, VALUES.mean(), error)
    # The long tail is on the right.
    assert low <= plain[0] + 1e-9
    assert high > plain[1] + 0.5
    even = np.array([-3.0, -1.0, -1.0, 0.0, 1.0, 1.0, 3.0])
    error = even.std(ddof=1) / n**0.5
    low, high = mean_interval(even, least=7)
    assert low == pytest.approx(-high)
    assert high >= stats.t.interval(0.95, n - 1, 0, error)[1]


def test_an_interval_needs_items_and_spread():
    for interval, reason in (
        (lambda: jackknife_t_interval(0.5, np.array([0.5]), np.array([19])), "20 or more items"),
        (lambda: jackknife_t_interval(0.5, np.array([1, np.nan]), np.array([25, 1])), "undefined"),
        (lambda: jackknife_t_interval(0.5, np.array([0.5]), np.array([25])), "no spread"),
        (lambda: mean_interval(np.arange(9.0)), "10 or more items"),
    ):
        with pytest.raises(UndefinedIntervalError, match=reason):
            interval()


def test_proportions_against_statsmodels_and_impossible_ones():
    for successes, n in ((0, 4), (1, 4), (4, 4), (7, 20), (779, 1282)):
        for confidence in (0.9, 0.95):
            exact = proportion_confint(successes, n, 1 - confidence, "beta")
            found = clopper_pearson_interval(successes, n, confidence)
            assert found == pytest.approx(exact, abs=1e-12)
    for successes, n in ((0, 0), (-1, 4), (5, 4)):
        with pytest.raises(ValueError, match="0 <= successes <= n"):
            clopper_pearson_interval(successes, n)
    for confidence in (0, 1, 95):
        with pytest.raises(ValueError, match="between 0 and 1"):
            clopper_pearson_interval(1, 2, confidence)


def test_every_value_has_the_same_weight_and_single_ones_the_interval_of_a_mean():
    found = clustered_mean(["q1", "q1", "q2", "q3"], [1.0, 2.0, 6.0, 0.0], [1, 1, 2, 1])
    assert found.value == pytest.approx(9 / 5)
    assert (found.n_items, found.n_pairable_items, found.n_values) == (3, 3, 5)
    found = clustered_mean("abcd", [1.0, 2.0, 3.0, 0.0], [1, 1, 1, 0])
    assert found.value == 2
    assert (found.n_items, found.n_pairable_items) == (4, 3)
    assert found.reason == TOO_FEW_QUESTIONS
    shares = clustered_mean(range(10), [0.0] + [1.0] * 9, [1] * 10, limits=(0, 1))
    assert shares.high == 1 < clustered_mean(range(10), [0.0] + [1.0] * 9, [1] * 10).high
    values = np.random.default_rng(3).normal(size=200)
    found = clustered_mean(range(200), values, [1] * 200)
    error = 1.96 * values.std() / 200**0.5
    assert found.low == pytest.approx(values.mean() - error, abs=0.02)
    assert found.high == pytest.approx(values.mean() + error, abs=0.02)


def test_what_is_undefined_says_why():
    for clusters, sums, counts, reason in (
        ("", [], [], NO_VALUES),
        ("ab", [0.0, 0.0], [0, 0], NO_VALUES),
        ("aabb", [1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1], TOO_FEW_QUESTIONS),
        ("abcdefghij", [1.0] * 10, [1] * 10, "no spread"),
    ):
        found = clustered_mean(clusters, sums, counts)
        assert found.low is None
        assert reason in found.reason
        assert (found.value is None) == (sum(counts) == 0)


# Ten labelled items: judge 1..10, human one more on even and one less on odd places; then ten
# items that only the judge scored, 2..11.
JUDGE = [*range(1, 11), *range(2, 12)]
HUMAN = [value + (1 if value % 2 == 0 else -1) for value in range(1, 11)] + [None] * 10


def mean(values):
    return sum(values, Fraction(0)) / len(values)


def variance(values, ddof):
    centre = mean(values)
    return sum((value - centre) ** 2 for value in values) / (len(values) - ddof)


def by_hand():
    """Mean, squared standard error and lambda of the toy, in fractions.

    human = judge + e with mean(e) = 0 and cov(judge, e) = mean(place x sign) = .5, so that
    cov(human, judge) = 33/4 + 1/2; lambda = (35/4) / (2 var of all twenty judge values).
    """
    f, rest = [Fraction(v) for v in JUDGE[:10]], [Fraction(v) for v in JUDGE[10:]]
    y = [Fraction(v) for v in HUMAN[:10]]
    tuning = Fraction(35, 4) / (2 * variance(f + rest, 1))
    corrections = [own - tuning * judged for own, judged in zip(y, f, strict=True)]
    squared = tuning**2 * variance(rest, 0) / 10 + variance(corrections, 0) / 10
    return tuning * mean(rest) + mean(corrections), squared, tuning


def test_calibrated_mean_by_hand_and_with_students_interval():
    """With equal probabilities this is ppi_mean_ci of ppi-python 0.2.3."""
    value, squared, tuning = by_hand()
    assert tuning == Fraction(35, 8) / Fraction(340, 38)
    found = calibrated_mean(JUDGE, np.array(HUMAN, dtype=float), 0.5, recipe="published")
    assert found.tuning == pytest.approx(float(tuning), abs=1e-12)
    # The others' judge mean is 6.5, the labelled items' and the humans' 5.5.
    assert found.estimate.value == pytest.approx(float(Fraction(11, 2) + tuning), abs=1e-12)
    assert found.estimate.value == pytest.approx(float(value), abs=1e-12)
    reach = stats.norm.ppf(0.975) * float(squared) ** 0.5
    bounds = (float(value) - reach, float(value) + reach)
    assert (found.estimate.low, found.estimate.high) == pytest.approx(bounds, abs=1e-12)
    assert found.judge_mean == pytest.approx(6)
    # Ten labels: the human mean alone has the classical t interval of 9 degrees.
    human = np.array(HUMAN, dtype=float)
    found = calibrated_mean(JUDGE, human, 0.5)
    published = calibrated_mean(JUDGE, human, 0.5, recipe="published")
    own = human[:10]
    classical = stats.t.interval(0.95, 9, own.mean(), stats.sem(own))
    assert (found.human_only.low, found.human_only.high) == pytest.approx(classical)
    assert found.estimate.value == published.estimate.value
    assert found.estimate.low < published.estimate.low


def test_weights_make_the_mean_a_ratio_and_equal_ones_are_one_number():
    """Adding 100 points to every score moves the interval and does not widen it."""
    judge, human, _ = simulated()
    chance = np.where(judge > 12, 0.1, 0.3)
    here, there = (calibrated_mean(judge + add, human + add, chance).estimate for add in (0, 100))
    assert (there.low - 100, there.high - 100) == pytest.approx((here.low, here.high))
    judge, human, _ = simulated()
    each = calibrated_mean(judge, human, np.full(600, 0.15)).estimate
    one = calibrated_mean(judge, human, 0.15).estimate
    assert (each.value, each.low) == pytest.approx((one.value, one.low))
    judge[:5] = np.nan
    found = calibrated_mean(judge, human, 0.15).estimate
    assert (found.n_items, found.n_dropped_items) == (600, 5)
    assert found.n_pairable_items == (~np.isnan(human[5:])).sum()


def simulated(n=600, share=0.15, seed=0, noise=1.0):
    generator = np.random.default_rng(seed)
    truth = generator.normal(10, 3, n)
    judge = truth + 2 + noise * generator.normal(size=n)
    return judge, np.where(generator.random(n) < share, truth, np.nan), truth


def test_known_probabilities_and_leniency_are_taken_out_and_knowledge_kept():
    judge, _, truth = simulated(40_000)
    chance = np.clip((truth - 4) / 20, 0.05, 0.9)
    drawn = np.random.default_rng(8).random(len(truth)) < chance
    human = np.where(drawn, truth, np.nan)
    found = calibrated_mean(judge, human, chance)
    assert np.nanmean(human) > truth.mean() + 0.5
    assert found.estimate.value == pytest.approx(truth.mean(), abs=0.1)
    assert found.human_only.value == pytest.approx(truth.mean(), abs=0.15)
    judge, human, truth = simulated()
    found = calibrated_mean(judge, human, 0.15)
    assert found.judge_mean == pytest.approx(truth.mean() + 2, abs=0.2)
    assert found.estimate.low < truth.mean() < found.estimate.high
    widths = [each.high - each.low for each in (found.estimate, found.human_only)]
    assert widths[0] < 0.7 * widths[1]
    judge, human, _ = simulated(noise=1000.0)
    found = calibrated_mean(judge, human, 0.15)
    assert found.tuning < 0.01
    assert found.estimate.value == pytest.approx(found.human_only.value, abs=0.5)
    _, human, _ = simulated()
    found = calibrated_mean(np.full(600, 3.0), human, 0.15)
    assert found.tuning == 0
    assert found.estimate.value == pytest.approx(np.nanmean(human))
    own = found.human_only
    assert (found.estimate.low, found.estimate.high) == (own.low, own.high)


def test_labels_to_halve_by_its_definition_or_none():
    judge, human, truth = simulated(4000, share=0.05, noise=2.0)
    found = calibrated_mean(judge, human, 0.05)
    others = np.flatnonzero(np.isnan(human))
    human[others[: found.labels_to_halve]] = truth[others[: found.labels_to_halve]]
    again = calibrated_mean(judge, human, 0.05).estimate
    ratio = (again.high - again.low) / (found.estimate.high - found.estimate.low)
    assert ratio == pytest.approx(0.5, abs=0.03)
    # Where most items are labelled already, or the judge alone explains the width.
    judge, human, _ = simulated(share=0.5)
    assert calibrated_mean(judge, human, 0.5).labels_to_halve is None
    judge, human, _ = simulated(noise=0.01)
    assert calibrated_mean(judge, human, 0.15).labels_to_halve is None


def test_a_calibrated_mean_that_is_undefined_or_refused_says_why():
    for n_labelled, n, reason in (
        (LEAST_LABELLED - 1, 50, TOO_FEW_LABELLED),
        (20, 20, TOO_FEW_OTHERS),
    ):
        human = [1.0] * n_labelled + [np.nan] * (n - n_labelled)
        found = calibrated_mean(list(range(n)), human, 0.5)
        assert (found.estimate.value, found.estimate.reason) == (None, reason)
        assert found.judge_mean == (n - 1) / 2
    found = calibrated_mean([2.0] * 30, [1.0] * 15 + [np.nan] * 15, 0.5)
    assert (found.estimate.value, found.estimate.low) == (1, None)
    assert "no spread" in found.estimate.reason
    human = np.array(HUMAN, dtype=float)
    found = calibrated_mean(JUDGE, human, 0.5, clusters=[each // 2 for each in range(20)])
    assert found.estimate.reason == TOO_FEW_LABELLED
    for human, probabilities, options, match in (
        ([1.0, np.nan], None, {}, "not drawn with known probabilities"),
        ([1.0, np.nan], 1.0, {}, "strictly between"),
        ([1.0, np.nan], [0.5, 0.0], {}, "strictly between"),
        ([1.0, np.nan], [0.5], {}, "one number, or one for each"),
        ([1.0, np.nan], 0.5, {"recipe": "bayes"}, "corrected, published"),
        ([1.0, np.nan], 0.5, {"clusters": [1]}, "one entry for each item"),
        ([1.0], 0.5, {}, "each item"),
    ):
        with pytest.raises(ValueError, match=match):
            calibrated_mean([1.0, 2.0], human, probabilities, **options)


def test_a_cluster_counts_once_however_many_items_it_has():
    """Every item twice: as many items more, and nothing known more."""
    twice, human = [*JUDGE, *JUDGE], np.array([*HUMAN, *HUMAN], dtype=float)
    alone = calibrated_mean(JUDGE, np.array(HUMAN, dtype=float), 0.5, recipe="published")
    found = calibrated_mean(twice, human, 0.5, clusters=[*range(20)] * 2, recipe="published")
    # The tuning has one variance with n - 1, so it moves in its second digit.
    assert found.estimate.value == pytest.approx(alone.estimate.value, abs=0.05)
    width = alone.estimate.high - alone.estimate.low
    assert found.estimate.high - found.estimate.low == pytest.approx(width, rel=0.03)


class Mean(NamedTuple):
    value: float | None
    n: int
    low: float | None = None


@dataclass(frozen=True, kw_only=True)
class Cell:
    name: str
    share: float | None = None
    former: float | None = field(default=None, metadata=ONLY_IF_KNOWN)


@dataclass(frozen=True, kw_only=True)
class Table:
    cells: tuple[Cell, ...]
    means: dict[int, Mean]
    first: Cell | None
    sums: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    rows: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Size:
    size: int


@dataclass(frozen=True)
class Either:
    found: Cell | Size | None


TABLE = Table(
    cells=(Cell(name="a", share=0.25), Cell(name="b", former=1.5)),
    means={3: Mean(0.5, 4), 7: Mean(None, 0, 0.1)},
    first=None,
    sums={"x": (1.0, 2.0)},
    rows=((1, 2), (3,)),
)
STORED = {
    "cells": [{"name": "a", "share": 0.25}, {"name": "b", "share": None, "former": 1.5}],
    "means": {"3": [0.5, 4, None], "7": [None, 0, 0.1]},
    "first": None,
    "sums": {"x": [1.0, 2.0]},
    "rows": [[1, 2], [3]],
}


def test_what_is_written_is_read_again_without_nan_and_with_defaults():
    assert to_json(TABLE) == STORED
    assert from_json(Table, json.loads(json.dumps(STORED))) == TABLE
    assert to_json([float("nan"), float("inf"), 0.1 + 0.2]) == [None, None, 0.1 + 0.2]
    assert to_json({1: (0.1 + 0.2,)}, decimals=9) == {"1": [0.3]}
    short = {"cells": [], "means": {"1": [0.5, 4]}, "first": {"name": "c"}}
    found = from_json(Table, short)
    assert (found.first, found.means[1]) == (Cell(name="c"), Mean(0.5, 4))
    assert (found.sums, found.rows) == ({}, ())


def test_missing_and_unknown_fields_are_named_and_choose_the_type():
    for change, message in (
        ({"cells": [{"name": "a"}, {"share": 1.0}]}, "cells: 1: Cell with no name"),
        ({"first": {"name": "a", "size": 2}}, "first: Cell with unknown size"),
        ({"size": 3}, "Table with unknown size"),
    ):
        with pytest.raises(StoredError, match=f"^{message}$"):
            from_json(Table, STORED | change)
        with pytest.raises(StoredError, match="Table with no cells, no first, no means"):
            from_json(Table, {})
    assert from_json(Either, {"found": {"name": "a"}}) == Either(found=Cell(name="a"))
    assert from_json(Either, {"found": {"size": 2}}) == Either(found=Size(size=2))
    with pytest.raises(StoredError, match="found: Size with unknown name, unknown size_"):
        from_json(Either, {"found": {"name": "a", "size": 2, "size_": 3}})
