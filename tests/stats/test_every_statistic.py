"""What every statistic has in common, and how often intervals hold the truth."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cqa_site.stats.agreement import (
    LEVELS,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
)
from cqa_site.stats.calibrated_mean import calibrated_mean
from cqa_site.stats.correlation import bland_altman
from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_RATER, ONE_VALUE
from cqa_site.stats.means import clustered_mean
from cqa_site.stats.ratings import Ratings
from tests.stats import tables

ALPHAS = {f"alpha, {level}": partial(krippendorff_alpha, level=level) for level in LEVELS}
STATISTICS = ALPHAS | {
    "percent": percent_agreement,
    "fleiss": partial(fleiss_kappa, drop_unequal=True),
    "gwet": partial(gwet_ac, level="ordinal"),
}
every_statistic = pytest.mark.parametrize("name", STATISTICS)

label = st.one_of(st.none(), st.integers(0, 3))
panels = st.lists(st.lists(label, min_size=3, max_size=3), min_size=1, max_size=12)


def same(found, expected):
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    assert found.low == pytest.approx(expected.low, abs=1e-7)
    assert found.high == pytest.approx(expected.high, abs=1e-7)
    assert found.reason == expected.reason


@every_statistic
@given(rows=panels, seed=st.integers(0, 99))
def test_names_of_raters_and_order_of_items_do_not_matter(name, rows, seed):
    table = tables.long_table(rows)
    shuffled = table.sample(frac=1, random_state=seed)
    shuffled["rater"] = shuffled["rater"].map({"r0": "z", "r1": "r0", "r2": "a"})
    found = STATISTICS[name](Ratings.from_frame(shuffled))
    same(found, STATISTICS[name](Ratings.from_frame(table)))


# Chance, as AC1 and AC2 have it, follows from all ratings.
@pytest.mark.parametrize("name", [name for name in STATISTICS if name != "gwet"])
@given(rows=panels, extra=st.lists(st.integers(0, 3), max_size=5))
def test_items_rated_once_do_not_matter(name, rows, extra):
    table = tables.long_table(rows)
    once = pd.DataFrame({"item": range(len(extra)), "rater": "r0", "value": extra})
    expected = STATISTICS[name](Ratings.from_frame(table))
    found = STATISTICS[name](Ratings.from_frame(pd.concat([table, once])))
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    if expected.value is not None and name in ALPHAS:
        same(found, expected)


@every_statistic
@given(rows=panels)
def test_bounds_hold_whatever_the_ratings(name, rows):
    found = STATISTICS[name](tables.ratings_of(rows))
    assert (found.value is None) <= (found.reason is not None)
    if found.low is not None:
        assert found.low <= found.high <= 1
    if found.value is not None:
        assert found.value <= 1


@every_statistic
def test_perfect_agreement_is_one_but_not_where_it_is_undefined(name):
    found = STATISTICS[name](tables.ratings_of([[0, 0], [1, 1], [2, 2], [3, 3]]))
    assert found.value == pytest.approx(1)
    for rows, reason in (
        ([[None, None]], NO_VALUES),
        ([[1], [2], [3]], ONE_RATER),
        ([[1, None], [None, 1], [2, None]], NO_OVERLAP),
        ([[2, 2], [2, 2], [2, 2], [2, 2]], ONE_VALUE),
        ([[2, 2], [2, 2], [3, None]], ONE_VALUE),
    ):
        found = STATISTICS[name](tables.ratings_of(rows))
        if name == "percent" and reason == ONE_VALUE:
            assert (found.value, found.low) == (1.0, None)
        elif name == "gwet" and rows[-1] == [3, None]:
            # A value that was used once makes a scale of two.
            assert found.value == 1.0
        else:
            assert (found.value, found.low, found.high) == (None, None, None)
            assert found.reason == reason


# Of rows (x, y) in clusters.
CLUSTERED = {
    "bias": lambda x, y, clusters=None: bland_altman(x, y, clusters).bias,
    "slope": lambda x, y, clusters=None: bland_altman(x, y, clusters).slope,
}


def mean_of_second(x, y, clusters=None):
    return clustered_mean(range(len(y)) if clusters is None else clusters, y, [1] * len(y))


@pytest.mark.parametrize(
    "statistic", [*CLUSTERED.values(), mean_of_second], ids=[*CLUSTERED, "mean"]
)
def test_repeating_rows_inside_clusters_does_not_narrow_the_interval(statistic):
    generator = np.random.default_rng(5)
    x = generator.normal(12, 3, 40)
    y = 0.8 * x + generator.normal(size=40)
    alone = statistic(x, y, list(range(40)))
    tenfold = [np.repeat(values, 10) for values in (x, y)]
    found = statistic(*tenfold, np.repeat(range(40), 10).tolist())
    assert found.value == pytest.approx(alone.value)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
    blind = statistic(*tenfold)
    assert blind.high - blind.low < (alone.high - alone.low) / 2


@pytest.mark.parametrize("statistic", CLUSTERED.values(), ids=CLUSTERED)
def test_incomplete_pairs_are_dropped_and_counted(statistic):
    found = statistic([1, 2, np.nan, 3, 7], [2, 1, 9, 4, np.nan])
    assert found.value == pytest.approx(statistic([1, 2, 3], [2, 1, 4]).value)
    assert (found.n_items, found.n_pairable_items, found.n_dropped_items) == (5, 3, 2)


def simulated_estimates(statistic, n_items):
    """The value for very many items, and the estimates of 200 samples of them."""
    generator = np.random.default_rng(20)

    def estimate(size):
        return statistic(tables.ratings_of_grid(tables.simulated_grid(generator, size, 4, 0.2)))

    return estimate(40_000).value, [estimate(n_items) for _ in range(200)]


@pytest.mark.parametrize(("statistic", "n_items"), [("alpha, ordinal", 60), ("percent", 100)])
def test_intervals_of_few_samples(statistic, n_items):
    truth, estimates = simulated_estimates(STATISTICS[statistic], n_items)
    tables.check_intervals([(made.value, made.low, made.high) for made in estimates], truth)


REPLICATES = 1000


def share_held(estimates, truth):
    low, high = np.array([(each.low, each.high) for each in estimates]).T
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.long
@pytest.mark.parametrize("weighted", [False, True], ids=["uniform", "weighted"])
@pytest.mark.parametrize(("n_items", "share"), [(100, 0.25), (400, 0.15), (600, 0.3)])
def test_calibrated_means(n_items, share, weighted):
    generator = np.random.default_rng(12)

    def totals(latent):
        """Scores 0-19 in whole points with a ceiling, as score sheets have them."""
        return np.clip(np.round(latent + generator.normal(size=np.shape(latent))), 0, 19)

    def draw(n):
        latent = generator.normal(14, 2.5, n)
        return totals(latent), totals(0.7 * latent + 6)

    truth = float(draw(2_000_000)[0].mean())
    found = []
    for _ in range(REPLICATES):
        human, judge = draw(n_items)
        chance = np.where(judge < 16, 1.3, 0.7) * share if weighted else np.full(n_items, share)
        human[generator.random(n_items) >= chance] = np.nan
        found.append(calibrated_mean(judge, human, chance).estimate)
    assert 0.93 <= share_held(found, truth) <= 0.98


@pytest.mark.long
@pytest.mark.parametrize(("n_questions", "share"), [(40, 0.25), (150, 0.2)])
def test_calibrated_means_of_clustered_answers(n_questions, share):
    generator = np.random.default_rng(14)
    question = np.repeat(np.arange(n_questions), 3)
    found = []
    for _ in range(REPLICATES):
        error = 1.5 * generator.normal(size=n_questions)[question]
        error += 1.5 * generator.normal(size=len(question))
        judge = 11 + 0.6 * error + 0.7 * generator.normal(size=n_questions)[question]
        judge += 0.7 * generator.normal(size=len(question))
        human = np.full(len(question), np.nan)
        drawn = generator.permutation(len(question))[: int(share * len(question))]
        human[drawn] = 10 + error[drawn]
        found.append(calibrated_mean(judge, human, share, clusters=question).estimate)
    assert 0.93 <= share_held(found, 10.0) <= 0.97
