"""The seeded split: sizes, no answer twice, spread over questions, the same again."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.editing.methods import MOST_PAIRS, TooFewAnswers, align_lines, split_answers


@st.composite
def cases(draw):
    """Questions with 1 to 4 answers each, and sizes that may or may not fit."""
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=25))
    pairs = [(f, q) for f, q in enumerate(q for q, n in enumerate(counts) for _ in range(n))]
    return (
        draw(st.permutations(pairs)),
        {
            "experts": draw(st.integers(1, 5)),
            "calibration": draw(st.integers(0, 8)),
            "individual": draw(st.integers(0, 8)),
            "seed": draw(st.integers(0, 2**31 - 1)),
        },
    )


def sets_of(split):
    return [split.calibration, *split.individual]


@given(cases())
def test_sizes_are_exact_and_no_answer_is_in_two_sets(case):
    pairs, wanted = case
    needed = wanted["calibration"] + wanted["experts"] * wanted["individual"]
    if needed > len(pairs):
        with pytest.raises(TooFewAnswers) as error:
            split_answers(pairs, **wanted)
        assert (error.value.needed, error.value.found) == (needed, len(pairs))
        return
    split = split_answers(pairs, **wanted)
    assert len(split.calibration) == wanted["calibration"]
    assert [len(own) for own in split.individual] == [wanted["individual"]] * wanted["experts"]
    dealt = [answer for own in sets_of(split) for answer in own]
    assert len(set(dealt)) == len(dealt) == needed
    assert set(dealt) <= {answer for answer, _question in pairs}


@given(cases(), st.randoms())
def test_the_order_of_the_rows_does_not_matter(case, shuffler):
    pairs, wanted = case
    if wanted["calibration"] + wanted["experts"] * wanted["individual"] > len(pairs):
        return
    shuffled = list(pairs)
    shuffler.shuffle(shuffled)
    first, second = split_answers(pairs, **wanted), split_answers(shuffled, **wanted)
    assert first == second
    assert [first.desk(n, 3) for n in range(wanted["experts"])] == [
        second.desk(n, 3) for n in range(wanted["experts"])
    ]


@given(cases())
def test_no_desk_gets_a_question_twice_while_another_would_do(case):
    pairs, wanted = case
    needed = wanted["calibration"] + wanted["experts"] * wanted["individual"]
    question_of = dict(pairs)
    if needed > len(set(question_of.values())):
        return
    split = split_answers(pairs, **wanted)
    dealt = [question_of[answer] for own in sets_of(split) for answer in own]
    assert max(Counter(dealt).values(), default=1) == 1


def test_desks_begin_with_calibration_in_different_orders():
    split = split_answers(
        [(n, n) for n in range(40)], experts=3, calibration=10, individual=5, seed=5
    )
    desks = [split.desk(expert, 5) for expert in range(3)]
    assert all(set(desk[:10]) == set(split.calibration) for desk in desks)
    assert all(
        set(desk[10:]) == set(own) for desk, own in zip(desks, split.individual, strict=True)
    )
    assert len({tuple(desk[:10]) for desk in desks}) == 3


def test_nobody_gets_more_while_a_colleague_waits():
    """Few questions, many answers: second answers go round the table like first ones."""
    pairs = [(n, n % 4) for n in range(24)]
    split = split_answers(pairs, experts=3, calibration=2, individual=6, seed=2)
    for own in split.individual:
        assert Counter(answer % 4 for answer in own).most_common(1)[0][1] <= 3


WORDS = st.sampled_from(["tea", "coffee", "is", "warm", "cold", "and", ""])

TEXTS = st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=8).map("\n".join)


@given(TEXTS, TEXTS)
def test_every_line_of_both_texts_is_there_once_and_in_order(before, after):
    pairs = align_lines(before, after)
    assert "\n".join(old for old, _new in pairs if old is not None) == before
    assert "\n".join(new for _old, new in pairs if new is not None) == after
    assert (None, None) not in pairs


def test_a_rewritten_line_is_found_beside_new_and_removed_ones():
    before = "- Speed: coffee works at once [2].\n- Price: tea is cheaper.\n- Smell."
    after = (
        "- Origin: both come from far.\n- Speed: coffee works at once [2, 3].\n"
        "- Price: tea is far cheaper [4]."
    )
    assert align_lines(before, after) == [
        (None, "- Origin: both come from far."),
        ("- Speed: coffee works at once [2].", "- Speed: coffee works at once [2, 3]."),
        ("- Price: tea is cheaper.", "- Price: tea is far cheaper [4]."),
        ("- Smell.", None),
    ]


def test_lines_with_little_in_common_are_not_taken_for_one_another():
    assert align_lines("a b c d e", "v w x y e") == [("a b c d e", None), (None, "v w x y e")]


def test_moved_lines_are_removed_and_added():
    assert align_lines("one two\nthree four", "three four\none two") == [
        (None, "three four"),
        ("one two", "one two"),
        ("three four", None),
    ]


def test_very_large_blocks_are_not_searched():
    side = int(MOST_PAIRS**0.5) + 1
    before = "\n".join(f"old line {n}" for n in range(side))
    after = "\n".join(f"new line {n}" for n in range(side))
    assert all(None in pair for pair in align_lines(before, after))
