"""Charts, and the three forms a small table leaves in."""

import csv
import io
import json
import re

import pytest
from django.core.cache import cache
from django.template.defaultfilters import floatformat
from hypothesis import given, strategies as st

from cqa_site.web.charts import vega as charts
from cqa_site.web.charts.bars import heatmap, histogram
from cqa_site.web.charts.dot_rows import number_of
from cqa_site.web.charts.vega import axis_of
from cqa_site.web.tables import TableData, booktabs, escape, text_of
from cqa_site.web.templatetags.pages import percent
from tests.lengths import mostly
from tests.web.chart_cases import CASES

BARS = CASES["figures labels"](2, "wide")


LOOKED_AT = mostly(("judges judges", "raters", "board beside", "figures time"), "judges judges")


@pytest.mark.parametrize("theme", charts.THEMES)
@pytest.mark.parametrize("size", charts.WIDTHS)
@pytest.mark.parametrize("name", LOOKED_AT)
def test_every_chart_is_drawn_in_every_look(name, size, theme):
    cache.clear()
    spec = CASES[name](2, size)
    json.dumps(spec, allow_nan=False)
    svg = charts.picture(spec, format="svg", theme=theme).decode()
    assert svg.startswith("<svg")
    assert "NaN" not in svg
    assert int(re.search(r'width="(\d+)', svg).group(1)) <= charts.WIDTHS[size] + 1
    assert "http" not in svg.replace("http://www.w3.org/", "")


def test_a_number_that_is_nearly_zero_has_no_sign():
    axis = axis_of([-1.0, 5.0], most=5)
    assert [number_of(each, axis) for each in (-0.001, -0.01, None)] == ["0.00", "−0.01", "–"]


def test_a_picture_is_drawn_once_for_the_same_data_and_anew_for_others(monkeypatch):
    cache.clear()
    drawn = []
    monkeypatch.setattr(charts, "_draw", lambda *args: drawn.append(args) or b"picture")
    for _ in range(2):
        charts.picture(BARS, format="svg", theme="light")
    assert len(drawn) == 1
    charts.picture(BARS, format="svg", theme="dark")
    charts.picture(BARS, format="png", theme="light")
    charts.picture(CASES["raters"](2, "wide"), format="svg", theme="light")
    assert len(drawn) == 4


def test_a_name_that_no_picture_can_hold_is_drawn_without_what_is_in_the_way():
    """vl-convert would abort the process, and with it every other request. Nor do rows lack."""
    for rows in ([{"start": 0, "end": 1, "n": 2}], []):
        titles = ("a\x07b\ud800", "n")
        spec = histogram(rows, start="start", end="end", y="n", titles=titles)
        svg, _png = (charts.picture(spec, format=each, theme="light") for each in ("svg", "png"))
        assert svg.startswith(b"<svg")
        assert b">ab<" in svg


def luminance(colour):
    """Relative luminance (WCAG) of rgb(r, g, b)."""
    parts = [int(each) / 255 for each in re.findall(r"\d+", colour)]
    lines = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    ]
    return sum(share * line for share, line in zip((0.2126, 0.7152, 0.0722), lines, strict=True))


@pytest.mark.parametrize("theme", charts.THEMES)
def test_words_in_cells_can_be_read_on_every_shade(theme):
    shares = [0.0, 0.3, 0.6, 0.61, 0.8, 1.0]
    rows = [{"x": str(at), "y": "a", "share": each, "text": "7"} for at, each in enumerate(shares)]
    spec = heatmap(rows, x="x", y="y", share="share", text="text", titles=("", ""))
    svg = charts.picture(spec, format="svg", theme=theme).decode()
    cells = re.findall(r'<path[^>]* d="M[^"]*h[^"]*"[^>]*fill="(rgb\([^"]*)"', svg)
    for share, cell in zip(shares, map(luminance, cells), strict=True):
        word = charts.THEMES[theme]["on_first" if share > 0.6 else "ink"]
        ink = luminance(str([int(word[at : at + 2], 16) for at in (1, 3, 5)]))
        assert (max(ink, cell) + 0.05) / (min(ink, cell) + 0.05) >= 4.5, share


COMMAND = re.compile(r"\\[A-Za-z]+(?:\{\})?|\\[&%$#_{}]|\{[\[\]*]\}|-\{\}|'\{\}|\\ensuremath")


@given(st.text())
def test_escaped_text_has_no_special_character_left_and_its_braces_balance(text):
    escaped = escape(text)
    assert not {"\n", "\r"} & set(escaped)
    bare = COMMAND.sub("", re.sub(r"\\ensuremath\{[^{}]*\}", "", escaped))
    assert not set(bare) & set('\\{}$&#%_^~<>|"')
    depth = 0
    for char in escaped.replace("\\{", "").replace("\\}", ""):
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0


def test_known_escapes():
    for text, expected in (
        ("50 % of a_b", r"50 \% of a\_b"),
        ("a--b", "a-{}-b"),
        ("2026-01-02", "2026-01-02"),
        ("\\section{x}", r"\textbackslash{}section\{x\}"),
        ("[x] *", "{[}x{]} {*}"),
        ("α ≥ 0", r"\ensuremath{\alpha} \ensuremath{\geq} 0"),
        ("one\ntwo\x00", "one two "),
    ):
        assert escape(text) == expected


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=5), st.text())
def test_rows_of_a_latex_table_keep_their_cells(rows, caption):
    table = booktabs(["A & B", "C"], rows, numeric=[False, True], caption=caption, label="x_{y}")
    lines = table.splitlines()
    start, end = lines.index(r"\midrule"), lines.index(r"\bottomrule")
    assert end - start - 1 == len(rows)
    for line in lines[start + 1 : end]:
        assert len(re.findall(r"(?<!\\)&", line)) == 1
        assert line.endswith(r" \\")
    assert r"\begin{tabular}{lr}" in lines
    assert r"\label{tab:x--y-}" in lines


ROWS = [["=1+1", 0.123456, 12345], ["a|b", None, 2]]
TABLE = TableData(["Name", "Share", "n"], ROWS, caption="Two *rows*", note="A note.")


def test_csv_keeps_precision_and_defuses_formulas():
    rows = list(csv.reader(io.StringIO(TABLE.to_csv().decode("utf-8-sig"))))
    assert rows == [["Name", "Share", "n"], ["'=1+1", "0.123456", "12345"], ["a|b", "", "2"]]


def test_markdown_rounds_and_escapes():
    assert TABLE.to_markdown().splitlines() == [
        r"Two \*rows\*",
        "",
        "| Name | Share | n |",
        "| --- | ---: | ---: |",
        "| =1+1 | 0.123 | 12,345 |",
        r"| a\|b | n/a | 2 |",
        "",
        "A note.",
    ]


def test_latex_holds_caption_note_and_alignment():
    latex = TABLE.to_latex()
    for line in (
        r"\caption{Two {*}rows{*}}",
        r"\begin{tabular}{lrr}",
        r"a\textbar{}b & n/a & 2 \\",
        "A note.",
    ):
        assert line in latex


def test_a_ragged_table_is_refused():
    with pytest.raises(ValueError, match="one cell for each column"):
        TableData(["a", "b"], [["only one"]])


NUMBERS = {None: "n/a", -0.5: "−0.500", -0.0004: "0.000", 1234: "1,234", "x": "x"}
NUMBERS |= {1234.5: "1,234.500"}
PERCENTS = {63 / 280: "23 %", 0.145: "15 %", 0.285: "29 %", -0.005: "−1 %", 0.2249: "22 %"}


def test_numbers_as_people_read_them_with_halves_rounded_up_as_templates_do():
    assert {value: text_of(value) for value in NUMBERS} == NUMBERS
    assert {share: percent(share) for share in PERCENTS} == PERCENTS
    for share in PERCENTS:
        by_template = floatformat(round(share * 100, 9), 0).replace("-", "−")
        assert text_of(share * 100, 0) == by_template
