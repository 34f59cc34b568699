"""A judge beside people: one vote replaced, the alternative annotator test, shuffled sheets."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from cqa_site.stats.agreement_coefficients import krippendorff_alpha
from cqa_site.stats.alternative_annotator import alternative_annotator_test
from cqa_site.stats.cross_alpha import concatenated_alpha, shuffled_baseline
from cqa_site.stats.disagreement import replace_one_vote
from cqa_site.stats.ratings import LEVELS, Ratings
from tests.stats.tables import ratings_of


def test_by_hand_ties_and_labels_nobody_gave():
    """Item a: 2 2 1, judge 1: replacing a 2 gives 2 1 1 → 1 (lower), replacing the 1 changes
    nothing: 2/3 lowered. Item b: 3 3 3, judge 0: never changes. Item c: 0 1 2 (tie, label 2),
    judge 2: replacing 0 or 1 gives label 2 without a tie, replacing the 2 leaves the tie."""
    found = replace_one_vote(
        votes_of({"a": [2, 2, 1], "b": [3, 3, 3], "c": [0, 1, 2]}),
        pd.Series({"a": 1, "b": 0, "c": 2}),
    )
    assert found.n_items == 3
    assert found.changed.value == pytest.approx(2 / 9)
    assert (found.raised, found.lowered) == pytest.approx((0, 2 / 9))
    assert found.tied_before == pytest.approx(1 / 3)
    assert found.tied_after == pytest.approx(1 / 9)
    found = replace_one_vote(votes_of({"a": [0, 1]}), pd.Series({"a": 3}))
    assert found.changed.value == found.raised == 1
    assert found.changed.low is None
    assert found.changed.reason
    apart = replace_one_vote(votes_of({"a": [0, 1]}), pd.Series({"b": 3}))
    assert (apart.n_items, apart.changed.value) == (0, None)


def votes_of(votes: dict) -> Ratings:
    """Values of raters by item."""
    rows = [(item, f"r{n}", v) for item, values in votes.items() for n, v in enumerate(values)]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "value"]))


def ratings(grid) -> Ratings:
    return votes_of(dict(enumerate(grid)))


def test_labels_count_matches_epsilon_decides_between_equals_and_the_mean_without_spread():
    """Scores reward coming near, labels only being equal: 2 is no nearer to 3 than 0 is."""
    grid, judge = [[0, 3, 3]] * 30, pd.Series([2] * 30)
    scores = alternative_annotator_test(ratings(grid), judge)
    labels = alternative_annotator_test(ratings(grid), judge, closeness="labels")
    assert (scores.humans[0].judge_advantage, scores.humans[0].human_advantage) == (1, 0)
    assert (labels.humans[0].judge_advantage, labels.humans[0].human_advantage) == (1, 1)
    assert labels.humans[1].judge_advantage == 0
    humans = ratings([[0, 1, 2]] * 30)
    exact = alternative_annotator_test(humans, pd.Series([1.0] * 30))
    far = alternative_annotator_test(humans, pd.Series([9.0] * 30))
    assert [each.p for each in exact.humans] == [0, 0, 0]
    assert [each.p for each in far.humans] == [1, 1, 1]
    assert (exact.omega, far.omega) == (1, 0)
    # A judge exactly as good as the humans passes only thanks to epsilon.
    generator = np.random.default_rng(5)
    grid = generator.integers(0, 2, (400, 4)).astype(float)
    judge = pd.Series(grid[:, 3])
    humans = ratings(grid[:, :3])
    with_edge = alternative_annotator_test(humans, judge, closeness="labels", epsilon=0.2)
    without = alternative_annotator_test(humans, judge, closeness="labels", epsilon=0)
    assert with_edge.passed
    assert not without.passed
    assert with_edge.rho == without.rho


def test_the_reference_procedure_step_by_step():
    """Item by item with scipy's t test and statsmodels' correction, with gaps."""
    generator = np.random.default_rng(4)
    truth = generator.integers(0, 20, 120)
    grid = truth[:, None] + generator.integers(-3, 4, (120, 4)).astype(float)
    grid[generator.random(grid.shape) < 0.2] = np.nan
    judge = truth + generator.integers(-3, 4, 120).astype(float)
    found = alternative_annotator_test(ratings(grid), pd.Series(judge), epsilon=0.1)
    p, advantages = [], []
    for human in range(4):
        wins = []
        for row, own in zip(grid, judge, strict=True):
            others = [value for at, value in enumerate(row) if at != human and value == value]
            if row[human] == row[human] and others:
                close = [np.mean([(v - o) ** 2 for o in others]) for v in (row[human], own)]
                wins.append((close[0] <= close[1], close[1] <= close[0]))
        human_wins, judge_wins = np.array(wins, dtype=float).T
        p.append(stats.ttest_1samp(human_wins - judge_wins, 0.1, alternative="less").pvalue)
        advantages.append((judge_wins.mean(), human_wins.mean()))
    assert [each.p for each in found.humans] == pytest.approx(p)
    shares = [(each.judge_advantage, each.human_advantage) for each in found.humans]
    assert np.array(shares) == pytest.approx(np.array(advantages))
    assert found.rho == pytest.approx(np.mean([judge for judge, _human in advantages]))
    beaten = multipletests(p, 0.05, method="fdr_by")[0]
    assert [each.is_beaten for each in found.humans] == beaten.tolist()
    assert found.omega == pytest.approx(beaten.mean())
    assert (found.passed, found.caution) == (beaten.mean() >= 0.5, "")
    assert found.n_items == (np.isfinite(grid).sum(axis=1) > 1).sum()


def test_few_items_are_listed_and_not_tested_or_say_why():
    grid = np.full((60, 3), 2.0)
    grid[29:, 2] = np.nan
    found = alternative_annotator_test(ratings(grid), pd.Series([2.0] * 60))
    assert "only 29 answers" in found.humans[2].reason
    assert found.humans[2].is_beaten is None
    assert found.omega == 1
    assert "two people" in found.caution
    for options in ({"closeness": "rank"}, {"epsilon": -0.1}, {"epsilon": 2}, {"level": 0}):
        with pytest.raises(ValueError, match=r"closeness|epsilon"):
            alternative_annotator_test(ratings([[1, 2]]), pd.Series([1.0]), **options)
    for grid, judge, reason in (
        ([[1]] * 40, [1] * 40, "not 1"),
        ([[1, 2]] * 29, [1] * 29, "scored 30 answers"),
        ([[1, 2]] * 40, [1] * 29 + [np.nan] * 11, "scored 30 answers"),
        ([[1, np.nan]] * 40 + [[np.nan, 1]] * 40, [1] * 80, "scored 30 answers"),
    ):
        found = alternative_annotator_test(ratings(grid), pd.Series(judge, dtype=float))
        assert (found.passed, found.omega, found.rho) == (None, None, None)
        assert reason in found.reason


def sheets(n=40, seed=0):
    """Two unrelated raters who both give the last criterion about two points more."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2, (2, n, 3)) + np.array([0.0, 0.0, 2.0])


@pytest.mark.parametrize("level", LEVELS)
def test_concatenated_alpha_is_alpha_of_all_cells(level):
    a, b = sheets()
    a[0, 0] = b[3, 2] = np.nan
    pairs = np.column_stack([a.ravel(), b.ravel()]).tolist()
    expected = krippendorff_alpha(ratings_of(pairs), level).value
    assert concatenated_alpha(a, b, level) == pytest.approx(expected)


def test_ranges_alone_make_unrelated_sheets_agree_and_sheets_stay_whole():
    a, b = sheets()
    found = shuffled_baseline(concatenated_alpha, a, b)
    assert found.mean > 0.5
    assert found.mean == pytest.approx(found.observed, abs=3 * found.sd)
    each = [concatenated_alpha(a[:, place], b[:, place]) for place in range(3)]
    assert np.mean(each) == pytest.approx(0, abs=0.2)
    # A statistic that sees the sum of squares of each sheet is blind to their order.
    a, b = sheets()
    found = shuffled_baseline(lambda one, two: float((two.sum(axis=1) ** 2).sum()), a, b)
    assert found.mean == found.observed
    assert found.sd == 0


def test_the_mean_is_that_of_all_permutations_or_undefined():
    a, b = np.array([0.0, 1.0, 5.0]), np.array([1.0, 0.0, 4.0])

    def product(one, two):
        return float(one @ two)

    every = [product(a, b[list(order)]) for order in permutations(range(3))]
    found = shuffled_baseline(product, a, b, n_repeats=4000)
    assert found.mean == pytest.approx(np.mean(every), abs=0.5)
    assert found.sd == pytest.approx(np.std(every), abs=0.3)
    three = np.ones(3)
    found = shuffled_baseline(lambda a, b: float("nan"), three, three, n_repeats=4)
    assert (found.observed, found.mean, found.n_undefined) == (None, None, 4)
    assert "every shuffle" in found.reason
    for other, n_repeats, match in ((np.ones(2), 10, "same items"), (three, 0, "one repeat")):
        with pytest.raises(ValueError, match=match):
            shuffled_baseline(concatenated_alpha, three, other, n_repeats=n_repeats)
