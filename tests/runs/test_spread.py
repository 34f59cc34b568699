"""When a handful of replies has too much in common, by counts written down by hand."""

import pytest

from cqa_site.runs.planning import Dominant, alike, are_alike, dominant, dominates


@pytest.mark.parametrize(
    ("values", "is_too_much"),
    [
        ({"1": 19, "2": 1}, True), ({"1": 16, "2": 4}, True), ({"1": 15, "2": 5}, False),
        # Eight of nine are too few to say anything.
        ({"1": 8, "2": 1}, False), ({"1": 8, "2": 2}, True), ({}, False),
    ],
)  # fmt: skip
def test_four_in_five_of_at_least_ten(values, is_too_much):
    assert dominates(dominant(values)) is is_too_much


def test_each_scale_is_judged_by_itself_and_a_kind_may_ask_for_more():
    values = {"structure: 7": 10, "relevance: 5": 4, "relevance: 4": 6}
    assert dominant(values) == Dominant("structure: 7", 10, 10)
    assert not dominates(dominant({"coherent": 18, "not coherent": 2}), 0.95)


def test_texts_are_alike_by_their_words_not_by_their_lengths():
    same = "Both are fine, it depends on what you like to do with it."
    other = [f"word{n} " * 12 + str(n) for n in range(20)]
    assert are_alike([same] * 16 + other[:4])
    assert are_alike([same, same.upper(), same + "!", same.replace("fine", "good"), same])
    assert not are_alike(other)
    assert not are_alike([same] * 4)
    assert alike([]) == 0
