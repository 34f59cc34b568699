"""Marks give counts: worked by hand, and bounds and order for any marks."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argsum.counting.methods.marks import (
    Counts,
    Marks,
    MarksError,
    check_marks,
    count_covered,
    count_unique,
    is_half_step,
    marks_from_json,
    marks_to_json,
    undecided,
)

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
    assert count_covered(WORKED) == 3.5
    assert count_unique(WORKED) == 3.5
    counts = Counts(3.5, 3.5, references=5, summaries=6)
    assert counts.coverage == 0.7
    assert counts.redundancy == pytest.approx(1 - 3.5 / 6)
    assert undecided(WORKED, 5, 6) == ([], [])


def test_which_summaries_cover_a_reference_changes_no_count():
    assert count_covered(Marks(levels=WORKED.levels)) == 3.5


def test_one_partly_marked_member_makes_its_whole_group_half():
    assert count_unique(Marks(groups=((0, 1), (2,)), partly=(1,))) == 1.5
    assert count_unique(Marks(groups=((0, 1), (2,)), partly=(0, 1))) == 1.5


def test_nothing_marked_is_no_count_of_zero_but_undecided():
    assert undecided(Marks(), 2, 3) == ([0, 1], [0, 1, 2])
    assert undecided(Marks(levels={1: "none"}, groups=((2,),)), 2, 3) == ([0], [0, 1])


def test_a_missing_count_has_no_share():
    assert Counts(None, 2, 4, 4).coverage is None
    assert Counts(None, 2, 4, 4).redundancy == 0.5
    assert Counts(1, None, 0, 0).coverage is None
    assert Counts(1, 1, 0, 0).redundancy is None


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


def test_ticks_before_the_mark_itself_are_kept_and_count_nothing():
    early = Marks(by={1: (0,)}, groups=((0,),), partly=(2,))
    check_marks(early, 2, 3)
    assert marks_from_json(marks_to_json(early)) == early
    assert (count_covered(early), count_unique(early)) == (0, 1)
    assert undecided(early, 2, 3) == ([0, 1], [1, 2])


def test_typed_counts_are_half_steps_within_the_set():
    assert [each for each in (-0.5, 0, 0.25, 0.5, 4, 4.5, 5) if is_half_step(each, 4)] == [
        0,
        0.5,
        4,
    ]


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


@given(any_marks())
def test_counts_stay_within_the_set_and_are_half_steps(made):
    marks, references, summaries = made
    check_marks(marks, references, summaries)
    covered, unique = count_covered(marks), count_unique(marks)
    assert is_half_step(covered, references)
    assert is_half_step(unique, summaries)
    shares = Counts(covered, unique, references, summaries)
    assert 0 <= shares.coverage <= 1
    assert 0 <= shares.redundancy <= 1
    assert undecided(marks, references, summaries)[1] == []


@given(any_marks(), st.integers())
def test_the_order_of_summaries_and_references_changes_nothing(made, seed):
    marks, references, summaries = made
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
    assert count_covered(moved) == count_covered(marks)
    assert count_unique(moved) == count_unique(marks)


@given(any_marks())
def test_stored_marks_come_back(made):
    marks, _references, _summaries = made
    assert marks_from_json(marks_to_json(marks)) == marks
