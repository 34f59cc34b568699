"""Rows of a score table meet answers by letters, near texts wait; sheets that come in again."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.answers.models import Answer
from benchmark.imports.methods.columns import guess_columns
from benchmark.rubrics.methods.rubric import COMPQA
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.models import ScoreSheet
from cqa_site.files.actions.imports import import_path
from cqa_site.people.models import AuditEvent, Rater
from cqa_site.tabular import preview
from cqa_site.tabular.cells import text_key
from tests import cast
from tests.annotation.imports.import_files import numbers, table_file
from tests.api.conftest import client_of
from ..made_scores import make_rater, make_scored_answers, make_sheets
from ..score_files import points_row, take

pytestmark = pytest.mark.django_db
LONG = "The kayak’s hull is narrow, so it glides; the canoe’s is wide and steady. " * 6
NEAR = LONG.replace("steady", "stable", 1)


@pytest.fixture
def answer(study):
    """The only answer of Alpha to the first question."""
    answer = make_scored_answers(study, systems=("Alpha",), questions=1)[0]
    Answer.objects.filter(pk=answer.pk).update(text=LONG, text_sha256=text_key(LONG))
    return answer


def row_of(text, **more):
    about = {"object1": "kayak 0", "object2": "canoe 0", "system": "Alpha", "scenario": 1}
    return about | {"text": text, "rater": "ann"} | points_row() | more


def imported(study, folder, *rows, write=True, **options):
    path = table_file(folder, *rows)
    mapping = guess_columns(list(rows[0]), COMPQA)
    return take(study, "score_sheets", path, write=write, mapping=mapping, **options)


def damaged(text: str) -> str:
    return text.replace("’", "‚Äô").replace(" ", "  ")


def test_texts_with_the_same_letters_are_one_answer(study, answer, tmp_path):
    outcome = imported(study, tmp_path, row_of(damaged(LONG)))
    assert numbers(outcome, "answers") == (0, 0, 0, 0)
    assert ScoreSheet.objects.get().answer == answer
    assert any("letters and digits" in note for note in outcome.notes)
    again = imported(study, tmp_path, row_of(damaged(LONG)))
    assert numbers(again, "sheets") == (0, 1, 0, 0)


def test_a_file_name_tells_system_and_scenario_and_those_of_others_are_other_answers(
    study, answer, tmp_path
):
    rows = [row_of(LONG, system="Beta"), row_of(LONG, scenario=2, rater="b")]
    outcome = imported(study, tmp_path, *rows, write=False)
    assert numbers(outcome, "answers") == (2, 0, 0, 0)
    assert any("answers that are not in the study" in note for note in outcome.notes)
    row = row_of(LONG, filename="scored_Alpha_scenario_1_comparison")
    del row["system"], row["scenario"]
    imported(study, tmp_path, row)
    assert ScoreSheet.objects.get().answer == answer


def test_of_equal_answers_the_first_free_one_is_taken(study, answer, tmp_path):
    twin = Answer.objects.create(
        study=study, question=answer.question, system=answer.system, scenario=1, choice=2,
        text=LONG, source="Alpha.json", position=99, condition=answer.condition,
    )  # fmt: skip
    rows = [row_of(LONG), row_of(damaged(LONG)), row_of(LONG, rater="other")]
    outcome = imported(study, tmp_path, *rows)
    found = ScoreSheet.objects.order_by("position").values_list("answer", flat=True)
    assert list(found) == [answer.pk, twin.pk, answer.pk]
    assert "Matches several" in outcome.flags[0].reason


def test_what_a_dry_run_says_of_near_texts_rows_without_points_and_rejected_rows(
    study, answer, tmp_path
):
    outcome = imported(study, tmp_path, row_of(NEAR), write=False)
    assert numbers(outcome, "sheets") == (0, 0, 0, 1)
    assert numbers(outcome, "answers") == (0, 0, 0, 0)
    (match,) = outcome.near
    assert (match.row, match.known, match.decision) == (2, str(answer.public_id), "")
    assert 0.9 < match.likeness < 1
    assert match.given.startswith("The kayak’s hull")
    assert match.found.startswith("The kayak’s hull")
    assert "1 row has almost the same text as an answer in the study" in outcome.notes[0]
    # So is a text that was cut; a word on another answer counts as none.
    cut = LONG[: len(LONG) - 60]
    assert len(imported(study, tmp_path, row_of(cut), write=False).near) == 1
    gone = {"2": "00000000-0000-4000-8000-000000000000"}
    outcome = imported(study, tmp_path, row_of(NEAR), write=False, decisions=gone)
    assert outcome.near[0].decision == ""
    rows = [row_of(LONG), row_of("Other.", **points_row("")), row_of("More.", **points_row(""))]
    outcome = imported(study, tmp_path, *rows, write=False)
    assert (outcome.rejected, outcome.rows["read"]) == (0, 3)
    assert numbers(outcome, "sheets") == (1, 0, 0, 0)
    assert any("2 rows have no points" in note for note in outcome.notes)
    # Rejected rows are counted once.
    bad = row_of(LONG, C1="x", C2="", C3=7)
    outcome = imported(study, tmp_path, bad, bad | {"rater": "b"}, write=False)
    assert outcome.rows == {"read": 2, "rejected": 2, "problems": 6}
    assert numbers(outcome, "sheets") == (0, 0, 0, 2)


@pytest.mark.parametrize(("word", "answers"), [("same", 1), ("other", 2)])
def test_one_word_for_all_near_texts(study, answer, tmp_path, word, answers):
    outcome = imported(study, tmp_path, row_of(NEAR), near=word)
    assert outcome.rejected == 0
    assert [match.decision for match in outcome.near] == [word]
    assert Answer.objects.count() == answers
    assert (ScoreSheet.objects.get().answer == answer) is (word == "same")
    again = imported(study, tmp_path, row_of(NEAR), near=word)
    assert numbers(again, "sheets") == (0, 1, 0, 0)


def test_queries_do_not_grow_with_the_rows(study, answer, tmp_path):
    def counted(*rows):
        with CaptureQueriesContext(connection) as queries:
            imported(study, tmp_path, *rows, write=False)
        return len(queries)

    one = counted(row_of(NEAR))
    assert counted(*(row_of(NEAR, rater=f"r{n}") for n in range(60))) == one


@pytest.fixture
def near_file(study, answer, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    rows = [row_of(LONG.replace("steady", word, 1), rater=word) for word in ("stable", "solid")]
    path = table_file(tmp_path, *rows)
    return path, guess_columns(list(rows[0]), COMPQA)


@pytest.mark.long
def test_near_texts_on_the_page(study, answer, near_file, client, inline):
    path, mapping = near_file
    data = {"kind": "score_sheets", "file": SimpleUploadedFile("t.csv", path.read_bytes())}
    client.post(reverse("import_upload", args=[study.public_id]), data)
    file = study.import_files.get()
    args = [study.public_id, file.public_id]
    chosen = {f"map_{field}": column for field, column in mapping.items()}
    with inline():
        client.post(reverse("import_scores", args=args), chosen | {"rater_kind": "person"})
    page = client.get(reverse("import_file", args=args)).text
    assert "2 to decide" in page
    assert "2 rows have errors" in page
    for said in ("same:2", "other:3"):
        with inline():
            client.post(reverse("import_matches", args=args), {"said": said})
    page = client.get(reverse("import_file", args=args)).text
    assert "All decided" in page
    with inline():
        client.post(reverse("import_apply", args=args), {})
    assert (Answer.objects.count(), ScoreSheet.objects.count()) == (2, 2)
    assert answer.score_sheets.count() == 1


def test_near_texts_by_the_api(study, answer, near_file, researcher, inline):
    client = client_of(researcher)
    path, mapping = near_file
    body = {"kind": "score_sheets", "mapping": json.dumps(mapping)}
    body["file"] = SimpleUploadedFile("t.csv", path.read_bytes())
    with inline():
        stored = client.post(
            reverse("api_imports", args=[study.public_id]), body, format="multipart"
        )
    assert stored.status_code == 202, stored.content
    args = [study.public_id, stored.json()["id"]]
    address = reverse("api_import_matches", args=args)
    rows = client.get(address, {"is_decided": "false"}).json()["results"]
    assert [row["row"] for row in rows] == [2, 3]
    assert rows[0]["answer"] == str(answer.public_id)
    refused = client.post(address, {"decision": "same", "rows": [2, 9]}, format="json")
    assert refused.status_code == 400
    with inline():
        assert client.post(address, {"decision": "same"}, format="json").status_code == 202
    shown = client.get(reverse("api_import", args=args)).json()
    assert shown["rows"] == {"read": 2, "rejected": 0, "problems": 0}
    assert client.get(address, {"decision": "same"}).json()["count"] == 2


@pytest.mark.long
def test_near_texts_by_the_command(study, answer, near_file, capsys):
    path, _mapping = near_file
    asked = ("import_score_sheets", str(path), "--study", study.name)
    with pytest.raises(CommandError, match="2 rows are rejected"):
        call_command(*asked)
    assert "near: row 2" in capsys.readouterr().out
    call_command(*asked, "--near", "same")
    assert (Answer.objects.count(), ScoreSheet.objects.count()) == (1, 2)


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
