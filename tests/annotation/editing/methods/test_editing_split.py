"""The seeded split: sizes, no answer twice, spread over questions, the same again."""

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from annotation.editing.methods import MOST_PAIRS, TooFewAnswers, align_lines, split_answers


@st.composite
def cases(draw):
    """Questions with 1 to 4 answers each, and sizes that may or may not fit."""
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=25))
    pairs = [(f, q) for f, q in enumerate(q for q, n in enumerate(counts) for _ in range(n))]
    most = {"calibration": 8, "individual": 8, "seed": 2**31 - 1}
    sizes = {name: draw(st.integers(0, high)) for name, high in most.items()}
    return draw(st.permutations(pairs)), sizes | {"experts": draw(st.integers(1, 5))}


@given(cases(), st.randoms())
def test_sizes_are_exact_and_no_answer_is_in_two_sets(case, shuffler):
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
    dealt = [answer for own in (split.calibration, *split.individual) for answer in own]
    question_of = dict(pairs)
    assert len(set(dealt)) == len(dealt) == needed
    assert set(dealt) <= set(question_of)
    # No desk gets a question twice while another would do.
    if needed <= len(set(question_of.values())):
        assert len({question_of[answer] for answer in dealt}) == needed
    # The order of the rows does not matter.
    shuffled = list(pairs)
    shuffler.shuffle(shuffled)
    again = split_answers(shuffled, **wanted)
    assert again == split
    for expert in range(wanted["experts"]):
        assert again.desk(expert, 3) == split.desk(expert, 3)


def test_desks_begin_with_calibration_in_different_orders():
    pairs = [(n, n) for n in range(40)]
    split = split_answers(pairs, experts=3, calibration=10, individual=5, seed=5)
    desks = [split.desk(expert, 5) for expert in range(3)]
    for desk, own in zip(desks, split.individual, strict=True):
        assert (set(desk[:10]), set(desk[10:])) == (set(split.calibration), set(own))
    assert len({tuple(desk[:10]) for desk in desks}) == 3
    # Few questions, many answers: second answers go round the table like first ones.
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
    # Lines with little in common are not taken for one another, moved ones are removed and added.
    assert align_lines("a b c d e", "v w x y e") == [("a b c d e", None), (None, "v w x y e")]
    moved = [(None, "three four"), ("one two", "one two"), ("three four", None)]
    assert align_lines("one two\nthree four", "three four\none two") == moved
    # Very large blocks are not searched.
    size = range(int(MOST_PAIRS**0.5) + 1)
    old, new = ("\n".join(f"{side} line {n}" for n in size) for side in ("old", "new"))
    assert all(None in pair for pair in align_lines(old, new))
