"""Steps, reasons and counts of the recipe, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argsum.datasets.methods.preprocessing import (
    ALL_STEPS,
    ONE_KEY_POINT,
    ONE_SENTENCE,
    PAPER_STEPS,
    UNIQUE,
    checked_steps,
    prepare,
)

TEXTS = ["Fine.", "Fine too.", "Not. Fine.", "Also. Bad.", "Nobody agrees."]
MATCHES = [1, 2, 1, 3, 0]


def test_each_argument_keeps_the_first_step_it_failed():
    found = prepare(TEXTS, MATCHES, repeats=2)
    assert found.reasons == ("", "key_points", "sentences", "key_points", "no_key_point")
    assert found.kept == (0,)
    assert found.counts == {"read": 7, "unique": 5, ONE_KEY_POINT: 2, ONE_SENTENCE: 1}


def test_a_step_that_was_not_chosen_takes_nothing():
    found = prepare(TEXTS, MATCHES, steps=[ONE_SENTENCE])
    assert found.reasons == ("", "", "sentences", "sentences", "")
    assert found.counts == {"read": 5, "unique": 5, ONE_SENTENCE: 3}
    assert prepare(TEXTS, MATCHES, steps=()).kept == (0, 1, 2, 3, 4)


def test_without_key_points_nobody_has_to_match_one():
    found = prepare(TEXTS, [None] * 5)
    assert found.reasons == ("", "", "sentences", "sentences", "")
    assert found.counts[ONE_KEY_POINT] == 5


def test_steps_are_taken_in_one_order():
    assert checked_steps([ONE_SENTENCE, ONE_KEY_POINT]) == PAPER_STEPS
    assert checked_steps([]) == (UNIQUE,)
    with pytest.raises(ValueError, match="'shuffled' is no step"):
        checked_steps(["shuffled"])


@given(
    st.lists(
        st.tuples(st.sampled_from(TEXTS), st.one_of(st.none(), st.integers(0, 3))), max_size=20
    ),
    st.sets(st.sampled_from(ALL_STEPS)),
)
def test_counts_fall_and_end_at_what_is_kept(rows, steps):
    found = prepare([text for text, _ in rows], [number for _, number in rows], steps=steps)
    counts = list(found.counts.values())
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == len(found.kept)
