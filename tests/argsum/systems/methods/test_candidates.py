"""Which arguments may become key points, and in which order the rest fills up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argsum.systems import barh as barh_system
from argsum.systems import smatchtopr as smatchtopr_system
from argsum.systems.candidates import CandidateRule, pick_candidates, word_tokens

GOOD = "Night buses keep tired people safe"  # six words
SHORT = "Night buses help"
PRONOUN = "They keep tired people safe at night"
LONG = " ".join(["bus"] * 16)
TWO = "Buses help people. They keep the streets safe."


def pick(arguments, quality, fill_up=0.0, rule=smatchtopr_system.RULE):
    return pick_candidates(arguments, np.array(quality, dtype=float), rule=rule, fill_up=fill_up)


@pytest.mark.parametrize(
    ("text", "quality", "barh", "smatchtopr"),
    [
        (GOOD, 0.81, True, True),
        (GOOD, 0.8, True, False),  # above, not at
        (GOOD, 0.7, False, False),
        (SHORT, 0.9, True, False),
        (PRONOUN, 0.9, False, False),
        ("I keep tired people safe at night", 0.9, False, False),
        ("As buses run, people get home safe", 0.9, False, False),
        (" ".join(["bus"] * 15), 0.9, True, True),
        (LONG, 0.9, False, True),
        (" ".join(["bus"] * 19), 0.9, False, True),
        (" ".join(["bus"] * 20), 0.9, False, False),
        (TWO, 0.9, False, False),
        ("bus bus bus bus bus", 0.9, True, False),  # five words are too few for SMatchToPr
        (GOOD, np.nan, False, False),
    ],
)
def test_one_argument(text, quality, barh, smatchtopr):
    assert pick([text], [quality], rule=barh_system.RULE) == ([0] if barh else [])
    assert pick([text], [quality], rule=smatchtopr_system.RULE) == ([0] if smatchtopr else [])


def test_words_are_counted_without_punctuation():
    assert word_tokens("«Well», it isn't over-rated: 3.5%!") == [
        "Well", "it", "isn", "t", "over", "rated", "3", "5",
    ]  # fmt: skip


def test_quality_alone_fills_up_first_then_form_and_several_sentences_never():
    arguments = [TWO, SHORT, GOOD, PRONOUN, GOOD + "!", GOOD + " again", LONG * 2]
    quality = [0.99, 0.95, 0.5, 0.97, 0.6, 0.9, 0.96]
    order = [5, 4, 2, 3, 6, 1]
    for n in range(1, 7):
        assert pick(arguments, quality, fill_up=n / 7) == order[:n]
    assert pick(arguments, quality, fill_up=1.0) == order


def test_what_qualifies_stays_in_the_order_given_and_is_never_cut():
    assert pick([GOOD, GOOD + " x", GOOD + " y"], [0.85, 0.99, 0.9], fill_up=0.1) == [0, 1, 2]


@pytest.mark.parametrize(("n", "share", "filled"), [(45, 0.1, 4), (86, 0.1, 9), (35, 0.1, 4)])
def test_a_share_is_rounded_with_halves_to_the_even_number(n, share, filled):
    assert len(pick([GOOD] * n, [0.1] * n, fill_up=share)) == filled


def test_equal_quality_fills_up_in_the_order_given_and_none_comes_last():
    assert pick([GOOD] * 4, [np.nan, 0.3, 0.3, 0.4], fill_up=1.0) == [3, 1, 2, 0]


def test_lengths_must_agree_and_the_share_must_be_one():
    with pytest.raises(ValueError, match="2 arguments but 1"):
        pick([GOOD, GOOD], [0.5])
    with pytest.raises(ValueError, match="between 0 and 1"):
        pick([GOOD], [0.5], fill_up=1.1)
    assert pick([], [], fill_up=0.5) == []


@given(
    st.lists(
        st.tuples(st.sampled_from([GOOD, SHORT, PRONOUN, LONG, TWO]), st.floats(0, 1)), max_size=30
    ),
    st.floats(0, 1),
)
def test_every_candidate_is_one_sentence_and_there_once(pairs, fill_up):
    texts, quality = [text for text, _ in pairs], [value for _, value in pairs]
    rule = CandidateRule(min_tokens=3, max_tokens=15, min_quality=0.5, bars_pronouns=True)
    found = pick(texts, quality, fill_up=fill_up, rule=rule)
    assert len(set(found)) == len(found)
    assert all(texts[place] != TWO for place in found)
    least = min(round(fill_up * len(texts)), sum(text != TWO for text in texts))
    assert len(found) >= least
    assert set(pick(texts, quality, rule=rule)) <= set(found)
