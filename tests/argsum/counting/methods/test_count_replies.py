"""Reading the count on the last line of a reply."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argsum.counting.methods.replies import NoCount, read_count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Count: 3.5", 3.5),
        ("All are covered.\n\ncount = 4\n", 4),
        ("**Count: 2,5**", 2.5),
        ("- **Count:** 0 of 5.", 0),
        ("Count: 1\nNo, one more is covered.\nCount: 2", 2),
        ("<think>Count: 9</think>Count: 1.0", 1),
        ("I count three.\n`Count: 3 / 4`", 3),
        # More than there is: clipped where scores are computed, not here.
        ("Count: 12", 12),
    ],
)
def test_a_count_is_read(text, count):
    assert read_count(text) == count


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I count 3.", "no_count"),
        ("Count: three", "no_count"),
        ("Count: 3 references are covered", "no_count"),
        ("Count: -1", "no_count"),
        ("The count: 3", "no_count"),
        ("Count: 2.3", "no_half_step"),
        ("Count: 2\nCount: 2.25", "no_half_step"),
    ],
)
def test_a_reply_without_a_count_says_why(text, reason):
    with pytest.raises(NoCount) as problem:
        read_count(text)
    assert problem.value.reason == reason


def test_cut_and_refused_replies():
    with pytest.raises(NoCount, match="truncated"):
        read_count("Count: 1", "length")
    with pytest.raises(NoCount, match="refused"):
        read_count("Count: 1", "stop", refusal="I would rather not.")


@given(st.text(), st.integers(min_value=0, max_value=400))
def test_the_last_line_counts_whatever_stands_before(text, halves):
    before = text.replace("<", "(")
    assert read_count(f"{before}\nCount: {halves / 2:g}") == halves / 2
