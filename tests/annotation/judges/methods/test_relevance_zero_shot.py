"""Before there are labels: the guideline as a rule, and similarity to its levels."""

import numpy as np
import pytest

from annotation.judges.methods.lexical import lexical_features
from annotation.judges.methods.probabilities import median_label
from annotation.judges.methods.zero_shot import (
    LevelDescription,
    rule_probabilities,
    similarity_probabilities,
)

from .relevance_toys import LetterEmbedder

PAIR = ("tea", "coffee")


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("We stayed in.", 0),
        ("Tea keeps well.", 1),
        ("Tea is lighter than it was.", 1),
        ("I like tea more than any coffee.", 3),
        ("Tea is better than coffee.", 2),
        ("Tea is cheaper than coffee.", 3),
        ("Coffee has a better smell than tea.", 3),
    ],
)
def test_the_rule(sentence, label):
    found = rule_probabilities(lexical_features([sentence], [PAIR]))
    assert found.sum() == pytest.approx(1)
    assert found.argmax() == label
    assert median_label(found, range(4)).tolist() == [label]


def test_the_rule_is_surest_about_neighbours():
    found = rule_probabilities(lexical_features(["Tea is cheaper than coffee."], [PAIR]))[0]
    assert (np.diff(found) > 0).all()


def test_a_sentence_gets_the_level_it_is_worded_like():
    levels = [
        LevelDescription("zzz", "zzzz zz"),
        LevelDescription("one", "qqq", (("Coffee is an xxxxxxxx", "coffee", "tea"),)),
        LevelDescription("two", "eee eee"),
    ]
    sentences = ["zz zzz zz", "tea is an xxxxxxxx", "eee, eee!"]
    found = similarity_probabilities(sentences, [PAIR] * 3, levels, LetterEmbedder())
    assert found.shape == (3, 3)
    assert found.sum(axis=1) == pytest.approx(1)
    assert found.argmax(axis=1).tolist() == [0, 1, 2]
    # Masked, the example and the sentence are the same text.
    assert found[1, 1] > 0.99


def test_names_of_objects_do_not_count():
    levels = [LevelDescription("tea", "tea tea"), LevelDescription("xyz", "xyz")]
    one, other = (
        similarity_probabilities([f"{name} is fine"], [(name, "ink")], levels, LetterEmbedder())
        for name in ("tea", "xyz")
    )
    assert (one == other).all()


def test_no_sentences():
    levels = [LevelDescription("a", "b"), LevelDescription("c", "d")]
    assert similarity_probabilities([], [], levels, LetterEmbedder()).shape == (0, 2)
    assert rule_probabilities(lexical_features([], [])).shape == (0, 4)
