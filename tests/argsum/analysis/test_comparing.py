"""Groups of comments and key points over time: counts from rows, pages, files, interface."""

import csv
import html
import io
from datetime import date

import pytest
from django.core.cache import cache
from django.utils.html import strip_tags

from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports import counts as counting
from argsum.analysis.reports.counts import THEMES, count
from argsum.datasets.models import CellArgument
from tests.argsum.analysis.made_comments import say
from tests.argsum.analysis.made_comparing import make_analysis
from tests.argsum.signed_in import SignedIn
from tests.flat import flat
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


def words(page):
    """What a page says, without its tags."""
    return flat(html.unescape(strip_tags(page.text)))


def rows_of(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


class Lab(SignedIn):
    """An analysis of two departments."""

    def __init__(self):
        super().__init__()
        self.analysis = make_analysis(self.study)
        self.ids = {"analysis_id": self.analysis.public_id}


lab = built_once(Lab)


# -- counts --


def test_columns_that_form_no_groups_say_why(lab):
    for row in range(6):
        beside = {"one": "x", "rare": "ab"[row % 2] if row > 3 else "", "long": "y" * 200}
        say(lab.analysis.cell, f"Other {row}.", **beside)
    reasons = {"department": "", "number": "too_many", "mood": "one_value"}
    assert {each.name: each.barred for each in count(lab.analysis).columns} == reasons
    for argument in CellArgument.objects.filter(text__startswith="Other"):
        Placement.objects.create(analysis=lab.analysis, argument=argument, point=None)
    reasons |= {"one": "one_value", "rare": "too_few", "long": "too_long"}
    assert {each.name: each.barred for each in count(lab.analysis).columns} == reasons
    # Values stand in their natural order.
    values = ["10–19", "2–9", "b", "A", "≥ 20"]
    assert sorted(values, key=counting._natural) == ["2–9", "10–19", "A", "b", "≥ 20"]


def test_comments_that_were_not_placed_yet_and_hidden_key_points_are_not_counted(lab):
    say(lab.analysis.cell, "A later word.", department="Care")
    found = count(lab.analysis)
    assert (found.comments, found.waiting, len(found.points)) == (80, 1, 3)
    # A comment without any statement says nothing, and counts.
    say(lab.analysis.cell, department="Care")
    lab.analysis.points.filter(position=1).update(state=FoundPoint.State.HIDDEN)
    found = count(lab.analysis)
    assert (found.comments, found.waiting, len(found.points)) == (81, 1, 2)
    assert found.columns[0].sizes == [41, 40]


# -- groups --


def test_more_groups_are_each_compared_with_the_others(lab):
    for number, comment in enumerate(lab.analysis.cell.comments.all()):
        comment.attributes["site"] = "ABCD"[number % 4]
        comment.attributes["town"] = (
            "Altdorf" if number < 3 else "Neudorf" if number < 40 else "Ort"
        )
        comment.save()
    text = words(lab.get("analysis_groups", {"attribute": "site"}))
    assert "Largest difference (percentage points)" in text
    assert "80 comments in 4 groups of 20 each; p-values" in text
    assert "No key point is shown to be mentioned at different rates by site." in text
    page = lab.get("analysis_groups", {"attribute": "town"})
    text = words(page)
    assert "* Fewer than 5 comments: shown but not tested." in text
    assert "n = 3*" in text
    assert "77 comments in 2 groups of 37 to 40; p-values" in text
    assert "Too small for a test: Altdorf." in text
    assert page.context["found"].is_pair


def test_without_columns_there_is_nothing_to_compare_nor_before_the_analysis_is_done(lab):
    lab.analysis.cell.comments.update(attributes={}, written_on=None)
    assert "have no other columns" in words(lab.get("analysis_groups"))
    assert "No dates to compare" in words(lab.get("analysis_trends"))
    for page, figure in (("groups", "groups"), ("trends", "trends"), ("groups", "other")):
        sent = lab.get(f"analysis_{page}_figure", figure=figure, format="csv")
        assert sent.status_code == 404
    assert lab.get("analysis_report").status_code == 200
    Analysis.objects.update(state=Analysis.State.RUNNING)
    for name in ("analysis_groups", "analysis_trends", "analysis_report"):
        assert lab.get(name).status_code == 404


def test_figures_go_away_as_files(lab, django_assert_max_num_queries):
    for name in ("analysis_groups", "analysis_trends"):
        lab.get(name)
        with django_assert_max_num_queries(14):
            assert lab.get(name).status_code == 200
    # Figures go away as files.
    rows = rows_of(lab.get("analysis_groups_figure", figure="groups", format="csv").content)
    assert len(rows) == 6
    assert rows[0]["department"] == "Care"
    assert float(rows[0]["share"]) == 26 / 40
    assert float(rows[0]["difference"]) == pytest.approx(0.5)
    for figure in ("periods", "trends"):
        sent = lab.get("analysis_trends_figure", figure=figure, format="csv")
        assert sent.status_code == 200


@pytest.mark.long
def test_large_analyses_show_a_page_before_their_figures(lab, monkeypatch):
    monkeypatch.setattr(counting, "AT_ONCE", 10)
    for name in ("analysis_groups", "analysis_trends", "analysis_report"):
        cache.clear()
        page = lab.get(name)
        assert "These figures are being computed" in words(page)
        assert "counting=now" in page.text
        assert "being computed" not in words(lab.get(name, {"counting": "now"}))
        assert "being computed" not in words(lab.get(name))


# -- time --


def test_the_period_and_the_key_points_can_be_chosen(lab):
    point = lab.analysis.points.get(position=2)
    page = lab.get("analysis_trends", {"period": "month", "point": str(point.public_id)})
    assert page.context["found"].period == "month"
    assert page.context["found"].starts == [date(2025, 1, 1), date(2025, 2, 1), date(2025, 3, 1)]
    assert page.context["chosen"] == {str(point.public_id)}
    wrong = lab.get("analysis_trends", {"period": "century", "point": "no id"})
    assert wrong.context["found"].period == "week"
    assert len(wrong.context["chosen"]) == 3
    # Periods without comments are a gap.
    lab.analysis.cell.comments.filter(written_on__month=2).update(written_on=None)
    cache.clear()
    page = lab.get("analysis_trends", {"period": "month"})
    assert page.context["found"].sizes[1] == 0
    assert "comments have no date." in words(page)
    chart = {"figure": "periods", "format": "svg"}
    assert lab.get("analysis_trends_figure", {"period": "month"}, **chart).status_code == 200


# -- themes --


def test_a_comment_counts_once_for_a_theme_in_groups_and_over_time(lab):
    inside = lab.analysis.points.exclude(position=2)
    inside.update(theme="Inside")
    found = count(lab.analysis, view=THEMES)
    assert (found.points, found.has_themes) == (["Inside", ""], True)

    # The slow way; of Care, ten comments make both key points of the theme.
    def making(**about):
        rows = lab.analysis.cell.comments.filter(
            statements__argument__placements__point__in=inside, **about
        )
        return rows.distinct().count()

    by_department = [making(attributes__department=name) for name in ("Care", "Sales")]
    assert found.columns[0].counts == [by_department, [8, 9]]
    assert by_department == [26, 10]
    page = lab.get("analysis_groups", {"view": "themes"})
    assert "of 2 themes" in words(page)
    assert "Audits correct the shares of key points, not of themes." in words(page)
    assert [row.point.text for row in page.context["found"].rows] == ["Inside", "No theme"]
    sent = lab.get("analysis_groups_figure", {"view": "themes"}, figure="groups", format="csv")
    rows = rows_of(sent.content)
    assert "key point" not in rows[0]
    assert [(row["theme"], row["with the theme"]) for row in rows[:2]] == [
        ("Inside", "26"), ("Inside", "10"),
    ]  # fmt: skip
    trend = lab.get("analysis_trends", {"view": "themes", "period": "month", "point": "Inside"})
    chosen = trend.context["chosen"]
    assert chosen == {"Inside"}
    shares = trend.context["found"].rows[0].found.shares
    assert [each.k for each in shares] == [making(written_on__month=month) for month in (1, 2, 3)]
    report = words(lab.get("analysis_report", {"view": "themes", "attribute": "department"}))
    assert "of 2 themes" in report


# -- the interface --


@pytest.mark.long
def test_a_program_gets_the_same_figures(lab):
    found = lab.told("analysis_groups")
    assert found["attribute"] == "department"
    assert found["attributes"] == ["department"]
    assert {each["name"] for each in found["barred"]} == {"number", "mood"}
    first = found["key_points"][0]
    assert [each["share"]["k"] for each in first["groups"]] == [26, 6]
    assert first["p"] < 0.001
    assert found["themes"] == []
    themes = lab.told("analysis_groups", {"view": "themes"})
    assert (themes["key_points"], [row["theme"] for row in themes["themes"]]) == ([], [""])
    found = lab.told("analysis_trends", {"period": "month"})
    assert [each["start"] for each in found["times"]] == ["2025-01-01", "2025-02-01", "2025-03-01"]
    for name, query in (
        ("groups", {"attribute": "number"}),
        ("trends", {"period": "year"}),
        ("trends", {"period": "century"}),
    ):
        assert lab.api.get(lab.url(f"api_analysis_{name}"), query).status_code == 400
