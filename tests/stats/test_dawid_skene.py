import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import DawidSkene as CrowdKitDawidSkene

from cqa_site.stats.latent.aggregation import majority
from cqa_site.stats.latent.dawid_skene import dawid_skene
from cqa_site.stats.ratings import Ratings, RatingsError, UnknownCategoryError
from tests.stats.tables import knowing_crowd, ratings_of

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
def test_it_beats_the_majority_and_ranks_the_raters(seed):
    table, truth = knowing_crowd(seed)
    ratings = Ratings.from_frame(table)
    found = dawid_skene(ratings)
    assert found.converged
    right = (found.labels == truth[found.labels.index]).mean()
    voted = majority(ratings)["label"]
    assert right > (voted == truth[voted.index]).mean()
    real = (table["value"] == table["item"].map(truth)).groupby(table["rater"]).mean()
    assert (found.raters["accuracy"] - real[found.raters.index]).abs().max() < 0.1


def test_every_step_raises_the_likelihood_without_smoothing():
    ratings = Ratings.from_frame(knowing_crowd()[0])
    trace = [
        dawid_skene(ratings, smoothing=1e-12, max_iterations=steps).log_likelihood
        for steps in range(1, 25)
    ]
    assert (np.diff(trace) > -1e-7).all()


def test_probabilities_are_probabilities_and_runs_repeat():
    ratings = Ratings.from_frame(knowing_crowd()[0])
    found, again = dawid_skene(ratings), dawid_skene(ratings)
    assert found.posteriors.equals(again.posteriors)
    assert found.posteriors.sum(axis=1).to_numpy() == pytest.approx(1)
    assert found.confusions.sum(axis=1).to_numpy() == pytest.approx(1)
    assert found.class_shares.sum() == pytest.approx(1)
    assert found.confusions.loc["r7"].to_numpy().argmax(axis=1).tolist() == [3, 3, 3, 3]


def test_the_order_of_the_rows_does_not_matter():
    table, _ = knowing_crowd()
    found = dawid_skene(Ratings.from_frame(table))
    shuffled = dawid_skene(Ratings.from_frame(table.sample(frac=1, random_state=1)))
    assert shuffled.labels[found.labels.index].equals(found.labels)


def test_a_limit_of_steps_is_reported():
    found = dawid_skene(Ratings.from_frame(knowing_crowd()[0]), max_iterations=2)
    assert (found.iterations, found.converged) == (2, False)


def test_one_value_and_unused_categories():
    assert dawid_skene(ratings_of([[2, 2], [2, 2]])).labels.tolist() == [2, 2]
    found = dawid_skene(ratings_of([[2, 2], [0, 0]]), categories=[0, 1, 2])
    assert found.labels.tolist() == [2, 0]
    assert found.posteriors[1.0].max() < 0.01


def test_bad_input_is_an_error():
    with pytest.raises(RatingsError, match="no ratings"):
        dawid_skene(ratings_of([[None]]))
    with pytest.raises(UnknownCategoryError):
        dawid_skene(ratings_of([[2, 2]]), categories=[0, 1])
    with pytest.raises(ValueError, match="smoothing"):
        dawid_skene(ratings_of([[2, 2]]), smoothing=0)


def test_a_tied_posterior_gives_the_higher_label():
    found = dawid_skene(ratings_of([[0, 1], [0, 0], [1, 1]]), max_iterations=1)
    assert found.posteriors.loc["i0"].tolist() == pytest.approx([0.5, 0.5])
    assert found.labels["i0"] == 1
    assert isinstance(found.labels, pd.Series)
