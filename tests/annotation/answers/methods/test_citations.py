"""Citations: tolerant where the meaning is plain, silent where there is none."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.answers.methods.citations import (
    LONGEST_RANGE,
    find_citations,
    find_malformed,
    malformed_places,
)
from tests.annotation.answer_texts import answers


@pytest.mark.parametrize(
    ("text", "numbers", "is_generated"),
    [
        ("[3]", (3,), False),
        ("[ 3 ]", (3,), False),
        ("[1, 2]", (1, 2), False),
        ("[1,2]", (1, 2), False),
        ("[1; 2 & 4]", (1, 2, 4), False),
        ("[2 and 7]", (2, 7), False),
        ("[2-5]", (2, 3, 4, 5), False),
        ("[2–4]", (2, 3, 4), False),
        ("[1-3, 5-6]", (1, 2, 3, 5, 6), False),
        ("[3, 1-4]", (3, 1, 2, 4), False),
        ("[3,]", (3,), False),
        ("[#3]", (3,), False),
        ("[Argument 3]", (3,), False),
        ("[arguments 3 and 4]", (3, 4), False),
        ("[Arg. 3]", (3,), False),
        ("[generated]", (), True),
        ("[Generated]", (), True),
        ("[Generated Argument]", (), True),
        ("[generated x4]", (), True),
        ("[3, generated]", (3,), True),
        ("[9, 8 generated]", (9, 8), True),
    ],
)
def test_what_is_a_citation(text, numbers, is_generated):
    (found,) = find_citations(f"Oak lasts {text}.")
    assert (found.start, found.end, found.text) == (10, 10 + len(text), text)
    assert (found.numbers, found.is_generated) == (numbers, is_generated)
    assert find_malformed(text) == []


@pytest.mark.parametrize("text", ["[Paris]", "[sic]", "(3)", "3]", "[a link](http://x)", "x[i]"])
def test_what_is_none_and_does_not_look_like_one(text):
    assert find_citations(text) == []
    assert find_malformed(text) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[]", "[]"),
        ("[ ]", "[ ]"),
        ("[3, see above]", "[3, see above]"),
        ("[5-2]", "[5-2]"),
        ("[1-2000]", "[1-2000]"),
        ("[3.]", "[3.]"),
        ('["7. Oak lasts."]', '["7. Oak lasts."]'),
        ("[Additional argument]", "[Additional argument]"),
        ("[3 oaks\nlast", "[3"),
        ("[generated - oaks last", "[generated"),
        ("【3†source】", "【3†source】"),
    ],
)
def test_failed_citations_are_listed(text, shown):
    assert find_citations(text) == []
    assert find_malformed(text) == [shown]


def test_an_opened_bracket_does_not_swallow_the_next_citation():
    text = "Oak [3 lasts [4]."
    assert [found.numbers for found in find_citations(text)] == [(4,)]
    assert find_malformed(text) == ["[3"]


def test_ranges_are_limited():
    assert len(find_citations(f"[1-{LONGEST_RANGE}]")[0].numbers) == LONGEST_RANGE
    assert find_citations(f"[1-{LONGEST_RANGE + 1}]") == []


@pytest.mark.parametrize(
    ("text", "many"),
    [("[3]", 0), ("[generated]", 1), ("[generated x3]", 3), ("[2, generated]", 1)],
)
def test_how_many_are_generated(text, many):
    assert find_citations(text)[0].generated == many


@given(answers)
def test_places_lie_in_the_text_and_do_not_overlap(text):
    found = find_citations(text)
    for each in found:
        assert text[each.start : each.end] == each.text
        assert each.numbers or each.is_generated
        assert len(set(each.numbers)) == len(each.numbers)
    malformed = malformed_places(text)
    assert [text[start:end] for start, end in malformed] == find_malformed(text)
    places = sorted([*((each.start, each.end) for each in found), *malformed])
    assert all(end <= start for (_s, end), (start, _e) in itertools.pairwise(places))


@given(st.lists(st.integers(0, 9999), min_size=1, max_size=12))
def test_any_numbers_come_back(numbers):
    (found,) = find_citations(f"[{', '.join(map(str, numbers))}]")
    assert found.numbers == tuple(dict.fromkeys(numbers))
