"""How often intervals hold the truth: the statistic over a very large set of such items."""

import numpy as np
import pandas as pd
import pytest

from cqa_site.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from cqa_site.stats.calibrated_mean import calibrated_mean
from cqa_site.stats.correlation import correlation
from cqa_site.stats.ranks.ranking import rank_systems
from tests.stats.tables import check_intervals, ratings_of_grid, simulated_grid


def simulated_estimates(statistic, n_items, n_raters, missing, replicates, truth_items=400_000):
    """The value for very many items, and the estimates of samples of them."""
    generator = np.random.default_rng(20)

    def estimate(size):
        return statistic(ratings_of_grid(simulated_grid(generator, size, n_raters, missing)))

    truth = estimate(truth_items).value
    return truth, [estimate(n_items) for _ in range(replicates)]


def coverage(statistic, n_items, n_raters, missing, replicates):
    truth, found = simulated_estimates(statistic, n_items, n_raters, missing, replicates)
    share = np.mean([one.low <= truth <= one.high for one in found])
    width = np.mean([one.high - one.low for one in found])
    design = f"{n_items} items x {n_raters} raters"
    print(f"{design}, truth {truth:.4f}: {share:.4f}, width {width:.3f}")
    return share


@pytest.mark.parametrize(
    ("statistic", "n_items"),
    [
        (lambda ratings: krippendorff_alpha(ratings, "ordinal"), 60),
        (lambda ratings: percent_agreement(ratings, n_resamples=200), 100),
    ],
    ids=["jackknife of alpha", "bootstrap of percent agreement"],
)
def test_intervals_of_few_samples(statistic, n_items):
    truth, estimates = simulated_estimates(statistic, n_items, 4, 0.2, 200, truth_items=40_000)
    check_intervals([(made.value, made.low, made.high) for made in estimates], truth)


@pytest.mark.long
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize(("n_items", "n_raters"), [(60, 4), (200, 3)])
def test_item_jackknife_of_alpha(level, n_items, n_raters):
    share = coverage(lambda r: krippendorff_alpha(r, level), n_items, n_raters, 0.2, 4000)
    assert 0.93 <= share <= 0.97


def cohen(ratings):
    first, second = (ratings.subset(raters=[rater]) for rater in (0, 1))
    return cohen_kappa(first, second, "quadratic", n_resamples=1000)


@pytest.mark.long
@pytest.mark.parametrize(
    ("statistic", "n_raters", "missing"),
    [
        (lambda ratings: percent_agreement(ratings, n_resamples=1000), 3, 0.2),
        (lambda ratings: fleiss_kappa(ratings, n_resamples=1000), 3, 0.0),
        (cohen, 2, 0.0),
    ],
    ids=["percent", "fleiss", "cohen quadratic"],
)
def test_item_bootstrap(statistic, n_raters, missing):
    assert 0.93 <= coverage(statistic, 200, n_raters, missing, 1500) <= 0.97


REPLICATES = 1000


def share_held(intervals, truth, design):
    low, high = np.array(intervals).T
    share = np.mean((low <= truth) & (truth <= high))
    print(f"{design}: {share:.4f}, width {np.mean(high - low):.3f}")
    return share


def totals(generator, latent):
    """Scores 0-19 in whole points with a ceiling, as score sheets have them."""
    return np.clip(np.round(latent + generator.normal(size=np.shape(latent))), 0, 19)


def paired_differences(n_questions, replicates, n_resamples, population=1_000_000):
    """The true difference of two systems, and value, low and high of samples of questions."""
    generator = np.random.default_rng(11)

    def scores(n):
        difficulty = 2 * generator.normal(size=n)
        own = 0.8 * generator.normal(size=(2, n))
        return totals(generator, np.array([[16.0], [15.0]]) + difficulty + own)

    many = scores(population)
    intervals = []
    for seed in range(replicates):
        frame = pd.DataFrame(scores(n_questions), index=["a", "b"])
        pair = rank_systems(frame, n_resamples=n_resamples, seed=seed).pairs[0]
        sign = 1 if pair.first == "a" else -1
        intervals.append((sign * pair.mean, *sorted((sign * pair.low, sign * pair.high))))
    return float(np.mean(many[0] - many[1])), intervals


def clustered_correlations(kind, replicates, n_resamples, population=200_000):
    """The true correlation, and value, low and high of samples of 100 questions."""
    generator = np.random.default_rng(13)

    def draw(n):
        """Three answers to each question; what makes a question hard is seen by both raters."""
        question = np.repeat(generator.normal(size=n), 3)
        latent = 12 + 2 * question + generator.normal(size=3 * n)
        return totals(generator, latent), totals(generator, latent), np.repeat(range(n), 3)

    x, y, _ = draw(population)
    truth = correlation(x, y, kind=kind, n_resamples=3).value
    intervals = []
    for seed in range(replicates):
        x, y, names = draw(100)
        estimate = correlation(x, y, names.tolist(), kind=kind, n_resamples=n_resamples, seed=seed)
        intervals.append((estimate.value, estimate.low, estimate.high))
    return truth, intervals


def test_paired_differences_and_correlations_of_few_samples():
    for truth, intervals in (
        paired_differences(60, 200, n_resamples=200, population=100_000),
        clustered_correlations("pearson", 200, n_resamples=200, population=20_000),
    ):
        check_intervals(intervals, truth)


@pytest.mark.long
@pytest.mark.parametrize("n_questions", [50, 200])
def test_paired_differences(n_questions):
    truth, intervals = paired_differences(n_questions, REPLICATES, n_resamples=1000)
    bounds = [row[1:] for row in intervals]
    assert 0.93 <= share_held(bounds, truth, f"difference, {n_questions} questions") <= 0.97


@pytest.mark.long
@pytest.mark.parametrize("weighted", [False, True], ids=["uniform", "weighted"])
@pytest.mark.parametrize(("n_items", "share"), [(100, 0.25), (400, 0.15), (600, 0.3)])
def test_calibrated_means(n_items, share, weighted):
    generator = np.random.default_rng(12)

    def draw(n):
        latent = generator.normal(14, 2.5, n)
        return totals(generator, latent), totals(generator, 0.7 * latent + 6)

    truth = float(draw(2_000_000)[0].mean())
    found = []
    for _ in range(REPLICATES):
        human, judge = draw(n_items)
        chance = np.where(judge < 16, 1.3, 0.7) * share if weighted else np.full(n_items, share)
        human[generator.random(n_items) >= chance] = np.nan
        estimate = calibrated_mean(judge, human, chance).estimate
        found.append((estimate.low, estimate.high))
    design = f"calibrated mean, {share:.0%} of {n_items}, {'weighted' if weighted else 'uniform'}"
    assert 0.93 <= share_held(found, truth, design) <= 0.97


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
        estimate = calibrated_mean(judge, human, share, clusters=question).estimate
        found.append((estimate.low, estimate.high))
    assert 0.915 <= share_held(found, 10.0, f"calibrated mean, {n_questions} questions") <= 0.97


@pytest.mark.long
@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_correlations_of_clustered_pairs(kind):
    truth, intervals = clustered_correlations(kind, 800, n_resamples=500)
    bounds = [row[1:] for row in intervals]
    assert 0.92 <= share_held(bounds, truth, f"{kind}, 100 questions x 3 answers") <= 0.97
