"""Pages, interface and files that show a summary in prose."""

import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from argsum.analysis.reports.report import ReportRequest, report_of, share_in_words
from argsum.analysis.reports.report_files import parts_of
from argsum.prose.actions.runs import AnalysisProseKind
from argsum.prose.models import ProseParagraph, ProseSummary
from cqa_site.runs.integrity import find_violations
from tests.argsum.analysis.made_comments import analyse, say
from tests.worlds import built_once
from .made_prose import on_theme, statements_in, word_of, writes
from .test_prose import Lab, Summarized, about_parking

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("word_engine", "word_scorer")]
NASTY = "<script>alert(1)</script>"


lab = built_once(Lab)
summarized = built_once(Summarized)


def document(lab):
    from docx import Document

    sent = lab.get("analysis_report_file", name="report.docx")
    return [each.text for each in Document(io.BytesIO(sent.content)).paragraphs]


def test_without_key_points_there_is_nothing_to_summarize(lab):
    assert "Summarize in prose" in lab.text("analysis_prose")
    assert "Summary in prose" not in lab.text("analysis_report")
    assert lab.told("analysis_report")["summary"] is None
    lab.analysis.points.update(state="hidden")
    assert "Nothing to summarize" in lab.text("analysis_prose")


def test_a_sentence_without_support_is_on_the_page_of_the_run_only(lab):
    lie = "The catalogue is what matters."
    run = lab.summarize(about_parking((lie, [1]), ("Parking is hard.", [1])))
    # Beside a sentence with support it is not asked for again.
    assert run.planned == 3
    page = lab.text("run", run_id=run.public_id)
    assert "1 sentence left out" in page
    assert page.count(lie) == 1
    assert "Not supported by what it cites" in page[page.index("<details") :]
    assert lie not in lab.text("analysis_report")
    assert "1 sentence was left out" in lab.text("analysis_report")
    assert lie not in lab.get("analysis_report_file", name="report.html").content.decode()
    assert lie not in "".join(document(lab))
    told = lab.told("analysis_report")["summary"]
    assert lie not in str(told)
    assert told["left_out"] == 1


def test_neither_key_points_of_a_request_nor_paragraphs_of_a_page_cost_queries(lab, summarized):
    lab.analysis.points.update(theme="All")
    type(lab.analysis).objects.update(sure_from=None)
    run, kind = lab.start(), AnalysisProseKind()
    (subject,) = kind.subjects(run)
    assert run.prompt  # is read here, not below
    with CaptureQueriesContext(connection) as captured:
        kind.questions(run, [subject])
    # Statements, key points, and whether the analysis has bands.
    assert len(captured) == 3
    pages = [("analysis_report", {}), ("run", {"run_id": summarized.run.public_id})]

    def queries(name, ids):
        summarized.text(name, **ids)
        with CaptureQueriesContext(connection) as captured:
            summarized.text(name, **ids)
        return len(captured)

    many = [queries(*page) for page in pages]
    ProseParagraph.objects.exclude(group=summarized.quiet.pk).delete()
    assert [queries(*page) for page in pages] == many


def test_edits_since_the_run_began_are_counted_and_the_ledger_survives_the_analysis(summarized):
    lab = summarized
    lab.rename(lab.quiet, "Silence")
    lab.put("hidden", lab.parking)
    lab.analysis.changes.create(revision=lab.seen + 1, verb="placed")
    assert "the key points were edited 2 times" in lab.text("analysis_report")
    assert lab.told("analysis_report")["summary"]["edits"] == 2
    # What was written about stays as it was.
    assert next(iter(lab.printed())) == lab.quiet.text
    # The ledger and the page of the run survive the analysis.
    run = lab.run
    lab.delete()
    assert ProseSummary.objects.get().analysis is None
    assert run.prose_paragraphs.count() == 3
    assert list(find_violations()) == []
    assert "a deleted analysis" in lab.text("run", run_id=run.public_id)
    lab.text("run_calls", run_id=run.public_id)


def test_report_files_and_programs_have_sentences_with_links_to_what_they_cite(summarized):
    lab, run = summarized, summarized.run
    told = lab.told("analysis_report")["summary"]
    assert (told["run"], told["model"], told["prompt_number"]) == (
        str(run.public_id), "stub-1", 1,
    )  # fmt: skip
    (first, *_rest) = told["paragraphs"]
    assert first["theme"] == lab.quiet.text
    assert first["sentences"][0]["text"] == "Visitors often speak of quiet."
    cited = {row["number"]: row for row in told["citations"]}
    assert all("quiet" in cited[n]["text"] for each in first["sentences"] for n in each["cites"])
    assert all(row["comments"] >= 1 for row in cited.values())
    # Pages and files.
    for page in (
        lab.text("analysis_report"),
        lab.get("analysis_report_file", name="report.html").content.decode(),
    ):
        assert f"stub-1, prompt v1, run #{lab.run.number}" in page
        assert "Visitors often speak of parking." in page
        assert 'href="#cited-1"' in page
        assert page.count('id="cited-1"') == 1
        assert "does not show that a sentence is true" in page
        assert "left out" not in page
        assert "were edited" not in page
    report = report_of(lab.analysis, None, ReportRequest())
    parts = [part for part in parts_of(report, lambda _name: None) if part.kind == "paragraph"]
    points = {row.point.text: share_in_words(row) for row in report.points}
    assert {part.text: part.note for part in parts} == {
        part.text: points[part.text] for part in parts
    }
    texts = document(lab)
    assert "Summary in prose" in texts
    assert lab.parking.text in texts
    assert texts.count(parts[0].note) == lab.text("analysis_report").count(parts[0].note) == 2
    assert any(text.startswith("Visitors often speak of parking. [") for text in texts)
    assert any(text.startswith("[1] “") and "comment" in text for text in texts)
    lab.analysis.points.update(text="Renamed.")
    changed = parts_of(report_of(lab.analysis, None, ReportRequest()), None)
    assert not any(part.note for part in changed if part.kind == "paragraph")


def test_markup_in_comments_and_replies_is_text(lab):
    say(lab.cell, f"{NASTY} is quiet.")
    lab.analysis = analyse(lab.cell, lab.boss)
    type(lab.analysis).objects.update(sure_from=None)

    def answer(request):
        if word_of(request) != "quiet":
            return on_theme(request)
        nasty = next(n for n, text in enumerate(statements_in(request), 1) if NASTY in text)
        return writes((f"{NASTY} It is quiet.", [nasty]), (f"{NASTY} catalogue.", [nasty]))

    run = lab.summarize(answer)
    html = lab.get("analysis_report_file", name="report.html").content.decode()
    for page in (lab.get("analysis_report").text, html, lab.get("run", run_id=run.public_id).text):
        assert NASTY not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert any(NASTY in text for text in document(lab))
