"""Figures of papers: the status follows from the numbers alone."""

import json
import math
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from cqa_site.reproduction.figures import Figure, Found, Measured, Printed, compare, status_of


def measured(*numbers, n=9):
    return Measured(numbers, n)


def one(printed, found, **more):
    (figure,) = compare({("t", "c"): found}, [Printed("t", "c", printed, **more)])
    return figure


@pytest.mark.parametrize(
    ("printed", "released", "expected"),
    [
        (".75", (0.8315,), "differs"),  # never a match because the release itself has .8315
        ("0.75", (0.7549,), "match"),
        ("17.77", (17.765,), "match"),  # half a unit of the last digit
        ("17.77", (17.7755,), "within .01"),
        ("15.00", (15.0091,), "within .01"),
        ("15.00", (15.0101,), "differs"),
        ("16.95 ± 1.44", (16.9467, 1.4367), "match"),
        ("16.95 ± 1.44", (16.9467, 1.48), "differs"),
        ("16.95±1.44", (16.9467, 1.448), "within .01"),
        ("2,158", (2158,), "match"),
        ("2,158", (2157,), "differs"),
        ("+1.93", (-1.93,), "differs"),
        ("−0.12", (-0.118,), "match"),
        ("365 / 2", (365,), "differs"),
        ("2 to 60", (2, 60), "differs"),
        (".39", (math.nan,), "differs"),
    ],
)
def test_a_printed_figure_is_held_against_the_released_one(printed, released, expected):
    assert status_of(printed, Found(Measured(released))) == expected
    assert status_of(printed, Found(ours=Measured(released))) == expected


def test_the_worse_of_released_and_ours_counts():
    assert status_of(".75", Found(measured(0.75), measured(0.7502))) == "match"
    assert status_of(".75", Found(measured(0.75), measured(0.7602))) == "differs"
    assert status_of(".75", Found(measured(0.7602), measured(0.75))) == "differs"


def test_ours_by_a_recipe_of_its_own_supports_nothing_and_spoils_nothing():
    other = "leaves out what is off the scale"
    assert status_of(".75", Found(measured(0.75), measured(0.6), other)) == "match"
    assert status_of(".75", Found(None, measured(0.75), other)) == "not in the data"
    assert status_of("", Found(measured(0.75), measured(0.6), other)) == "not printed"


def test_with_nothing_printed_ours_is_held_against_the_release():
    assert status_of("", Found(measured(0.75), measured(0.75))) == "match"
    assert status_of("", Found(measured(12, 3), measured(12, 4))) == "differs"
    assert status_of("", Found(measured(-0.75), measured(-0.7499))) == "within .01"
    assert status_of("", Found(measured(0.75))) == "not printed"
    assert status_of("", Found()) == "not in the data"
    assert status_of(".75", Found()) == "not in the data"


def test_nobody_sets_a_status():
    assert {each.name for each in fields(Printed)} == {"table", "cell", "text", "why"}
    with pytest.raises(FrozenInstanceError):
        one(".75", Found(measured(0.8))).status = "match"


def test_a_reason_is_said_only_where_the_figure_is_off():
    off = one(".75", Found(measured(0.8315)), why="computed by hand")
    assert (off.verdict, off.is_unexplained) == ("differs: computed by hand", False)
    assert one(".75", Found(measured(0.8315))).is_unexplained
    on = one(".75", Found(measured(0.7501)), why="computed by hand")
    assert (on.verdict, on.why) == ("match", "")


def test_a_reason_of_this_time_goes_before_the_usual_one():
    found = {("t", "c"): Found(measured(0.8))}
    (figure,) = compare(
        found, [Printed("t", "c", ".75", "usual")], reasons={("t", "c"): "workers from 0.7"}
    )
    assert figure.why == "workers from 0.7"


def test_what_nobody_printed_stands_behind_its_table():
    found = {("b", "new"): Found(measured(1)), ("a", "new"): Found(measured(2))}
    figures = compare(found, [Printed("a", "x", "1"), Printed("b", "y", "1")])
    assert [each.name for each in figures] == ["a: x", "a: new", "b: y", "b: new"]
    with pytest.raises(ValueError, match="twice"):
        compare({}, [Printed("a", "x"), Printed("a", "x")])


def test_numbers_are_shown_with_two_digits_more_than_printed():
    figure = one("1.2 ± 3.45", Found(Measured((1.23456, 3.4567), 1200, "±"), Measured((1, 2.0))))
    assert figure.as_row() == (
        "t", "c", "1.2 ± 3.45", "1.235 ± 3.4567", "1,200", "1 / 2.0000", "–",
        "differs",
    )  # fmt: skip


def test_unprinted_numbers_have_four_digits_and_counts_none():
    assert Measured((0.5, -1.25), signs="±").text() == "0.5000 ± −1.2500"
    assert Measured((1234, np.int64(5))).text() == "1,234 / 5"
    assert Measured((0.1, 0.2, 0.3), signs="/±").text([2, 2, 1]) == "0.10 / 0.20 ± 0.3"
    assert Measured((0.1, 0.2, 0.3), signs="/±").part(1, 3).text([2, 2]) == "0.20 ± 0.30"
    assert Measured((math.nan,)).text() == "–"


def test_json_is_plain():
    figure = one(
        ".5", Found(Measured((np.int64(3), np.float64(0.5)), 7), Measured((math.nan,))), why="why"
    )
    assert json.loads(json.dumps(figure.as_dict())) == {
        "table": "t",
        "cell": "c",
        "printed": ".5",
        "released": {"numbers": [3, 0.5], "n": 7},
        "ours": {"numbers": [None], "n": None},
        "recipe": "",
        "status": "differs",
        "why": "why",
    }


def test_a_figure_says_what_ours_does_differently():
    figure = one(".5", Found(measured(0.5), measured(0.6), "without sheets off the scale"))
    assert isinstance(figure, Figure)
    assert figure.verdict == "match; ours: without sheets off the scale"
