import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmark.preferences.methods import davidson
from benchmark.preferences.methods.consistency import (
    FEW_QUESTIONS,
    NO_INTERVAL,
    NO_SCORES,
    NO_VERDICTS,
    compare_rankings,
    contradicting_questions,
)
from benchmark.preferences.methods.davidson import fit_strengths

from .made_verdicts import drawn, times, verdicts

SYSTEMS = [f"s{each}" for each in range(6)]
QUESTIONS = range(30)
NO_SYSTEMS = "fewer than 8 systems, too few for an interval"


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
    found = compare_rankings(people, points)
    strength = fit_strengths(people).by_system()
    own = [strength[name] for name in found.systems]
    means = points.loc[list(found.systems)].mean(axis=1)
    assert found.log_strengths == pytest.approx(own)
    assert found.means == pytest.approx(means)
    assert found.spearman.value == pytest.approx(stats.spearmanr(own, means).statistic)
    assert found.kendall.value == pytest.approx(stats.kendalltau(own, means).statistic)
    assert (found.spearman.low, found.spearman.reason) == (None, NO_SYSTEMS)
    assert (found.n_questions, found.left_out) == (30, {})
    assert found == compare_rankings(people, points)
    opposite = compare_rankings(people, scores(range(6), noise=0.0))
    assert (opposite.spearman.value, opposite.by_systems.share.value) == (-1.0, 1.0)


def test_pairs_of_systems_that_contradict_are_named_the_preferred_first(people):
    found = compare_rankings(people, scores([5, 6, 3, 4, 1, 2], noise=0.1))
    assert set(found.by_systems.pairs) == {("s0", "s1"), ("s2", "s3"), ("s4", "s5")}
    assert (found.by_systems.n_decided, found.by_systems.n_contradicting) == (15, 3)
    assert found.by_systems.share.value == pytest.approx(3 / 15)
    # Equal means are even and not in the share.
    found = compare_rankings(people, scores([5, 5, 3, 4, 1, 1], noise=0.0))
    assert (found.by_systems.n_even, found.by_systems.n_decided) == (2, 13)
    assert found.by_systems.share.value == pytest.approx(1 / 13)


def test_intervals_are_about_systems_like_these_and_need_eight():
    systems = [f"s{each}" for each in range(9)]
    points = scores(range(9, 0, -1), noise=4.0, systems=systems)
    found = compare_rankings(drawn(n_systems=9, n=900, n_questions=30), points)
    assert found.spearman.low < found.spearman.value < found.spearman.high
    assert (found.by_systems.share.low, found.by_systems.share.reason) == (None, NO_INTERVAL)


def test_systems_that_only_one_side_knows_or_without_a_strength_are_named(people):
    points = scores(range(6), systems=["s1", "s2", "s3", "s4", "s5", "new"])
    found = compare_rankings(people, points)
    assert found.left_out == {"new": NO_VERDICTS, "s0": NO_SCORES}
    assert set(found.systems) == set(SYSTEMS[1:])
    rows = [*times(3, "a", "b", "first"), *times(2, "b", "a", "first")]
    found = compare_rankings(
        verdicts(*rows, *times(4, "a", "c", "first")), scores([2, 1, 0], systems=["a", "b", "c"])
    )
    # One that always lost has a penalized strength.
    assert (found.left_out, found.systems) == ({}, ("a", "b", "c"))
    assert found.by_systems.share.value == 0.0
    # Where nobody has one, the reason is theirs.
    found = compare_rankings(verdicts(), scores(range(6)))
    assert found.systems == ()
    assert found.spearman.reason == found.by_systems.share.reason == davidson.NO_VERDICTS
    with pytest.raises(ValueError, match="occurs twice"):
        compare_rankings(people, scores(range(6), systems=["s0", "s0", *SYSTEMS[2:]]))


def test_means_are_over_questions_that_all_systems_share(people):
    points = scores([5, 6, 3, 4, 1, 2])
    points.loc["s0", 0] = np.nan
    found = compare_rankings(people, points)
    assert found.n_questions == 29
    assert found.means == pytest.approx(points.loc[list(found.systems), 1:].mean(axis=1))
    points.loc["s0", 2:] = np.nan
    few = compare_rankings(people, points)
    assert few.spearman.reason == few.by_systems.share.reason == FEW_QUESTIONS


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
