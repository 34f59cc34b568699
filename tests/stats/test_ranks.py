"""Ranks of systems, paired differences and corrections for many tests."""

from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from cqa_site.stats.ranks.multiple_tests import benjamini_yekutieli, holm
from cqa_site.stats.ranks.paired_differences import (
    halving_n,
    paired_t_p,
    smallest_detectable,
    tie_groups,
)
from cqa_site.stats.ranks.ranking import NO_SYSTEMS, TOO_FEW_QUESTIONS, rank_systems


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


def test_only_common_questions_count():
    """b lacks the question that all others find easy; over the rest it is better than a."""
    rows = [[1, 2, 3, 19], [2, 3, 4, np.nan], [0, 0, 1, 19]]
    found = board(rows)
    assert [(each.system, each.mean) for each in found.standings] == [
        ("b", 3),
        ("a", 2),
        ("c", pytest.approx(1 / 3)),
    ]
    assert [each.n_questions for each in found.standings] == [3, 4, 4]
    assert (found.n_common, found.n_questions) == (3, 4)


def test_the_interval_is_the_bootstrap_over_questions():
    scores = simulated()
    found = board(scores, n_resamples=300, seed=7)
    draws = np.random.default_rng(7).multinomial(80, np.full(80, 1 / 80), size=300)
    for standing in found.standings:
        own = scores["abcd".index(standing.system)]
        low, high = np.quantile([np.repeat(own, draw).mean() for draw in draws], [0.025, 0.975])
        assert (standing.mean, standing.low, standing.high) == pytest.approx(
            (own.mean(), low, high)
        )


def test_pairing_takes_out_what_makes_a_question_hard():
    found = board(simulated())
    pair = next(each for each in found.pairs if {each.first, each.second} == {"a", "d"})
    own = next(each for each in found.standings if each.system == "a")
    assert pair.mean == pytest.approx(3, abs=0.5)
    assert pair.high - pair.low < (own.high - own.low) / 2
    assert pair.is_separable


def test_what_cannot_be_told_apart_shares_a_group_and_a_range_of_ranks():
    found = {each.system: each for each in board(simulated()).standings}
    assert found["a"].tie_group == found["b"].tie_group == 1
    assert (found["a"].rank_low, found["b"].rank_low) == (1, 1)
    assert found["d"].rank == found["d"].rank_low == found["d"].rank_high == 4
    assert found["d"].tie_group > 1
    assert found["d"].p_best == 0


def test_identical_systems_share_everything():
    row = simulated()[0]
    found = board([row, row + 1, row, row])
    best, *others = found.standings
    assert (best.system, best.rank, best.p_best) == ("b", 1, 1)
    assert [(each.rank, each.rank_low, each.rank_high) for each in others] == [(2, 2, 2)] * 3
    assert [each.system for each in others] == ["a", "c", "d"]
    tied = [pair for pair in found.pairs if "b" not in (pair.first, pair.second)]
    assert {(pair.mean, pair.p, pair.is_separable) for pair in tied} == {(0, 1, False)}


def test_the_smallest_difference_is_the_median_over_pairs_and_holm_counts_them():
    found = board(simulated(seed=3))
    assert found.detectable == pytest.approx(np.median([pair.detectable for pair in found.pairs]))
    # Single scores have sd 1, so paired differences have sqrt 2; 2.80 standard errors.
    assert found.detectable == pytest.approx(2.83 * 2**0.5 / 80**0.5, rel=0.15)
    assert len(found.pairs) == 6
    assert min(pair.p_holm / pair.p for pair in found.pairs) >= 1
    sharpest = min(found.pairs, key=lambda pair: pair.p)
    assert sharpest.p_holm == pytest.approx(min(1, 6 * sharpest.p))


grids = arrays(
    float, st.tuples(st.integers(1, 5), st.integers(3, 12)), elements=st.integers(0, 19)
)


@given(grid=grids)
def test_whatever_the_scores_the_board_is_consistent(grid):
    found = board(grid, n_resamples=50)
    assert sum(each.p_best for each in found.standings) == pytest.approx(1)
    ranks = [each.rank for each in found.standings]
    assert ranks[0] == 1
    assert ranks == sorted(ranks)
    for each in found.standings:
        assert each.low - 1e-9 <= each.high
        assert 1 <= each.rank_low <= each.rank_high <= len(grid)
    turned = board(grid[::-1], "edcba"[5 - len(grid) :], n_resamples=50)
    assert {each.system: each for each in turned.standings} == {
        each.system: each for each in found.standings
    } or not _all_means_differ(grid)


def _all_means_differ(grid):
    return len(set(grid.mean(axis=1).round(9))) == len(grid)


def test_the_order_of_questions_and_chunks_do_not_matter(monkeypatch):
    from cqa_site.stats.ranks import paired_differences, ranking

    whole = board(simulated(), n_resamples=200)
    monkeypatch.setattr(ranking, "_CHUNK_CELLS", 1000)
    monkeypatch.setattr(paired_differences, "_CHUNK_CELLS", 1000)
    parts = board(simulated(), n_resamples=200)
    assert [each.system for each in parts.standings] == [each.system for each in whole.standings]
    assert parts.standings[0].rank_high == whole.standings[0].rank_high
    assert parts.pairs[0].low == pytest.approx(whole.pairs[0].low)


@pytest.mark.parametrize(
    ("rows", "reason", "n_common"),
    [
        ([], NO_SYSTEMS, 0),
        ([[1, 2, np.nan], [1, 2, 3]], TOO_FEW_QUESTIONS, 2),
        ([[np.nan] * 3, [1, 2, 3]], TOO_FEW_QUESTIONS, 0),
    ],
)
def test_what_cannot_be_ranked_says_why(rows, reason, n_common):
    found = board(rows)
    assert (found.reason, found.n_common) == (reason, n_common)
    assert len(found.standings) == len(rows)
    assert all(each.rank is None and each.mean is None for each in found.standings)


def test_one_system_is_first_without_pairs_and_what_is_no_board_is_refused():
    found = board([[1, 2, 6]])
    assert (found.standings[0].rank, found.standings[0].p_best, found.pairs) == (1, 1, ())
    assert found.detectable is None
    for rows, names, match in (
        ([[1, 2, 3]] * 2, "aa", "twice"),
        ([[1, 2, np.inf]], "a", "infinite"),
    ):
        with pytest.raises(ValueError, match=match):
            board(rows, names)


def test_p_is_that_of_the_paired_t_test():
    differences = np.random.default_rng(0).normal(0.3, 1, (40, 5))
    assert paired_t_p(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_p_agrees_with_flipping_the_signs():
    generator = np.random.default_rng(1)
    differences = generator.integers(-2, 4, 60).astype(float)
    signs = generator.choice([-1.0, 1.0], (40_000, 60))
    flipped = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9
    assert 0.001 < flipped.mean() < 0.2
    assert paired_t_p(differences[:, None])[0] == pytest.approx(flipped.mean(), rel=0.15)


def test_p_is_never_below_what_flipping_signs_could_give():
    """Five questions: 2 of 32 sign patterns are as extreme as all positive."""
    constant = np.full((5, 1), 0.1) + np.array([0.0, 0.7])
    nearly = np.array([[1.0], [1.001], [1.0], [0.999], [1.0]])
    assert paired_t_p(np.hstack([constant, nearly])).tolist() == [1 / 16] * 3
    assert paired_t_p(np.zeros((9, 2))).tolist() == [1, 1]


def test_tie_groups_by_hand():
    """The first cannot be told from the second and the fourth, the third from the fourth."""
    separable = np.ones((5, 5), dtype=bool)
    for one, other in ((0, 1), (0, 3), (2, 3), (2, 4)):
        separable[one, other] = separable[other, one] = False
    assert tie_groups(separable).tolist() == [1, 1, 2, 1, 2]


@pytest.mark.parametrize("n", [10, 50, 500])
def test_the_smallest_detectable_difference_is_found_four_times_in_five(n):
    detectable = float(smallest_detectable(np.array([3.0]), n)[0])
    power = TTestPower().power(detectable / 3.0, n, 0.05)
    assert power == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("n", [2, 5, 30, 400])
def test_halving_is_the_smallest_number_that_halves(n):
    values = np.tile([1.0, 3.0], n)[:n]
    more = halving_n(values)

    def width(size):
        return stats.t.ppf(0.975, size - 1) / size**0.5

    assert width(n + more) <= width(n) / 2 < width(n + more - 1)
    assert more <= 3 * n


def test_halving_needs_an_interval():
    assert halving_n(np.array([1.0])) is None
    assert halving_n(np.array([1.0, 1.0, np.nan])) is None
    assert halving_n(np.array([1.0, 2.0, np.nan])) == halving_n(np.array([1.0, 2.0]))


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


def test_corrections_by_hand():
    """Three tests: Holm 3, 2, 1 times the sorted p; Benjamini-Yekutieli 11/6 times 3, 3/2, 1."""
    p = np.array([0.04, 0.01, 0.02])
    assert holm(p) == pytest.approx([0.04, 0.03, 0.04])
    assert benjamini_yekutieli(p) == pytest.approx([0.22 / 3, 0.055, 0.055])


def test_nothing_tested_is_nothing_adjusted():
    assert len(holm(np.array([]))) == len(benjamini_yekutieli(np.array([]))) == 0
