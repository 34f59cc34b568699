"""Citations, answers in pieces, segments: tolerant where the meaning is plain, nothing lost."""

import itertools
import re

from hypothesis import given, strategies as st

from annotation.answers.methods.answer_text import (
    LONGEST_RANGE,
    find_blocks,
    find_citations,
    find_malformed,
    find_sections,
    malformed_places,
)
from annotation.answers.methods.rendering import split_citations
from annotation.answers.methods.segments import paper_pairs, paper_segments, sound_segments
from tests.annotation.answer_texts import GOOD, answers

GENERATED = {
    (): "[generated]|[Generated]|[Generated Argument]|[generated x4]",
    (3,): "[3, generated]",
    (9, 8): "[9, 8 generated]",
}


CITATIONS = {
    (3,): "[3]|[ 3 ]|[3,]|[#3]|[Argument 3]|[Arg. 3]",
    (1, 2): "[1, 2]|[1,2]",
    (1, 2, 4): "[1; 2 & 4]",
    (2, 7): "[2 and 7]",
    (2, 3, 4, 5): "[2-5]",
    (2, 3, 4): "[2–4]",
    (1, 2, 3, 5, 6): "[1-3, 5-6]",
    (3, 1, 2, 4): "[3, 1-4]",
    (3, 4): "[arguments 3 and 4]",
}


def test_what_is_a_citation():
    for cases, is_generated in ((CITATIONS, False), (GENERATED, True)):
        for numbers, texts in cases.items():
            for text in texts.split("|"):
                (found,) = find_citations(f"Oak lasts {text}.")
                assert (found.start, found.end, found.text) == (10, 10 + len(text), text)
                assert (found.numbers, found.is_generated) == (numbers, is_generated), text
                assert find_malformed(text) == []
    assert len(find_citations(f"[1-{LONGEST_RANGE}]")[0].numbers) == LONGEST_RANGE
    assert find_citations(f"[1-{LONGEST_RANGE + 1}]") == []
    many = {"[3]": 0, "[generated]": 1, "[generated x3]": 3, "[2, generated]": 1}
    assert {text: find_citations(text)[0].generated for text in many} == many


def test_failed_citations_are_listed():
    for text in ("[Paris]", "[sic]", "(3)", "3]", "[a link](http://x)", "x[i]"):
        assert (find_citations(text), find_malformed(text)) == ([], []), text
    whole = ("[]", "[ ]", "[3, see above]", "[5-2]", "[1-2000]", "[3.]", '["7. Oak lasts."]')
    whole += ("[Additional argument]", "【3†source】")
    cut = {"[3 oaks\nlast": "[3", "[generated - oaks last": "[generated"}
    for text, listed in (dict(zip(whole, whole, strict=True)) | cut).items():
        assert (find_citations(text), find_malformed(text)) == ([], [listed]), text
    # An opened bracket does not swallow the next citation.
    text = "Oak [3 lasts [4]."
    assert [found.numbers for found in find_citations(text)] == [(4,)]
    assert find_malformed(text) == ["[3"]


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


def test_numbers_are_pieces_and_the_rest_stays():
    found = split_citations("Fast [1, 9].\nSlow [2-4].", {1, 2, 3, 4})
    numbered = [(piece.text, piece.is_known) for piece in found if piece.number is not None]
    assert numbered == [("1", True), ("9", False), ("2", True), ("4", True)]
    # What the writer made up is marked.
    for text, generated in (
        ("Bold [generated].", ["[generated]"]),
        ("Both [3, generated].", [", generated]"]),
        ("None [3].", []),
    ):
        pieces = split_citations(text, {3})
        assert [piece.text for piece in pieces if piece.is_generated] == generated


BRACKETS = st.sampled_from(["[1]", "[2, 3]", "[1-3, generated]", "[Argument 2]", "[x]", "["])


@given(st.lists(st.one_of(st.text(max_size=12), BRACKETS), max_size=12).map("".join))
def test_pieces_joined_are_the_text_and_name_only_cited_numbers(text):
    found = split_citations(text, {1, 2})
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text for piece in found)
    cited = {number for citation in find_citations(text) for number in citation.numbers}
    assert {piece.number for piece in found if piece.number is not None} <= cited
    assert all(piece.is_known == (piece.number in {1, 2}) for piece in found)


def said(text):
    return [(each.text, each.numbers, each.is_generated) for each in sound_segments(text)]


@given(answers)
def test_the_papers_segments_are_its_regular_expression(text):
    # The recipe in one line; our code says the same without its quadratic search.
    assert paper_pairs(text) == re.findall(r"([A-Z].+?)\[(.+?)\]", text)


def test_the_papers_segments_lose_adjacent_and_lower_case_citations():
    assert paper_pairs("- Oak lasts [3][5], elm bends [2].\nit is heavy [4]") == [
        ("Oak lasts ", "3")
    ]
    assert paper_segments("Oak lasts. Elm bends [Paris]") == ["Oak lasts. Elm bends "]


def test_statements():
    for text, expected in {
        "Dogs are smarter [1] but cats are easier to train [2].": [
            *(("Dogs are smarter", (1,)), ("but cats are easier to train.", (2,)))
        ],
        "Oak lasts longer than elm. [3][5]": [("Oak lasts longer than elm.", (3, 5))],
        "Oak lasts longer [2], [6] and [9].": [("Oak lasts longer.", (2, 6, 9))],
        "According to [3], oak lasts longer.": [("According to, oak lasts longer.", (3,))],
        "[4] says oak lasts longer.": [("says oak lasts longer.", (4,))],
        "- [1]: Oak lasts longer.": [("Oak lasts longer.", (1,))],
        "Oak costs 3.5 times more, e.g. in the U.S. today. Elm is cheap [1].": [
            ("Oak costs 3.5 times more, e.g. in the U.S. today.", ()),
            ("Elm is cheap.", (1,)),
        ],
        "- **Weight:** [3]": [("Weight", (3,))],
        "## Weight\n- Oak weighs more [3]": [("Oak weighs more", (3,))],
    }.items():
        assert [(words, numbers) for words, numbers, _generated in said(text)] == expected
    assert len(said("Oak and elm compete [1] and [2], respectively.")) == 1
    assert len(said("Oak (see elm [2]) is heavy.")) == 1
    # Names, headings and the closing list are none.
    assert said(GOOD) == [
        ("Oak and elm are both used for floors.", (), False),
        ("Oak is the stronger of the two.", (), False),
        ("Floors of oak hold up for decades longer.", (1,), False),
        ("Elm takes a curve more easily and costs less.", (2,), True),
        ("Oak weighs more", (3,), False),
        ("which makes it harder to carry.", (), True),
    ]


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
