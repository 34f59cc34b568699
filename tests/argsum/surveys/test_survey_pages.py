"""A survey in the browser: upload, columns, dry run, import, all analyses, groups, deletion."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from argsum.analysis.actions.analyses import start_analysis
from argsum.analysis.models import Analysis, Placement
from argsum.datasets.models import Dataset
from argsum.surveys.models import Survey
from cqa_site.files.actions.imports import import_path
from cqa_site.runs import jobs
from ..signed_in import page_text
from .survey_files import CHANGE, GOOD, SHIFT, form, qualtrics

pytestmark = pytest.mark.django_db


FEWEST = "argsum.analysis.actions.analyses.FEWEST_STATEMENTS"


def url(name, study, *ids):
    return reverse(name, args=[study.public_id, *ids])


@pytest.fixture
def survey(study, tmp_path, monkeypatch):
    """Two open questions, which have statements enough for an analysis."""
    path = tmp_path / "building.csv"
    path.write_bytes(form())
    import_path(study=study, kind="survey", path=path, name=path.name, write=True)
    monkeypatch.setattr(FEWEST, 2)
    return Survey.objects.get()


@pytest.fixture
def page(client, survey):
    return lambda: page_text(client.get(url("survey", survey.study, survey.public_id)))


def start(survey, client):
    address = url("survey_analyse", survey.study, survey.public_id)
    return page_text(client.post(address, follow=True))


def finish(analyses):
    """End analyses in which no statement fits a key point."""
    for analysis in analyses:
        Placement.objects.bulk_create(
            Placement(analysis=analysis, argument=row) for row in analysis.cell.arguments.all()
        )
    analyses.update(state="done")


def test_an_export_becomes_a_survey_page_by_page(client, study):
    upload = SimpleUploadedFile("Building_March.csv", qualtrics())
    reply = client.post(url("import_upload", study), {"kind": "", "file": upload})
    asked = client.get(reply["Location"])
    text = page_text(asked)
    assert "Recognized as an export from Qualtrics." in text
    assert "6 columns that may identify people are left out and hidden here." in text
    # Whoever reads the page sees answers, not who gave them.
    assert "The new lockers are wide enough" in text
    assert "RecipientEmail" in text
    assert not any(value in text for value in ("example.org", "192.0.2.", "Doe"))
    form = asked.context["form"]
    values = {name: form[name].value() for name in form.fields}
    place = next(name for name in values if form.fields[name].label == CHANGE)
    wrong = client.post(reply["Location"], values | {place: "respondent"})
    assert wrong.status_code == 422
    assert "Only one column can identify respondents" in page_text(wrong)
    values |= {"survey": "Building", place: "open"}
    assert client.post(reply["Location"], values).status_code == 302
    jobs.drain()
    file = study.import_files.get()
    assert (file.state, Survey.objects.count()) == ("checked", 0)
    text = page_text(client.get(url("import_file", study, file.public_id)))
    assert "1 preview answer is left out." in text
    client.post(url("import_apply", study, file.public_id))
    jobs.drain()
    shown = page_text(client.get(url("import_file", study, file.public_id)))
    survey = Survey.objects.get()
    assert url("survey", study, survey.public_id) in shown
    text = page_text(client.get(url("survey", study, survey.public_id)))
    assert "6 respondents · 2 open questions · Qualtrics" in text
    assert '5 <span class="soft">/ 6</span>' in text
    assert survey.name in page_text(client.get(url("datasets", study)))
    dataset = Dataset.objects.get(name=GOOD)
    assert survey.name in page_text(client.get(url("dataset", study, dataset.public_id)))


def test_one_click_analyses_every_question_once(client, survey, page, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(FEWEST, 100)
        assert f"“{GOOD}” has fewer than 100 statements." in start(survey, client)
    assert not Analysis.objects.exists()
    assert "2 analyses are in progress." in start(survey, client)
    assert sorted(Analysis.objects.values_list("name", flat=True)) == sorted([GOOD, CHANGE])
    assert "All questions already have an analysis." in start(survey, client)
    assert Analysis.objects.count() == 2
    assert "Analyse all questions" not in page()
    Analysis.objects.filter(name=GOOD).update(state="failed")
    assert "Analyse all questions" in page()
    assert "1 analysis is in progress." in start(survey, client)


def test_finished_analyses_are_compared_by_closed_questions(
    client, survey, page, monkeypatch, django_assert_max_num_queries
):
    start(survey, client)
    finish(Analysis.objects.all())
    with django_assert_max_num_queries(18):
        text = page()
    done = Analysis.objects.get(name=GOOD)
    groups = url("analysis_groups", survey.study, done.public_id)
    assert f"{groups}?attribute=Which%20shift" in text
    counts = client.get(groups, {"attribute": SHIFT}).context["counts"]
    assert SHIFT in [column.name for column in counts.columns]
    monkeypatch.setattr("argsum.surveys.views.MOST_LINKS", 4)
    text = page()
    assert text.count("?attribute=") == 4
    assert "2 further closed questions can be chosen on the comparison page." in text
    # A finished analysis is shown until the next one succeeds.
    start_analysis(study=survey.study, actor=None, cell=done.cell)
    Analysis.objects.filter(name=GOOD).exclude(pk=done.pk).update(state="failed")
    context = client.get(url("survey", survey.study, survey.public_id)).context
    assert not context["can_analyse"]
    assert done in [row.analysis for row in context["done"]]


def test_programs_read_and_analyse_a_survey_and_it_goes_unless_it_is_used(program, survey, client):
    listed = program.get(url("api_surveys", survey.study)).json()["results"]
    assert [(row["name"], row["respondents"]) for row in listed] == [("building", 6)]
    one = url("api_survey", survey.study, survey.public_id)
    assert [row["replies"] for row in program.get(one).json()["questions"]] == [5, 5]
    analyse = url("api_survey_analyse", survey.study, survey.public_id)
    assert len(program.post(analyse, {}, format="json").json()["analyses"]) == 2
    assert program.post(analyse, {}, format="json").status_code == 409
    assert program.delete(one).status_code == 409
    # A survey goes with its datasets unless they are used.
    start(survey, client)
    remove = url("survey_delete", survey.study, survey.public_id)
    assert "can no longer be changed" in page_text(client.post(remove, follow=True))
    assert Dataset.objects.count() == 2
    Analysis.objects.all().delete()
    client.post(remove)
    assert not Survey.objects.exists()
    assert not Dataset.objects.exists()
