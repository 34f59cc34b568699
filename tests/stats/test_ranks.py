"""Ranks of systems, paired differences and corrections for many tests."""

from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from cqa_site.stats.intervals import mean_bounds, mean_p, with_skewness, without_skewness
from cqa_site.stats.means import smallest_detectable, tie_groups
from cqa_site.stats.ranking import NO_SYSTEMS, TOO_FEW_QUESTIONS, rank_systems
from cqa_site.stats.verdicts import RULES, benjamini_yekutieli, holm, least_to_differ


def board(rows, names="abcdefgh", **options):
    return rank_systems(pd.DataFrame(rows, index=list(names[: len(rows)])), **options)


def simulated(n_questions=80, seed=0, gaps=0.0):
    """Four systems; a and b are equally good, c is 0.4 and d 3 points worse."""
    generator = np.random.default_rng(seed)
    difficulty = 3 * generator.normal(size=n_questions)
    means = np.array([15.0, 15.0, 14.6, 12.0])
    scores = means[:, None] + difficulty + generator.normal(size=(4, n_questions))
    scores[generator.random(scores.shape) < gaps] = np.nan
    return scores


def test_common_questions_count_and_intervals_need_ten_and_end_at_the_maximum():
    """b lacks the question that all others find easy; over the rest it is better than a."""
    rows = [[1, 2, 3, 19], [2, 3, 4, np.nan], [0, 0, 1, 19]]
    found = board(rows)
    means = [(each.system, each.mean) for each in found.standings]
    assert means == [("b", 3), ("a", 2), ("c", pytest.approx(1 / 3))]
    assert [each.n_questions for each in found.standings] == [3, 4, 4]
    assert (found.n_common, found.n_questions) == (3, 4)
    scores = np.clip(np.round(simulated()), 0, 16)
    for standing in board(scores, highest=16.0).standings:
        assert standing.low < standing.mean < standing.high <= 16
    few = board(scores[:, :9])
    for standing in few.standings:
        assert standing.mean is not None
        assert {standing.low, standing.rank_low, standing.tie_group} == {None}
    assert {(pair.low, pair.detectable, pair.is_separable) for pair in few.pairs} == {
        (None, None, False)
    }


@given(values=arrays(float, (10, 1), elements=st.integers(-5, 5)))
def test_p_and_interval_of_a_mean_are_one_test(values):
    (low,), (high,) = mean_bounds(values, 0.95)
    # With fewer values that are not 0 no pattern of signs is rare enough.
    assume(np.count_nonzero(values) > 5 and not np.isnan(low))
    assert low < values.mean() < high
    assert (mean_p(values)[0] < 0.05) == (not low <= 0 <= high)
    assert mean_p(np.hstack([values - low, values - high])) == pytest.approx(0.05)


def test_the_interval_of_a_pair_holds_zero_wherever_its_p_does_not_reject_it():
    """Five of ten questions differ, all to one side: p is 2 of 32 patterns of signs."""
    pair = board([[1] * 5 + [0] * 5, [0] * 10]).pairs[0]
    assert (pair.p, pair.low) == (1 / 16, 0)
    assert pair.high > 0.5


def test_of_four_systems_two_are_alike():
    found = board(simulated())
    pair = next(each for each in found.pairs if {each.first, each.second} == {"a", "d"})
    own = next(each for each in found.standings if each.system == "a")
    assert pair.mean == pytest.approx(3, abs=0.5)
    assert pair.high - pair.low < (own.high - own.low) / 2
    assert pair.is_separable
    found = {each.system: each for each in board(simulated()).standings}
    assert found["a"].tie_group == found["b"].tie_group == 1
    assert (found["a"].rank_low, found["b"].rank_low) == (1, 1)
    assert found["d"].rank == found["d"].rank_low == found["d"].rank_high == 4
    assert found["d"].tie_group > 1
    found = board(simulated(seed=3))
    assert found.detectable == max(pair.detectable for pair in found.pairs)
    # Single scores have sd 1, so paired differences have sqrt 2; 3.55 standard errors.
    assert found.detectable == pytest.approx(3.55 * 2**0.5 / 80**0.5, rel=0.2)
    sharpest = min(found.pairs, key=lambda pair: pair.p)
    assert sharpest.p_holm == pytest.approx(min(1, 6 * sharpest.p))


grids = arrays(
    float, st.tuples(st.integers(1, 5), st.integers(3, 14)), elements=st.integers(0, 19)
)


@given(grid=grids)
def test_whatever_the_scores_the_board_is_consistent(grid):
    found = board(grid)
    ranks = [each.rank for each in found.standings]
    assert ranks[0] == 1
    assert ranks == sorted(ranks)
    for each in found.standings:
        assert each.low is None or each.low < each.mean < each.high
        assert each.rank_low is None or 1 <= each.rank_low <= each.rank <= each.rank_high
    together = {(one.tie_group, one.system) for one in found.standings}
    groups = {system: group for group, system in together}
    assert not any(groups[e.first] == groups[e.second] for e in found.pairs if e.is_separable)
    turned = board(grid[::-1], "edcba"[5 - len(grid) :])
    assert {each.system: each for each in turned.standings} == {
        each.system: each for each in found.standings
    } or not _all_means_differ(grid)


def _all_means_differ(grid):
    return len(set(grid.mean(axis=1).round(9))) == len(grid)


def test_what_cannot_be_ranked_or_is_alone_says_why():
    for rows, reason, n_common in (
        ([], NO_SYSTEMS, 0),
        ([[1, 2, np.nan], [1, 2, 3]], TOO_FEW_QUESTIONS, 2),
        ([[np.nan] * 3, [1, 2, 3]], TOO_FEW_QUESTIONS, 0),
    ):
        found = board(rows)
        assert (found.reason, found.n_common) == (reason, n_common)
        assert len(found.standings) == len(rows)
        assert all(each.rank is None and each.mean is None for each in found.standings)
    found = board([[1, 2, 6]])
    assert (found.standings[0].rank, found.pairs) == (1, ())
    assert found.detectable is None
    for rows, names, match in (
        ([[1, 2, 3]] * 2, "aa", "twice"),
        ([[1, 2, np.inf]], "a", "infinite"),
    ):
        with pytest.raises(ValueError, match=match):
            board(rows, names)


def test_p_is_that_of_the_t_test_and_never_below_what_flipping_signs_could_give():
    differences = np.random.default_rng(0).normal(0.3, 1, (40, 5))
    both = np.vstack([differences, 2 * differences.mean(axis=0) - differences])
    assert mean_p(both) == pytest.approx(stats.ttest_1samp(both, 0).pvalue)
    assert (mean_p(differences) >= stats.ttest_1samp(differences, 0).pvalue - 1e-12).all()
    # Five questions: 2 of 32 sign patterns are as extreme as all positive.
    constant = np.full((5, 1), 0.1) + np.array([0.0, 0.7])
    nearly = np.array([[1.0], [1.001], [1.0], [0.999], [1.0]])
    assert mean_p(np.hstack([constant, nearly])).tolist() == [1 / 16] * 3
    assert mean_p(np.zeros((9, 2))).tolist() == [1, 1]
    t = np.linspace(-8, 8, 41)[:, None]
    pull = np.array([-0.9, -0.1, 0.0, 0.4])
    assert with_skewness(without_skewness(t, pull), pull) == pytest.approx(t + 0 * pull)


def test_groups_hold_what_cannot_be_told_apart_and_few_questions_find_nothing():
    """The first cannot be told from the second and the fourth, which can be told apart."""
    separable = np.ones((5, 5), dtype=bool)
    for one, other in ((0, 1), (0, 3), (2, 3), (2, 4)):
        separable[one, other] = separable[other, one] = False
    assert tie_groups(separable).tolist() == [1, 1, 2, 2, 3]
    assert np.isinf(smallest_detectable(np.ones(1), 9, level=0.05 / 45)).all()
    assert [least_to_differ(n_pairs) for n_pairs in (1, 45)] == [RULES["leader"].least, 11]


@pytest.mark.parametrize(("n", "level"), [(10, 0.05), (50, 0.005), (500, 0.05)])
def test_the_detectable_difference_is_found_four_times_in_five(n, level):
    generator = np.random.default_rng(n)
    sd = generator.normal(size=(n, 4000)).std(axis=0, ddof=1)
    again = generator.normal(size=(n, 4000)) + smallest_detectable(sd, n, level=level)
    assert (mean_p(again) < level).mean() == pytest.approx(0.8, abs=0.03)
    # For many questions the sd is known, and this is the usual formula.
    if n == 500:
        power = TTestPower().power(float(smallest_detectable(np.ones(1), n)[0]), n, 0.05)
        assert power == pytest.approx(0.8, abs=0.01)


@pytest.fixture(scope="module", autouse=True)
def _no_collection():
    """The other implementation collects garbage at every call: 1.6 s in a process this large."""
    with mock.patch("gc.collect"):
        yield


shares = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@pytest.mark.parametrize(("adjust", "method"), [(holm, "holm"), (benjamini_yekutieli, "fdr_by")])
@given(p=shares)
def test_against_statsmodels(adjust, method, p):
    assert adjust(np.array(p)) == pytest.approx(multipletests(p, method=method)[1])
