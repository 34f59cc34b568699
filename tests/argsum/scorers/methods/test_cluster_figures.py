"""Adjusted Rand index, share clustered, and the best clustering per cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from argsum.leaderboard.methods import SetFigures, Terms, board
from argsum.scorers.methods import figures
from argsum.systems.methods.clusters import THRESHOLDS


def test_the_worked_example():
    # Pairs that share a key point: aa, bb. Pairs that share a cluster: aa, and the two
    # unclustered. Together 1; by chance 2 · 2 / 10 = .4; (1 - .4) / (2 - .4) = .375.
    figure = figures.cluster_figure("m=0.5", "aabbc", [0, 0, 1, -1, -1])
    assert figure == figures.ClusterFigure("m=0.5", excluding=1.0, including=0.375, share=0.6)


@pytest.mark.parametrize(
    ("reference", "ids", "excluding", "including"),
    [
        ("aabb", [0, 0, 1, 1], 1.0, 1.0),
        ("aabb", [1, 1, 0, 0], 1.0, 1.0),  # names do not matter
        ("aabb", [0, 1, 0, 1], -0.5, -0.5),
        ("aabb", [0, 0, 0, 0], 0.0, 0.0),
        ("aaaa", [0, 0, 0, 0], 1.0, 1.0),
        ("abcd", [0, 1, 2, 3], 1.0, 1.0),
        ("aabb", [-1, -1, -1, -1], None, 0.0),
        ("aabb", [0, -1, -1, -1], None, 0.0),
        ("", [], None, None),
    ],
)
def test_index(reference, ids, excluding, including):
    assert figures.adjusted_rand(reference, ids, noise="exclude") == excluding
    assert figures.adjusted_rand(reference, ids, noise="include") == including


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-1, 3)), min_size=2, max_size=30))
def test_it_is_the_index_of_scikit_learn(pairs):
    reference, ids = [a for a, _ in pairs], [b for _, b in pairs]
    found = figures.adjusted_rand(reference, ids, noise="include")
    assert found == pytest.approx(adjusted_rand_score(reference, ids), abs=1e-12)
    kept = [(a, b) for a, b in pairs if b != -1]
    if len(kept) > 1:
        expected = adjusted_rand_score(*zip(*kept, strict=True))
        found = figures.adjusted_rand(reference, ids, noise="exclude")
        assert found == pytest.approx(expected, abs=1e-12)


CELLS = {
    "one": [
        figures.ClusterFigure("a", excluding=0.9, including=0.1, share=0.74),
        figures.ClusterFigure("b", excluding=0.6, including=0.3, share=0.75),
        figures.ClusterFigure("c", excluding=0.6, including=0.2, share=1.0),
    ],
    "two": [
        figures.ClusterFigure("a", excluding=0.2, including=None, share=1.0),
        figures.ClusterFigure("b", excluding=None, including=-0.1, share=1.0),
    ],
    "three": [figures.ClusterFigure("a", excluding=0.9, including=None, share=0.5)],
}


def test_best_per_cell_excluding_noise_needs_enough_clustered():
    best = figures.best_per_cell(CELLS, noise="exclude")
    assert {cell: each.setting for cell, each in best.chosen.items()} == {"one": "b", "two": "a"}
    assert (best.mean, best.without) == (pytest.approx(0.4), ("three",))
    assert figures.best_per_cell(CELLS, noise="exclude", least_share=0.5).mean == pytest.approx(
        2 / 3
    )
    # Including noise, any share will do.
    best = figures.best_per_cell(CELLS, noise="include")
    assert {cell: each.setting for cell, each in best.chosen.items()} == {"one": "b", "two": "b"}
    assert best.mean == pytest.approx(0.1)
    nothing = figures.best_per_cell({"one": []}, noise="include")
    assert (nothing.mean, nothing.chosen, nothing.without) == (None, {}, ("one",))
    assert figures.best_per_cell({}, noise="include").mean is None


def same(reference, ids):
    """One clustering at every threshold."""
    return [figures.cluster_figure(f"{each:g}", reference, ids) for each in THRESHOLDS]


def test_a_cell_with_too_little_clustered_has_no_index_and_counts_as_nothing():
    right, whole = same("aabb", [0, 0, 1, 1]), figures.OverCells(1, 1, 1, 1)
    cells = {"right": right, "little": same("aabb", [0, 0, -1, -1])}
    excluding, including = figures.Clusterings(cells).at(THRESHOLDS[0])
    assert excluding == figures.OverCells(mean=1.0, with_zeros=0.5, n=1, cells=2)
    assert (including.n, including.cells) == (2, 2)
    assert figures.Clusterings(cells).oracle()[0] == excluding
    # The board and the card of a scorer count the same cells.
    names = ("excluding", "including", "share")
    sets = [
        SetFigures(key, "S", "0.5", cell, **{name: getattr(own[0], name) for name in names})
        for key, (cell, own) in enumerate(cells.items())
    ]
    (row,) = board(sets, [], list(cells), Terms())
    assert row.excluding == excluding
    figure = row.figures["excluding"]
    assert (figure.value, figure.n_values) == (excluding.mean, excluding.n)
    # Cells without judged arguments are left out.
    unjudged = {"nothing judged": same("", []), "one judged": same("a", [0])}
    clusterings = figures.Clusterings({"right": right} | unjudged)
    assert clusterings.at(THRESHOLDS[0]) == clusterings.oracle() == (whole, whole)


def test_a_threshold_does_not_win_by_leaving_cells_out():
    low = figures.cluster_figure("0.05", "aabbccdd", [0, 0, 1, 1, 2, 2, 3, 0])
    high = figures.cluster_figure("0.075", "aabbccdd", [0, 0, 1, 1, 2, 2, 3, 3])
    little = figures.cluster_figure("0.075", "aabbccdd", [0, -1, -1, 1, -1, -1, -1, -1])
    clusterings = figures.Clusterings({"one": [low, high], "two": [low, little]})
    assert clusterings.at(0.075)[0].mean > clusterings.at(0.05)[0].mean
    assert clusterings.worth(0.05) > clusterings.worth(0.075)
