"""What counts as one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argsum.datasets.methods.sentences import is_one_sentence, sentences

ONE = (
    "Buses are cheap",
    "  Buses are cheap. ",
    'He said "stop now."',
    "Do they really?!",
    "Buses are cheap..",
    "Buses are cheap. .",
    "Many things matter.. mostly the price.",
    "Many things matter… mostly the price.",
    "The U.S. has few of them.",
    "The u. s has few of them.",
    "They cost 1.5 million a year.",
    "Buses are cheap\nand quiet",
    "See www.example.org/bus for more",
)
SEVERAL = {
    "Buses are cheap. They are quiet.": ["Buses are cheap.", "They are quiet."],
    "Buses are cheap! they are quiet": ["Buses are cheap!", "they are quiet"],
    "Who pays? (We do.) Nobody else.": ["Who pays?", "(We do.)", "Nobody else."],
    "They wait.. Nobody comes.": ["They wait..", "Nobody comes."],
    "“They wait.” Nobody comes.": ["“They wait.”", "Nobody comes."],
    # As in the released data: an abbreviation in small letters counts as an end.
    "Some fuels, e.g. coal, are dirty.": ["Some fuels, e.g.", "coal, are dirty."],
    "They wait. ,": ["They wait.", ","],
}


@pytest.mark.parametrize("text", ONE)
def test_one_sentence(text):
    assert sentences(text) == [text.strip() if not text.endswith(" .") else "Buses are cheap."]
    assert is_one_sentence(text)


@pytest.mark.parametrize("text", SEVERAL)
def test_several_sentences(text):
    assert sentences(text) == SEVERAL[text]
    assert not is_one_sentence(text)


@pytest.mark.parametrize("text", ["", " \n", "...", "?!"])
def test_nothing_is_no_sentence(text):
    assert sentences(text) == []
    assert not is_one_sentence(text)


@given(st.text(alphabet="aB. !?…\"'\n", max_size=40))
def test_nothing_but_white_space_and_dots_gets_lost(text):
    kept = "".join("".join(sentences(text)).split()).strip(".!?…")
    for letter in "aB":
        assert kept.count(letter) == text.count(letter)


def test_a_long_text_takes_linear_time():
    assert len(sentences("Yes. " * 20_000)) == 20_000
    assert len(sentences("." * 100_000 + "a")) == 1
