"""Judged answers: answers are found or made, unusable judgements are kept as unscored."""

import io

import pytest
from django.core.management import CommandError, call_command

from annotation.answers.models import Answer
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models import ScoreEvent, ScoreSheet
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.people.models import Rater, Study
from cqa_site.runs.progress import reason_in_words
from tests.annotation.imports.import_files import json_file, numbers
from ..score_files import ALL_ONES, judged_file, judged_record, take

pytestmark = pytest.mark.django_db
MALFORMED = {
    "renumbered": {str(number): 1 for number in range(16, 31)},
    "out_of_range": ALL_ONES | {"1": 2},
    "duplicate_keys": ALL_ONES | {"C1": 1},
}


@pytest.mark.parametrize(("reading", "scores"), MALFORMED.items())
def test_an_unusable_judgement_is_unscored_with_its_reason(study, tmp_path, reading, scores):
    path = judged_file(tmp_path, judged_record("One.", scores), judged_record("Two.", ALL_ONES))
    outcome = take(study, "judged", path, rater="gpt4")
    bad, good = ScoreSheet.objects.order_by("position")
    assert (bad.state, bad.reason, bad.total, bad.points) == ("unscored", reading, None, {})
    assert (good.state, good.total) == ("submitted", 15)
    words = reason_in_words(reading)
    assert any(f"{words.rstrip('.')} (1)" in note for note in outcome.notes)
    assert any("1 of 2 judgements" in note for note in outcome.notes)
    flag = next(flag for flag in outcome.flags if flag.column == "score_dict")
    assert (flag.row, flag.is_rejection) == (1, False)
    assert flag.reason.startswith(f"Unscored. {words} (")
    assert "_" not in flag.reason
    counted = [numbers(outcome, name) for name in ("sheets", "unscored_sheets")]
    assert counted == [(1, 0, 0, 0), (1, 0, 0, 0)]


def test_the_raw_answers_are_the_same_answers_and_other_points_are_taken_when_asked(
    study, tmp_path
):
    raw = [{key: value for key, value in judged_record("One.", {}).items() if "score" not in key}]
    take(study, "answers", json_file(tmp_path, raw, "alpha_scenario_3.json"))
    path = judged_file(tmp_path, judged_record("One.", ALL_ONES))
    outcome = take(study, "judged", path, rater="gpt4")
    assert numbers(outcome, "answers") == (0, 1, 0, 0)
    assert ScoreSheet.objects.get().answer == Answer.objects.get()
    # A changed text costs its sheet, too.
    changed = judged_file(tmp_path, judged_record("Another.", ALL_ONES))
    outcome = take(study, "judged", changed, write=False, rater="gpt4")
    assert numbers(outcome, "answers") == numbers(outcome, "sheets") == (0, 0, 0, 1)
    # Other points from another file are rejected, those at the same place stay unless asked.
    other = judged_file(tmp_path, judged_record("One.", ALL_ONES | {"9": 2}), name="b.json")
    asked = {"rater": "gpt4", "system": "alpha", "scenario": 3}
    outcome = take(study, "judged", other, write=False, **asked)
    assert numbers(outcome, "sheets") == (0, 0, 0, 1)
    assert "from alpha_scenario_3.json" in outcome.flags[-1].reason
    with pytest.raises(ImportRefused, match="1 row is rejected"):
        take(study, "judged", other, **asked)
    changed = judged_file(tmp_path, judged_record("One.", ALL_ONES | {"9": 2}))
    outcome = take(study, "judged", changed, rater="gpt4")
    assert numbers(outcome, "sheets") == (0, 0, 1, 0)
    assert ScoreSheet.objects.get().total == 15
    take(study, "judged", changed, rater="gpt4", update_changed=True)
    sheet = ScoreSheet.objects.get()
    assert (sheet.total, sheet.points["C9"]) == (16, 2)
    # What was there before is not forgotten.
    assert [each.content["points"]["C9"] for each in ScoreEvent.objects.all()] == [1, 2]


@pytest.mark.long
def test_a_copy_of_the_file_adds_nothing_and_another_judge_only_sheets(study, tmp_path):
    record = judged_record("One.", ALL_ONES)
    take(study, "judged", judged_file(tmp_path, record), rater="gpt4")
    copy = judged_file(tmp_path, record, name="copy.json")
    outcome = take(study, "judged", copy, rater="gpt4", system="alpha", scenario=3)
    assert numbers(outcome, "sheets") == (0, 1, 0, 0)
    assert any("alpha_scenario_3.json" in note for note in outcome.notes)
    assert (Answer.objects.count(), ScoreSheet.objects.count()) == (1, 1)
    take(study, "judged", copy, rater="llama", system="alpha", scenario=3)
    assert (Answer.objects.count(), ScoreSheet.objects.count()) == (1, 2)


def test_answers_and_sheets_are_made_together_once_nothing_is_missing(study, tmp_path):
    path = judged_file(tmp_path, judged_record("One.", ALL_ONES))
    with pytest.raises(ImportRefused, match="Name the judge"):
        take(study, "judged", path, write=False)
    for rubric in ("x", "00000000-0000-4000-8000-000000000000"):
        with pytest.raises(ImportRefused, match="no such rubric version"):
            take(study, "judged", path, write=False, rater="gpt4", rubric=rubric)
    path = judged_file(tmp_path, *(judged_record(text, ALL_ONES) for text in ("One.", "Two.")))
    outcome = take(study, "judged", path, rater="gpt4")
    assert numbers(outcome, "answers") == (2, 0, 0, 0)
    assert numbers(outcome, "sheets") == (2, 0, 0, 0)
    sheets = ScoreSheet.objects.order_by("position")
    assert [each.total for each in sheets] == [15, 15]
    assert [each.answer.choice for each in sheets] == [1, 2]
    assert {(each.source, each.rater.name, each.rater.kind) for each in sheets} == {
        ("alpha_scenario_3.json", "gpt4", Rater.Kind.MODEL)
    }
    assert Answer.objects.first().scenario == 3
    assert str(RubricVersion.objects.get()) == "CompQA v1"


def test_queries_do_not_grow_with_the_rows(study, tmp_path, django_assert_max_num_queries):
    records = [judged_record(f"Answer {n}.", ALL_ONES) for n in range(300)]
    with django_assert_max_num_queries(60):
        take(study, "judged", judged_file(tmp_path, *records), rater="gpt4")
    assert ScoreSheet.objects.count() == 300


@pytest.mark.long
def test_a_folder_is_taken_file_by_file(study, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    folder = tmp_path / "judged_gpt4"
    folder.mkdir()
    for name in ("alpha_scenario_3.json", "beta.json"):
        judged_file(folder, judged_record(f"By {name}.", ALL_ONES), name=name)
    (folder / "notes.txt").write_text("nothing to import")
    asked = ("import_judged", str(folder), "--study", study.name)
    for more, sheets in ((["--dry-run"], 0), ([], 2)):
        out = io.StringIO()
        with pytest.raises(CommandError, match="Not imported: notes"):
            call_command(*asked, *more, stdout=out)
        assert ScoreSheet.objects.count() == sheets
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["alpha", "3", "1", "1", "0", "0", "0", "0", "alpha_scenario_3.json"] in lines
    assert ["beta", "0", "1", "1", "0", "0", "0", "0", "beta.json"] in lines
    assert "not imported: notes.txt:" in out.getvalue()
    assert set(ScoreSheet.objects.values_list("rater__name", flat=True)) == {"gpt4"}
    for path in folder.glob("*.json"):
        path.unlink()
    with pytest.raises(CommandError, match="None of the files"):
        call_command("import_judged", str(folder), "--study", "New", "--create-study")
    assert not Study.objects.filter(name="New").exists()
