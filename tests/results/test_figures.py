"""A figure: its files, and what there is none of."""

from dataclasses import replace

import pytest
from django.http import Http404
from django.template.loader import render_to_string
from django.urls import path

from cqa_site.home import pages as home
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.web.charts.intervals import intervals
from cqa_site.web.tables import TableData

ROWS = [{"who": "A", "value": 0.5}]
FIGURE = Figure(
    slug="agreement",
    title="Agreement",
    recipe="Means.",
    table=TableData.of_rows(ROWS, {"who": "Who", "value": "Mean"}, name="found"),
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
