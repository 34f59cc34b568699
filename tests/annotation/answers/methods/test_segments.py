"""Segments: the paper's with their artefacts, and statements as a reader sees them."""

import itertools
import re

import pytest
from hypothesis import given

from annotation.answers.methods.layout import find_blocks, find_sections
from annotation.answers.methods.segments import paper_pairs, paper_segments, sound_segments
from tests.annotation.answer_texts import GOOD, ONE_LINE, answers


def said(text):
    return [(each.text, each.numbers, each.is_generated) for each in sound_segments(text)]


# -- the paper's ------------------------------------------------------------------------------


@given(answers)
def test_the_papers_segments_are_its_regular_expression(text):
    # The recipe in one line; our code says the same without its quadratic search.
    assert paper_pairs(text) == re.findall(r"([A-Z].+?)\[(.+?)\]", text)


def test_the_papers_segments_lose_adjacent_and_lower_case_citations():
    assert paper_pairs("- Oak lasts [3][5], elm bends [2].\nit is heavy [4]") == [
        ("Oak lasts ", "3")
    ]
    assert paper_segments("Oak lasts. Elm bends [Paris]") == ["Oak lasts. Elm bends "]


# -- statements -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dogs are smarter [1] but cats are easier to train [2].",
            [("Dogs are smarter", (1,)), ("but cats are easier to train.", (2,))],
        ),
        ("Oak lasts longer than elm. [3][5]", [("Oak lasts longer than elm.", (3, 5))]),
        ("Oak lasts longer [2], [6] and [9].", [("Oak lasts longer.", (2, 6, 9))]),
        ("According to [3], oak lasts longer.", [("According to, oak lasts longer.", (3,))]),
        ("[4] says oak lasts longer.", [("says oak lasts longer.", (4,))]),
        ("- [1]: Oak lasts longer.", [("Oak lasts longer.", (1,))]),
        ("Oak and elm compete [1] and [2], respectively.", None),
        (
            "Oak costs 3.5 times more, e.g. in the U.S. today. Elm is cheap [1].",
            [("Oak costs 3.5 times more, e.g. in the U.S. today.", ()), ("Elm is cheap.", (1,))],
        ),
        ("- **Weight:** [3]", [("Weight", (3,))]),
        ("## Weight\n- Oak weighs more [3]", [("Oak weighs more", (3,))]),
        ("Oak (see elm [2]) is heavy.", None),
    ],
)
def test_statements(text, expected):
    found = [(words, numbers) for words, numbers, _generated in said(text)]
    assert len(found) == (1 if expected is None else len(expected))
    assert expected is None or found == expected


def test_names_headings_and_the_closing_list_are_no_statements():
    assert said(GOOD) == [
        ("Oak and elm are both used for floors.", (), False),
        ("Oak is the stronger of the two.", (), False),
        ("Floors of oak hold up for decades longer.", (1,), False),
        ("Elm takes a curve more easily and costs less.", (2,), True),
        ("Oak weighs more", (3,), False),
        ("which makes it harder to carry.", (), True),
    ]


def test_bullets_are_found_without_line_breaks():
    assert said(ONE_LINE) == [
        ("Oak and elm are both used for floors.", (), False),
        ("Floors of oak hold up longer.", (1,), False),
        ("Elm takes a curve more easily", (2,), False),
        ("Oak weighs more.", (), True),
    ]


@given(answers)
def test_segments_are_ordered_parts_of_the_text(text):
    found = sound_segments(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    for first, second in itertools.pairwise(found):
        assert first.end <= second.start
    for each in found:
        assert each.text
        assert text[each.start : each.end].strip() == text[each.start : each.end]
        for citation in each.citations:
            assert each.start <= citation.start < citation.end <= each.end


@given(answers)
def test_sections_and_blocks_are_ordered_parts_of_the_text(text):
    sections = find_sections(text)
    assert all(each.start <= each.text_start <= each.end for each in sections)
    for first, second in itertools.pairwise(sections):
        assert first.end == second.start
    assert not sections or sections[-1].end == len(text)
    blocks = find_blocks(text)
    assert all(each.start <= each.text_start <= each.end <= len(text) for each in blocks)
    for first, second in itertools.pairwise(blocks):
        assert first.end <= second.start
