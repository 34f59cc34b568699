"""References that are worded otherwise: which stands for which, and when that is not clear."""

import pytest

from argsum.counting.methods.same_references import OtherReferences, by_order, same_references

KNOWN = ["Mandatory vaccination contradicts basic rights", "The parents should decide", "It hurts"]


def test_equal_texts_are_not_named_in_any_order():
    assert same_references(KNOWN[::-1], KNOWN) == []


def test_case_punctuation_and_white_space_make_no_other_reference():
    (taken,) = same_references([KNOWN[0], "the  parents should decide!", KNOWN[2]], KNOWN)
    assert (taken.known, taken.shared) == (KNOWN[1], None)


def test_other_words_are_taken_for_the_reference_that_shares_most():
    given = ["It hurts", "Mandatory vaccinations violate basic rights", "Parents should decide"]
    found = {
        each.given: (each.known, round(each.shared, 2)) for each in same_references(given, KNOWN)
    }
    assert found == {given[1]: (KNOWN[0], 0.6), given[2]: (KNOWN[1], 0.86)}


@pytest.mark.parametrize(
    ("given", "known", "reason"),
    [
        (KNOWN[:2], KNOWN, "2 references, and the dataset has 3"),
        ([*KNOWN[:2], "Needles scare children"], KNOWN, "no reference is like “Needles"),
        (
            ["Buses at night are safe", "Loud"],
            ["Buses at night are slow", "Trams hurt"],
            "no reference is like “Loud”",
        ),
        (
            ["Buses at night are safe", "Buses at night are slow"],
            ["Buses at night are loud", "Buses at night are dear"],
            "several references are like “Buses at night are safe”",
        ),
    ],
)
def test_what_is_not_clear_is_refused(given, known, reason):
    with pytest.raises(OtherReferences, match=reason):
        same_references(given, known)


def test_the_order_says_it_where_words_do_not():
    assert [each.known for each in by_order(["A", "It hurts"], ["B", "It hurts"])] == ["B"]
    with pytest.raises(OtherReferences, match="1 references"):
        by_order(["A"], ["B", "C"])
