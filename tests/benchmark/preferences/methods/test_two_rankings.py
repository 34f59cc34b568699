import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmark.preferences.methods import davidson, joint_draws
from benchmark.preferences.methods.connectivity import ALWAYS_LOST
from benchmark.preferences.methods.contradictions import (
    contradicting_questions,
    contradiction_shares,
)
from benchmark.preferences.methods.davidson import fit_strengths
from benchmark.preferences.methods.two_rankings import NO_SCORES, NO_VERDICTS, compare_rankings

from .made_verdicts import drawn, times, verdicts

SYSTEMS = [f"s{each}" for each in range(6)]
QUESTIONS = range(30)


def scores(means, *, noise=1.0, seed=0, systems=SYSTEMS):
    """Points of each system on each question."""
    generator = np.random.default_rng(seed)
    shape = (len(systems), len(QUESTIONS))
    values = np.array(means, dtype=float)[:, None] + noise * generator.normal(size=shape)
    return pd.DataFrame(values, index=systems, columns=list(QUESTIONS))


@pytest.fixture(scope="module")
def people():
    return drawn(n_systems=6, n=900, n_questions=30, seed=2)


def test_correlations_are_those_of_the_two_columns(people):
    points = scores([5, 6, 3, 4, 1, 2], noise=0.1)
    found = compare_rankings(people, points, n_resamples=200)
    strength = fit_strengths(people).by_system()
    own = [strength[name] for name in found.systems]
    means = points.loc[list(found.systems)].mean(axis=1)
    assert found.log_strengths == pytest.approx(own)
    assert found.means == pytest.approx(means)
    assert found.spearman.value == pytest.approx(stats.spearmanr(own, means).statistic)
    assert found.kendall.value == pytest.approx(stats.kendalltau(own, means).statistic)
    assert found.spearman.low <= found.spearman.value <= found.spearman.high
    assert (found.n_questions, found.left_out) == (30, {})
    assert found == compare_rankings(people, points, n_resamples=200)
    opposite = compare_rankings(people, scores(range(6), noise=0.0), n_resamples=200)
    assert (opposite.spearman.value, opposite.by_systems.share.value) == (-1.0, 1.0)


def test_pairs_of_systems_that_contradict_are_named_the_preferred_first(people):
    found = compare_rankings(people, scores([5, 6, 3, 4, 1, 2], noise=0.1), n_resamples=200)
    assert set(found.by_systems.pairs) == {("s0", "s1"), ("s2", "s3"), ("s4", "s5")}
    assert (found.by_systems.n_decided, found.by_systems.n_contradicting) == (15, 3)
    assert found.by_systems.share.value == pytest.approx(3 / 15)
    assert found.by_systems.share.low <= 0.2 <= found.by_systems.share.high


def test_equal_means_are_even_and_not_in_the_share(people):
    found = compare_rankings(people, scores([5, 5, 3, 4, 1, 1], noise=0.0), n_resamples=200)
    assert (found.by_systems.n_even, found.by_systems.n_decided) == (2, 13)
    assert found.by_systems.share.value == pytest.approx(1 / 13)


def test_intervals_for_these_very_systems_are_narrower(people):
    points = scores([6, 5, 4, 3, 2, 1], noise=4.0, seed=3)
    wide = compare_rankings(people, points, n_resamples=300)
    narrow = compare_rankings(people, points, n_resamples=300, draw_systems=False)
    assert wide.spearman.value == narrow.spearman.value
    gaps = [each.spearman.high - each.spearman.low for each in (wide, narrow)]
    assert gaps[1] < gaps[0]
    assert narrow.spearman.interval.startswith("question bootstrap")
    assert wide.spearman.interval.startswith("systems and question bootstrap")


def test_systems_that_only_one_side_knows_are_named(people):
    points = scores(range(6), systems=["s1", "s2", "s3", "s4", "s5", "new"])
    found = compare_rankings(people, points, n_resamples=50)
    assert found.left_out == {"new": NO_VERDICTS, "s0": NO_SCORES}
    assert set(found.systems) == set(SYSTEMS[1:])


def test_a_system_without_a_strength_is_named():
    rows = [*times(3, "a", "b", "first"), *times(2, "b", "a", "first")]
    found = compare_rankings(
        verdicts(*rows, *times(4, "a", "c", "first")), scores([2, 1, 0], systems=["a", "b", "c"])
    )
    assert found.left_out == {"c": ALWAYS_LOST}
    assert found.spearman.reason == "fewer than 3 systems"
    assert found.by_systems.share.value == 0.0


def test_means_are_over_questions_that_all_systems_share(people):
    points = scores([5, 6, 3, 4, 1, 2])
    points.loc["s0", 0] = np.nan
    found = compare_rankings(people, points, n_resamples=50)
    assert found.n_questions == 29
    assert found.means == pytest.approx(points.loc[list(found.systems), 1:].mean(axis=1))
    points.loc["s0", 2:] = np.nan
    few = compare_rankings(people, points, n_resamples=50)
    assert few.spearman.reason == few.by_systems.share.reason == joint_draws.FEW_QUESTIONS


def test_without_strengths_the_reason_is_theirs():
    found = compare_rankings(verdicts(("s0", "s1", "first")), scores(range(6)))
    assert found.systems == ()
    assert found.spearman.reason == found.by_systems.share.reason == davidson.NOT_LINKED


def test_scores_that_name_a_system_twice_are_refused(people):
    with pytest.raises(ValueError, match="occurs twice"):
        compare_rankings(people, scores(range(6), systems=["s0", "s0", *SYSTEMS[2:]]))


def test_questions_are_compared_by_what_verdicts_add_up_to():
    found = verdicts(
        ("a", "b", "first"),
        ("a", "b", "first"),
        ("a", "b", "second"),
        ("a", "b", "first"),
        ("a", "b", "second"),
        ("a", "c", "tie"),
        ("b", "c", "first"),
        ("b", "c", "first"),
        question=[0, 0, 0, 1, 1, 1, 1, 2],
    )
    points = pd.DataFrame(
        {0: [1.0, 2.0, 3.0], 1: [2.0, 1.0, 0.0], 2: [1.0, 1.0, np.nan]}, index=["a", "b", "c"]
    )
    # On 0 a is preferred with fewer points; on 1 only b against c is decided; c lacks 2.
    counted = contradicting_questions(found, points)
    assert (counted.n_decided, counted.n_contradicting, counted.n_even) == (2, 1, 2)
    assert counted.share.value == 0.5


def test_shares_of_resamples():
    strengths = np.array([[3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [np.nan, 2.0, 1.0], [1.0, 2.0, 3.0]])
    means = np.array([[3.0, 2.0, 2.0], [3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    found = contradiction_shares(strengths, means)
    assert found[[0, 3]].tolist() == [0.0, 1.0]
    assert np.isnan(found[[1, 2]]).all()
