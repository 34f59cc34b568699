"""Sentences are split at the names of their objects and never changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.corpus.methods.highlight import split_sentence

NAMES = st.one_of(
    st.text(max_size=8), st.sampled_from(["tea", "Tea", "C", "C++", "New York", "s", " "])
)
SENTENCES = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(["tea", "Teas", "C++", "C", "new  york's", "'", " ", "."])).map(
        "".join
    ),
)


def marked(text, object1, object2):
    return [(part.text, part.mark) for part in split_sentence(text, object1, object2) if part.mark]


@given(SENTENCES, NAMES, NAMES)
def test_the_parts_give_the_sentence_back(text, object1, object2):
    parts = split_sentence(text, object1, object2)
    assert "".join(part.text for part in parts) == text
    assert all(part.text for part in parts)


@given(SENTENCES, NAMES)
def test_a_name_in_the_sentence_is_found(before, name):
    name = name.strip()
    text = f"{before} {name} !"
    found = split_sentence(text, name, "")
    if name.isalpha():
        assert any(part.mark == 1 for part in found)


@pytest.mark.parametrize(
    ("text", "object1", "object2", "expected"),
    [
        ("Tea or COFFEE?", "tea", "coffee", [("Tea", 1), ("COFFEE", 2)]),
        (
            "Teas, boxes and the tea's taste",
            "tea",
            "box",
            [("Teas", 1), ("boxes", 2), ("tea's", 1)],
        ),
        ("A steak is no tea, nor a teapot", "tea", "pot", [("tea", 1)]),
        ("Model B2 beats Model B", "Model B", "Model B2", [("Model B2", 2), ("Model B", 1)]),
        ("New York City Hall", "New York", "York City Hall", [("York City Hall", 2)]),
        ("C++ is older than C# but not than C", "C", "C++", [("C++", 2), ("C", 1)]),
        ("A cup is as good as A", "A", "B", [("A", 1), ("A", 1)]),
        ("the Red  Panda’s tail", "red panda", "", [("Red  Panda’s", 1)]),
        ("Nike runs, nike walks", "Nike", "nike", [("Nike", 1), ("nike", 1)]),
        ("(.*) matches a.b", "a.b", "(.*)", [("(.*)", 2), ("a.b", 1)]),
        ("", "tea", "coffee", []),
    ],
)
def test_names_are_marked_as_a_reader_would(text, object1, object2, expected):
    assert marked(text, object1, object2) == expected


def test_long_sentences_take_linear_time():
    parts = split_sentence("tea " * 20_000, "tea", "coffee tea")
    assert sum(part.mark == 1 for part in parts) == 20_000
