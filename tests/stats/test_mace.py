import numpy as np
import pytest
from crowdkit.aggregation import MACE as CrowdKitMace

from cqa_site.stats.latent.aggregation import majority
from cqa_site.stats.latent.mace import mace
from cqa_site.stats.ratings import Ratings, RatingsError
from tests.stats.tables import knowing_crowd, ratings_of

pytestmark = pytest.mark.filterwarnings("ignore::Warning:crowdkit")
# The other implementation takes up to three seconds for one crowd.
SEEDS = [2, pytest.param(0, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_and_posteriors_are_close_to_crowd_kit(seed):
    # crowd-kit mixes sorted names with names in order of appearance: make the two agree.
    table = knowing_crowd(seed)[0].sort_values(["rater", "item"])
    oracle = CrowdKitMace(n_restarts=1, n_iter=60, method="em")
    oracle.fit(table.set_axis(["task", "worker", "label"], axis=1))
    found = mace(Ratings.from_frame(table), tolerance=1e-9)
    expected = oracle.probas_.loc[found.posteriors.index, found.posteriors.columns]
    assert (found.labels == oracle.labels_[found.labels.index]).all()
    assert np.abs(found.posteriors - expected).to_numpy().max() < 1e-3
    assert found.raters["competence"].to_numpy() == pytest.approx(oracle.spamming_[:, 1], abs=1e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_beats_the_majority_and_finds_the_guesser(seed):
    table, truth = knowing_crowd(seed)
    ratings = Ratings.from_frame(table)
    found = mace(ratings)
    voted = majority(ratings)["label"]
    right = (found.labels == truth[found.labels.index]).mean()
    assert right > (voted == truth[voted.index]).mean()
    assert found.converged
    assert found.raters["competence"].idxmin() in ("r6", "r7")
    assert found.raters.loc["r0", "competence"] > 0.85


def test_the_answer_is_its_seed_and_more_restarts_are_never_less_likely():
    ratings = Ratings.from_frame(knowing_crowd()[0])
    found, again = mace(ratings, seed=7), mace(ratings, seed=7)
    assert found.posteriors.equals(again.posteriors)
    assert found.log_likelihood >= mace(ratings, restarts=1).log_likelihood
    assert (found.restarts, found.seed) == (10, 7)


def test_every_step_raises_the_likelihood_without_smoothing():
    ratings = Ratings.from_frame(knowing_crowd()[0])
    trace = [
        mace(ratings, restarts=1, smoothing=1e-12, max_iterations=steps).log_likelihood
        for steps in range(1, 20)
    ]
    assert (np.diff(trace) > -1e-7).all()


def test_ties_go_to_the_higher_label():
    found = mace(ratings_of([[0, 1], [0, 0], [1, 1]]), restarts=1, max_iterations=1)
    assert found.posteriors.loc["i0"].tolist() == pytest.approx([0.5, 0.5])
    assert found.labels["i0"] == 1


def test_bad_input_is_an_error():
    with pytest.raises(RatingsError, match="no ratings"):
        mace(ratings_of([[None]]))
    for wrong in ({"restarts": 0}, {"smoothing": 0}):
        with pytest.raises(ValueError, match="above 0"):
            mace(ratings_of([[2, 2]]), **wrong)
