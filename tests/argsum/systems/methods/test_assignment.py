"""Arguments to key points, prevalence, and texts taken from clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from argsum.systems.methods.assignment import accuracy, assign, prevalence
from argsum.systems.methods.extractive import by_quality, central_argument


def test_the_best_key_point_above_the_threshold():
    match = np.array([[0.2, 0.7, 0.7], [-0.4, -0.2, -0.3], [0.0, -1.0, 0.0], [0.9, 0.1, 0.2]])
    found = assign(match)
    assert found.positions == [1, -1, -1, 0]  # 0 is not above 0; the earlier of equal ones
    assert found.scores == [0.7, -0.2, 0.0, 0.9]
    assert assign(match, threshold=0.8).positions == [-1, -1, -1, 0]
    assert prevalence(found.positions, 3) == [1, 1, 0]


def test_without_key_points_nobody_is_assigned():
    found = assign(np.zeros((2, 0)))
    assert (found.positions, found.scores) == ([-1, -1], [0.0, 0.0])
    assert prevalence([-1, -1], 0) == []
    assert assign(np.zeros((0, 3))).positions == []
    assert prevalence([], 3) == [0, 0, 0]


def test_share_of_own_key_points():
    assert accuracy([0, 1, 2, -1], [0, 1, 1, 1]) == 0.5
    assert accuracy([], []) is None
    with pytest.raises(ValueError, match="zip"):
        accuracy([0, 1], [0])


@given(arrays(float, (6, 3), elements=st.floats(-1, 1)))
def test_every_argument_counts_once(match):
    found = assign(match)
    assert sum(prevalence(found.positions, 3)) == sum(place >= 0 for place in found.positions)
    assert found.scores == match.max(axis=1).tolist()


def test_the_central_argument_is_matched_best_by_the_others():
    match = np.array(
        [
            [1.0, 0.2, 0.6, 0.9],
            [0.2, 1.0, 0.7, 0.9],
            [0.6, 0.7, 1.0, 0.9],
            [0.9, 0.9, 0.9, 0.0],
        ]
    )
    assert central_argument(match, [0, 1, 2]) == 2  # .6 + .7, against .8 and .9
    assert central_argument(match, [0, 1, 2, 3]) == 3  # the diagonal does not count
    assert central_argument(match, [1]) == 1
    assert central_argument(match, [1, 0]) == 1  # equal: the earlier of the members
    with pytest.raises(ValueError, match="without arguments"):
        central_argument(match, [])


def test_a_large_cluster_is_added_up_in_parts():
    match = np.random.default_rng(3).random((1100, 1100), dtype=np.float32)
    members = list(range(40, 1090))
    inner = match[40:1090, 40:1090].astype(float)
    np.fill_diagonal(inner, 0)
    assert central_argument(match, members) == members[inner.sum(axis=0).argmax()]


def test_columns_stand_in_the_place_of_the_key_point():
    match = np.array([[1.0, 0.1, 0.1], [0.9, 1.0, 0.1], [0.9, 0.1, 1.0]])
    assert central_argument(match, [2, 1, 0]) == 0


def test_best_arguments_come_first_and_unknown_ones_last():
    assert by_quality([4, 0, 1, 2], [0.5, np.nan, 0.9, 0.0, 0.5]) == [2, 4, 0, 1]
    assert by_quality([0, 1], [None, 0.0]) == [1, 0]
