"""The ranking: where names, dots, numbers and brackets stand."""

import pytest

from cqa_site.web.charts.dot_rows import ranked_dots
from cqa_site.web.charts.vega import axis_of, text_width, wrap

LONG = "Retrieval-augmented generation with it, "


def row(name, value, group=None, apart=0.4):
    low, high = (None, None) if value is None else (value - apart, value + apart)
    return {"name": name, "value": value, "low": low, "high": high, "group": group}


def layers(rows, **options):
    return ranked_dots(rows, title="Points", **options)["layer"]


def values(drawn, style):
    """The rows of the layer of a style."""
    found = [each for each in drawn if each["mark"].get("style") == style]
    return found[0]["data"]["values"] if found else []


def test_a_group_of_two_or_more_neighbours_stands_behind_one_bracket():
    groups = [1, 1, 2, 3, 3, 3]
    rows = [row(f"S{at}", 9 - at, group) for at, group in enumerate(groups)]
    lines = values(layers(rows), "bracket")
    upright = [(one["y"] - 6, one["y2"] - 6) for one in lines if one["x"] == one["x2"]]
    assert [(top // 24, bottom // 24) for top, bottom in upright] == [(0, 1), (3, 5)]
    assert values(layers([row("A", 2), row("B", 1)]), "bracket") == []


def test_without_a_value_there_is_a_dash_and_no_dot():
    drawn = layers([row("A", 0.5), row("B", None)], domain=(0, 1))
    assert [one["text"] for one in values(drawn, "value")] == ["0.500", "–"]
    assert [one["name"] for one in values(drawn, "sign")] == ["A"]


@pytest.mark.parametrize(
    ("domain", "shown"), [(None, [8.5, 11.5]), ((0, 19), [0, 19]), ((10, 11), [8.6, 11.4])]
)
def test_nothing_lies_outside_the_axis(domain, shown):
    drawn = layers([row("A", 11), row("B", 9)], domain=domain)
    dots = next(each for each in drawn if each["mark"]["type"] == "point")
    assert dots["encoding"]["x"]["scale"]["domain"] == shown


@pytest.mark.parametrize(("size", "lines"), [("wide", 2), ("narrow", 1)])
def test_a_long_name_is_whole_on_two_lines_or_above_its_dot(size, lines):
    drawn = values(layers([row(LONG, 1), row("B", 2)], size=size), "name")
    assert len(drawn) == lines + 1
    assert "".join(one["text"] for one in drawn[:-1]).replace(" ", "") == LONG.replace(" ", "")


def test_what_does_not_fit_loses_its_middle():
    first, second = wrap("M" * 60 + " one", 200), wrap("M" * 60 + " two", 200)
    assert (first[1][-4:], second[1][-4:]) == ("…one", "…two")
    assert all(text_width(line) <= 200 for line in first + second)
    assert wrap("a b", 200) == ["a b"]


def test_an_axis_has_two_round_values_at_least():
    assert axis_of(domain=(10.2, 19), most=4).ticks == [12, 14, 16, 18]
    assert axis_of(domain=(0, 19), most=4).ticks == [0, 5, 10, 15]
