import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

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


def test_the_smallest_difference_is_the_median_over_pairs():
    found = board(simulated())
    assert found.detectable == pytest.approx(np.median([pair.detectable for pair in found.pairs]))
    # Single scores have sd 1, so paired differences have sqrt 2; 2.80 standard errors.
    assert found.detectable == pytest.approx(2.83 * 2**0.5 / 80**0.5, rel=0.15)


def test_holm_counts_every_pair():
    found = board(simulated(seed=3))
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


def test_one_system_is_first_without_pairs():
    found = board([[1, 2, 6]])
    assert (found.standings[0].rank, found.standings[0].p_best, found.pairs) == (1, 1, ())
    assert found.detectable is None


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (pd.DataFrame([[1, 2, 3]] * 2, index=["a", "a"]), "twice"),
        (pd.DataFrame([[1, 2, np.inf]], index=["a"]), "infinite"),
    ],
)
def test_what_is_no_board_is_refused(frame, match):
    with pytest.raises(ValueError, match=match):
        rank_systems(frame)
