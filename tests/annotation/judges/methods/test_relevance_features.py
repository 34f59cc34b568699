"""Features of comparative sentences, and the guideline as a rule before there are labels."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from annotation.judges.methods.features import (
    FEATURE_NAMES,
    describe_sentences,
    lexical_features,
    mask_objects,
    pair_key,
)
from annotation.judges.methods.probabilities import (
    LevelDescription,
    median_label,
    rule_probabilities,
    similarity_probabilities,
)
from .relevance_toys import LetterEmbedder

PAIR = ("tea", "coffee")


def features_of(sentence, object1="tea", object2="coffee"):
    row = lexical_features([sentence], [(object1, object2)])[0]
    return dict(zip(FEATURE_NAMES, row.tolist(), strict=True))


def test_objects_are_replaced_in_the_order_of_their_first_mention():
    masked = mask_objects("Coffee? No: tea is cheaper than coffee.", "tea", "coffee")
    assert masked.text == "cats? No: dogs is cheaper than cats."
    assert [masked.text[slice(*span)] for span in masked.first] == ["cats", "cats"]
    assert [masked.text[slice(*span)] for span in masked.second] == ["dogs"]
    assert [masked.text[slice(*span)] for span in masked.comparison] == ["cheaper"]


@given(st.text(max_size=60), st.text(max_size=8), st.text(max_size=8))
def test_any_text_gives_finite_features_and_spans_inside_the_text(sentence, object1, object2):
    row = lexical_features([sentence], [(object1, object2)])
    assert row.shape == (1, len(FEATURE_NAMES))
    assert np.isfinite(row).all()
    masked = mask_objects(sentence, object1, object2)
    for start, stop in (*masked.first, *masked.second, *masked.comparison):
        assert 0 <= start < stop <= len(masked.text)


def test_names_and_order_of_the_objects_do_not_matter():
    tea = features_of("I think tea is a bit lighter than coffee.")
    assert features_of("I think tea is a bit lighter than coffee.", "coffee", "tea") == tea
    assert features_of("I think rye is a bit lighter than wheat.", "wheat", "rye") == tea
    # Groups of pairs ignore order, case and spaces.
    assert pair_key("New  York", "paris") == pair_key("Paris", "new york ")
    assert pair_key("a b", "c") != pair_key("a", "b c")


def test_what_the_features_say():
    for sentence, expected in {
        "Last winter we stayed in.": {"objects_named": 0, "no_comparison": 1, "than": 0},
        "Tea keeps well.": {"objects_named": 1, "first_mentions": 1, "words_apart": 15},
        "Tea is better than coffee.": {"both_unargued": 1, "both_argued": 0, "only_general": 1},
        "Tea is lighter than coffee.": {"both_argued": 1, "both_unargued": 0, "specific": 1},
        "Tea has better taste than coffee.": {"both_argued": 1, "general_then_content": 1},
        "It is lighter than tea.": {"both_argued": 0, "than_to_object": 1, "specific": 1},
        "Tea beats coffee by 20%": {"measured": 1, "numbers": 1, "words_versus": 1},
        "My coffee maker broke, not me!": {"owned": 1, "object_modifies": 1, "exclamation": 1},
    }.items():
        found = features_of(sentence)
        assert {name: found[name] for name in expected} == expected, sentence
    # A name that is only partly there counts in part; a very long sentence is cut.
    found = features_of("Knives of steel last.", "steel knives", "ceramic pots")
    assert (found["name_found_less"], found["name_found_more"]) == (0.0, 1.0)
    short, long = (features_of("tea coffee " * times) for times in (250, 2_000))
    assert long == short


def test_with_an_embedder_the_mentions_come_along():
    assert describe_sentences([], []).lexical.shape == (0, len(FEATURE_NAMES))
    sentences, objects = ["Tea beats coffee.", "Nothing here."], [PAIR] * 2
    plain = describe_sentences(sentences, objects)
    assert (plain.mentions, plain.embedding_model, len(plain)) == (None, "", 2)
    full = describe_sentences(sentences, objects, LetterEmbedder())
    assert (full.mentions.shape, full.embedding_model) == ((2, 104), "letters")
    assert not full.mentions[1, 26:].any()
    swapped = full.take(np.array([1, 0]))
    assert (swapped.mentions == full.mentions[::-1]).all()
    assert (swapped.lexical == plain.lexical[::-1]).all()
    assert swapped.embedding_model == "letters"


def test_the_rule():
    for sentence, label in {
        "We stayed in.": 0,
        "Tea keeps well.": 1,
        "Tea is lighter than it was.": 1,
        "I like tea more than any coffee.": 3,
        "Tea is better than coffee.": 2,
        "Tea is cheaper than coffee.": 3,
        "Coffee has a better smell than tea.": 3,
    }.items():
        found = rule_probabilities(lexical_features([sentence], [PAIR]))
        assert found.sum() == pytest.approx(1)
        assert (found.argmax(), *median_label(found, range(4))) == (label, label), sentence
    # It is surest about neighbours.
    found = rule_probabilities(lexical_features(["Tea is cheaper than coffee."], [PAIR]))[0]
    assert (np.diff(found) > 0).all()
    assert rule_probabilities(lexical_features([], [])).shape == (0, 4)


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
    assert similarity_probabilities([], [], levels[:2], LetterEmbedder()).shape == (0, 2)
    # Names of objects do not count.
    levels = [LevelDescription("tea", "tea tea"), LevelDescription("xyz", "xyz")]
    one, other = (
        similarity_probabilities([f"{name} is fine"], [(name, "ink")], levels, LetterEmbedder())
        for name in ("tea", "xyz")
    )
    assert (one == other).all()
