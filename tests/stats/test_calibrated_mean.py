from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from cqa_site.stats.calibrated_mean import (
    LEAST_LABELLED,
    TOO_FEW_LABELLED,
    TOO_FEW_OTHERS,
    calibrated_mean,
)

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


def test_by_hand():
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


def test_few_labels_widen_the_students_interval():
    """Ten labels: the human mean alone has the classical t interval of 9 degrees."""
    human = np.array(HUMAN, dtype=float)
    found = calibrated_mean(JUDGE, human, 0.5)
    published = calibrated_mean(JUDGE, human, 0.5, recipe="published")
    own = human[:10]
    classical = stats.t.interval(0.95, 9, own.mean(), stats.sem(own))
    assert (found.human_only.low, found.human_only.high) == pytest.approx(classical)
    assert found.estimate.value == published.estimate.value
    assert found.estimate.low < published.estimate.low


def test_weights_make_the_mean_a_ratio():
    """Adding 100 points to every score moves the interval and does not widen it."""
    judge, human, _ = simulated()
    chance = np.where(judge > 12, 0.1, 0.3)
    here, there = (calibrated_mean(judge + add, human + add, chance).estimate for add in (0, 100))
    assert (there.low - 100, there.high - 100) == pytest.approx((here.low, here.high))


def simulated(n=600, share=0.15, seed=0, noise=1.0):
    generator = np.random.default_rng(seed)
    truth = generator.normal(10, 3, n)
    judge = truth + 2 + noise * generator.normal(size=n)
    return judge, np.where(generator.random(n) < share, truth, np.nan), truth


def test_the_judges_leniency_is_taken_out_and_its_knowledge_kept():
    judge, human, truth = simulated()
    found = calibrated_mean(judge, human, 0.15)
    assert found.judge_mean == pytest.approx(truth.mean() + 2, abs=0.2)
    assert found.estimate.low < truth.mean() < found.estimate.high
    widths = [each.high - each.low for each in (found.estimate, found.human_only)]
    assert widths[0] < 0.7 * widths[1]


def test_a_judge_who_knows_nothing_changes_little():
    judge, human, _ = simulated(noise=1000.0)
    found = calibrated_mean(judge, human, 0.15)
    assert found.tuning < 0.01
    assert found.estimate.value == pytest.approx(found.human_only.value, abs=0.5)


def test_a_constant_judge_leaves_the_human_mean():
    _, human, _ = simulated()
    found = calibrated_mean(np.full(600, 3.0), human, 0.15)
    assert found.tuning == 0
    assert found.estimate.value == pytest.approx(np.nanmean(human))
    assert (found.estimate.low, found.estimate.high) == (
        found.human_only.low,
        found.human_only.high,
    )


def test_known_probabilities_undo_a_sample_that_prefers_good_items():
    judge, _, truth = simulated(40_000)
    chance = np.clip((truth - 4) / 20, 0.05, 0.9)
    drawn = np.random.default_rng(8).random(len(truth)) < chance
    human = np.where(drawn, truth, np.nan)
    found = calibrated_mean(judge, human, chance)
    assert np.nanmean(human) > truth.mean() + 0.5
    assert found.estimate.value == pytest.approx(truth.mean(), abs=0.1)
    assert found.human_only.value == pytest.approx(truth.mean(), abs=0.15)


def test_equal_probabilities_are_one_number():
    judge, human, _ = simulated()
    each = calibrated_mean(judge, human, np.full(600, 0.15)).estimate
    one = calibrated_mean(judge, human, 0.15).estimate
    assert (each.value, each.low) == pytest.approx((one.value, one.low))


def test_labels_to_halve_by_its_definition():
    judge, human, truth = simulated(4000, share=0.05, noise=2.0)
    found = calibrated_mean(judge, human, 0.05)
    others = np.flatnonzero(np.isnan(human))
    human[others[: found.labels_to_halve]] = truth[others[: found.labels_to_halve]]
    again = calibrated_mean(judge, human, 0.05).estimate
    ratio = (again.high - again.low) / (found.estimate.high - found.estimate.low)
    assert ratio == pytest.approx(0.5, abs=0.03)


def test_labelling_all_may_not_halve_the_interval():
    """Where most items are labelled already, or the judge alone explains the width."""
    judge, human, _ = simulated(share=0.5)
    assert calibrated_mean(judge, human, 0.5).labels_to_halve is None
    judge, human, _ = simulated(noise=0.01)
    assert calibrated_mean(judge, human, 0.15).labels_to_halve is None


def test_items_the_judge_left_unscored_are_counted():
    judge, human, _ = simulated()
    judge[:5] = np.nan
    found = calibrated_mean(judge, human, 0.15).estimate
    assert (found.n_items, found.n_dropped_items) == (600, 5)
    assert found.n_pairable_items == (~np.isnan(human[5:])).sum()


@pytest.mark.parametrize(
    ("n_labelled", "n", "reason"),
    [(LEAST_LABELLED - 1, 50, TOO_FEW_LABELLED), (20, 20, TOO_FEW_OTHERS)],
)
def test_what_is_undefined_says_why(n_labelled, n, reason):
    human = [1.0] * n_labelled + [np.nan] * (n - n_labelled)
    found = calibrated_mean(list(range(n)), human, 0.5)
    assert (found.estimate.value, found.estimate.reason) == (None, reason)
    assert found.judge_mean == (n - 1) / 2


def test_scores_without_spread_have_no_interval():
    found = calibrated_mean([2.0] * 30, [1.0] * 15 + [np.nan] * 15, 0.5)
    assert (found.estimate.value, found.estimate.low) == (1, None)
    assert "no spread" in found.estimate.reason


@pytest.mark.parametrize(
    ("probabilities", "match"),
    [
        (None, "not drawn with known probabilities"),
        (1.0, "strictly between"),
        ([0.5, 0.0], "strictly between"),
        ([0.5], "one number, or one for each"),
    ],
)
def test_a_mean_that_nothing_vouches_for_is_refused(probabilities, match):
    with pytest.raises(ValueError, match=match):
        calibrated_mean([1.0, 2.0], [1.0, np.nan], probabilities)


def test_an_unknown_recipe_is_refused():
    with pytest.raises(ValueError, match="student, published"):
        calibrated_mean([1.0], [1.0], 0.5, recipe="bayes")


def test_scores_of_different_items_are_refused():
    with pytest.raises(ValueError, match="each item"):
        calibrated_mean([1.0, 2.0], [1.0], 0.5)


def test_clusters_of_one_item_change_nothing():
    human = np.array(HUMAN, dtype=float)
    for recipe in ("student", "published"):
        alone = calibrated_mean(JUDGE, human, 0.5, recipe=recipe).estimate
        found = calibrated_mean(JUDGE, human, 0.5, clusters=range(20), recipe=recipe)
        assert found.estimate.value == alone.value
        assert (found.estimate.low, found.estimate.high) == pytest.approx((alone.low, alone.high))
        assert found.labels_to_halve is None


def test_a_cluster_counts_once_however_many_items_it_has():
    """Every item twice: as many items more, and nothing known more."""
    twice, human = [*JUDGE, *JUDGE], np.array([*HUMAN, *HUMAN], dtype=float)
    alone = calibrated_mean(JUDGE, np.array(HUMAN, dtype=float), 0.5, recipe="published")
    found = calibrated_mean(twice, human, 0.5, clusters=[*range(20)] * 2, recipe="published")
    # The tuning has one variance with n - 1, so it moves in its second digit.
    assert found.estimate.value == pytest.approx(alone.estimate.value, abs=0.05)
    width = alone.estimate.high - alone.estimate.low
    assert found.estimate.high - found.estimate.low == pytest.approx(width, rel=0.03)


def test_clusters_need_labels_in_enough_of_them():
    human = np.array(HUMAN, dtype=float)
    found = calibrated_mean(JUDGE, human, 0.5, clusters=[each // 2 for each in range(20)])
    assert found.estimate.reason == TOO_FEW_LABELLED
    with pytest.raises(ValueError, match="one entry for each item"):
        calibrated_mean(JUDGE, human, 0.5, clusters=[1])
