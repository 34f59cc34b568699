"""Figures of papers: the status follows from the numbers alone."""

import math

import numpy as np
import pytest

from cqa_site.reproduction.figures import (
    MeasuredFigure,
    PrintedFigure,
    ReproducedValue,
    compare,
    outcome,
)
from cqa_site.reproduction.reproduced import Reproduction


def measured(*numbers, n=9):
    return MeasuredFigure(numbers, n)


def one(printed, found, **more):
    (figure,) = compare({("t", "c"): found}, [PrintedFigure("t", "c", printed, **more)])
    return figure


@pytest.mark.parametrize(
    ("printed", "released", "expected"),
    [
        (".75", (0.8315,), "differs"),  # never a match because the release itself has .8315
        ("0.75", (0.7549,), "match"),
        ("17.77", (17.765,), "match"),  # half a unit of the last digit
        ("17.77", (17.7755,), "differs"),
        ("15.00", (15.0091,), "differs"),
        ("15.00", (15.0101,), "differs"),
        ("16.95 ± 1.44", (16.9467, 1.4367), "match"),
        ("16.95 ± 1.44", (16.9467, 1.48), "differs"),
        ("16.95±1.44", (16.9467, 1.448), "differs"),
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
    assert outcome(printed, ReproducedValue(MeasuredFigure(released)))[0] == expected
    assert outcome(printed, ReproducedValue(ours=MeasuredFigure(released)))[0] == expected


def test_the_worse_of_released_and_ours_counts():
    assert outcome(".75", ReproducedValue(measured(0.75), measured(0.7502)))[0] == "match"
    assert outcome(".75", ReproducedValue(measured(0.75), measured(0.7602)))[0] == "differs"
    assert outcome(".75", ReproducedValue(measured(0.7602), measured(0.75)))[0] == "differs"


def test_ours_by_a_recipe_of_its_own_supports_nothing_and_spoils_nothing():
    other = "leaves out what is off the scale"
    assert outcome(".75", ReproducedValue(measured(0.75), measured(0.6), other))[0] == "match"
    assert outcome(".75", ReproducedValue(None, measured(0.75), other))[0] == "cannot be computed"


def test_two_computed_values_are_never_a_match_with_each_other():
    for found in (
        ReproducedValue(measured(0.75), measured(0.75)),
        ReproducedValue(measured(1)),
        ReproducedValue(),
    ):
        assert outcome("", found) == ("no published value", ())
    same = measured(0.75)
    (figure,) = compare({("t", "c"): ReproducedValue(same, same)})
    assert (figure.verdict, figure.place, figure.published) == ("no published value", "", "")


def test_a_figure_says_by_how_much_it_differs():
    assert one("732", ReproducedValue(measured(723))).verdict == "differs by −9"
    pair = one(
        "13.39 ± 4.07",
        ReproducedValue(MeasuredFigure((13.3867, 4.0464), 150, "±")),
        why="another sd",
    )
    assert pair.verdict == "differs by −0.0033 / −0.0236: another sd"
    assert one("2 to 60", ReproducedValue(measured(3, 76))).verdict == "differs"


def test_what_the_authors_files_state_is_published_and_computes_nothing():
    stated = MeasuredFigure((0.904464,))
    alone = one("0.90", ReproducedValue(stated=stated))
    assert (alone.status, alone.published) == ("cannot be computed", "0.90")
    assert "state it without the scores behind it" in alone.why
    unprinted = one("", ReproducedValue(measured(0.90449), stated=stated))
    assert (unprinted.status, unprinted.published) == ("match", "0.9045")
    assert unprinted.place == "the authors' results file"
    assert one("", ReproducedValue(measured(0.9), stated=stated)).status == "differs"


def test_the_summary_counts_matches_with_published_figures_only():
    stated = MeasuredFigure((0.904464,))
    found = {
        ("t", "match"): ReproducedValue(measured(1), measured(1)),
        ("t", "off"): ReproducedValue(measured(1.004)),
        ("t", "alone"): ReproducedValue(stated=stated),
        ("t", "again"): ReproducedValue(measured(0.904464), stated=stated),
        ("t", "twice"): ReproducedValue(measured(7), measured(7)),
        ("t", "changed"): ReproducedValue(measured(7), measured(8)),
    }
    printed = [
        PrintedFigure("t", *each) for each in (("match", "1"), ("off", "1.000"), ("alone", "0.90"))
    ]
    figures = tuple(
        compare(found, [*printed, PrintedFigure("t", "gone", "5"), PrintedFigure("t", "nothing")])
    )
    made = Reproduction(figures, is_imported=True)
    assert made.summary().splitlines() == [
        "2 of 5 published figures match; 1 differ; 2 cannot be computed; "
        "2 rows have no published value.",
        "The paper prints 4 of them; 1 stand only in the authors' results file, where 1 match. Of "
        "1 printed figures that this file states and nothing else gives, it has 1 as printed.",
        "Import check: 2 of 3 figures are the same from the files and from the import.",
    ]
    # Near the printed figure is no failure, and neither is a figure that nobody published.
    assert made.failing == ["t: changed"]
    assert Reproduction(figures).failing == []


def test_a_reason_is_said_only_where_the_figure_is_off():
    off = one(".75", ReproducedValue(measured(0.8315)), why="computed by hand")
    assert (off.why, off.is_unexplained) == ("computed by hand", False)
    assert one(".75", ReproducedValue(measured(0.8315))).is_unexplained
    on = one(".75", ReproducedValue(measured(0.7501)), why="computed by hand")
    assert (on.verdict, on.why) == ("match", "")


def test_a_reason_of_this_time_goes_before_the_usual_one():
    found = {("t", "c"): ReproducedValue(measured(0.8))}
    (figure,) = compare(
        found, [PrintedFigure("t", "c", ".75", "usual")], reasons={("t", "c"): "workers from 0.7"}
    )
    assert figure.why == "workers from 0.7"


def test_numbers_are_shown_with_two_digits_more_than_printed():
    figure = one(
        "1.2 ± 3.45",
        ReproducedValue(MeasuredFigure((1.23456, 3.4567), 1200, "±"), MeasuredFigure((1, 2.0))),
    )
    assert figure.as_row() == (
        "t", "c", "1.2 ± 3.45", "t", "1.235 ± 3.4567", "1,200", "1 / 2.0000", "–",
        "differs by −0.200 / −1.4500",
    )  # fmt: skip


def test_unprinted_numbers_have_four_digits_and_counts_none():
    assert MeasuredFigure((0.5, -1.25), signs="±").text() == "0.5000 ± −1.2500"
    assert MeasuredFigure((1234, np.int64(5))).text() == "1,234 / 5"
    assert MeasuredFigure((0.1, 0.2, 0.3), signs="/±").text([2, 2, 1]) == "0.10 / 0.20 ± 0.3"
    assert MeasuredFigure((0.1, 0.2, 0.3), signs="/±").part(1, 3).text([2, 2]) == "0.20 ± 0.30"
    assert MeasuredFigure((math.nan,)).text() == "–"
