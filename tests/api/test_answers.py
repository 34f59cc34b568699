"""Questions, systems and answers through the API: filters, details, new questions, imports."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.consensus.models import FinalLabel
from tests.annotation.made_answers import make_answer, make_list, make_question, make_system
from tests.cast import make_arguments, make_campaign, make_member, make_study

from .conftest import client_of

pytestmark = pytest.mark.django_db


def study_with_answers():
    study = make_study("Answers")
    question = make_question(study, ("cats", "dogs"))
    make_answer(question, make_system(study, "GPT"), "One [1].", listed=make_list(question))
    make_answer(question, make_system(study, "GPT"), "Two.", choice=2, scenario=1)
    other = make_question(study, ("cats", "dogs"), aspect="price")
    make_answer(
        other, make_system(study, "CAM", "imported"), "Three.", scenario=0, source="c.json"
    )
    return study


@pytest.fixture(scope="module")
def built(build_once):
    return build_once(study_with_answers)


@pytest.fixture
def study(built, db):
    return built.copy()


@pytest.fixture
def researcher(study):
    return client_of(make_member(study, "researcher"))


def listed(client, name, study, query=""):
    response = client.get(reverse(f"api_{name}", args=[study.public_id]) + query)
    assert response.status_code == 200
    return response.json()["results"]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("", {"One [1].", "Two.", "Three."}),
        ("?scenario=1", {"Two."}),
        ("?scenario=0", {"Three."}),
        ("?choice=2", {"Two."}),
        ("?source=c.json", {"Three."}),
        ("?system={gpt}", {"One [1].", "Two."}),
        ("?question={priced}", {"Three."}),
    ],
)
def test_answers_by_what_they_are(researcher, study, query, texts):
    ids = {
        "gpt": study.systems.get(name="GPT").public_id,
        "priced": study.questions.get(aspect="price").public_id,
    }
    found = listed(researcher, "answers", study, query.format(**ids))
    assert {row["text"] for row in found} == texts


@pytest.mark.parametrize("query", ["?scenario=5", "?choice=0", "?system=GPT"])
def test_other_values_are_refused(researcher, study, query):
    address = reverse("api_answers", args=[study.public_id]) + query
    assert researcher.get(address).status_code == 400


def test_an_answer_comes_with_its_arguments_and_their_labels(researcher, study):
    answer = study.answers.get(text="One [1].")
    argument = answer.argument_list.entries.get(number=2).argument
    FinalLabel.objects.create(
        campaign=make_campaign(study), argument=argument, label=3, provenance="votes"
    )
    address = reverse("api_answer", args=[study.public_id, answer.public_id])
    shown = researcher.get(address).json()
    assert [(row["number"], row["label"]) for row in shown["arguments"]] == [
        (1, None),
        (2, 3),
        (3, None),
    ]
    assert shown["arguments"][1]["argument"] == str(argument.public_id)
    assert (shown["system_name"], shown["source"], shown["run"]) == ("GPT", "made.json", None)


def test_questions_are_counted_and_found(researcher, study):
    rows = {row["text"]: row["answers"] for row in listed(researcher, "questions", study)}
    assert rows["Which is better: cats or dogs?"] == 2
    assert rows["Which is better for price: cats or dogs?"] == 1
    gpt = study.systems.get(name="GPT").public_id
    (row,) = listed(researcher, "questions", study, f"?system={gpt}")
    assert (row["answers"], row["aspect"]) == (2, "")
    assert len(listed(researcher, "questions", study, "?aspect=price")) == 1


def test_a_question_is_asked_once(researcher, study):
    comparison = study.comparisons.get(object1="cats")
    address = reverse("api_questions", args=[study.public_id])
    body = {"comparison": str(comparison.public_id), "aspect": "noise", "wording": "Louder?"}
    made = researcher.post(address, body, format="json")
    assert (made.status_code, made.json()["text"]) == (201, "Louder?")
    assert researcher.post(address, body, format="json").status_code == 409
    assert study.questions.filter(aspect="noise").count() == 1


def test_a_comparison_of_another_study_is_unknown(researcher, study):
    comparison = make_question(make_study("Foreign")).comparison
    address = reverse("api_questions", args=[study.public_id])
    answer = researcher.post(address, {"comparison": str(comparison.public_id)}, format="json")
    assert answer.status_code == 400
    assert "comparison" in answer.json()["errors"]


def test_missing_questions_are_asked_once(researcher, study):
    for pair in (("a", "b"), ("a", "c")):
        make_arguments(study, 1, pair)
    address = reverse("api_questions_missing", args=[study.public_id])
    assert researcher.post(address, {}, format="json").json() == {"added": 2}
    assert researcher.post(address, {}, format="json").json() == {"added": 0}


def test_systems_are_counted_and_renamed(researcher, study):
    rows = {row["name"]: row["answers"] for row in listed(researcher, "systems", study)}
    assert (rows["GPT"], rows["CAM"]) == (2, 1)
    assert [row["name"] for row in listed(researcher, "systems", study, "?kind=imported")] == [
        "CAM"
    ]
    gpt = study.systems.get(name="GPT")
    address = reverse("api_system", args=[study.public_id, gpt.public_id])
    assert researcher.patch(address, {"name": "CAM"}, format="json").status_code == 409
    shown = researcher.patch(address, {"name": "GPT-4"}, format="json")
    assert (shown.json()["name"], shown.json()["answers"]) == ("GPT-4", 2)
    shown = researcher.patch(address, {"kind": "human"}, format="json")
    assert (shown.json()["name"], shown.json()["kind"]) == ("GPT-4", "human")
    assert researcher.patch(address, {"kind": "robot"}, format="json").status_code == 400


@pytest.mark.parametrize("scenario", ["2", ""])
def test_a_file_of_answers_is_imported(
    researcher, study, scenario, django_capture_on_commit_callbacks
):
    record = {"object1": "a", "object2": "b", "aspect": None, "comparison": "An answer."}
    file = SimpleUploadedFile("some_scenario_3.json", json.dumps([record]).encode())
    body = {"file": file, "kind": "answers", "system": "Mine"}
    body |= {"scenario": scenario} if scenario else {}
    address = reverse("api_imports", args=[study.public_id])
    with django_capture_on_commit_callbacks(execute=True):
        stored = researcher.post(address, body, format="multipart")
    assert stored.status_code == 202
    imported = reverse("api_import_apply", args=[study.public_id, stored.json()["id"]])
    with django_capture_on_commit_callbacks(execute=True):
        assert researcher.post(imported, {}, format="json").status_code == 202
    answer = study.answers.select_related("system").get(text="An answer.")
    assert (answer.system.name, answer.scenario) == ("Mine", int(scenario or 3))
