"""Hints: what is counted, where it stands, and the one verdict there is."""

import itertools

import pytest
from hypothesis import given

from benchmark.rubrics.methods.rubric import HINTS
from benchmark.scoring.methods import length_points, repeated_runs, score_hints, sentence_places
from tests.annotation.answer_texts import GOOD, ONE_LINE, answers


def hint(text, name):
    (found,) = score_hints(text, [name])
    return found


def shown(text, places):
    return [text[start:end] for start, end in places]


SENTENCES = [
    ("", []),
    ("Oak lasts long. Elm bends well!", ["Oak lasts long.", "Elm bends well!"]),
    ("Oak lasts long\nElm bends well", ["Oak lasts long", "Elm bends well"]),
    ("It lasts, e.g. here, etc. for 3.5 years.", ["It lasts, e.g. here, etc. for 3.5 years."]),
    ("Oak lasts long [1]. It bends. [2]", ["Oak lasts long [1]."]),
    ("**Summary:**\nOak lasts long.\n\n**Best option:** Oak", ["Oak lasts long."]),
    ("- Load: oak. It holds well.\n- Price of oak", ["It holds well.", "Price of oak"]),
    ("### 1. Price\n**Price of oak and elm:**\nOak costs more.", ["Oak costs more."]),
    ("**1. Price of oak:**\n**Oak costs more.**", ["**Oak costs more.**"]),
    ("[1]\n***\n... oak", []),
    ("Is it really?! It is … perhaps.", ["Is it really?!", "It is … perhaps."]),
]


def test_sentences():
    for text, expected in SENTENCES:
        assert shown(text, sentence_places(text)) == expected
    # Headings, names, choices and the list of arguments are none: two of the summary and one of
    # each aspect.
    assert len(sentence_places(GOOD)) == 2 + 3
    assert len(sentence_places(ONE_LINE)) == 1 + 3


def test_the_length_has_a_verdict():
    for sentences, points in ((11, 0), (12, 1), (20, 1), (21, 0), (0, 0)):
        found = hint("Oak lasts long. " * sentences, "sentences")
        assert (found.counted, found.points) == (sentences, points)
        assert length_points(sentences) == points
        assert len(found.places) == sentences


def test_runs_are_as_long_as_possible_and_do_not_overlap():
    text = (
        "So oak floors hold for many long years indeed. "
        "But, so oak floors hold for MANY long [3] years here."
    )
    ((first, second),) = repeated_runs(text)
    assert shown(text, [first, second]) == [
        "So oak floors hold for many long years",
        "so oak floors hold for MANY long [3] years",
    ]
    assert repeated_runs(text, least=9) == []
    assert repeated_runs("so " * 15) == []
    assert len(repeated_runs("so " * 16)) == 1
    assert len(repeated_runs("so " * 6, least=3)) == 1


def test_what_repeats_is_counted_but_not_in_the_list_of_arguments():
    said = "Oak floors last very much [1] longer than most elm floors."
    text = f"Summary:\n{said}\n\nArguments:\n1. {said}"
    assert hint(text, "repeats").counted == 0
    assert hint(f"{said} {said}", "repeats").counted == 1
    part = "floors of oak last longer than floors of elm"
    text = f"We know that {part}. In wet rooms with many guests, however, {part}, as they say."
    found = hint(text, "repeats")
    assert (found.counted, shown(text, found.places)) == (1, [part, part])


def test_citations_and_words_and_the_hints_asked_for_in_their_order():
    text = "Oak lasts [1-3, generated]. Elm bends [2] in Paris [Paris]."
    found = hint(text, "citations")
    assert (found.counted, found.shown) == (2, "2 citations of 3 arguments")
    assert shown(text, found.places) == ["[1-3, generated]", "[2]"]
    assert hint("Oak lasts [1].", "citations").shown == "1 citation of 1 argument"
    assert hint("It's a 3.5-inch disk [1].", "words").counted == 4
    assert [each.name for each in score_hints("Oak.")] == list(HINTS)
    assert [each.name for each in score_hints("Oak.", ["words", "sentences"])] == [
        "words",
        "sentences",
    ]
    with pytest.raises(KeyError):
        score_hints("Oak.", ["letters"])


@given(answers)
def test_places_lie_in_the_text_in_order(text):
    for found in score_hints(text):
        assert all(0 <= start < end <= len(text) for start, end in found.places)
        assert list(found.places) == sorted(found.places)
    places = sentence_places(text)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(places))
