"""Any table of score sheets: which answer, whose sheet, and what is rejected or unscored."""

import pytest

from annotation.answers.models import Answer, System
from annotation.corpus.models import Question
from annotation.generation.actions.answer_runs import condition
from benchmark.imports.methods.columns import guess_columns, read_field
from benchmark.rubrics.methods.rubric import COMPQA
from benchmark.rubrics.models import default_rubric, save_rubric
from benchmark.scoring.models import ScoreSheet
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.people.models import Rater
from tests.annotation.imports.import_files import numbers, table_file
from ..made_scores import make_scored_answers
from ..score_files import KEYS, points_row, take
from ..small_rubric import SMALL

pytestmark = pytest.mark.django_db


@pytest.fixture
def answers(study):
    return make_scored_answers(study, systems=("Alpha",), questions=3)


def table(folder, *rows, name="scores.csv"):
    """A CSV file and the mapping that its headers suggest."""
    return table_file(folder, *rows, name=name), guess_columns(list(rows[0]), COMPQA)


def imported(study, folder, *rows, name="scores.csv", **options):
    path, mapping = table(folder, *rows, name=name)
    return take(study, "score_sheets", path, **{"mapping": mapping} | options)


def row_of(answer, points=1, rater="ann-1", **more):
    about = {"answer": answer.public_id, "rater": rater}
    return about | points_row(points) | more


def test_by_the_id_of_the_answer(study, answers, tmp_path):
    outcome = imported(study, tmp_path, row_of(answers[0]), row_of(answers[1], 0))
    assert numbers(outcome, "sheets") == (2, 0, 0, 0)
    assert numbers(outcome, "raters") == (1, 0, 0, 0)
    assert numbers(outcome, "answers") == (0, 0, 0, 0)
    found = ScoreSheet.objects.order_by("position").values_list("answer", "total")
    assert list(found) == [(answers[0].pk, 15), (answers[1].pk, 0)]
    rater = Rater.objects.get()
    # Nobody gets a name that a file does not give.
    assert (rater.kind, rater.external_id, rater.name) == ("person", "ann-1", "")
    assert {each.rubric for each in ScoreSheet.objects.all()} == {default_rubric(study)}


def test_by_file_and_place_or_by_what_it_is_about(study, answers, tmp_path):
    place = {"source": answers[2].source, "position": answers[2].position, "rater": "a"}
    imported(study, tmp_path, place | points_row())
    about = {"object1": "kayak 1", "object2": "canoe 1", "system": "Alpha", "rater": "a"}
    imported(study, tmp_path, about | points_row(), name="other.csv")
    found = ScoreSheet.objects.order_by("pk").values_list("answer", flat=True)
    assert list(found) == [answers[2].pk, answers[1].pk]


def test_a_described_answer_with_its_text_is_made_once(study, tmp_path):
    about = {"object1": "tea", "object2": "coffee", "system": "Beta", "scenario": 2}
    about |= {"text": "Tea wins."}
    rows = [about | {"rater": rater} | points_row() for rater in ("a", "b")]
    outcome = imported(study, tmp_path, *rows)
    assert numbers(outcome, "answers") == (1, 0, 0, 0)
    assert numbers(outcome, "sheets") == (2, 0, 0, 0)
    answer = Answer.objects.get()
    assert (answer.text, answer.scenario, answer.source) == ("Tea wins.", 2, "scores.csv")
    assert System.objects.get().kind == "model"


NO_ANSWER = [
    ({"answer": "00000000-0000-4000-8000-000000000000"}, "no answer with this id"),
    ({"answer": "seven"}, "is not an ID"),
    ({"object1": "x", "object2": "y", "system": "Alpha"}, "has no text to create it from"),
    ({"source": "nowhere.json", "position": 1}, "from this position"),
    ({"answer": ""}, "no answer with this id"),
]


def test_a_row_about_no_answer_is_rejected_and_an_aspect_counts_where_it_has_a_column(
    study, answers, tmp_path
):
    for about, words in NO_ANSWER:
        outcome = imported(study, tmp_path, about | {"rater": "a"} | points_row(), write=False)
        assert numbers(outcome, "sheets") == (0, 0, 0, 1), words
        assert words in outcome.flags[0].reason
        assert outcome.flags[0].row == 2
    Question.objects.filter(answers=answers[0]).update(aspect="speed")
    about = {"object1": "kayak 0", "object2": "canoe 0", "system": "Alpha", "rater": "a"}
    outcome = imported(study, tmp_path, about | {"aspect": "price"} | points_row(), write=False)
    assert numbers(outcome, "sheets") == (0, 0, 0, 1)
    outcome = imported(study, tmp_path, about | {"aspect": "speed"} | points_row(), write=False)
    assert numbers(outcome, "sheets") == (1, 0, 0, 0)


def test_several_fitting_answers_are_not_guessed(study, answers, tmp_path):
    first = answers[0]
    Answer.objects.create(
        study=study, question=first.question, system=first.system, scenario=2,
        condition=condition(study, scenario=2),
        text="Other.", source="x.json", position=1,
    )  # fmt: skip
    about = {"object1": "kayak 0", "object2": "canoe 0", "system": "Alpha", "rater": "a"}
    outcome = imported(study, tmp_path, about | points_row(), write=False)
    assert "2 answers in the study match" in outcome.flags[0].reason
    imported(study, tmp_path, about | {"scenario": 2} | points_row())
    assert ScoreSheet.objects.get().answer.scenario == 2


BAD_CELLS = [
    ({"C1": 2}, "C1", "not on the scale"),
    ({"C1": 2, "C2": "x", "C3": ""}, "C1 C2 C3", "not on the scale"),
    ({"C9": 0.5}, "C9", "not on the scale"),
    ({"C1": "yes"}, "C1", "is not a number"),
    ({"C1": ""}, "C1", "is empty"),
    ({"C1": "nan"}, "C1", "is empty"),
    ({"C1": -1}, "C1", "not on the scale"),
    ({"total": 14}, "total", "is 14, but the points add up to 15"),
    ({"total": "x"}, "total", "is not a number"),
    ({"rater": ""}, "rater", "is empty"),
    ({"rater": "x" * 300}, "", "longer than 128"),
    ({"rater_kind": "robot"}, "rater_kind", "is not one of"),
    ({"notes": "good"}, "notes", "not a JSON object"),
    ({"notes": '{"C77": "?"}'}, "notes", "not criteria"),
    ({"notes": '{"C1": "\\u0000"}'}, "notes", "not a JSON object"),
    ({"choice": 40_000}, "choice", "not below 32767"),
    ({"submitted_at": "soon"}, "submitted_at", "not a date"),
    ({"replicate": "-1"}, "replicate", "not a whole number"),
    ({"rubric_sha256": "0" * 64}, "rubric_sha256", "another version"),
]


def test_a_bad_cell_rejects_a_persons_row_but_what_could_not_be_judged_is_no_zero(
    study, answers, tmp_path
):
    for cells, columns, words in BAD_CELLS:
        outcome = imported(study, tmp_path, row_of(answers[0]) | cells, write=False)
        assert numbers(outcome, "sheets") == (0, 0, 0, 1), cells
        assert [flag.column for flag in outcome.flags] == (columns.split() or [""])
        assert {(flag.row, flag.is_rejection) for flag in outcome.flags} == {(2, True)}
        assert words in outcome.flags[0].reason
    row = row_of(answers[0]) | {"C3": "", "unable": '{"C3": "knowledge"}', "comment": "Hm."}
    imported(study, tmp_path, row)
    sheet = ScoreSheet.objects.get()
    assert (sheet.total, sheet.unable, sheet.comment) == (None, {"C3": "knowledge"}, "Hm.")
    assert "C3" not in sheet.points


UNSCORED = [
    ({"C1": 2}, "out_of_range"),
    ({"C1": "x"}, "not_a_whole_number"),
    ({"C1": 0.5}, "not_a_whole_number"),
    ({"C1": ""}, "missing_keys"),
    (dict.fromkeys(KEYS, ""), "empty"),
]


def test_a_models_bad_row_is_kept_as_unscored(study, answers, tmp_path, alone):
    for cells, reason in UNSCORED:
        row = row_of(answers[0], rater="judge-1", rater_kind="model") | cells
        with alone(cells):
            outcome = imported(study, tmp_path, row)
            assert numbers(outcome, "unscored_sheets") == (1, 0, 0, 0)
            sheet = ScoreSheet.objects.get()
            assert (sheet.state, sheet.reason, sheet.total) == ("unscored", reason, None)
            assert sheet.rater.name == "judge-1"
            assert any("left out of every mean" in flag.reason for flag in outcome.flags)


def test_the_one_rater_of_all_rows(study, answers, tmp_path):
    row = {"answer": answers[0].public_id} | points_row()
    with pytest.raises(ImportRefused, match="choose the column of the rater"):
        imported(study, tmp_path, row, write=False)
    imported(study, tmp_path, row, rater="Jury", rater_kind="expert")
    assert ScoreSheet.objects.get().rater.kind == "expert"


def test_another_rubric(study, answers, tmp_path):
    small = save_rubric(study=study, rubric=SMALL)
    keys = small.rubric.keys
    row = {"answer": answers[0].public_id, "rater": "a"} | dict.fromkeys(keys, 1)
    path = table_file(tmp_path, row)
    mapping = guess_columns(list(row), small.rubric)
    take(study, "score_sheets", path, mapping=mapping, rubric=str(small.public_id))
    sheet = ScoreSheet.objects.get()
    assert (sheet.rubric, sheet.total, sheet.maximum) == (small, len(keys), small.rubric.maximum)


def test_columns_are_chosen_once_and_a_rater_has_one_row_for_an_answer(study, answers, tmp_path):
    path, guess = table(tmp_path, row_of(answers[0]))
    for mapping, words in (
        ({}, "choose a column for C1, C2"),
        ({"C1": "nowhere"}, "no column 'nowhere' for C1"),
        ({"C99": "C1"}, "there is no field 'C99'"),
        ({"C1": "C2"}, "one column is chosen for two fields"),
        ({"answer": None}, "identify the answer"),
    ):
        chosen = {key: column for key, column in (guess | mapping).items() if column}
        with pytest.raises(ImportRefused, match=words):
            take(study, "score_sheets", path, write=False, mapping=chosen if mapping else {})
    first = row_of(answers[0])
    outcome = imported(study, tmp_path, first, first, row_of(answers[0], 0), write=False)
    assert numbers(outcome, "sheets") == (1, 1, 0, 1)
    assert "row 2 already has" in outcome.flags[0].reason
    rows = first | {"replicate": 0}, row_of(answers[0], 0) | {"replicate": 1}
    imported(study, tmp_path, *rows)
    assert sorted(ScoreSheet.objects.values_list("replicate", "total")) == [(0, 15), (1, 0)]


def test_text_that_no_database_keeps_is_refused_by_the_cell():
    for text in ("a\x00b", "a\ud800b"):
        with pytest.raises(ValueError, match="NUL character"):
            read_field("comment", text)
