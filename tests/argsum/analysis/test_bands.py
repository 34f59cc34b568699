"""Bands of placements: which comments surely make a point, and which perhaps do."""

import pytest

from argsum.analysis.actions import analyses
from argsum.analysis.actions.analyses import count_points
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.analyses import StatementSearch
from argsum.analysis.reports.mentions import narrowed_counts
from tests.argsum.signed_in import page_text as flat
from tests.worlds import built_once
from .labs import PointsLab
from .made_comments import analyse
from .test_report import rows_of, sent

pytestmark = pytest.mark.django_db


class Lab(PointsLab):
    """Of the first key point's three statements, one was surely placed."""

    def __init__(self):
        super().__init__(sure_from=0.7)
        self.sure = self.first.placements.order_by("argument__position").first()
        Placement.objects.filter(pk=self.sure.pk).update(is_sure=True)
        count_points(self.analysis)
        self.first.refresh_from_db()

    def row(self):
        rows = self.get("analysis").context["rows"]
        return next(row for row in rows if row.point.pk == self.first.pk)


lab = built_once(Lab)


def test_a_comment_is_sure_if_one_of_its_statements_is(lab):
    of_point = lab.cell.comments.filter(statements__argument__placements__point=lab.first)
    surely = of_point.filter(statements__argument__placements=lab.sure)
    assert lab.first.comments == of_point.distinct().count() == 4
    assert lab.first.sure_comments == surely.distinct().count() == 1
    assert (lab.first.voices, lab.first.sure_voices) == (4, 1)
    counts = narrowed_counts(lab.analysis, StatementSearch(search="quiet")).points[lab.first.pk]
    assert 0 < counts.sure_comments <= counts.comments
    # Pages count what is sure and what is perhaps beside it.
    row = lab.row()
    assert row.mentions == "1 comment, perhaps 3 more"
    assert (round(row.share), round(row.sure_share)) == (31, 8)
    second = lab.analysis.points.get(position=2)
    assert (second.comments, second.sure_comments) == (5, 0)
    page = lab.text("analysis")
    assert "<strong>1–4</strong>" in page
    assert "8–31 %" in page
    assert "1 comment, perhaps 3 more · 3 statements" in page
    assert "perhaps 5 comments" in page
    statements = lab.get("found_point", point_id=lab.first.public_id)
    assert statements.context["rows"][0].statement == lab.sure.argument
    assert [row.is_perhaps for row in statements.context["rows"]] == [False, True, True]
    assert flat(statements).count(">perhaps<") == 2


def test_report_and_table_give_both_bands_and_no_interval(lab):
    report = lab.text("analysis_report")
    assert "1 comment, perhaps 3 more (8 % to 31 %)" in report
    assert "perhaps 5 comments (perhaps 38 %)" in report
    assert "The program finds the most frequent one in perhaps 38 % of the comments" in report
    assert "“Perhaps” marks weaker matches" in report
    assert "people have not checked enough comments" in report
    rows = rows_of(sent(lab, "key-points.csv"))
    mine = next(row for row in rows if row["text"] == "First point.")
    assert (mine["comments"], mine["sure comments"]) == ("4", "1")
    assert "share low" not in mine
    # Without known bands nothing is perhaps.
    pages = {"analysis_groups": {"by": "town"}, "analysis_trends": {}}
    for page, query in pages.items():
        assert "(“perhaps”) count like all others" in lab.text(page, query)
    Analysis.objects.filter(pk=lab.analysis.pk).update(sure_from=None)
    for page, query in pages.items():
        assert "(“perhaps”) count like all others" not in lab.text(page, query)
    row = lab.row()
    assert (row.mentions, row.sure_share) == ("4 comments", row.share)
    assert "<strong>4</strong>" in lab.text("analysis")
    assert "perhaps" not in lab.text("found_point", point_id=lab.first.public_id)
    assert "“Perhaps”" not in lab.text("analysis_report")


def test_the_machine_stores_what_it_is_sure_of(word_engine, lab, monkeypatch):
    monkeypatch.setattr(analyses, "SHIPPED_MATCH", lab.analysis.match_scorer.base_model)
    made = analyse(lab.cell)
    assert made.sure_from == 0.7
    sure = made.placements.filter(is_sure=True)
    assert sure.count() == 6
    assert min(sure.values_list("score", flat=True)) >= 0.895
    shown = FoundPoint.objects.filter(analysis=made)
    assert any(0 < point.sure_comments < point.comments for point in shown)
