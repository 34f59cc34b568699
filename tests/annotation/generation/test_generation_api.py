"""Answers by a program: what a run would take, starting it, and reading what was written."""

import uuid

import pytest

from annotation.corpus.models.questions import ArgumentList
from cqa_site.runs import handlers
from cqa_site.runs.models import Run
from tests.annotation.generation_lab import GenerationLab
from tests.annotation.made_generations import write_by_text
from tests.api.conftest import client_of
from tests.cast import make_study
from tests.runs.judging import script
from tests.worlds import built_once

pytestmark = pytest.mark.django_db

assert handlers  # registers the jobs these tests run


lab = built_once(GenerationLab)


@pytest.fixture
def ask(lab, django_capture_on_commit_callbacks):
    """Send a request and let the work it asked for be done."""
    client = client_of(lab.researcher)

    def send(path, body=None, status=200):
        place = f"/api/v1/studies/{lab.study.public_id}/{path}"
        with django_capture_on_commit_callbacks(execute=True):
            response = client.get(place) if body is None else client.post(place, body, "json")
        assert response.status_code == status, response.content
        return response.json()

    return send


@pytest.fixture
def plan(lab):
    return {
        "kind": "answers",
        "endpoint": str(lab.endpoint.public_id),
        "prompt": str(lab.prompt(4).public_id),
        "preflight": "off",
    }


def test_a_run_from_the_estimate_to_its_answers(lab, ask, plan, monkeypatch):
    client = script(monkeypatch, write_by_text)
    wanted = plan | {"relevance": "2-3", "most_arguments": 3, "replicates": 2}
    found = ask("runs/estimate/", wanted | {"cap_micro": 10})
    assert (found["requests"], found["passes_cap"]) == (8, True)
    assert not Run.objects.exists()
    started = ask("runs/", wanted, 201)
    run = ask(f"runs/{started['id']}/")
    assert (run["kind"], run["state"], run["label_round"]) == ("answers", "done", None)
    assert run["left_out"] == {"relevance": 16, "too_many": 4}
    assert run["spec"]["params"] == {"max_tokens": 1500, "seed": 1}
    assert len(client.requests) == run["done"] == 8
    answers = ask(f"answers/?run={run['id']}&page_size=200")["results"]
    assert len(answers) == 8
    assert {answer["system"] for answer in answers} == {run["system"]}
    assert {answer["scenario"] for answer in answers} == {4}
    (row,) = ask("runs/?kind=answers")["results"]
    assert row["system"] == run["system"]
    assert ask("runs/?kind=relevance")["count"] == 0


def test_comparisons_are_chosen_by_id(lab, ask, plan):
    pair = lab.questions[1].comparison
    chosen = plan | {"questions": "comparisons", "comparisons": [str(pair.public_id)]}
    assert ask("runs/estimate/", chosen)["requests"] == 3
    theirs = make_study("Elsewhere").comparisons.create(object1="a", object2="b")
    for wrong in (theirs.public_id, uuid.uuid4()):
        body = chosen | {"comparisons": [str(pair.public_id), str(wrong)]}
        assert "comparisons" in ask("runs/estimate/", body, 400)["errors"]
    assert "comparisons" in ask("runs/", chosen | {"comparisons": []}, 400)["errors"]


def test_a_run_names_whose_labels_filter_its_arguments(lab, ask, plan, monkeypatch):
    script(monkeypatch, write_by_text)
    wanted = plan | {"relevance": "2-3", "labels": str(lab.labels.public_id)}
    run = ask(f"runs/{ask('runs/', wanted, 201)['id']}/")
    assert run["spec"]["target"]["labels"] == str(lab.labels.public_id)
    recipes = ArgumentList.objects.values_list("recipe", flat=True)
    assert {recipe["labels"] for recipe in recipes} == {str(lab.labels.public_id)}
    usual = ask(f"runs/{ask('runs/', plan | {'relevance': '3'}, 201)['id']}/")
    assert usual["spec"]["target"]["labels"] == "newest"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"kind": "poems"}, "kind"),
        ({"kind": ["answers"]}, "kind"),
        ({"kind": None}, "kind"),
        ({"campaign": str(uuid.UUID(int=1))}, "campaign"),
        ({"batch_size": 3}, "batch_size"),
        ({"replicates": 6}, "replicates"),
        ({"relevance": "1"}, "relevance"),
        ({"labels": str(uuid.UUID(int=1))}, "labels"),
        ({"prompt": str(uuid.UUID(int=1))}, "prompt"),
        ({"endpoint": str(uuid.UUID(int=1))}, "endpoint"),
    ],
)
def test_what_does_not_fit_is_400(lab, ask, plan, wrong, field):
    assert field in ask("runs/", plan | wrong, 400)["errors"]
    assert not Run.objects.exists()


def test_two_runs_are_compared(lab, ask, plan, monkeypatch):
    script(monkeypatch, write_by_text)
    first = ask("runs/", plan | {"replicates": 2}, 201)
    second = ask("runs/", plan | {"replicates": 2, "seed": 9}, 201)
    found = ask(f"runs/{first['id']}/compare-answers/{second['id']}/")
    assert len(found["pairs"]) == 4
    assert found["first"]["answers"] == found["second"]["answers"] == 8
    assert found["changed"] <= found["decided"] <= 4
    numbers = [one["number"] for pair in found["pairs"] for one in pair["first"]]
    assert sorted(set(numbers)) == [1, 2]
    ask(f"runs/{first['id']}/compare-answers/{first['id']}/", status=404)
    ask(f"runs/{first['id']}/compare/{second['id']}/", status=404)
