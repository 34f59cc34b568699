"""The systems of this repository: what they declare."""

import pytest

from argsum.systems.methods.grids import combinations, count_combinations
from argsum.systems.registry import OWN, UnknownSystem, find_system


def test_the_published_grids():
    sizes = {each.name: count_combinations(each.published_grid("plain")) for each in OWN}
    # 9 thresholds × 2 shares; 4 × 4 × 3 of UMAP, each with and without iterative clustering.
    assert sizes == {"barh": 18, "smatchtopr": 18, "uskpm": 96, "mcargsum": 37}
    thresholds = find_system("mcargsum").published_grid("global")["threshold"]
    assert thresholds[:3] == [0.05, 0.075, 0.1]
    barh = find_system("barh")
    assert count_combinations(barh.published_grid("candidates")) == 9
    assert combinations(barh.published_grid("summaries")) == [{}]


@pytest.mark.parametrize("system", OWN, ids=lambda each: each.name)
def test_the_usual_setting_is_one(system):
    assert count_combinations(system.usual_grid("plain")) == 1


def test_the_usual_threshold_of_barh():
    assert find_system("barh").usual_grid("plain")["threshold"] == [0.856]


def test_written_candidates_are_not_filled_up():
    found = find_system("barh").parameters_for("candidates")
    assert [each.name for each in found] == ["threshold"]


def test_a_stored_grid_comes_back_in_order():
    stored = {"min_size": [3], "threshold": [0.5]}
    assert list(find_system("mcargsum").in_order(stored)) == ["threshold", "min_size"]


def test_a_system_that_nobody_has():
    with pytest.raises(UnknownSystem, match="no system of the name “another”"):
        find_system("another")
