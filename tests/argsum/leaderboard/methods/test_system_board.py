"""Which setting stands for a system, and its figures; every number is computed by hand."""

import pytest

from argsum.leaderboard.methods import SetFigures, Terms, board

CELLS = ["1", "2"]


def scored(key, setting, cell, coverage, redundancy=0.0, *, system="S", **fields):
    return SetFigures(key, system, setting, cell, coverage, redundancy, **fields)


# Setting a wins cell 1, setting b wins cell 2; on the dev cell a is better.
GRID = [
    scored(1, "a", "1", 0.9, 0.3),
    scored(2, "a", "2", 0.3, 0.3),
    scored(3, "b", "1", 0.6, 0.0),
    scored(4, "b", "2", 0.6, 0.0),
]
DEV = [scored(5, "a", "dev", 0.9), scored(6, "b", "dev", 0.5)]


def only(rows):
    assert len(rows) == 1
    return rows[0]


def test_the_oracle_takes_the_best_of_every_cell():
    row = only(board(GRID, DEV, CELLS, Terms(selection="oracle")))
    # Cell 1: a has 2/3 × .9 + 1/3 × .7 = .8333, b .7333. Cell 2: b .7333, a .4333.
    assert (row.selection, row.criterion, row.setting) == ("oracle", "weighted", None)
    assert {cell: each.setting for cell, each in row.chosen.items()} == {"1": "a", "2": "b"}
    means = {"weighted": (5 / 6 + 11 / 15) / 2, "coverage": 0.75, "redundancy": 0.15}
    assert {name: row.figures[name].value for name in means} == pytest.approx(means)


def test_the_dev_split_chooses_one_setting_for_all_cells():
    row = only(board(GRID, DEV, CELLS, Terms(selection="dev")))
    assert (row.selection, row.criterion, row.setting) == ("dev", "weighted", "a")
    # By hand: (.8333 + .4333) / 2.
    means = {"weighted": 19 / 30, "coverage": 0.6}
    assert {name: row.figures[name].value for name in means} == pytest.approx(means)
    # It never sees the reported scores.
    turned = [scored(5, "a", "dev", 0.1), scored(6, "b", "dev", 0.5)]
    assert only(board(GRID, turned, CELLS, Terms())).setting == "b"
    # Without dev scores no score chooses.
    row = only(board(GRID, [], CELLS, Terms(selection="dev")))
    assert (row.selection, row.criterion, row.setting) == ("fixed", "", "a")
    missing = [*GRID[:1], *GRID[2:]]
    assert only(board(missing, [], CELLS, Terms(selection="fixed"))).setting == "b"
    # A setting that works in more dev cells comes first.
    dev = [scored(1, "a", "d1", 0.9), scored(2, "b", "d1", 0.5), scored(3, "b", "d2", 0.5)]
    assert only(board(GRID, dev, CELLS, Terms())).setting == "b"
    # Of the same setting and cell the last counts.
    sets = [scored(1, "", "1", 0.1), scored(2, "", "1", 0.7)]
    assert only(board(sets, [], ["1"], Terms())).chosen["1"].key == 2
    # One dev cell of many chooses nothing.
    cells = [str(n) for n in range(5)]
    judged = [scored(10, "a", "0", 0.9), scored(11, "b", "0", 0.1)]
    clustered = [
        scored(20 + n, name, cell, None, None, including=value)
        for name, value in (("a", 0.1), ("b", 0.2))
        for n, cell in enumerate(cells[1:])
    ]
    row = only(board(GRID, [*judged, *clustered], CELLS, Terms()))
    # Scores are known in one of five cells, clusters in four.
    assert (row.selection, row.criterion, row.setting) == ("dev", "including", "b")
    unclustered = [scored(30 + n, "a", cell, None, None) for n, cell in enumerate(cells)]
    row = only(board(GRID, [*judged[1:], *unclustered], CELLS, Terms()))
    assert (row.selection, row.setting) == ("fixed", "a")
    # A setting that was judged stands before one that was not.
    sets = [
        scored(1, "a", "1", None, None, including=0.9, share=1.0),
        scored(2, "a", "2", None, None, including=0.9, share=1.0),
        scored(3, "b", "1", 0.1, 0.9, including=0.1, share=1.0),
    ]
    row = only(board(sets, [], CELLS, Terms()))
    assert (row.selection, row.setting) == ("fixed", "b")


def test_the_weight_decides_who_is_first_among_systems_with_all_cells():
    covers, brief = scored(1, "", "1", 1.0, 1.0, system="A"), scored(2, "", "1", 0, 0, system="B")
    for weight, names in ((0.75, ["A", "B"]), (0.25, ["B", "A"])):
        rows = board([covers, brief], [], ["1"], Terms(weight=weight))
        assert [row.system for row in rows] == names
    sets = [
        scored(1, "", "1", 1.0, system="easy cell alone"),
        scored(2, "", "1", 0.5, system="all"),
        scored(3, "", "2", 0.5, system="all"),
        scored(4, "", "1", None, including=0.9, system="clusters, one cell"),
        scored(5, "", "1", None, including=0.1, system="clusters"),
        scored(6, "", "2", None, including=0.1, system="clusters"),
    ]
    names = [row.system for row in board(sets, [], CELLS, Terms())]
    assert names == ["all", "easy cell alone", "clusters", "clusters, one cell"]


def test_indexes_of_an_oracle_have_a_clustering_of_their_own():
    sets = [
        scored(1, "a", "1", 0.9, excluding=0.2, including=0.6, share=0.9),
        scored(2, "b", "1", 0.5, excluding=0.5, including=0.1, share=0.8),
        # The largest of all, and less than three quarters are clustered.
        scored(3, "c", "1", 0.1, excluding=0.9, including=0.2, share=0.7),
    ]
    row = only(board(sets, [], ["1"], Terms(selection="oracle")))
    found = row.by_cell["1"]
    assert (row.chosen["1"].setting, found["excluding"], found["including"]) == ("a", 0.5, 0.6)
    # Where an index is from another setting than the row, it says from which.
    found = [row.clustering_setting("1", name) for name in ("including", "excluding")]
    assert found == ["", "b"]
    loose = only(board(sets, [], ["1"], Terms(selection="oracle", least_share=0.5)))
    assert loose.by_cell["1"]["excluding"] == 0.9
    # An oracle has indexes where a score is missing.
    sets = [
        scored(1, "a", "1", 0.9, including=0.6),
        scored(2, "b", "1", 0.5, including=0.1),
        scored(3, "a", "2", None, including=0.2, excluding=0.4, share=0.8),
        scored(4, "b", "2", 0.7, None, including=0.3),
    ]
    row = only(board(sets, [], CELLS, Terms(selection="oracle")))
    assert row.figures["including"].value == pytest.approx(0.45)
    assert (row.by_cell["2"]["excluding"], row.chosen["2"].key) == (0.4, 4)
    # Other figures are those of the best set by the score, which cell 2 has not.
    assert row.by_cell["2"]["coverage"] is None
    assert row.figures["weighted"].n_values == 1


def test_missing_values_are_counted_and_never_nothing():
    sets = [scored(1, "", "1", 0.5, None), scored(2, "", "2", None, 0.5)]
    figures = only(board(sets, [], CELLS, Terms())).figures
    assert (figures["weighted"].value, figures["including"].value) == (None, None)
    assert (figures["coverage"].value, figures["coverage"].n_values) == (0.5, 1)

    # Intervals are over ten cells or more and end where shares do.
    def coverage_of(n):
        sets = [scored(k, "", str(k), 0.5 if k == 3 else 1.0) for k in range(n)]
        return only(board(sets, [], [str(k) for k in range(n)], Terms())).figures["coverage"]

    many, few = coverage_of(10), coverage_of(9)
    assert (many.value, many.n_values, many.high) == (pytest.approx(0.95), 10, 1.0)
    assert many.low < 0.95
    assert (few.value, few.low, few.n_values) == (pytest.approx(8.5 / 9), None, 9)
