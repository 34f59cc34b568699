"""The report of an analysis: the page, the document opened again, the tables."""

import base64
import io
import re

import pytest
from django.utils.html import escape

from argsum.analysis.methods.statements import different
from argsum.analysis.models import FoundPoint, PointChange
from argsum.analysis.reports import report_files
from argsum.analysis.reports.report import ReportRequest, report_of
from tests.argsum.analysis.made_comments import say
from tests.argsum.analysis.made_comparing import POINTS, finish, place
from tests.argsum.analysis.test_comparing import Lab, rows_of, words as flat
from tests.worlds import built_once

pytestmark = pytest.mark.django_db
NASTY = "=1+1 <script>alert(1)</script> & “quoted”\x07"


lab = built_once(Lab)


def sent(lab, name, query=None):
    response = lab.get("analysis_report_file", query, name=name)
    assert response.status_code == 200
    assert "attachment" in response["Content-Disposition"]
    return b"".join(response.streaming_content) if response.streaming else response.content


def texts_of(document):
    """Everything that a document of a word processor says, in its order."""
    texts = []
    for each in document.iter_inner_content():
        rows = getattr(each, "rows", None)
        texts += [each.text] if rows is None else [cell.text for row in rows for cell in row.cells]
    return [text for text in texts if text]


# -- quotations --


def test_quotations_differ_and_the_best_comes_first():
    texts = ["The bus is late.", "The bus is late!", "Late is the bus"]
    texts += ["Trains are loud.", "Nobody pays."]
    assert different(texts, 3) == [0, 3, 4]
    assert different(texts, 4) == [0, 1, 3, 4]
    assert different(["a b"] * 2, 5) == [0, 1]
    assert different([], 3) == []


@pytest.mark.long
def test_quotations_are_the_best_scoring_ones(lab):
    loud = lab.analysis.points.get(position=1)
    place(lab.analysis, loud, "Noise everywhere.", score=0.99)
    place(lab.analysis, loud, "Everywhere noise!", score=0.98)
    place(lab.analysis, loud, "Plates clatter from morning to night.", score=0.97)
    finish(lab.analysis)
    found = report_of(lab.analysis, None, ReportRequest(2))
    quoted = {each.point.pk: each.quotations for each in found.points}
    assert quoted[loud.pk] == ["Noise everywhere.", "Plates clatter from morning to night."]
    assert report_of(lab.analysis, None, ReportRequest(0)).points[0].quotations == []
    assert found == report_of(lab.analysis, None, ReportRequest(2))


# -- the page --


def test_what_was_asked_for_is_in_it(lab, django_assert_max_num_queries):
    query = {"quotations": "1", "attribute": "department", "period": "month"}
    page = lab.get("analysis_report", query)
    text = flat(page)
    assert "By department" in text
    assert "Over time" in text
    assert "1 of 3 key points is shown to be mentioned at different rates by department" in text
    assert page.text.count("says number") == 3
    assert text.count("Method") == 0
    assert lab.get("analysis_report_file", name="report.pdf").status_code == 404
    # Whatever is not there falls back to the usual.
    page = lab.get("analysis_report", {"quotations": "99", "attribute": "no", "period": "century"})
    assert page.context["asked"] == ReportRequest()
    # The report costs few queries.
    for number in range(4, 20):
        lab.analysis.points.create(position=number, text=f"Point {number}", written="x")
    query = {"attribute": "department", "period": "month"}
    lab.get("analysis_report", query)
    with django_assert_max_num_queries(30):
        lab.get("analysis_report", query)


def test_edits_are_counted_without_what_was_taken_back(lab):
    changes, verbs = lab.analysis.changes, PointChange.Verb
    about = {"point": lab.analysis.points.first(), "actor": lab.researcher}
    renamed_twice_and_merged = (verbs.RENAMED, verbs.RENAMED, verbs.MERGED)
    undone = changes.create(revision=4, verb=verbs.UNDONE, **about)
    for number, verb in enumerate(renamed_twice_and_merged, start=1):
        by = undone if verb == verbs.MERGED else None
        changes.create(revision=number, verb=verb, undone_by=by, **about)
    changes.create(revision=5, verb=verbs.PLACED)
    found = report_of(lab.analysis, None, ReportRequest())
    own = (lab.researcher.email, [("Renamed", 2)])
    assert [(each.person, each.verbs) for each in found.edits] == [own]
    assert found.undone == 1
    assert "1 edit was undone." in flat(lab.get("analysis_report"))


# -- files --


def test_the_document_says_what_the_page_says(lab):
    from docx import Document

    lab.analysis.points.filter(position=2).update(text=f"Parking {NASTY}")
    place(lab.analysis, lab.analysis.points.get(position=2), f"{NASTY} one", score=0.99)
    finish(lab.analysis)
    query = {"quotations": "3", "attribute": "department", "period": "month"}
    document = Document(io.BytesIO(sent(lab, "report.docx", query)))
    texts = texts_of(document)
    shown = flat(lab.get("analysis_report", query))
    assert texts[0] == lab.analysis.cell.topic
    missing = [text for text in texts if " ".join(text.split()) not in shown.replace("\x07", "")]
    assert missing == []
    assert "1. The canteen is too loud" in texts
    assert f"“{NASTY} one”".replace("\x07", "") in texts
    assert any(text.startswith("Automatic analysis") for text in texts)
    assert any(" different statements" in text for text in texts)
    # Three key points by two groups, and by time.
    assert "65 % [48, 79]" in texts
    pictures = document.inline_shapes
    assert len(pictures) == 2
    assert pictures[0]._inline.docPr.get("descr").startswith("Dots with intervals")
    # The file for browsers needs nothing else.
    content = sent(lab, "report.html", query).decode()
    assert "<script" not in content
    assert escape("<script>alert(1)</script>") in content
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', content)
    assert len(pictures) == 2
    assert b"<script>" not in b"".join(base64.b64decode(each) for each in pictures)
    assert re.findall(r"(?:src|href)=\"(?!data:)[^\"]*", content) == []
    # What is opened from a disk has no header that would say so.
    assert "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\"" in content


def test_key_points_go_away_as_a_table_and_statements_with_their_comments(lab):
    lab.analysis.points.filter(position=3).update(state=FoundPoint.State.HIDDEN, text=NASTY)
    rows = rows_of(sent(lab, "key-points.csv"))
    assert [row["text"] for row in rows[:1]] == [POINTS[0]]
    assert [row["state"] for row in rows] == ["Shown", "Hidden", "Shown"]
    assert rows[1]["text"].startswith("'=1+1")
    assert float(rows[0]["share"]) == 0.4
    lab.analysis.points.update(state=FoundPoint.State.SHOWN)
    say(lab.analysis.cell, "=cmd() is said.", department="=2+2", key_point="odd")
    place(lab.analysis, lab.analysis.points.first(), "=cmd() is said.", score=1)
    place(lab.analysis, None, "A statement without a comment.")
    finish(lab.analysis)
    rows = rows_of(sent(lab, "statements.csv"))
    said = sum(comment.statements.count() for comment in lab.analysis.cell.comments.all())
    assert len(rows) == said + 1
    last = rows[-2]
    assert (last["statement"], last["department"]) == ("'=cmd() is said.", "'=2+2")
    assert last["key_point (comment)"] == "odd"
    assert rows[-1]["comment"] == ""
    first = rows[0]
    assert first["department"] == "Care"
    assert first["written_on"] == "2025-01-06"
    assert first["comment"].startswith("The canteen")


@pytest.mark.long
def test_statements_go_out_piece_by_piece(lab, monkeypatch, django_assert_num_queries):
    place(lab.analysis, None, "A statement without a comment.")
    whole = list(report_files.statement_rows(lab.analysis, ["department"]))
    # Nothing of a piece is left open while it is sent: the next one is not asked for yet.
    monkeypatch.setattr(report_files, "PIECE", 2)
    with django_assert_num_queries(2):
        next(report_files.statement_rows(lab.analysis, ["department"]))
    monkeypatch.setattr(report_files, "PIECE", 1_000)
    response = lab.get("analysis_report_file", name="statements.csv")
    assert response.streaming
    with django_assert_num_queries(3):
        body = b"".join(response.streaming_content)
    assert body.startswith("\ufeffkey_point,".encode())
    assert len(rows_of(body)) == len(whole)
    assert "sandbox" in response["Content-Security-Policy"]
