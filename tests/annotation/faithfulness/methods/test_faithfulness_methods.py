"""Faithfulness figures by hand on small answers, in both modes."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from annotation.answers.methods.segments import paper_segments, sound_segments
from annotation.faithfulness.methods.faithfulness import (
    MODES,
    AnswerFigures,
    cited_in_paper_segments,
    measure,
    paper_numbers,
    pool,
    texts_to_embed,
)
from annotation.faithfulness.methods.segments import match_segments, word_distance
from tests.annotation.answer_texts import ARGUMENTS, GOOD, LABELS, answers

TWO = {1: "Oak lasts longer.", 2: "Elm bends. It is cheap"}
BOTH_RELEVANT = {1: 3, 2: 2}


def test_paper_figures_by_hand():
    found = measure("Oak lasts long [1] and Elm bends [2].", TWO, BOTH_RELEVANT, mode="paper")
    # 10 words in the arguments with their numbers, 8 in the answer; "Oak", "lasts", "Elm" in both.
    assert found.jaccard_text == pytest.approx(3 / (10 + 8 - 3))
    # "Oak lasts long" with argument 1; "Elm bends" with argument 2 (bends. is another word).
    assert found.jaccard_segments == pytest.approx((2 / 4, 1 / 6))
    assert found.levenshtein == (1, 3)
    assert (found.segments, found.cited, found.out_of_range) == (2, (1, 2), ())


def test_sound_figures_by_hand():
    found = measure("Oak lasts long [1] and Elm bends [2].", TWO, BOTH_RELEVANT, mode="sound")
    # oak lasts longer elm bends it is cheap — oak lasts long and elm bends
    assert found.jaccard_text == pytest.approx(4 / 10)
    # "and elm bends" against "elm bends it is cheap".
    assert found.jaccard_segments == pytest.approx((2 / 4, 2 / 6))
    assert found.levenshtein == (1, 4)
    assert (found.precision, found.recall, found.f1) == (1, 1, 1)
    # A statement is held against what it cites in sound mode only.
    text = "- Oak lasts longer [2]."
    assert measure(text, TWO, {}, mode="paper").levenshtein == (1,)
    assert measure(text, TWO, {}, mode="sound").levenshtein == (5,)
    # The paper finds no label for arguments of several sentences.
    for mode, precision in (("paper", 0.5), ("sound", 1)):
        found = measure("Oak lasts [1], Elm bends [2].", TWO, BOTH_RELEVANT, mode=mode)
        assert (found.precision, found.recall) == (precision, 1)


def test_relevance_of_a_whole_answer():
    found = measure(GOOD, ARGUMENTS, LABELS, mode="sound")
    # Argument 4 is only in the closing list.
    assert (found.cited, found.precision, found.recall, found.f1) == ((1, 2, 3), 1, 1, 1)
    assert found.skipped == {"uncited": 2, "generated": 1}
    assert (found.segments, len(found.levenshtein)) == (6, 3)
    # Numbers without an argument lower precision.
    found = measure("Oak lasts here [1, 9].", TWO, {1: 3, 2: 3}, mode="sound")
    assert (found.cited, found.out_of_range) == ((1, 9), (9,))
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)
    only = measure("Oak lasts here [9].", TWO, {1: 3}, mode="sound")
    assert (only.precision, only.recall, only.f1) == (0, 0, 0)
    assert only.skipped == {"nonexistent": 1}


def test_a_cited_argument_without_a_label_counts_neither_way_in_sound_mode():
    text, labels = "Oak lasts here [1] but Elm bends here [2].", {1: 3, 2: None}
    sound = measure(text, TWO, labels, mode="sound")
    assert (sound.precision, sound.recall, sound.skipped) == (1, 1, {"unlabelled": 1})
    paper = measure(text, TWO, labels, mode="paper")
    assert (paper.precision, paper.skipped) == (0.5, {})


@pytest.mark.parametrize("mode", MODES)
def test_why_an_answer_has_no_scores(mode):
    text = "Oak lasts here [1]."
    for said, arguments, labels, reason in (
        (text, {}, {}, "no_arguments"),
        (text, TWO, {}, "no_labels"),
        (text, TWO, {1: 1, 2: 0}, "no_relevant"),
        ("Oak lasts here [generated].", TWO, BOTH_RELEVANT, "no_citations"),
    ):
        found = measure(said, arguments, labels, mode=mode)
        assert (found.precision, found.recall, found.f1) == (None, None, None), reason
        assert found.skipped[reason] == 1
        assert (found.jaccard_text is None) is (reason == "no_arguments")


def test_how_the_paper_reads_a_bracket():
    read = {"3": [3], "1, 2": [1, 2], "1,2": [1, 2], "2-4, 9": [2, 3, 4], "4 generated": [4]}
    nothing = "3, generated|Argument 3|generated|Paris|1-x|1-99999999|foo"
    for inside, numbers in (read | {text: [] for text in nothing.split("|")}).items():
        assert paper_numbers(inside) == numbers, inside
    # A clean reading of the brackets that end the paper's segments.
    text = "Oak lasts [3, generated] and Elm bends [Argument 2][5]."
    assert cited_in_paper_segments(text) == {2, 3}
    assert measure(text, TWO, {}, mode="paper").cited == ()
    assert measure(text, TWO, {}, mode="sound").cited == (2, 3, 5)


def counting(texts):
    """Invented vectors: how often a, e and o occur."""
    return np.array([[text.count(letter) + 0.5 for letter in "aeo"] for text in texts])


def test_similarity_is_the_largest_cosine_whatever_the_length_of_the_vectors():
    known = {"Oak lasts ": [2, 0], "1. Oak lasts longer.": [3, 4]}
    known["2. Elm bends. It is cheap"] = [0, 9]
    vectors = {"vectors": lambda texts: np.array([known[each] for each in texts])}
    found = measure("Oak lasts [1].", TWO, {}, mode="paper", **vectors)
    assert found.similarity == pytest.approx((0.6,))
    assert measure("Oak lasts [1].", TWO, {}, mode="paper").similarity == ()
    for mode, texts in (("paper", list(known)), ("sound", ["Oak lasts.", "Oak lasts longer."])):
        assert texts_to_embed("- Oak lasts [1].", TWO, mode=mode) == texts
        asked = []
        vectors = {"vectors": lambda each, asked=asked: asked.append(each) or counting(each)}
        measure("- Oak lasts [1].", TWO, {}, mode=mode, **vectors)
        assert asked == [texts]
        # Nothing is asked for where nothing is measured.
        assert measure("Oak lasts.", TWO, {}, mode="sound", **vectors).similarity == ()
        assert asked == [texts]
    assert texts_to_embed("Oak lasts [1].", {}, mode="paper") == []


def test_means_pool_segments_and_average_answers():
    first = ((0.1, 0.3), (4, 6), (0.5, 0.7), 1.0, 0.5, 2 / 3)
    figures = [
        AnswerFigures(0.2, *first, skipped={"uncited": 2}),
        AnswerFigures(0.4, (0.8,), (2,), (0.9,), skipped={"uncited": 1, "no_citations": 1}),
        AnswerFigures(None, skipped={"no_arguments": 1}),
    ]
    found = pool(figures)
    assert (found.n_answers, found.n_segments, found.n_scored) == (3, 3, 1)
    means = (found.jaccard_text, found.jaccard_sentence, found.levenshtein, found.similarity)
    assert means == pytest.approx((0.3, 0.4, 4, 0.7))
    assert (found.precision, found.recall, found.f1) == (1.0, 0.5, 2 / 3)
    assert found.skipped == {"uncited": 3, "no_citations": 1, "no_arguments": 1}


numbered = st.dictionaries(st.integers(1, 9), st.text(max_size=30), max_size=4)


@given(
    text=answers,
    arguments=numbered,
    labels=st.dictionaries(st.integers(1, 9), st.one_of(st.none(), st.integers(0, 3))),
    mode=st.sampled_from(MODES),
)
def test_any_answer_can_be_measured_and_stored(text, arguments, labels, mode):
    found = measure(text, arguments, labels, mode=mode, vectors=counting)
    assert AnswerFigures.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert len(found.jaccard_segments) == len(found.levenshtein) == len(found.similarity)
    assert all(0 <= each <= 1 for each in found.jaccard_segments)
    assert set(found.out_of_range) == set(found.cited) - set(arguments)
    segments = paper_segments(text) if mode == "paper" else sound_segments(text)
    assert found.segments == len(segments)
    left_out = sum(found.skipped.get(each, 0) for each in ("uncited", "generated", "nonexistent"))
    assert mode == "paper" or found.segments == len(found.levenshtein) + left_out
    if found.f1 is not None:
        assert 0 <= found.precision <= 1
        assert 0 <= found.recall <= 1


TEA = {
    1: "Tea is calmer than coffee.",
    2: "Coffee wakes people up at once.",
    3: "Tea costs far less than coffee does.",
}

TEA_PIECES = st.sampled_from(
    [
        *("Tea is calmer than coffee", "Coffee wakes people", "Costs: Tea costs less", " [1]"),
        *(
            " [2, 3]",
            " [1-3]",
            " [9]",
            " [generated]",
            ". ",
            "\n- ",
            "\n\nMain Aspects:\n",
            " and ",
        ),
    ]
)

TEA_TEXTS = st.lists(TEA_PIECES, max_size=14).map("".join)


@given(TEA_TEXTS)
def test_the_best_match_is_what_the_figures_keep(text):
    kept = measure(text, TEA, {}, mode="sound")
    measured = [each.cited for each in match_segments(text, TEA, mode="sound") if each.cited]
    assert [cited[0].jaccard for cited in measured] == pytest.approx(kept.jaccard_segments)
    nearest = [min(match.levenshtein for match in cited) for cited in measured]
    assert nearest == pytest.approx(kept.levenshtein)
    # The paper's segments are held against every argument.
    kept = measure(text, TEA, {}, mode="paper")
    matched = match_segments(text, TEA, mode="paper")
    assert [each.closest.jaccard for each in matched] == pytest.approx(kept.jaccard_segments)
    assert all(each.place is None and not each.cited for each in matched)


def test_the_closest_argument_may_be_one_that_is_not_cited():
    (found,) = match_segments("Tea costs far less than coffee [1].", TEA, mode="sound")
    assert (found.cited[0].number, found.closest.number, found.has_closer) == (1, 3, True)
    assert (found.numbers, found.is_generated) == ((1,), False)
    # Among equals the first number wins, and a cited one is not closer.
    same = {1: "Tea is calm.", 2: "Tea is calm."}
    (found,) = match_segments("Tea is calm [2].", same, mode="sound")
    assert (found.closest.number, found.cited[0].number, found.has_closer) == (1, 2, False)
    for before, after, distance in (
        *(("", "", 0), ("", "a b", 2), ("a b c", "a c", 1), ("a  b", "a\nb", 0)),
        ("Tea wins", "tea wins", 1),
    ):
        assert word_distance(before, after) == word_distance(after, before) == distance
