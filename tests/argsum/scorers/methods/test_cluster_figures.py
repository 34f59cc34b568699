"""Adjusted Rand index, share clustered, and the best clustering per cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from argsum.scorers.methods.figures import (
    ClusterFigure,
    adjusted_rand,
    best_per_cell,
    cluster_figure,
)


def test_the_worked_example():
    # Pairs that share a key point: aa, bb. Pairs that share a cluster: aa, and the two
    # unclustered. Together 1; by chance 2 · 2 / 10 = .4; (1 - .4) / (2 - .4) = .375.
    figure = cluster_figure("m=0.5", "aabbc", [0, 0, 1, -1, -1])
    assert figure == ClusterFigure("m=0.5", excluding=1.0, including=0.375, share=0.6)


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
    assert adjusted_rand(reference, ids, noise="exclude") == excluding
    assert adjusted_rand(reference, ids, noise="include") == including


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-1, 3)), min_size=2, max_size=30))
def test_it_is_the_index_of_scikit_learn(pairs):
    reference, ids = [a for a, _ in pairs], [b for _, b in pairs]
    found = adjusted_rand(reference, ids, noise="include")
    assert found == pytest.approx(adjusted_rand_score(reference, ids), abs=1e-12)
    kept = [(a, b) for a, b in pairs if b != -1]
    if len(kept) > 1:
        expected = adjusted_rand_score(*zip(*kept, strict=True))
        found = adjusted_rand(reference, ids, noise="exclude")
        assert found == pytest.approx(expected, abs=1e-12)


CELLS = {
    "one": [
        ClusterFigure("a", excluding=0.9, including=0.1, share=0.74),
        ClusterFigure("b", excluding=0.6, including=0.3, share=0.75),
        ClusterFigure("c", excluding=0.6, including=0.2, share=1.0),
    ],
    "two": [
        ClusterFigure("a", excluding=0.2, including=None, share=1.0),
        ClusterFigure("b", excluding=None, including=-0.1, share=1.0),
    ],
    "three": [ClusterFigure("a", excluding=0.9, including=None, share=0.5)],
}


def test_best_per_cell_excluding_noise_needs_enough_clustered():
    best = best_per_cell(CELLS, noise="exclude")
    assert {cell: each.setting for cell, each in best.chosen.items()} == {"one": "b", "two": "a"}
    assert best.mean == pytest.approx(0.4)
    assert best.without == ("three",)
    assert best_per_cell(CELLS, noise="exclude", least_share=0.5).mean == pytest.approx(2 / 3)
    # Including noise, any share will do.
    best = best_per_cell(CELLS, noise="include")
    assert {cell: each.setting for cell, each in best.chosen.items()} == {"one": "b", "two": "b"}
    assert best.mean == pytest.approx(0.1)
    nothing = best_per_cell({"one": []}, noise="include")
    assert (nothing.mean, nothing.chosen, nothing.without) == (None, {}, ("one",))
    assert best_per_cell({}, noise="include").mean is None
