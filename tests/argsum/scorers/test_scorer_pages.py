"""The pages of scorers and their addresses in the interface, without a model being loaded."""

import pytest
from django.urls import reverse

from argsum.scorers.actions import scorers as scorer_trying
from argsum.scorers.models import Scorer
from cqa_site.runs.jobs import drain
from cqa_site.runs.models import Job
from tests.argsum.made_cells import make_dataset, make_learning_dataset, make_scorer
from tests.cast import make_study
from tests.flat import flat

pytestmark = pytest.mark.django_db
PAIR = {"excluding": 0.5, "including": 0.25}
FIXED = {**PAIR, "cells_clustered": 2}
MATCH = {"cells": 2, "arguments": 12, "accuracy": 0.75, "pairs": 24, "f1": 0.8}
MATCH |= {"oracle": PAIR, "beyond_oracle": {"excluding": None, "including": 0.5}}
MATCH |= {"at_threshold": FIXED, "beyond_at_threshold": FIXED}
LOOK = {"step": 8, "value": 0.5, "excluding": None, "including": 0.25, "accuracy": 0.75}
CHOSEN = {"threshold": 0.61, "clustering_threshold": 0.5, "beyond_threshold": 0.4}
FIGURES = {
    "chosen": CHOSEN | {"profile": 0.5, "refines": True},
    "dev": MATCH,
    "test": MATCH,
    "looks": [LOOK | {"weights": "last"}, LOOK | {"weights": "average", "value": 0.75}],
    "chosen_looks": [1],
    "losses": [{"step": 8, "loss": 1.5}],
} | {"steps": 8, "seconds": 3.5, "cpu_seconds": 3.0}


@pytest.fixture
def tuned(study):
    return make_scorer(
        study, name="Tuned", figures=FIGURES, threshold=0.61, card="# Tuned\n\n<b>Text</b>"
    )


def url(name, study, *more):
    return reverse(name, args=[study.public_id, *more])


def test_the_list_says_what_was_measured(client, study, tuned, django_assert_max_num_queries):
    page = flat(client.get(url("scorers", study)).text)
    assert "MiniLM (not tuned)" in page
    assert "Imported quality" in page
    assert "0.500 / 0.250" in page
    assert "correct 0.750, n = 12" in page
    assert "oracle" in page
    assert page.count("not measured") == 8
    for number in range(20):
        make_scorer(study, name=f"Scorer {number}")
    with django_assert_max_num_queries(12):
        client.get(url("scorers", study))
    # One scorer with figures curve and card.
    page = flat(client.get(url("scorer", study, tuned.public_id)).text)
    for said in ("0.500 / 0.250", "not defined / 0.500", "24 pairs", "chosen", "8 batches in 3.5"):
        assert said in page, said
    # The card is text of this site, but names in it are not.
    assert "<b>Text</b>" not in page
    curve = url("scorer_figure", study, tuned.public_id, "curve", "csv")
    lines = client.get(curve).content.decode("utf-8-sig").splitlines()
    assert lines[0].startswith("step,weights,average precision")
    assert lines[2].split(",")[:3] == ["8", "their average", "0.75"]
    bare = make_scorer(study, name="Bare").public_id
    assert client.get(url("scorer_figure", study, bare, "curve", "svg")).status_code == 404
    assert "No figures: this scorer" in client.get(url("scorer", study, bare)).text


def test_a_scorer_is_added_by_name(client, study):
    form = url("scorer_new", study)
    given = {"name": "Own", "way": "match_cross", "model": "org/reader", "threshold": "0.5"}
    assert client.get(form).status_code == 200
    assert client.post(form, given).status_code == 302
    made = study.scorers.get(name="Own")
    assert (made.task, made.kind, made.base_model) == ("match", "cross_encoder", "org/reader")
    for change, said in (
        ({}, "with this name"),
        ({"name": "B", "model": "/etc/passwd"}, "neither a model name"),
        ({"name": "B", "model": ""}, "Enter the name of a model"),
        ({"name": "B", "threshold": "nan"}, "threshold"),
    ):
        refused = client.post(form, given | change)
        assert refused.status_code == 422, change
        assert said in refused.text
    assert study.scorers.count() == 1


def test_a_training_is_asked_for_watched_and_cancelled(client, study):
    form = url("scorer_train", study)
    assert "No datasets yet" in client.get(form).text
    dataset = make_learning_dataset(study)
    given = {"name": "Taught", "task": "match", "dataset": dataset.public_id, "seed": 7}
    given |= {"model": "all-MiniLM-L6-v2", "steps": 10, "learning_rate": 0.001, "contrast": 0}
    given |= {"entropy": 1}
    sent = client.post(form, given)
    made = study.scorers.get(name="Taught")
    assert sent.url == url("scorer", study, made.public_id)
    assert made.recipe | {"seed": 7, "steps": 10, "contrast": 0} == made.recipe
    assert made.state == "training"
    page = client.get(sent.url).text
    assert ">Training" in page
    assert url("job_progress", study, made.job.public_id) in page
    client.post(url("scorer_cancel", study, made.public_id))
    assert "Resume" in client.get(sent.url).text
    client.post(url("scorer_resume", study, made.public_id))
    made.refresh_from_db()
    assert made.state == "training"
    # A worker that died three times ends the job without a word to the scorer.
    Job.objects.filter(pk=made.job_id).update(state="failed", error="The worker died.")
    page = client.get(sent.url).text
    assert "Training not completed" in page
    assert "The worker died." in page
    assert client.post(url("scorer_delete", study, made.public_id)).url == url("scorers", study)
    assert not study.scorers.filter(pk=made.pk).exists()


def test_what_cannot_be_trained_is_said_at_its_field(client, study):
    make_learning_dataset(study)
    bare = make_dataset(study, name="Test only")
    foreign = make_dataset(make_study("Other"))
    given = {"name": "T", "task": "match", "dataset": bare.public_id, "seed": 1, "model": "m"}
    for change, said in (
        ({}, "train split"),
        ({"task": "quality"}, "fewer than 10"),
        ({"dataset": foreign.public_id}, "valid choice"),
        ({"learning_rate": 7}, "less than or equal to 0.01"),
        ({"learning_rate": "nan"}, "number"),
        ({"batch": 1}, "greater than or equal to 4"),
        ({"contrast": 0, "entropy": 0}, "at least one of the two losses"),
    ):
        refused = client.post(url("scorer_train", study), given | change)
        assert (refused.status_code, said in refused.text) == (422, True), change
    assert not study.scorers.exists()


def test_two_texts_are_scored_in_a_worker(client, study, tuned, monkeypatch):
    asked = []

    def score(scorer, first, second, topic):
        asked.append((scorer.name, first, second, topic))
        return 0.7

    monkeypatch.setattr(scorer_trying, "_score", score)
    page = url("scorer_try", study, tuned.public_id)
    sent = client.post(page, {"first": "It is <i>safer</i>.", "second": "Safe"})
    assert "&lt;i&gt;safer" in sent.text
    job = Job.objects.get(kind="try_scorer")
    assert url("job_progress", study, job.public_id) in sent.text
    drain()
    job.refresh_from_db()
    assert (job.state, job.note) == ("done", "Score 0.700: a match, above 0.610")
    assert asked == [("Tuned", "It is <i>safer</i>.", "Safe", "")]
    assert client.post(page, {"first": ""}).status_code == 422
    Scorer.objects.filter(pk=tuned.pk).update(state="failed")
    assert client.post(page, {"first": "a", "second": "b"}).status_code == 422
