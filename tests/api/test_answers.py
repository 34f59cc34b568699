"""Questions, systems and answers through the API: filters, details, new questions, imports."""

import pytest
from django.urls import reverse

from annotation.consensus.models import FinalLabel
from tests.annotation.made_answers import make_answer, make_list, make_question, make_system
from tests.cast import make_label_round, make_member, make_study
from tests.worlds import built_once
from .conftest import client_of
from .test_behaviour import patch

pytestmark = pytest.mark.django_db


def study_with_answers():
    study = make_study("Answers")
    question = make_question(study, ("cats", "dogs"))
    make_answer(question, make_system(study, "GPT"), "One [1].", listed=make_list(question))
    make_answer(question, make_system(study, "GPT"), "Two.", choice=2, scenario=1)
    other = make_question(study, ("cats", "dogs"), aspect="price")
    about = {"scenario": 0, "source": "c.json"}
    make_answer(other, make_system(study, "CAM", "imported"), "Three.", **about)
    return study


study = built_once(study_with_answers)


@pytest.fixture
def researcher(study):
    return client_of(make_member(study, "researcher"))


def listed(client, name, study, query=""):
    response = client.get(reverse(f"api_{name}", args=[study.public_id]) + query)
    assert response.status_code == 200
    return response.json()["results"]


def test_an_answer_comes_with_its_arguments_and_their_labels(researcher, study):
    answer = study.answers.get(text="One [1].")
    argument = answer.argument_list.entries.get(number=2).argument
    FinalLabel.objects.create(
        label_round=make_label_round(study), argument=argument, label=3, provenance="votes"
    )
    address = reverse("api_answer", args=[study.public_id, answer.public_id])
    shown = researcher.get(address).json()
    labels = [(row["number"], row["label"]) for row in shown["arguments"]]
    assert labels == [(1, None), (2, 3), (3, None)]
    assert shown["arguments"][1]["argument"] == str(argument.public_id)
    assert (shown["system_name"], shown["source"], shown["run"]) == ("GPT", "made.json", None)


def test_systems_are_counted_and_renamed(researcher, study):
    rows = {row["name"]: row["answers"] for row in listed(researcher, "systems", study)}
    assert (rows["GPT"], rows["CAM"]) == (2, 1)
    (cam,) = listed(researcher, "systems", study, "?kind=imported")
    assert cam["name"] == "CAM"
    gpt = study.systems.get(name="GPT")
    address = reverse("api_system", args=[study.public_id, gpt.public_id])
    patch(researcher, address, 409, name="CAM")
    for change in ({"name": "GPT-4"}, {"kind": "human"}):
        shown = patch(researcher, address, 200, **change)
        assert shown.items() >= {"name": "GPT-4", "answers": 2, **change}.items()
    patch(researcher, address, 400, kind="robot")
