"""Systems that cluster, the scores that they cluster by, and grids of parameters."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from argsum.systems.methods import clusters as profiles, inputs
from argsum.systems.methods.clusters import (
    TooManyArguments,
    accuracy,
    assign,
    by_quality,
    central_argument,
    distances,
    is_summarizable,
    members,
    merge_clusters,
    prevalence,
    profile_scores,
)
from argsum.systems.registry import OWN, UnknownSystem, find_system

# 0, 1 and 2 belong together, and so do 3, 4 and 5; 6 is between.
MATCH = np.full((7, 7), 0.1)
MATCH[:3, :3] = 0.8
MATCH[3:6, 3:6] = 0.6
MATCH[6, :] = MATCH[:, 6] = 0.3
np.fill_diagonal(MATCH, 1)


def test_clusters_at_each_threshold():
    found = merge_clusters(MATCH, [0.85, 0.7, 0.5, 0.2, 0.05])
    assert found[0.85] == [-1] * 7
    assert found[0.7] == [0, 0, 0, -1, -1, -1, -1]
    assert found[0.5] == [0, 0, 0, 1, 1, 1, -1]
    # At .3, 6 joins the first pair it meets; then .1 · 3/4 + .3 · 1/4 = .15 links the rest.
    assert sorted(map(len, members(found[0.2]).values())) == [3, 4]
    assert found[0.05] == [0] * 7
    # A merge at exactly the threshold is not made.
    found = merge_clusters(np.array([[1.0, 0.5], [0.5, 1.0]]), [0.5, 0.499], min_size=2)
    assert found == {0.5: [-1, -1], 0.499: [0, 0]}
    # Small clusters are unclustered, and ids follow first appearance.
    match = np.eye(6)
    match[np.ix_([1, 3, 5], [1, 3, 5])] = match[np.ix_([0, 2], [0, 2])] = 0.9
    sizes = {3: [-1, 0, -1, 0, -1, 0], 2: [0, 1, 0, 1, -1, 1], 1: [0, 1, 0, 1, 2, 1]}
    for size, ids in sizes.items():
        assert merge_clusters(match, [0.5], min_size=size)[0.5] == ids
    assert merge_clusters(match, [0.5])[0.5] == sizes[3]


def test_two_scores_of_a_pair_are_averaged_and_the_diagonal_is_not_read():
    match = np.array([[0.0, 0.8], [0.4, np.nan]])
    assert distances(match).tolist() == pytest.approx([0.4])
    assert merge_clusters(match, [0.55, 0.65], min_size=2) == {0.55: [0, 0], 0.65: [-1, -1]}
    # Scores above 1 do not become negative distances.
    assert distances(np.array([[1.0, 1.0000002], [1.0000002, 1.0]])).tolist() == [0.0]
    for n in (0, 1):
        for size, ids in ((3, [-1] * n), (1, [0] * n)):
            assert merge_clusters(np.ones((n, n)), [0.5], min_size=size) == {0.5: ids}
    bad = np.ones((3, 3))
    bad[0, 2] = np.nan
    for wrong, said in ((np.ones((2, 3)), "not of shape"), (bad, "finite")):
        with pytest.raises(ValueError, match=said):
            merge_clusters(wrong, [0.5])
    # One number seen as a matrix of any size.
    match = np.broadcast_to(np.float32(0.5), (20_001, 20_001))
    with pytest.raises(TooManyArguments, match="20,001 arguments in one cell"):
        merge_clusters(match, [0.5])


def naive(match, threshold):
    clusters = [[place] for place in range(len(match))]
    while len(clusters) > 1:
        pairs = [(i, j) for j in range(len(clusters)) for i in range(j)]
        scores = [match[np.ix_(clusters[i], clusters[j])].mean() for i, j in pairs]
        best = int(np.argmax(scores))
        if scores[best] <= threshold:
            break
        i, j = pairs[best]
        clusters[i] += clusters.pop(j)
    return {frozenset(each) for each in clusters}


@given(st.integers(0, 10_000), st.integers(2, 9), st.sampled_from([0.2, 0.4, 0.5, 0.6]))
def test_it_is_the_merge_that_one_would_write_down(seed, n, threshold):
    drawn = np.random.default_rng(seed).random((n, n))
    match = (drawn + drawn.T) / 2
    ids = merge_clusters(match, [threshold], min_size=1)[threshold]
    assert {frozenset(each) for each in members(ids).values()} == naive(match, threshold)


def test_it_is_pearson_mixed_with_the_scores(monkeypatch):
    monkeypatch.setattr(profiles, "ROWS_AT_ONCE", 3)
    scores = np.random.default_rng(3).uniform(-0.2, 1, (7, 7)).astype(np.float32)
    scores = (scores + scores.T) / 2
    kept = scores.copy()
    for weight in (0.0, 0.5, 1.0):
        found = profile_scores(scores, weight=weight)
        expected = weight * np.corrcoef(scores.astype(float)) + (1 - weight) * scores
        assert np.allclose(found, expected, atol=1e-6)
        assert found.dtype == np.float32
    # The matrix may be a file that others read.
    assert np.array_equal(scores, kept)
    # A row without variance correlates with nothing.
    scores[2, :] = scores[:, 2] = 0.3
    assert np.array_equal(profile_scores(scores)[2], np.zeros(7))
    with pytest.raises(ValueError, match="between 0 and 1"):
        profile_scores(scores, weight=1.5)


def test_the_best_key_point_above_the_threshold():
    match = np.array([[0.2, 0.7, 0.7], [-0.4, -0.2, -0.3], [0.0, -1.0, 0.0], [0.9, 0.1, 0.2]])
    found = assign(match)
    assert found.positions == [1, -1, -1, 0]  # 0 is not above 0; the earlier of equal ones
    assert found.scores == [0.7, -0.2, 0.0, 0.9]
    assert assign(match, threshold=0.8).positions == [-1, -1, -1, 0]
    assert prevalence(found.positions, 3) == [1, 1, 0]
    # Without key points nobody is assigned.
    found = assign(np.zeros((2, 0)))
    assert (found.positions, found.scores) == ([-1, -1], [0.0, 0.0])
    assert (prevalence([-1, -1], 0), prevalence([], 3)) == ([], [0, 0, 0])
    assert assign(np.zeros((0, 3))).positions == []
    # The share of own key points.
    assert (accuracy([0, 1, 2, -1], [0, 1, 1, 1]), accuracy([], [])) == (0.5, None)
    with pytest.raises(ValueError, match="zip"):
        accuracy([0, 1], [0])
    # When a cell is summarised.
    assert is_summarizable([0, 0, 0, 1, 1, 1])
    # Exactly half is too little, and so is one cluster.
    assert [is_summarizable([0, 0, 0, 1, 1, 1] + [-1] * n) for n in (5, 6)] == [True, False]
    assert not any(map(is_summarizable, ([0, 0, 0, 0], [-1, -1], [])))


def test_the_central_argument_is_matched_best_by_the_others():
    match = np.array(
        [[1.0, 0.2, 0.6, 0.9], [0.2, 1.0, 0.7, 0.9], [0.6, 0.7, 1.0, 0.9], [0.9, 0.9, 0.9, 0.0]]
    )
    assert central_argument(match, [0, 1, 2]) == 2  # .6 + .7, against .8 and .9
    assert central_argument(match, [0, 1, 2, 3]) == 3  # the diagonal does not count
    assert central_argument(match, [1]) == 1
    assert central_argument(match, [1, 0]) == 1  # equal: the earlier of the members
    with pytest.raises(ValueError, match="without arguments"):
        central_argument(match, [])
    # A large cluster is added up in parts.
    match = np.random.default_rng(3).random((1100, 1100), dtype=np.float32)
    members = list(range(40, 1090))
    inner = match[40:1090, 40:1090].astype(float)
    np.fill_diagonal(inner, 0)
    assert central_argument(match, members) == members[inner.sum(axis=0).argmax()]
    # Columns stand in the place of the key point.
    match = np.array([[1.0, 0.1, 0.1], [0.9, 1.0, 0.1], [0.9, 0.1, 1.0]])
    assert central_argument(match, [2, 1, 0]) == 0
    # Best arguments come first, unknown ones last.
    assert by_quality([4, 0, 1, 2], [0.5, np.nan, 0.9, 0.0, 0.5]) == [2, 4, 0, 1]
    assert by_quality([0, 1], [None, 0.0]) == [1, 0]


SHARE = inputs.Parameter("threshold", ())
COUNT = inputs.Parameter("neighbours", (), 2, 100, "int")


def test_values_as_they_are_typed():
    for typed, values in (
        ("0.05–0.95 step 0.025", [round(0.05 + 0.025 * n, 3) for n in range(37)]),
        ("0.1 - 0.3 by 0.1", [0.1, 0.2, 0.3]),
        ("0.5, 0.25; 0.5", [0.5, 0.25]),
        ("0.1..0.2 step 0.1, 0.9", [0.1, 0.2, 0.9]),
    ):
        assert inputs.read_values(typed, SHARE) == values


@pytest.mark.parametrize(
    ("typed", "parameter", "message"),
    [
        ("", SHARE, "at least one"),
        ("much", SHARE, "not a number or a range"),
        ("1.5", SHARE, "between 0 and 1"),
        ("nan", SHARE, "between 0 and 1"),
        ("0.5-0.1 step 0.1", SHARE, "increase"),
        ("0-1 step 0", SHARE, "increase"),
        ("0-1 step 0.0001", SHARE, "10,001 values"),
        (
            ", ".join(str(number / 1000) for number in range(inputs.MOST_VALUES + 1)),
            SHARE,
            "At most 200",
        ),
        ("2.5", COUNT, "not a whole number"),
        ("1", COUNT, "between 2 and 100"),
        ("perhaps", inputs.Parameter("iterative", (), kind="switch"), "must be on or off"),
        # This once took minutes of searching, the others ended in an overflow.
        (f"{'1' * 200}-{'2' * 200}:{'3' * 200}x", SHARE, None),
        (f"0-{'9' * 90} step 1", SHARE, None),
        (f"0-1 step 0.{'0' * 80}1", SHARE, None),
        (f"0-{'9' * 400} step 1", SHARE, None),
    ],
)
def test_values_that_cannot_be_used(typed, parameter, message):
    with pytest.raises(inputs.GridNotValid, match=message):
        inputs.read_values(typed, parameter)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12, unique=True))
def test_what_is_written_reads_the_same(values):
    shares = [value / 1000 for value in values]
    assert inputs.read_values(inputs.write_values(shares), SHARE) == pytest.approx(shares)


def test_the_usual_setting_is_one_and_grids_come_back_in_order():
    assert [inputs.count_combinations(each.usual_grid("plain")) for each in OWN] == [1] * len(OWN)
    barh = find_system("barh")
    assert barh.usual_grid("plain")["threshold"] == [0.856]
    # Written candidates are not filled up.
    assert [each.name for each in barh.parameters_for("candidates")] == ["threshold"]
    stored = {"min_size": [3], "threshold": [0.5]}
    assert list(find_system("mcargsum").in_order(stored)) == ["threshold", "min_size"]
    with pytest.raises(UnknownSystem, match="no system named “another”"):
        find_system("another")
