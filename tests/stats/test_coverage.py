"""How often intervals hold the truth: the statistic over a very large set of such items."""

import numpy as np
import pytest

from cqa_site.stats.agreement import (
    krippendorff_alpha,
    percent_agreement,
)
from cqa_site.stats.calibrated_mean import calibrated_mean
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
    bounds = [(one.low, one.high) for one in found]
    return share_held(bounds, truth, f"{n_items} items x {n_raters} raters, truth {truth:.4f}")


@pytest.mark.parametrize(
    ("statistic", "n_items"),
    [
        (lambda ratings: krippendorff_alpha(ratings, "ordinal"), 60),
        (percent_agreement, 100),
    ],
    ids=["alpha", "percent agreement"],
)
def test_intervals_of_few_samples(statistic, n_items):
    truth, estimates = simulated_estimates(statistic, n_items, 4, 0.2, 200, truth_items=40_000)
    check_intervals([(made.value, made.low, made.high) for made in estimates], truth)


REPLICATES = 1000


def share_held(intervals, truth, design):
    low, high = np.array(intervals).T
    share = np.mean((low <= truth) & (truth <= high))
    print(f"{design}: {share:.4f}, width {np.mean(high - low):.3f}")
    return share


def totals(generator, latent):
    """Scores 0-19 in whole points with a ceiling, as score sheets have them."""
    return np.clip(np.round(latent + generator.normal(size=np.shape(latent))), 0, 19)


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
    assert 0.93 <= share_held(found, truth, design) <= 0.98


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
    assert 0.93 <= share_held(found, 10.0, f"calibrated mean, {n_questions} questions") <= 0.97
