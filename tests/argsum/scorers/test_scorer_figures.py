"""Clusters of a scorer at one threshold; every number is computed by hand."""

from argsum.leaderboard.methods import SetFigures, Terms, board
from argsum.scorers.methods.figures import Clusterings, OverCells, cluster_figure
from argsum.systems.methods.clusters import THRESHOLDS


def same(reference, ids):
    """One clustering at every threshold."""
    return [cluster_figure(f"{each:g}", reference, ids) for each in THRESHOLDS]


def test_cells_without_judged_arguments_are_left_out():
    right, whole = same("aabb", [0, 0, 1, 1]), OverCells(1, 1, 1, 1)
    cells = {"right": right, "nothing judged": same("", []), "one judged": same("a", [0])}
    clusterings = Clusterings(cells)
    assert clusterings.at(THRESHOLDS[0]) == clusterings.oracle() == (whole, whole)


LITTLE = {"right": same("aabb", [0, 0, 1, 1]), "little": same("aabb", [0, 0, -1, -1])}


def test_a_cell_with_too_little_clustered_has_no_index_and_counts_as_nothing():
    excluding, including = Clusterings(LITTLE).at(THRESHOLDS[0])
    assert excluding == OverCells(mean=1.0, with_zeros=0.5, n=1, cells=2)
    assert (including.n, including.cells) == (2, 2)
    assert Clusterings(LITTLE).oracle()[0] == excluding


def test_a_threshold_does_not_win_by_leaving_cells_out():
    low = cluster_figure("0.05", "aabbccdd", [0, 0, 1, 1, 2, 2, 3, 0])
    high = cluster_figure("0.075", "aabbccdd", [0, 0, 1, 1, 2, 2, 3, 3])
    little = cluster_figure("0.075", "aabbccdd", [0, -1, -1, 1, -1, -1, -1, -1])
    clusterings = Clusterings({"one": [low, high], "two": [low, little]})
    assert clusterings.at(0.075)[0].mean > clusterings.at(0.05)[0].mean
    assert clusterings.worth(0.05) > clusterings.worth(0.075)


FIGURES = ("excluding", "including", "share")


def test_board_and_card_count_the_same_cells():
    sets = [
        SetFigures(key, "S", "0.5", cell, **{name: getattr(own, name) for name in FIGURES})
        for key, (cell, (own, *_rest)) in enumerate(LITTLE.items())
    ]
    row = board(sets, [], list(LITTLE), Terms())[0]
    excluding = Clusterings(LITTLE).at(THRESHOLDS[0])[0]
    assert row.excluding == excluding
    assert row.figures["excluding"].value == excluding.mean
    assert row.figures["excluding"].n_values == excluding.n
