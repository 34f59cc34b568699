"""The trained relevance judge on the released final labels, on pairs it has not seen.

1,688 distinct text units, 10 folds grouped by pair (any order, any case). The thresholds lie
a little below the lowest of the fold seeds measured; the docstring of
annotation/judges/methods/classifier.py has the whole table.
"""

import json

import numpy as np
import pandas as pd
import pytest

from annotation.judges.methods.classifier import grouped_out_of_fold
from annotation.judges.methods.features import describe_sentences, pair_key
from annotation.judges.methods.probabilities import median_label, rule_probabilities, uncertainty
from cqa_site.judging.embedding import SentenceEmbedder, embeddings_available
from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.ratings import Ratings
from tests.annotation.released import FINAL
from tests.golden.places import needs

pytestmark = [*needs(FINAL), pytest.mark.long]
SCALE = (0, 1, 2, 3)


@pytest.fixture(scope="module")
def units() -> pd.DataFrame:
    """The first copy of each (obj1, obj2, sentence); null texts are none."""
    rows = [
        (each["obj1"], each["obj2"], argument["argument"], int(argument["relevance"]))
        for each in json.loads(FINAL.read_text(encoding="utf-8"))
        for argument in each["arguments"]
        if argument["argument"] is not None
    ]
    table = pd.DataFrame(rows, columns=["obj1", "obj2", "sentence", "label"])
    return table.drop_duplicates(["obj1", "obj2", "sentence"]).reset_index(drop=True)


@pytest.fixture(scope="module")
def groups(units) -> list[str]:
    return [pair_key(*pair) for pair in zip(units["obj1"], units["obj2"], strict=True)]


def features_of(units, embedder=None):
    pairs = list(zip(units["obj1"], units["obj2"], strict=True))
    return describe_sentences(units["sentence"].tolist(), pairs, embedder)


def agreement(units, found) -> tuple[float, float, float]:
    """Ordinal alpha, interval alpha and the share of equal labels."""
    frames = [
        pd.DataFrame({"item": range(len(units)), "rater": rater, "value": values})
        for rater, values in (("final", units["label"]), ("judge", pd.Series(found)))
    ]
    ratings = Ratings.from_frame(pd.concat(frames))
    alphas = [krippendorff_alpha(ratings, level).value for level in ("ordinal", "interval")]
    return *alphas, float((units["label"] == found).mean())


def test_the_guideline_as_a_rule(units):
    found = median_label(rule_probabilities(features_of(units).lexical), SCALE)
    assert agreement(units, found) == pytest.approx((0.4749, 0.4823, 0.6167), abs=5e-4)


def test_words_only(units, groups):
    probabilities = grouped_out_of_fold(features_of(units), units["label"], groups, seed=0)
    found = agreement(units, median_label(probabilities, SCALE))
    assert all(value > least for value, least in zip(found, (0.475, 0.475, 0.61), strict=True))


@pytest.mark.skipif(not embeddings_available(), reason="the embedding packages are absent")
def test_with_mention_vectors(units, groups):
    features = features_of(units, SentenceEmbedder())
    for seed in (0, 1):
        probabilities = grouped_out_of_fold(features, units["label"], groups, seed=seed)
        labels = median_label(probabilities, SCALE)
        found = agreement(units, labels)
        assert all(value > least for value, least in zip(found, (0.53, 0.515, 0.64), strict=True))
        # Where the judge is unsure it errs more: that half of the queue is worth a person's time.
        doubt, wrong = uncertainty(probabilities), (units["label"] != labels).to_numpy()
        unsure = doubt > np.median(doubt)
        assert wrong[unsure].mean() > wrong[~unsure].mean() + 0.15
