import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from cqa_site.stats.ratings import Ratings
from cqa_site.stats.reliability.alternative_annotator import alternative_annotator_test


def ratings(grid) -> Ratings:
    rows = [
        (item, f"h{rater}", value)
        for item, values in enumerate(grid)
        for rater, value in enumerate(values)
    ]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "value"]))


def repeated(rows, times):
    return [row for row in rows for _ in range(times)]


# Human 0 against the others' scores (3, 5), judge 4; then humans 2 2 2, judge 0.
TOY = [[1, 3, 5], [1, 3, 5], [1, 3, 5], [2, 2, 2]]
JUDGE = [4, 4, 4, 0]


def test_by_hand():
    """On three of four items in turn: h0 gives 1, the others 3 and 5, the judge is closer.
    h1 gives 3 (squares 4 + 4), the judge 4 (9 + 1): the human is closer. h2 gives 5 (16 + 4),
    the judge 4 (9 + 1): the judge. On the fourth item each human is exact, the judge off.
    """
    found = alternative_annotator_test(
        ratings(repeated(TOY, 10)), pd.Series(repeated(JUDGE, 10)), epsilon=0.2
    )
    assert [each.judge_advantage for each in found.humans] == [0.75, 0, 0.75]
    assert [each.human_advantage for each in found.humans] == [0.25, 1, 0.25]
    assert found.rho == pytest.approx(0.5)
    # d is -1 on 30 items and 1 on 10: mean -.5, sd sqrt(40 x .75 / 39).
    t = (-0.5 - 0.2) / ((40 * 0.75 / 39) ** 0.5 / 40**0.5)
    assert found.humans[0].p == pytest.approx(stats.t.cdf(t, 39))
    assert [each.is_beaten for each in found.humans] == [True, False, True]
    assert found.omega == pytest.approx(2 / 3)
    assert found.passed
    assert found.caution == ""
    assert found.n_items == 40


def test_labels_count_matches():
    """Scores reward coming near, labels only being equal: 2 is no nearer to 3 than 0 is."""
    grid, judge = [[0, 3, 3]] * 30, pd.Series([2] * 30)
    scores = alternative_annotator_test(ratings(grid), judge)
    labels = alternative_annotator_test(ratings(grid), judge, closeness="labels")
    assert (scores.humans[0].judge_advantage, scores.humans[0].human_advantage) == (1, 0)
    assert (labels.humans[0].judge_advantage, labels.humans[0].human_advantage) == (1, 1)
    assert labels.humans[1].judge_advantage == 0


def test_the_reference_procedure_step_by_step():
    """Item by item with scipy's t test and statsmodels' correction, with gaps."""
    generator = np.random.default_rng(4)
    truth = generator.integers(0, 20, 120)
    grid = truth[:, None] + generator.integers(-3, 4, (120, 4)).astype(float)
    grid[generator.random(grid.shape) < 0.2] = np.nan
    judge = truth + generator.integers(-3, 4, 120).astype(float)
    found = alternative_annotator_test(ratings(grid), pd.Series(judge), epsilon=0.1)
    p, advantage = [], []
    for human in range(4):
        wins = []
        for row, own in zip(grid, judge, strict=True):
            others = [value for at, value in enumerate(row) if at != human and value == value]
            if row[human] == row[human] and others:
                close = [np.mean([(v - o) ** 2 for o in others]) for v in (row[human], own)]
                wins.append((close[0] <= close[1], close[1] <= close[0]))
        human_wins, judge_wins = np.array(wins, dtype=float).T
        p.append(stats.ttest_1samp(human_wins - judge_wins, 0.1, alternative="less").pvalue)
        advantage.append(judge_wins.mean())
    assert [each.p for each in found.humans] == pytest.approx(p)
    assert found.rho == pytest.approx(np.mean(advantage))
    beaten = multipletests(p, 0.05, method="fdr_by")[0]
    assert [each.is_beaten for each in found.humans] == beaten.tolist()
    assert found.omega == pytest.approx(beaten.mean())


def test_epsilon_decides_between_equals():
    """A judge exactly as good as the humans passes only thanks to epsilon."""
    generator = np.random.default_rng(5)
    grid = generator.integers(0, 2, (400, 4)).astype(float)
    judge = pd.Series(grid[:, 3])
    humans = ratings(grid[:, :3])
    with_edge = alternative_annotator_test(humans, judge, closeness="labels", epsilon=0.2)
    without = alternative_annotator_test(humans, judge, closeness="labels", epsilon=0)
    assert with_edge.passed
    assert not without.passed
    assert with_edge.rho == without.rho


def test_without_spread_the_mean_decides():
    humans = ratings([[0, 1, 2]] * 30)
    exact = alternative_annotator_test(humans, pd.Series([1.0] * 30))
    far = alternative_annotator_test(humans, pd.Series([9.0] * 30))
    assert [each.p for each in exact.humans] == [0, 0, 0]
    assert [each.p for each in far.humans] == [1, 1, 1]
    assert (exact.omega, far.omega) == (1, 0)


def test_a_human_with_few_items_is_listed_and_not_tested():
    grid = np.full((60, 3), 2.0)
    grid[29:, 2] = np.nan
    found = alternative_annotator_test(ratings(grid), pd.Series([2.0] * 60))
    assert "only 29 items" in found.humans[2].reason
    assert found.humans[2].is_beaten is None
    assert found.omega == 1
    assert "two humans" in found.caution


@pytest.mark.parametrize(
    ("grid", "judge", "reason"),
    [
        ([[1]] * 40, [1] * 40, "there is 1"),
        ([[1, 2]] * 29, [1] * 29, "share 30 items"),
        ([[1, 2]] * 40, [1] * 29 + [np.nan] * 11, "share 30 items"),
        ([[1, np.nan]] * 40 + [[np.nan, 1]] * 40, [1] * 80, "share 30 items"),
    ],
)
def test_what_is_undefined_says_why(grid, judge, reason):
    found = alternative_annotator_test(ratings(grid), pd.Series(judge, dtype=float))
    assert (found.passed, found.omega, found.rho) == (None, None, None)
    assert reason in found.reason


@pytest.mark.parametrize(
    "options", [{"closeness": "rank"}, {"epsilon": -0.1}, {"epsilon": 2}, {"level": 0}]
)
def test_impossible_settings_are_refused(options):
    with pytest.raises(ValueError, match=r"closeness|epsilon"):
        alternative_annotator_test(ratings([[1, 2]]), pd.Series([1.0]), **options)
