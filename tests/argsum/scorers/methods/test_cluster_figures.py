"""Figures of clusters, the best clustering per cell, and which encoder reads a language."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import adjusted_rand_score

from argsum.leaderboard.methods import SetFigures, Terms, board
from argsum.scorers.methods import figures
from argsum.scorers.methods.encoders import MOST_STATEMENTS, choose_encoder, side_by_side
from argsum.systems.methods.clusters import THRESHOLDS
from cqa_site.judging.encoders import MPNET, MULTILINGUAL


def test_index():
    # Pairs that share a key point: aa, bb. Pairs that share a cluster: aa, and the two
    # unclustered. Together 1; by chance 2 · 2 / 10 = .4; (1 - .4) / (2 - .4) = .375.
    figure = figures.cluster_figure("m=0.5", "aabbc", [0, 0, 1, -1, -1])
    assert figure == figures.ClusterFigure("m=0.5", excluding=1.0, including=0.375, share=0.6)
    for reference, ids, excluding, including in (
        ("aabb", [0, 0, 1, 1], 1.0, 1.0),
        ("aabb", [1, 1, 0, 0], 1.0, 1.0),  # names do not matter
        ("aabb", [0, 1, 0, 1], -0.5, -0.5),
        ("aabb", [0, 0, 0, 0], 0.0, 0.0),
        ("aaaa", [0, 0, 0, 0], 1.0, 1.0),
        ("abcd", [0, 1, 2, 3], 1.0, 1.0),
        ("aabb", [-1, -1, -1, -1], None, 0.0),
        ("aabb", [0, -1, -1, -1], None, 0.0),
        ("", [], None, None),
    ):
        noises = ("exclude", "include")
        found = [figures.adjusted_rand(reference, ids, noise=noise) for noise in noises]
        assert found == [excluding, including], (reference, ids)


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
    # A threshold does not win by leaving cells out.
    low = figures.cluster_figure("0.05", "aabbccdd", [0, 0, 1, 1, 2, 2, 3, 0])
    high = figures.cluster_figure("0.075", "aabbccdd", [0, 0, 1, 1, 2, 2, 3, 3])
    little = figures.cluster_figure("0.075", "aabbccdd", [0, -1, -1, 1, -1, -1, -1, -1])
    clusterings = figures.Clusterings({"one": [low, high], "two": [low, little]})
    assert clusterings.at(0.075)[0].mean > clusterings.at(0.05)[0].mean
    assert clusterings.worth(0.05) > clusterings.worth(0.075)


def test_the_language_decides():
    both = [MPNET, MULTILINGUAL]
    for language, installed, statements, name, reason in (
        ("en", both, 10, MPNET, "language"),
        ("en", [MULTILINGUAL], 10, "shipped", "missing"),
        ("en", [MPNET], MOST_STATEMENTS + 1, "shipped", "many"),
        ("de", both, 10**6, MULTILINGUAL, "language"),
        ("pl", [MPNET], 10, "shipped", "missing"),
        ("he", both, 10, "shipped", "unsupported"),
        ("", both, 10, "shipped", "unsupported"),
    ):
        choice = choose_encoder(language, installed, statements=statements)
        assert (choice.name, choice.reason) == (name, reason)
    # A debate is read by the scorer that was trained on debates.
    assert choose_encoder("en", both, is_one_sided=True).reason == "debate"
    assert choose_encoder("de", both, is_one_sided=True).name == MULTILINGUAL


def test_a_cosine_is_the_mean_of_both():
    draw = np.random.default_rng(3)
    parts = [draw.normal(size=(5, width)).astype(np.float32) for width in (4, 9)]
    parts = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts]
    both = side_by_side(parts)
    assert both.shape == (5, 13)
    mean = (parts[0] @ parts[0].T + parts[1] @ parts[1].T) / 2
    assert both @ both.T == pytest.approx(mean, abs=1e-6)
    assert side_by_side(parts[:1]) is parts[0]
