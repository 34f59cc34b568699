"""When match scores agree with the key points that a language model gives a statement."""

from types import SimpleNamespace

import numpy as np

from argsum.coding.methods import PointMatches, match_points

VECTORS = {
    "good staff": [1.0, 0.1, 1.0],
    "bad staff": [1.0, 0.0, -1.0],
    "good bus": [-1.0, 0.1, 1.0],
    "hm": [1.0, 0.2, 1.0],
}


def matches(points, texts=("good staff", "bad staff", "good bus", "hm"), sure_from=None):
    """Matches of invented vectors, of which the last coordinate tells the side."""
    tools = SimpleNamespace(
        vectors=lambda rows: np.array([VECTORS[row][:2] for row in rows]),
        filler=lambda rows: np.array([row == "hm" for row in rows]),
        say=lambda *_: None,
        tells_sides=False,
        sure_from=sure_from,
    )
    return match_points(texts, points, tools)


def test_the_nearest_agrees_but_not_for_a_statement_that_says_nothing():
    read = matches(["good staff", "good bus"])
    assert read.agrees(0, [0]) == [True]
    assert read.agrees(0, [1]) == [False]
    assert read.agrees(3, [0]) == [False]
    # Without another key point only a sure score agrees.
    for sure_from, agrees in ((None, False), (-1.0, True)):
        assert matches(["good staff"], sure_from=sure_from).agrees(0, [0]) == [agrees]


def test_a_key_point_of_the_opposite_side_never_agrees():
    scores = np.array([[0.9, 0.1]])
    read = PointMatches(scores, scores > 0.8, np.array([[True, False]]))
    assert read.agrees(0, [0]) == [False]
    assert read.agrees_with_none(0)
    assert not PointMatches(scores, scores > 0.8, scores > 1).agrees_with_none(0)
