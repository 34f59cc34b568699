"""Labels of a crowd: the majority, Dawid and Skene's model, MACE; and falls of accuracy."""

import math

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import MACE as CrowdKitMace, DawidSkene as CrowdKitDawidSkene

from cqa_site.stats.disagreement import majority, split_pattern
from cqa_site.stats.drift import RUN_LENGTH, AccuracyChart, AccuracyFall, accuracy_chart, find_fall
from cqa_site.stats.latent import dawid_skene, mace
from cqa_site.stats.ratings import Ratings, RatingsError, UnknownCategoryError
from tests.stats.tables import knowing_crowd, ratings_of

ROWS = [[0, 0, 1], [3, 1, None], [2, 2, 2], [0, 1, 2], [1, None, None]]


def test_majority_and_split_patterns():
    table = majority(ratings_of(ROWS))
    assert table["label"].tolist() == [0, 3, 2, 2, 1]
    assert table["n"].tolist() == [3, 2, 3, 3, 1]
    assert table["votes"].tolist() == [2, 1, 3, 1, 1]
    assert table["share"].tolist() == pytest.approx([2 / 3, 1 / 2, 1, 1 / 3, 1])
    assert table["tied"].tolist() == [False, True, False, True, False]
    assert table["spread"].tolist() == [1, 2, 0, 2, 0]
    assert majority(ratings_of(ROWS), tie="lower")["label"].tolist() == [0, 1, 2, 0, 1]
    with pytest.raises(ValueError, match="higher"):
        majority(ratings_of(ROWS), tie="first")
    found = split_pattern(ratings_of(ROWS))
    assert found.to_dict() == dict(
        zip([f"i{n}" for n in range(5)], ["2-1", "1-1", "3-0", "1-1-1", "1-0"], strict=True)
    )
    empty = ratings_of([[None]])
    assert majority(empty).empty
    assert split_pattern(empty).equals(pd.Series([], index=empty.items, dtype=object))


pytestmark = pytest.mark.filterwarnings("ignore::Warning:crowdkit")
# The other implementation takes up to three seconds for one crowd.
SEEDS = [2, pytest.param(0, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_and_posteriors_are_close_to_crowd_kit(seed):
    table, _ = knowing_crowd(seed)
    oracle = CrowdKitDawidSkene(n_iter=500, tol=1e-9)
    oracle.fit(table.set_axis(["task", "worker", "label"], axis=1))
    # crowd-kit does not smooth, so neither do we here.
    found = dawid_skene(Ratings.from_frame(table), smoothing=1e-10, tolerance=1e-10)
    expected = oracle.probas_.loc[found.posteriors.index, found.posteriors.columns]
    assert (found.labels == oracle.labels_[found.labels.index]).all()
    assert np.abs(found.posteriors - expected).to_numpy().mean() < 1e-3


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_it_beats_the_majority_and_ranks_the_raters(model, seed):
    table, truth = knowing_crowd(seed)
    ratings = Ratings.from_frame(table)
    found = model(ratings)
    assert found.converged
    right = (found.labels == truth[found.labels.index]).mean()
    voted = majority(ratings)["label"]
    assert right > (voted == truth[voted.index]).mean()
    if model is mace:
        assert found.raters["competence"].idxmin() in ("r6", "r7")
        assert found.raters.loc["r0", "competence"] > 0.85
    else:
        real = (table["value"] == table["item"].map(truth)).groupby(table["rater"]).mean()
        assert (found.raters["accuracy"] - real[found.raters.index]).abs().max() < 0.1


def test_bad_input_is_an_error_and_seeds_and_restarts_decide():
    for model in (dawid_skene, mace):
        with pytest.raises(RatingsError, match="no ratings"):
            model(ratings_of([[None]]))
        with pytest.raises(ValueError, match=r"smoothing|above 0"):
            model(ratings_of([[2, 2]]), smoothing=0)
    with pytest.raises(UnknownCategoryError):
        dawid_skene(ratings_of([[2, 2]]), categories=[0, 1])
    with pytest.raises(ValueError, match="above 0"):
        mace(ratings_of([[2, 2]]), restarts=0)
    ratings = Ratings.from_frame(knowing_crowd()[0])
    found, again = mace(ratings, seed=7), mace(ratings, seed=7)
    assert found.posteriors.equals(again.posteriors)
    assert found.log_likelihood >= mace(ratings, restarts=1).log_likelihood
    assert (found.restarts, found.seed) == (10, 7)


def test_probabilities_are_probabilities_runs_repeat_and_categories_may_be_unused():
    ratings = Ratings.from_frame(knowing_crowd()[0])
    found, again = dawid_skene(ratings), dawid_skene(ratings)
    assert found.posteriors.equals(again.posteriors)
    assert found.posteriors.sum(axis=1).to_numpy() == pytest.approx(1)
    assert found.confusions.sum(axis=1).to_numpy() == pytest.approx(1)
    assert found.class_shares.sum() == pytest.approx(1)
    assert found.confusions.loc["r7"].to_numpy().argmax(axis=1).tolist() == [3, 3, 3, 3]
    assert dawid_skene(ratings_of([[2, 2], [2, 2]])).labels.tolist() == [2, 2]
    found = dawid_skene(ratings_of([[2, 2], [0, 0]]), categories=[0, 1, 2])
    assert found.labels.tolist() == [2, 0]
    assert found.posteriors[1.0].max() < 0.01


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_mace_is_close_to_crowd_kit(seed):
    # crowd-kit mixes sorted names with names in order of appearance: make the two agree.
    table = knowing_crowd(seed)[0].sort_values(["rater", "item"])
    oracle = CrowdKitMace(n_restarts=1, n_iter=60, method="em")
    oracle.fit(table.set_axis(["task", "worker", "label"], axis=1))
    found = mace(Ratings.from_frame(table), tolerance=1e-9)
    expected = oracle.probas_.loc[found.posteriors.index, found.posteriors.columns]
    assert (found.labels == oracle.labels_[found.labels.index]).all()
    assert np.abs(found.posteriors - expected).to_numpy().max() < 1e-3
    assert found.raters["competence"].to_numpy() == pytest.approx(oracle.spamming_[:, 1], abs=1e-4)


TWO_RATERS = ratings_of([[0, 0], [1, 1], [0, 1]])


def test_one_step_of_each_model():
    # Vote shares start i0 (1, 0), i1 (0, 1), i2 (.5, .5); class shares .5, .5. Smoothing .5:
    #   r0, true 0: given 0 1+.5+.5 = 2,  given 1 .5   -> .8 .2
    #   r0, true 1: given 0 .5+.5 = 1,    given 1 1+.5 -> .4 .6
    #   r1 mirrors it: true 0 -> .6 .4, true 1 -> .2 .8
    # i0: .5*.8*.6 = .24 against .5*.4*.2 = .04; i1 the mirror; i2: .5*.8*.4 = .5*.4*.8 = .16.
    found = dawid_skene(TWO_RATERS, smoothing=0.5, max_iterations=1)
    expected = [[6 / 7, 1 / 7], [1 / 7, 6 / 7], [0.5, 0.5]]
    assert found.posteriors.to_numpy() == pytest.approx(pd.DataFrame(expected).to_numpy())
    assert found.log_likelihood == pytest.approx(2 * math.log(0.28) + math.log(0.32))
    assert found.labels.tolist() == [0, 1, 1]
    # r0 gave 0, 1, 0: (6/7 + 6/7 + 1/2) / 3.
    assert found.raters["accuracy"].tolist() == pytest.approx([31 / 42, 31 / 42])
    # Start: knows .5, guesses evenly, so the label is given with .5+.25 = .75, the other with .25.
    # i0: .75² against .25² -> .9, .1; i1 the mirror; i2 .5, .5.
    # Of a right rating .5/.75 = 2/3 was known: r0 .6 + .6 + 1/3 = 23/15, guessed 3 - 23/15.
    # Smoothing .1: competence (23/15 + .1) / 3.2 = .510417.
    # r0 guessed 0: .4 + 2/3 + .1, guessed 1: .4 + .1 -> .7, .3; r1 the mirror.
    found = mace(TWO_RATERS, restarts=1, smoothing=0.1, max_iterations=1)
    known = (23 / 15 + 0.1) / 3.2
    assert found.raters["competence"].tolist() == pytest.approx([known, known])
    often, seldom = (1 - known) * 0.7, (1 - known) * 0.3
    right, wrong = (known + often) * (known + seldom), often * seldom
    assert found.posteriors.loc["i0", 0.0] == pytest.approx(right / (right + wrong))
    tied = 2 * (known + often) * often
    likelihood = 2 * math.log((right + wrong) / 2) + math.log(tied / 2)
    assert found.log_likelihood == pytest.approx(likelihood)
    assert found.labels.tolist() == [0, 1, 1]


PAIRS = ((0.92, 0.78), (0.8, 0.6), (0.95, 0.6), (0.55, 0.5), (0.99, 0.94))


@pytest.mark.parametrize(("usual", "fallen"), PAIRS)
def test_the_limit_is_the_smallest_with_rare_false_signals(usual, fallen):
    chart = accuracy_chart(usual, fallen)
    lower = AccuracyChart(usual, fallen, chart.rise, chart.limit - 1)
    assert lower.run_length(usual) < RUN_LENGTH <= chart.run_length(usual)
    assert chart.run_length(fallen) < chart.run_length(usual) / 3


def test_run_lengths_and_shares_are_those_of_drawn_answers():
    chart, draws = accuracy_chart(0.92, 0.78), np.random.default_rng(4)
    signals = []
    for _study in range(2_000):
        fall = find_fall(chart, (draws.random(600) < 0.78).tolist())
        assert fall is not None
        signals.append(fall.signal)
    assert np.mean(signals) == pytest.approx(chart.run_length(0.78), rel=0.05)
    within = np.mean(np.array(signals) <= 60)
    assert within == pytest.approx(chart.signal_share(0.78, 60), abs=0.03)


def test_a_fall_from_92_to_78_starts_where_the_sum_left_zero_and_a_rise_is_none():
    chart = accuracy_chart(0.92, 0.78)
    assert chart.run_length(0.92) >= 1_000
    assert chart.run_length(0.78) < 60
    assert chart.signal_share(0.78, 60, before=60) > 0.85
    assert chart.signal_share(0.92, 60) < 0.04
    # One mistake is forgotten after six right answers; then four in a row reach 24.
    answers = [False] + [True] * 9 + [False, True, False, False, False, False, True]
    assert chart.sums(answers)[:8] == [6, 5, 4, 3, 2, 1, 0, 0]
    assert find_fall(chart, answers) == AccuracyFall(signal=16, start=11)
    assert find_fall(chart, answers[:15]) is None
    assert find_fall(chart, []) is None
    for pair in ((0.78, 0.92), (0.8, 0.8), (1.0, 0.8), (0.8, 0.0)):
        with pytest.raises(ValueError, match="accurac"):
            accuracy_chart(*pair)
