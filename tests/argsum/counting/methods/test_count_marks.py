"""Counts from marks and from replies, and references that are worded otherwise."""

import random

import pytest
from hypothesis import given, strategies as st

from argsum.counting.methods.counts import (
    CoverageCounts,
    Marks,
    MarksError,
    NoCount,
    check_marks,
    count_covered,
    count_unique,
    is_half_step,
    marks_from_json,
    marks_to_json,
    read_count,
    undecided,
)
from argsum.counting.methods.released_counts import OtherReferences, by_order, same_references

# Five references, of which three are covered, one partly; six summaries: 1 and 4 say the same,
# 3 partly repeats another, 6 says nothing.
WORKED = Marks(
    levels={0: "full", 1: "full", 2: "part", 3: "none", 4: "full"},
    by={0: (0, 3), 1: (1,), 2: (2,), 4: (4,)},
    groups=((0, 3), (1,), (2,), (4,)),
    partly=(2,),
    empty=(5,),
)


def test_the_worked_example():
    assert count_covered(WORKED) == count_unique(WORKED) == 3.5
    counts = CoverageCounts(3.5, 3.5, references=5, summaries=6)
    assert (counts.coverage, counts.redundancy) == (0.7, pytest.approx(1 - 3.5 / 6))
    assert undecided(WORKED, 5, 6) == ([], [])
    # Which summaries cover a reference changes no count.
    assert count_covered(Marks(levels=WORKED.levels)) == 3.5
    # One member that is partly marked makes its whole group half.
    for partly in ((1,), (0, 1)):
        assert count_unique(Marks(groups=((0, 1), (2,)), partly=partly)) == 1.5


def test_what_is_missing_is_undecided_and_no_count_of_zero():
    assert undecided(Marks(), 2, 3) == ([0, 1], [0, 1, 2])
    assert undecided(Marks(levels={1: "none"}, groups=((2,),)), 2, 3) == ([0], [0, 1])
    half, nothing = CoverageCounts(None, 2, 4, 4), CoverageCounts(1, 1, 0, 0)
    assert (half.coverage, half.redundancy) == (None, 0.5)
    assert (nothing.coverage, nothing.redundancy) == (None, None)
    # Ticks before the mark itself are kept and count nothing.
    early = Marks(by={1: (0,)}, groups=((0,),), partly=(2,))
    check_marks(early, 2, 3)
    assert marks_from_json(marks_to_json(early)) == early
    assert (count_covered(early), count_unique(early)) == (0, 1)
    assert undecided(early, 2, 3) == ([0, 1], [1, 2])
    # Typed counts are half steps within the set.
    steps = [each for each in (-0.5, 0, 0.25, 0.5, 4, 4.5, 5) if is_half_step(each, 4)]
    assert steps == [0, 0.5, 4]


@pytest.mark.parametrize(
    "marks",
    [
        Marks(levels={5: "full"}),
        Marks(levels={0: "mostly"}),
        Marks(levels={0: "none"}, by={0: (1,)}),
        Marks(by={5: (1,)}),
        Marks(levels={0: "full"}, by={0: (6,)}),
        Marks(levels={0: "full"}, by={0: (1, 1)}),
        Marks(groups=((0, 1), (1,))),
        Marks(groups=((0,),), empty=(0,)),
        Marks(groups=((0,), ())),
        Marks(groups=((-1,),)),
        Marks(groups=((0,),), partly=(6,)),
        Marks(empty=(1,), partly=(1,)),
    ],
)
def test_marks_that_do_not_fit_are_refused(marks):
    with pytest.raises(MarksError):
        check_marks(marks, 5, 6)


@st.composite
def any_marks(draw):
    references, summaries = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    levels = draw(
        st.dictionaries(st.integers(0, references - 1), st.sampled_from(["full", "part", "none"]))
    )
    letters = draw(st.lists(st.integers(0, 4), min_size=summaries, max_size=summaries))
    names = sorted(set(letters) - {0})
    groups = [tuple(at for at, each in enumerate(letters) if each == name) for name in names]
    members = [each for group in groups for each in group]
    partly = draw(st.lists(st.sampled_from(members), unique=True)) if members else []
    empty = tuple(at for at, each in enumerate(letters) if each == 0)
    by = {
        place: tuple(draw(st.lists(st.integers(0, summaries - 1), unique=True, min_size=1)))
        for place, level in levels.items()
        if level != "none"
    }
    return Marks(levels, by, tuple(groups), tuple(partly), empty), references, summaries


@given(any_marks(), st.integers())
def test_counts_are_half_steps_within_the_set_in_any_order(made, seed):
    marks, references, summaries = made
    check_marks(marks, references, summaries)
    covered, unique = count_covered(marks), count_unique(marks)
    assert is_half_step(covered, references)
    assert is_half_step(unique, summaries)
    shares = CoverageCounts(covered, unique, references, summaries)
    assert 0 <= shares.coverage <= 1
    assert 0 <= shares.redundancy <= 1
    assert undecided(marks, references, summaries)[1] == []
    rng = random.Random(seed)
    rows = rng.sample(range(references), references)
    columns = rng.sample(range(summaries), summaries)
    moved = Marks(
        levels={rows[place]: level for place, level in marks.levels.items()},
        groups=tuple(tuple(columns[each] for each in group) for group in reversed(marks.groups)),
        partly=tuple(columns[each] for each in marks.partly),
        empty=tuple(columns[each] for each in marks.empty),
    )
    check_marks(moved, references, summaries)
    assert (count_covered(moved), count_unique(moved)) == (covered, unique)


def test_a_count_is_read():
    for text, count in (
        ("Count: 3.5", 3.5),
        ("All are covered.\n\ncount = 4\n", 4),
        ("**Count: 2,5**", 2.5),
        ("- **Count:** 0 of 5.", 0),
        ("Count: 1\nNo, one more is covered.\nCount: 2", 2),
        ("<think>Count: 9</think>Count: 1.0", 1),
        ("I count three.\n`Count: 3 / 4`", 3),
        # More than there is: clipped where scores are computed, not here.
        ("Count: 12", 12),
        ("Count: 3\n\nI hope this helps.", 3),
        ("Count: 3\nThe count is 3.", 3),
    ):
        assert read_count(text) == count, text


# What takes back the count before it.
BEHIND = ("Wait, the third is covered, too.", "The answer should be 2.", "The count is 2.", "2")


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
        *((f"Count: 3\n\n{behind}", "no_count") for behind in BEHIND),
    ],
)
def test_a_reply_without_a_count_says_why(text, reason):
    with pytest.raises(NoCount) as problem:
        read_count(text)
    assert problem.value.reason == reason


def test_a_count_that_was_refused_or_may_have_been_cut_is_none():
    ends = {"": "unfinished", "quux": "unfinished", "length": "truncated", "stop": "refused"}
    for finish_reason, reason in ends.items():
        with pytest.raises(NoCount, match=reason):
            read_count("Count: 2", finish_reason, refusal="No." if reason == "refused" else "")


# Letters of a count, and what may surround it.
NEAR = st.text("Countα: 0123.5,/*`-<>thinkno\n")


@given(NEAR, st.integers(min_value=0, max_value=400))
def test_the_last_line_counts_whatever_stands_before(text, halves):
    before = text.replace("<", "(")
    assert read_count(f"{before}\nCount: {halves / 2:g}") == halves / 2


KNOWN = ["Mandatory vaccination contradicts basic rights", "The parents should decide", "It hurts"]


def test_references_that_are_worded_otherwise_are_taken_for_those_that_share_most():
    (taken,) = same_references([KNOWN[0], "the  parents should decide!", KNOWN[2]], KNOWN)
    assert (taken.known, taken.shared) == (KNOWN[1], None)
    given = ["It hurts", "Mandatory vaccinations violate basic rights", "Parents should decide"]
    found = {
        each.given: (each.known, round(each.shared, 2)) for each in same_references(given, KNOWN)
    }
    assert found == {given[1]: (KNOWN[0], 0.6), given[2]: (KNOWN[1], 0.86)}
    # The order says it where words do not.
    assert [each.known for each in by_order(["A", "It hurts"], ["B", "It hurts"])] == ["B"]
    with pytest.raises(OtherReferences, match="1 references"):
        by_order(["A"], ["B", "C"])


SAFE, SLOW, LOUD = (f"Buses at night are {word}" for word in ("safe", "slow", "loud"))


@pytest.mark.parametrize(
    ("given", "known", "reason"),
    [
        (KNOWN[:2], KNOWN, "2 references, but the dataset has 3"),
        ([*KNOWN[:2], "Needles scare children"], KNOWN, "no reference matches “Needles"),
        ([SAFE, "Loud"], [SLOW, "Trams hurt"], "no reference matches “Loud”"),
        ([SAFE, SLOW], [LOUD, LOUD.replace("loud", "dear")], f"several references match “{SAFE}”"),
    ],
)
def test_what_is_not_clear_is_refused(given, known, reason):
    with pytest.raises(OtherReferences, match=reason):
        same_references(given, known)
