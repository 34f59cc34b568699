"""Grids of parameters: how they are typed, what they come to, and those of our own systems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argsum.systems.methods import inputs
from argsum.systems.registry import OWN, UnknownSystem, find_system

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
        ("0.5-0.1 step 0.1", SHARE, "upwards"),
        ("0-1 step 0", SHARE, "upwards"),
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
        (f"{'1' * 200}-{'2' * 200}:{'3' * 200}x", SHARE, ""),
        (f"0-{'9' * 90} step 1", SHARE, ""),
        (f"0-1 step 0.{'0' * 80}1", SHARE, ""),
        (f"0-{'9' * 400} step 1", SHARE, ""),
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
