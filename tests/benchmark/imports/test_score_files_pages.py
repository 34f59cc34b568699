"""Uploading score sheets on the pages and through the API, and taking them out again."""

import json

import pytest
from django.urls import reverse

from annotation.answers.models import Answer
from benchmark.imports.methods.columns import guess_columns
from benchmark.rubrics.actions import default_rubric
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from benchmark.scoring.models import ScoreSheet
from cqa_site.files.actions.imports import import_path
from cqa_site.people.models import AuditEvent, Rater
from cqa_site.tabular import preview
from tests import cast

from ..made_scores import make_rater, make_scored_answers, make_sheets

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files_apart(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


def address(name, study, file=None):
    return reverse(name, args=[study.public_id, *([file.public_id] if file else [])])


@pytest.fixture
def scored(study):
    """Sheets of a person and of a judge, one of them unscored, with notes and gaps."""
    answers = make_scored_answers(study, systems=("Alpha", "=Beta"), questions=3, aspect="speed")
    people = make_rater(study, "ann-1")
    judge = make_rater(study, "judge", Rater.Kind.MODEL)
    sheets = make_sheets(study, answers, [people, judge])
    first, second, third, last = sheets[0], sheets[2], sheets[4], sheets[-1]
    ScoreSheet.objects.filter(pk=first.pk).update(
        points=first.points | {"C2": 2}, off_scale=["C2"], is_consolidated=True,
        total=first.total - first.points["C2"] + 2, comment="=1+1",
    )  # fmt: skip
    without = {key: value for key, value in second.points.items() if key != "C4"}
    ScoreSheet.objects.filter(pk=second.pk).update(
        points=without, unable={"C4": "unclear"}, total=None, notes={"C1": "“So, so”, 'it' is"}
    )
    ScoreSheet.objects.filter(pk=third.pk).update(is_extra=True)
    ScoreSheet.objects.filter(pk=last.pk).update(
        state="unscored", reason="truncated", points={}, total=None
    )
    return study


def exported(client, study, **asked):
    rubric = study.rubric_versions.get()
    data = {"rubric": rubric.public_id, "sheets": "all", "format": "csv", "with_texts": "on"}
    response = client.get(address("score_sheets_export", study), data | asked)
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content)


def contents(study):
    fields = ("state", "reason", "points", "unable", "notes", "comment", "total", "off_scale")
    rows = ScoreSheet.objects.filter(study=study).order_by("pk")
    about = ("answer__text", "rater__kind", "replicate", "is_extra", "is_consolidated")
    return list(rows.values_list(*about, *fields))


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_an_export_comes_in_again_elsewhere_unchanged(client, scored, tmp_path, format):
    path = tmp_path / f"sheets.{format}"
    path.write_bytes(exported(client, scored, format=format))
    other = cast.make_study("Elsewhere")
    mapping = guess_columns(preview(path, name=path.name).columns, COMPQA)
    options = {"mapping": mapping, "undo_spreadsheet_marks": format == "csv"}
    asked = {"kind": "score_sheets", "path": path, "name": path.name, "options": options}
    outcome = import_path(study=other, write=True, **asked)
    assert outcome.counts["sheets"] == {"new": 11, "same": 0, "changed": 0, "rejected": 0}
    assert outcome.counts["unscored_sheets"]["new"] == 1
    assert outcome.counts["answers"]["new"] == 6
    assert contents(other) == contents(scored)
    assert other.systems.filter(name="=Beta").exists()
    # And here it is nothing new, nor there the second time.
    for study in (scored, other):
        again = import_path(study=study, write=True, **asked)
        assert again.counts["sheets"] == {"new": 0, "same": 11, "changed": 0, "rejected": 0}
    assert Answer.objects.filter(study=scored).count() == 6


def test_only_what_counts(client, scored, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        rows = exported(client, scored, sheets="counted", format="jsonl").decode().splitlines()
    assert len(rows) == 11
    first = json.loads(rows[0])
    version = default_rubric(scored)
    assert (first["rubric"], first["rubric_sha256"]) == ("CompQA v1", version.sha256)
    # A person keeps an id, a machine its name.
    names = {json.loads(row)["rater_name"] for row in rows}
    assert names == {"", "judge"}
    assert AuditEvent.objects.filter(verb="sheets_exported").count() == 1


def test_the_export_page_and_what_it_refuses(client, study):
    page = client.get(address("score_sheets_export", study))
    assert "Nothing to export yet" in page.text
    other = default_rubric(cast.make_study("B"))
    asked = {"rubric": other.public_id, "sheets": "all", "format": "csv"}
    assert client.get(address("score_sheets_export", study), asked).status_code == 422
