"""Clusters of a scorer at one threshold; every number is computed by hand."""

from argsum.scorers.methods.cluster_figures import cluster_figure
from argsum.scorers.methods.figures import Clusterings
from argsum.systems.methods.mcargsum import THRESHOLDS


def same(reference, ids):
    """One clustering at every threshold."""
    return [cluster_figure(f"{each:g}", reference, ids) for each in THRESHOLDS]


def test_cells_without_judged_arguments_are_left_out():
    clusterings = Clusterings(
        {
            "right": same("aabb", [0, 0, 1, 1]),
            "nothing judged": same("", []),
            "one judged": same("a", [0]),
        }
    )
    assert clusterings.at(THRESHOLDS[0]) == (1, 1, 1)
    assert clusterings.oracle() == (1, 1)


def test_a_cell_with_too_little_clustered_counts_as_nothing():
    clusterings = Clusterings(
        {"right": same("aabb", [0, 0, 1, 1]), "little": same("aabb", [0, 0, -1, -1])}
    )
    excluding, _including, cells = clusterings.at(THRESHOLDS[0])
    assert (excluding, cells) == (0.5, 1)
