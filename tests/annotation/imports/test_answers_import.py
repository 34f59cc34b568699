"""What files with answers do, also a second time, and what they refuse."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.generation.actions.answer_runs import condition
from cqa_site.files.actions.imports import ImportRefused
from tests.annotation.imports.import_files import json_file, numbers, reasons, take

pytestmark = pytest.mark.django_db


def record(pair, **more):
    return {"object1": pair[0], "object2": pair[1], "aspect": ""} | more


def silver(pair=("tea", "coffee"), arguments=("Tea wins.", "Coffee wins."), **changes):
    listed = [f"{number}. {text}" for number, text in enumerate(arguments, 1)]
    made = {"arguments": listed, "prompt": "", "gpt_answers": ["Tea [1].", "Coffee [2]."]}
    return record(pair, **made | changes)


def gold(pair=("tea", "coffee"), texts=("Tea, said plainly [1].",), **changes):
    made = {"aspect": None, "question": "", "comparison": list(texts)}
    return record(pair, **made | changes)


def raw(text="Tea.", pair=("tea", "coffee"), aspect=""):
    return record(pair, aspect=aspect, comparison=text)


@pytest.fixture
def silver_file(tmp_path):
    other = silver(("train", "plane"), ("Trains are calm.",), aspect="comfort")
    return json_file(tmp_path, [silver(), other], "silver.json")


def test_silver_brings_questions_lists_and_answers(study, silver_file, tmp_path):
    outcome = take(study, "silver", silver_file)
    made = {name: numbers(outcome, name)[0] for name in ("questions", "systems", "answers")}
    assert made == {"questions": 2, "systems": 1, "answers": 4}
    system = study.systems.get()
    assert (system.name, system.kind) == ("gpt-3.5-turbo", "model")
    rows = study.answers.order_by("pk").values_list("position", "choice", "scenario", "text")
    assert list(rows)[:2] == [(1, 1, 4, "Tea [1]."), (1, 2, 4, "Coffee [2].")]
    assert set(study.answers.values_list("source", flat=True)) == {"silver.json"}
    listed = study.answers.first().argument_list
    entries = list(listed.entries.values_list("number", "argument__text"))
    assert entries == [(1, "Tea wins."), (2, "Coffee wins.")]
    assert listed.recipe == {"source": "silver.json"}
    assert study.questions.get(aspect="comfort").comparison.object1 == "train"
    # What they were written under is known as far as the scenario, and no further.
    assert {each.condition for each in study.answers.all()} == {condition(study, scenario=4)}
    assert study.answers.first().condition.is_plain
    # A comparison without arguments has no list.
    path = json_file(tmp_path, [silver(("bus", "tram"), arguments=())])
    take(study, "silver", path)
    assert study.answers.filter(argument_list=None).count() == 2
    assert take(study, "silver", path).changed == 0
    # What the database would refuse is rejected.
    for record, part in (
        (silver(gpt_answers=["x", " "]), "the answer is empty"),
        (silver() | {"arguments": ["40000. S."]}, "does not begin with a number"),
        (silver(aspect="a" * 301), "longer than 300"),
        (silver(pair=("x" * 301, "y"), arguments=()), "longer than 300"),
        (silver(gpt_answers="x"), "is not a list"),
    ):
        outcome = take(study, "silver", json_file(tmp_path, [record]), write=False)
        assert any(part in reason for reason in reasons(outcome)), part


def test_queries_do_not_grow_with_the_records(study, tmp_path):
    def queries(count):
        records = [silver((f"{count}-{n}", "b")) for n in range(count)]
        path = json_file(tmp_path, records, f"{count}.json")
        take(study, "silver", path)
        with CaptureQueriesContext(connection) as found:
            take(study, "silver", path, write=False)
        return len(found)

    assert queries(2) == queries(60) <= 12


def test_who_wrote_them_can_be_said_and_what_another_file_brought_is_here_already(
    study, silver_file, tmp_path
):
    outcome = take(study, "silver", silver_file, system="Another model", scenario=2)
    assert "Written by “Another model” under scenario 2: with arguments." in outcome.notes
    assert set(study.answers.values_list("system__name", "scenario")) == {("Another model", 2)}
    part = json_file(tmp_path, [silver()], "part.json")
    outcome = take(study, "silver", part, system="Another model", scenario=2)
    assert numbers(outcome, "answers") == (0, 2, 0, 0)
    assert "2 answers already exist, from silver.json." in outcome.notes
    assert outcome.added == 0


def test_another_text_at_the_same_place_is_never_taken(study, silver_file, tmp_path):
    take(study, "silver", silver_file)
    changed = json_file(tmp_path, [silver(gpt_answers=["Tea [1].", "Milk."])], "silver.json")
    looked = take(study, "silver", changed, write=False)
    (reason,) = reasons(looked)
    assert "answers never change" in reason
    assert looked.flags[0].column == "gpt_answers · 2"
    with pytest.raises(ImportRefused, match="1 row is rejected"):
        take(study, "silver", changed, update_changed=True)
    take(study, "silver", changed, leave_out_rejected=True, update_changed=True)
    assert not study.answers.filter(text="Milk.").exists()


def test_a_wrong_system_is_corrected_on_wish_only(study, silver_file):
    take(study, "silver", silver_file, system="Wrong", scenario=1)
    outcome = take(study, "silver", silver_file, system="Right", scenario=4)
    assert numbers(outcome, "answers") == (0, 0, 4, 0)
    assert "Differs; the stored value was kept: Wrong, 1: bare" in reasons(outcome, rejected=False)
    assert set(study.answers.values_list("system__name", flat=True)) == {"Wrong"}
    take(study, "silver", silver_file, system="Right", scenario=4, update_changed=True)
    written = ("system__name", "scenario", "condition__scenario")
    assert set(study.answers.values_list(*written)) == {("Right", 4, 4)}
    assert study.answers.count() == 4


def test_gold_joins_the_arguments_of_its_pair(study, silver_file, tmp_path):
    take(study, "silver", silver_file)
    path = json_file(tmp_path, [gold(texts=("One [1].", "Two [2]."))], "gold.json")
    outcome = take(study, "gold", path)
    assert numbers(outcome, "questions") == (0, 1, 0, 0)
    assert numbers(outcome, "answers") == (2, 0, 0, 0)
    edited = study.answers.filter(source="gold.json").order_by("choice")
    machine = study.answers.filter(source="silver.json").first()
    assert [row.argument_list for row in edited] == [machine.argument_list] * 2
    assert {(row.system.name, row.system.kind, row.scenario) for row in edited} == {
        ("human", "human", 0)
    }
    assert take(study, "gold", path).added == 0
    # With another aspect it takes a copy of the list.
    take(study, "gold", json_file(tmp_path, [gold(aspect="price")], "more.json"))
    answer = study.answers.get(source="more.json")
    assert answer.question.aspect == "price"
    assert answer.argument_list.question == answer.question
    assert answer.argument_list.entries.count() == 2


def test_gold_without_silver_says_so_and_is_completed_later(study, silver_file, tmp_path):
    path = json_file(tmp_path, [gold()], "gold.json")
    outcome = take(study, "gold", path)
    assert any("Import the silver file first" in note for note in outcome.notes)
    assert study.answers.get().argument_list is None
    take(study, "silver", silver_file)
    assert numbers(take(study, "gold", path), "answers") == (0, 0, 1, 0)
    take(study, "gold", path, update_changed=True)
    assert study.answers.get(source="gold.json").argument_list is not None
    assert take(study, "gold", path).changed == 0


def test_the_wording_of_a_question_is_filled_in_on_wish(study, silver_file, tmp_path):
    take(study, "silver", silver_file)
    path = json_file(tmp_path, [gold(question="Tea or coffee?")], "gold.json")
    assert numbers(take(study, "gold", path), "questions") == (0, 0, 1, 0)
    question = study.questions.get(aspect="")
    assert question.wording == ""
    take(study, "gold", path, update_changed=True)
    question.refresh_from_db()
    assert question.wording == "Tea or coffee?"
    again = [take(study, "silver", silver_file), take(study, "gold", path)]
    assert [(each.added, each.changed) for each in again] == [(0, 0), (0, 0)]
    # A second wording is a second question.
    pair = ("bus", "tram")
    worded = [gold(pair, question="Bus?"), gold(pair, question="Tram?", texts=("Tram.",))]
    path = json_file(tmp_path, worded, "second.json")
    assert numbers(take(study, "gold", path), "questions") == (2, 0, 0, 0)
    unworded = json_file(tmp_path, [gold(pair, texts=("Milk.",))], "more.json")
    assert numbers(take(study, "gold", unworded), "questions") == (0, 1, 0, 0)
    assert study.answers.get(text="Milk.").question.wording == "Bus?"


def test_a_system_s_file_says_who_and_which_scenario_by_its_name(study, tmp_path):
    records = [raw("1"), raw("2"), raw("3", aspect="price"), raw("4", aspect=None)]
    path = json_file(tmp_path, records, "mixtral_scenario_3.json")
    outcome = take(study, "answers", path)
    assert outcome.notes[0] == "Written by “mixtral” under scenario 3: role, task and structure."
    rows = study.answers.order_by("position").values_list("question__aspect", "choice", "text")
    assert list(rows) == [("", 1, "1"), ("", 2, "2"), ("price", 1, "3"), ("", 1, "4")]
    written = study.answers.values_list("system__name", "scenario", "argument_list")
    assert set(written) == {("mixtral", 3, None)}
    assert take(study, "answers", path).added == 0
    # Copies in one file are imported and counted.
    records = [raw("Same."), raw("Same."), raw("Other."), raw("Same.")]
    outcome = take(study, "answers", json_file(tmp_path, records, "cam.json"))
    assert numbers(outcome, "answers") == (4, 0, 0, 0)
    assert any(note.startswith("2 texts repeat earlier texts") for note in outcome.notes)
