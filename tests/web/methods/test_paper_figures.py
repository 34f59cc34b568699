"""Figures of papers: the status follows from the numbers alone."""

import math

import numpy as np
import pytest

from cqa_site.reproduction import figures as figures_of_papers
from cqa_site.reproduction.figures import MeasuredFigure, PrintedFigure, ReproducedValue, compare
from cqa_site.reproduction.reproduced import Reproduction


def measured(*numbers, n=9):
    return MeasuredFigure(numbers, n)


def one(printed, found, **more):
    (figure,) = compare({("t", "c"): found}, [PrintedFigure("t", "c", printed, **more)])
    return figure


PRINTED = [
    (".75", (0.8315,), False),  # never a match because the release itself has .8315
    ("0.75", (0.7549,), True),
    ("17.77", (17.765,), True),  # half a unit of the last digit
    ("17.77", (17.7755,), False),
    ("15.00", (15.0091,), False),
    ("15.00", (15.0101,), False),
    ("16.95 ± 1.44", (16.9467, 1.4367), True),
    ("16.95 ± 1.44", (16.9467, 1.48), False),
    ("16.95±1.44", (16.9467, 1.448), False),
    ("2,158", (2158,), True),
    ("2,158", (2157,), False),
    ("+1.93", (-1.93,), False),
    ("−0.12", (-0.118,), True),
    ("365 / 2", (365,), False),
    ("2 to 60", (2, 60), False),
    (".39", (math.nan,), False),
]


@pytest.mark.parametrize(("printed", "released", "is_same"), PRINTED)
def test_a_printed_figure_is_held_against_the_released_one(printed, released, is_same):
    figure, expected = MeasuredFigure(released), "match" if is_same else "differs"
    for found in (ReproducedValue(figure), ReproducedValue(ours=figure)):
        assert figures_of_papers.outcome(printed, found)[0] == expected


def test_the_worse_of_released_and_ours_counts_unless_ours_has_a_recipe_of_its_own():
    other = "leaves out what is outside the scale"
    for released, ours, recipe, expected in (
        (0.75, 0.7502, "", "match"),
        (0.75, 0.7602, "", "differs"),
        (0.7602, 0.75, "", "differs"),
        (0.75, 0.6, other, "match"),
    ):
        found = ReproducedValue(measured(released), measured(ours), recipe)
        assert figures_of_papers.outcome(".75", found)[0] == expected
    alone = ReproducedValue(None, measured(0.75), other)
    assert figures_of_papers.outcome(".75", alone)[0] == "cannot be computed"


def test_two_computed_values_are_never_a_match_with_each_other():
    for found in (
        ReproducedValue(measured(0.75), measured(0.75)),
        ReproducedValue(measured(1)),
        ReproducedValue(),
    ):
        assert figures_of_papers.outcome("", found) == ("no published value", ())
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
        "The paper prints 4 of them; 1 are only in the authors' results file, where 1 match. Of "
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
    # A reason of this time goes before the usual one.
    found, now = {("t", "c"): ReproducedValue(measured(0.8))}, {("t", "c"): "workers from 0.7"}
    (figure,) = compare(found, [PrintedFigure("t", "c", ".75", "usual")], reasons=now)
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
