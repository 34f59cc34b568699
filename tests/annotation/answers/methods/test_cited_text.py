"""An answer in pieces: nothing lost, numbers found, unknown ones told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.answers.methods.citations import find_citations
from annotation.answers.methods.cited_text import Piece, split_citations


def test_numbers_are_pieces_and_the_rest_stays():
    found = split_citations("Fast [1, 9].\nSlow [2-4].", {1, 2, 3, 4})
    assert [(piece.text, piece.is_known) for piece in found if piece.number is not None] == [
        ("1", True),
        ("9", False),
        ("2", True),
        ("4", True),
    ]


@pytest.mark.parametrize(
    ("text", "generated"),
    [
        ("Bold [generated].", ["[generated]"]),
        ("Both [3, generated].", [", generated]"]),
        ("None [3].", []),
    ],
)
def test_what_the_writer_made_up_is_marked(text, generated):
    assert [piece.text for piece in split_citations(text, {3}) if piece.is_generated] == generated


def test_other_brackets_are_text():
    assert split_citations("In [Paris].", {1}) == [Piece("In [Paris].")]
    assert split_citations("", {1}) == []


BRACKETS = st.sampled_from(["[1]", "[2, 3]", "[1-3, generated]", "[Argument 2]", "[x]", "["])


@given(st.lists(st.one_of(st.text(max_size=12), BRACKETS), max_size=12).map("".join))
def test_pieces_joined_are_the_text_and_name_only_cited_numbers(text):
    found = split_citations(text, {1, 2})
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text for piece in found)
    cited = {number for citation in find_citations(text) for number in citation.numbers}
    assert {piece.number for piece in found if piece.number is not None} <= cited
    assert all(piece.is_known == (piece.number in {1, 2}) for piece in found)
