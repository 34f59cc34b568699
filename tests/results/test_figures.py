"""A figure: its files, and what there is none of."""

from dataclasses import replace

import pytest
from django.http import Http404
from django.template.loader import render_to_string
from django.urls import path

from cqa_site.home import pages as home
from cqa_site.results.boards import joined
from cqa_site.results.figures import Column, Figure, Files, figure_file, table_of
from cqa_site.web.charts.dot_rows import intervals
from cqa_site.web.tables import TableData
from tests.flat import flat

ROWS = [{"who": "A", "value": 0.5}]
FIGURE = Figure(
    slug="agreement",
    title="Agreement",
    recipe="Means.",
    table=table_of((Column("Who", "who"), Column("Mean", "value")), ROWS, name="found"),
    files=Files(view="one_figure", ids=("a" * 32,), query="mode=paper", version="v7"),
)


def spec(size):
    rows = [{**ROWS[0], "series": "", "low": None, "high": None}]
    return intervals(rows, y="who", series="series", title="Mean", size=size)


DRAWN = replace(FIGURE, alt="A: 0.5", draw=spec)


pytestmark = pytest.mark.urls(__name__)
urlpatterns = [
    path("figures/<str:token>/<slug:figure>.<str:format>", home.design, name="one_figure")
]


def test_a_figure_goes_away_as_a_table_and_as_its_chart(rf):
    table = figure_file(rf.get("/"), [FIGURE, DRAWN], "agreement", "csv")
    assert table.content.decode("utf-8-sig").splitlines() == ["Who,Mean", "A,0.5"]
    chart = figure_file(rf.get("/"), [DRAWN], "agreement", "svg")
    assert chart["Content-Type"] == "image/svg+xml"
    assert 'filename="found.svg"' in chart["Content-Disposition"]
    again = rf.get("/", headers={"If-None-Match": chart["ETag"]})
    assert figure_file(again, [DRAWN], "agreement", "svg").status_code == 304
    dark = rf.get("/", {"theme": "dark"}, headers={"If-None-Match": chart["ETag"]})
    assert figure_file(dark, [DRAWN], "agreement", "svg").status_code == 200


@pytest.mark.parametrize(
    ("slug", "format"), [("other", "csv"), ("agreement", "svg"), ("agreement", "exe")]
)
def test_what_is_not_there_is_404(rf, slug, format):
    with pytest.raises(Http404):
        figure_file(rf.get("/"), [FIGURE], slug, format)


def test_links_name_the_choice_and_only_what_there_is():
    endings = [address.partition("?")[0].rpartition(".")[2] for _words, address in DRAWN.links]
    assert endings == ["csv", "tex", "md", "svg", "png"]
    assert [words for words, _address in FIGURE.links] == ["CSV", "LaTeX", "Markdown"]
    assert all(address.endswith("?mode=paper") for _words, address in DRAWN.links)


def test_the_card_shows_chart_numbers_recipe_and_files():
    page = render_to_string("results/_figure.html", {"card": DRAWN})
    assert 'id="agreement"' in page
    assert "agreement.svg?v=v7" in page
    assert 'alt="A: 0.5"' in page
    assert "0.500" in page
    assert "Means." in page
    assert "<img" not in render_to_string("results/_figure.html", {"card": FIGURE})


def test_a_page_shows_an_interval_below_its_value_and_a_file_keeps_both_bounds():
    columns = ["Who", "Mean", "low", "high", "Slope", "Low", "High", "n"]
    rows = [
        ["A", 0.523, 0.414, 0.801, 0.0123, 0.01, 0.02, 5],
        ["B", None, None, None, 0.0, None, None, 1],
    ]
    table = TableData(columns, rows)
    card = replace(FIGURE, table=table)
    shown = card.page_table
    assert list(shown.columns) == ["Who", "Mean", "Slope", "n"]
    page = flat(render_to_string("results/_table.html", {"table": shown, "card": card}))
    assert '0.52<div class="soft small nowrap">[0.41, 0.80]</div>' in page
    # Two decimals would say nothing of it.
    assert '0.012<div class="soft small nowrap">[0.010, 0.020]</div>' in page
    assert "not defined" in page
    assert table.to_csv().decode("utf-8-sig").startswith("Who,Mean,low,high,Slope,Low,High,n")
    assert FIGURE.page_table is FIGURE.table


def test_a_column_that_is_empty_in_all_rows_is_not_shown():
    table = TableData(["System", "Cost", "n"], [["A", None, 1], ["B", None, 2]])
    assert joined(table).columns == ["System", "n"]
    assert joined(TableData(["System", "Cost"], [])).columns == ["System", "Cost"]
