"""Grids of parameters: how they are typed, what they come to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argsum.systems.methods.grids import (
    MOST_VALUES,
    GridNotValid,
    Parameter,
    read_values,
    setting_of,
    write_values,
)

SHARE = Parameter("threshold", ())
COUNT = Parameter("neighbours", (), 2, 100, "int")


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("0.05–0.95 step 0.025", [round(0.05 + 0.025 * n, 3) for n in range(37)]),
        ("0.1 - 0.3 by 0.1", [0.1, 0.2, 0.3]),
        ("0.5, 0.25; 0.5", [0.5, 0.25]),
        ("0.1..0.2 step 0.1, 0.9", [0.1, 0.2, 0.9]),
    ],
)
def test_values_as_they_are_typed(typed, values):
    assert read_values(typed, SHARE) == values


@pytest.mark.parametrize(
    ("typed", "parameter", "message"),
    [
        ("", SHARE, "at least one"),
        ("much", SHARE, "neither a number nor a range"),
        ("1.5", SHARE, "between 0 and 1"),
        ("nan", SHARE, "between 0 and 1"),
        ("0.5-0.1 step 0.1", SHARE, "upwards"),
        ("0-1 step 0", SHARE, "upwards"),
        ("0-1 step 0.0001", SHARE, "10,001 values"),
        ("2.5", COUNT, "no whole number"),
        ("1", COUNT, "between 2 and 100"),
        ("perhaps", Parameter("iterative", (), kind="switch"), "neither on nor off"),
    ],
)
def test_values_that_cannot_be_used(typed, parameter, message):
    with pytest.raises(GridNotValid, match=message):
        read_values(typed, parameter)


def test_too_many_single_values_are_refused():
    typed = ", ".join(str(number / 1000) for number in range(MOST_VALUES + 1))
    with pytest.raises(GridNotValid, match="At most 200"):
        read_values(typed, SHARE)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12, unique=True))
def test_what_is_written_reads_the_same(values):
    shares = [value / 1000 for value in values]
    assert read_values(write_values(shares), SHARE) == pytest.approx(shares)


def test_a_setting_has_one_spelling():
    assert setting_of({"iterative": True, "min_distance": 0.0}) == "iterative=on min_distance=0"
    assert setting_of({}) == ""


@pytest.mark.parametrize(
    "typed",
    [
        "1" * 200 + "-" + "2" * 200 + ":" + "3" * 200 + "x",
        "0-" + "9" * 90 + " step 1",
        "0-1 step 0." + "0" * 80 + "1",
        "0-" + "9" * 400 + " step 1",
    ],
)
def test_hostile_ranges_are_refused_at_once(typed):
    """The first text once took minutes of searching, the others ended in an overflow."""
    with pytest.raises(GridNotValid):
        read_values(typed, SHARE)
