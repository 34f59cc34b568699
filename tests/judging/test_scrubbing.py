"""Keys do not come back out of texts, whole or in part."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.judging.transport.scrubbing import PIECE, Scrubber

KEY = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz012345"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"key {KEY}.", "key [key]."),
        (f"{KEY}{KEY}", "[key][key]"),
        (f"Bearer {KEY[:20]} and {KEY[-12:]}", "Bearer [key] and [key]"),
        (
            "Incorrect API key provided: sk-proj-**********2345.",
            "Incorrect API key provided: [key].",
        ),
        ("sk-pr...2345 is wrong", "[key] is wrong"),
        ("sk-pr… is wrong", "[key] is wrong"),
        ("it ends in ***2345", "it ends in [key]"),
        ("•••••45", "[key]"),
        ("●●●45 or *•*45", "[key] or [key]"),
        ("nothing... here *** at all", "nothing... here *** at all"),
        ("2345 is a number, sk-p a start", "2345 is a number, sk-p a start"),
        ("", ""),
    ],
)
def test_a_key_and_its_parts_are_replaced(text, clean):
    assert Scrubber(KEY)(text) == clean


@given(st.text(max_size=30), st.integers(0, len(KEY) - PIECE), st.integers(PIECE, len(KEY)))
def test_no_piece_of_the_key_is_left(around, start, length):
    clean = Scrubber(KEY)(around + KEY[start : start + length] + around)
    assert not any(KEY[at : at + PIECE] in clean for at in range(len(KEY) - PIECE + 1))


@given(st.text("ab-", min_size=PIECE, max_size=30), st.data())
def test_no_piece_of_any_key_is_left(key, data):
    start = data.draw(st.integers(0, len(key) - PIECE))
    clean = Scrubber(key)("so " + key[start : start + PIECE] + ".")
    assert not any(key[at : at + PIECE] in clean for at in range(len(key) - PIECE + 1))


def test_short_keys_are_placeholders():
    assert Scrubber("")("nothing") == "nothing"
    assert Scrubber("ollama")("ollama says") == "ollama says"
    assert Scrubber("12345678")("x12345678x") == "x[key]x"


@pytest.mark.parametrize("part", ["a", "a-", "*", ".", "*a", "... ", KEY[:7], KEY[:PIECE]])
def test_a_hostile_text_takes_no_longer_than_a_harmless_one(part):
    started = time.process_time()
    Scrubber(KEY)(part * (1_048_576 // len(part)))
    assert time.process_time() - started < 2


def test_the_key_is_not_shown():
    assert "proj" not in repr(Scrubber(KEY))
