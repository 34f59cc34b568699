"""Several models, scenarios and filters in one launch, and runs by a program."""

import uuid

import pytest
from django.urls import reverse

from annotation.consensus.actions.consensus import prefer_labels
from annotation.consensus.models import FinalLabel
from annotation.generation.actions.launches import runs_of_launch, start_launch, steer
from annotation.generation.forms import MatrixForm
from annotation.generation.models import GenerationLaunch
from cqa_site.runs import jobs
from cqa_site.runs.actions.runs import RunRefused, start_run
from cqa_site.runs.carrying import worker
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.models import Endpoint, Run
from tests.api.conftest import client_of
from tests.cast import make_label_round, make_study
from tests.runs.judging import script
from tests.runs.made_runs import make_endpoint
from tests.worlds import built_once
from ..generation_lab import GenerationLab
from ..made_generations import write_by_text

pytestmark = pytest.mark.django_db

assert worker  # registers the jobs these tests run


class LaunchLab(GenerationLab):
    """Two models."""

    def __init__(self):
        super().__init__()
        other = make_endpoint(self.study, self.researcher, name="Other", model="other-1")
        self.others = [self.endpoint, other]


lab = built_once(LaunchLab)


def fields(lab, numbers=(1, 4), endpoints=2, **chosen) -> dict:
    usual = {"endpoint": [each.pk for each in lab.others[:endpoints]], "questions": "all"}
    usual |= {"prompt": [lab.prompt(number).pk for number in numbers], "relevance": ["any"]}
    usual |= {"favoured": ["any"], "wordings": ["both"], "most_arguments": 30, "extra": "{}"}
    usual |= {"max_tokens": 900, "seed": 1, "replicates": 1, "preflight": "off", "mode": "live"}
    return usual | chosen


def matrix(lab, **chosen):
    form = MatrixForm(fields(lab, **chosen), study=lab.study, actor=lab.researcher)
    assert form.is_valid(), form.errors
    return form.matrix


def launched(lab, **chosen) -> GenerationLaunch:
    return start_launch(study=lab.study, actor=lab.researcher, matrix=matrix(lab, **chosen))


def test_neither_a_launch_nor_a_run_that_is_under_way_is_started_twice(lab):
    first = launched(lab)
    assert launched(lab) == first
    assert Run.objects.count() == 4
    Run.objects.update(state=Run.State.CANCELLED)
    (alone,) = matrix(lab, numbers=(1,), endpoints=1).plans
    run = start_run(study=lab.study, actor=lab.researcher, plan=alone)
    made = launched(lab)
    assert made != first
    assert made.recipe["joined"] == [run.number]
    assert made.generations.count() == 3
    # Every combination is a run under a condition of its own.
    made = launched(lab, numbers=(1, 2, 3, 4), wordings=["both", "neither"], seed=2)
    runs = [each.run for each in made.generations.select_related("run__generation__condition")]
    cells = {(run.generation.system_id, run.generation.condition_id) for run in runs}
    assert (len(runs), len(cells)) == (16, 16)
    # Filters without arguments are folded: scenario 1 once and scenario 4 under four choices of
    # arguments, for each of two models.
    some = {"relevance": ["any", "0-1"], "favoured": ["any", "object1"], "seed": 3}
    made = launched(lab, numbers=(1, 4), **some)
    assert (made.generations.count(), made.recipe["folded"]) == (10, 6)


def test_a_random_sample_is_one_that_every_run_can_ask(lab):
    able = lab.questions[2]
    wanting = [question.comparison for question in lab.questions if question != able]
    FinalLabel.objects.filter(argument__comparison__in=wanting).update(label=3)
    chosen = {"questions": "sample", "sample": 1, "endpoints": 1, "relevance": ["any", "0-1"]}
    found = matrix(lab, **chosen)
    assert {tuple(plan.target["named"]) for plan in found.plans} == {(str(able.public_id),)}
    made = start_launch(study=lab.study, actor=lab.researcher, matrix=found)
    assert made.generations.count() == 3
    # What cannot be asked is said, and the rest goes on.
    FinalLabel.objects.update(label=3)
    made = launched(lab, numbers=(4,), relevance=["any", "0-1"], endpoints=1, seed=2)
    assert (made.generations.count(), len(made.recipe["refused"])) == (1, 1)
    with pytest.raises(RunRefused):
        launched(lab, numbers=(4,), relevance=["0-1"], endpoints=2)


def test_all_runs_together_stay_below_one_cap(lab, monkeypatch, inline):
    script(monkeypatch, write_by_text)
    Endpoint.objects.update(price_in=10, price_out=10)
    whole = sum(plan.replicates * len(lab.questions) for plan in matrix(lab).plans)
    with inline():
        made = launched(lab, cap="0.04")
    jobs.drain()
    made.budget.refresh_from_db()
    spent = sum(each.run.budget.spent_micro for each in made.generations.all())
    assert 0 < made.budget.spent_micro == spent <= 40_000
    assert lab.study.answers.count() < whole
    assert made.generations.filter(run__state="paused", run__pause_reason="budget").exists()
    assert list(find_violations()) == []


def test_all_runs_that_wait_go_on_at_one_click(lab, client):
    # The page says what all take together, and leads to one page.
    place, data = [lab.study.public_id], fields(lab, relevance=["any", "0-1"], preflight="ask")
    Endpoint.objects.update(price_in=0, price_out=0)
    shown = client.post(reverse("generation_estimate", args=place), data).text
    for words in ("Runs (one per combination)", "2 combinations duplicate others"):
        assert words in shown
    for _press in range(2):
        reply = client.post(reverse("generation_new", args=place), data)
    made = GenerationLaunch.objects.get()
    place.append(made.public_id)
    assert reply["Location"] == reverse("generation_launch", args=place)
    Run.objects.update(state=Run.State.CHECKED)
    page = client.get(reply["Location"]).text
    assert page.count("Scenario 4 · v1 · labels 0–1") == 2
    assert "Continue all waiting runs" in page
    client.post(reverse("generation_launch_go", args=place))
    assert set(Run.objects.values_list("state", flat=True)) == {"running"}
    assert steer(launch=made, actor=lab.researcher, move="pause") == (6, 0)
    assert steer(launch=made, actor=lab.researcher, move="pause") == (0, 0)
    client.post(reverse("generation_launch_cap", args=place), {"cap": "2.5"})
    made.budget.refresh_from_db()
    assert made.budget.cap_micro == 2_500_000


@pytest.mark.long
def test_a_launch_says_whose_labels_filter_its_arguments(lab, client):
    own = str(lab.labels.public_id)
    by_study = matrix(lab, numbers=(4,), endpoints=1, relevance=["any", "2-3"])
    assert [plan.target.get("labels") for plan in by_study.plans] == [None, "newest"]
    prefer_labels(study=lab.study, label_round=lab.labels, actor=lab.researcher)
    # What the study's choice is now is written down: a later choice changes no run.
    assert matrix(lab, numbers=(4,), relevance=["3"]).plans[0].target["labels"] == own
    chosen = {"numbers": (4,), "endpoints": 1, "relevance": ["2-3", "3"], "labels": own}
    made = launched(lab, **chosen)
    (first, *_others) = runs_of_launch(made)
    assert first.spec["target"]["labels"] == own
    condition = first.generation.condition
    assert (condition.filters["labels"], condition.is_plain) == (own, False)
    shown = "Scenario 4 · v1 · labels 2–3 · labelled in Labels · at most 900 tokens"
    assert condition.name == shown
    newest = launched(lab, **chosen | {"labels": "newest"})
    filters = [run.generation.condition.filters for run in runs_of_launch(newest)]
    assert [each["relevance"] for each in filters] == ["2-3", "3"]
    assert not any("labels" in each for each in filters)
    place = [lab.study.public_id, first.public_id]
    assert "from round “Labels”" in client.get(reverse("run", args=place)).content.decode()
    other = make_label_round(make_study("Elsewhere"))
    theirs = fields(lab, labels=str(other.public_id))
    assert "labels" in MatrixForm(theirs, study=lab.study, actor=lab.researcher).errors


def test_comparisons_are_chosen_by_id(lab):
    client = client_of(lab.researcher)

    def ask(path, body, status=200):
        place = f"/api/v1/studies/{lab.study.public_id}/{path}"
        response = client.post(place, body, "json")
        assert response.status_code == status, response.content
        return response.json()

    pair = lab.questions[1].comparison
    chosen = {"endpoint": str(lab.endpoint.public_id), "prompt": str(lab.prompt(4).public_id)}
    chosen |= {"kind": "answers", "preflight": "off", "questions": "comparisons"}
    assert ask("runs/estimate/", chosen | {"comparisons": [str(pair.public_id)]})["requests"] == 3
    theirs = make_study("Elsewhere").comparisons.create(object1="a", object2="b")
    for wrong in (theirs.public_id, uuid.uuid4()):
        body = chosen | {"comparisons": [str(pair.public_id), str(wrong)]}
        assert "comparisons" in ask("runs/estimate/", body, 400)["errors"]
    assert "comparisons" in ask("runs/", chosen | {"comparisons": []}, 400)["errors"]
