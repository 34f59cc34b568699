"""Faithfulness through the API: figures, verdicts, agreement of experts."""

import pytest

from annotation.consensus.models import FinalLabel
from annotation.editing.models import Revision
from annotation.faithfulness.models import FaithfulnessFigures
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from .test_behaviour import base, post

pytestmark = pytest.mark.django_db


def at(world, rest=""):
    return base(world) + rest


def test_figures_are_asked_for_and_shown(world, researcher):
    before = researcher.get(at(world, "faithfulness/")).json()
    revisions = Revision.objects.filter(sheet__answer__study=world.study)
    assert before["texts"] == world.study.answers.count() + revisions.count()
    FaithfulnessFigures.objects.all().delete()
    assert researcher.get(at(world, "faithfulness/")).json()["stale"] == before["texts"]
    job = post(researcher, at(world, "faithfulness/compute/"), 202, embedding="")
    assert job["kind"] == "faithfulness"
    Job.objects.filter(kind="train_judge").delete()
    jobs.drain()
    after = researcher.get(at(world, "faithfulness/")).json()
    assert (after["stale"], after["mode"], after["embedding"]) == (0, "sound", "")
    group = next(each for each in after["groups"] if each["measures"]["jaccard_text"]["value"])
    assert set(group["measures"]["precision"]) == {
        "value", "low", "high", "reason", "statistic", "recipe", "level", "interval", "confidence",
        "n_items", "n_pairable_items", "n_raters", "n_values", "n_dropped_items",
    }  # fmt: skip
    assert researcher.get(at(world, "faithfulness/?mode=paper")).json()["mode"] == "paper"


def test_only_models_on_offer_can_be_asked_for(world, researcher):
    for embedding in ("../../etc", "some/model", 3, None):
        post(researcher, at(world, "faithfulness/compute/"), 400, embedding=embedding)


@pytest.mark.parametrize("kind", ["coherence", "of an app that was taken out"])
def test_requests_of_a_kind_with_nothing_of_its_own_have_every_field(world, researcher, kind):
    run = world.judging_run
    type(run).objects.filter(pk=run.pk).update(kind=kind)
    listed = researcher.get(at(world, f"runs/{run.public_id}/calls/")).json()["results"]
    assert {(len(each["arguments"]), each["question"]) for each in listed} == {(0, None)}
    shown = researcher.get(at(world, f"runs/{run.public_id}/"))
    assert [shown.json()[name] for name in ("label_round", "system", "left_out")] == [None] * 3
    if kind == "coherence":
        call = researcher.get(at(world, f"runs/{run.public_id}/calls/{listed[0]['id']}/"))
        assert call.json()["labels"] == []


def test_scores_by_another_label_round_s_labels(world, researcher):
    usual = researcher.get(at(world, "faithfulness/")).json()
    assert usual["labels"] == "newest"
    first = FinalLabel.objects.filter(label_round__study=world.study).first()
    key = str(first.label_round.public_id)
    FinalLabel.objects.filter(label_round__public_id=key).update(label=0)
    by_one = researcher.get(at(world, f"faithfulness/?labels={key}")).json()
    assert by_one["labels"] == key
    assert all(each["measures"]["f1"]["value"] is None for each in by_one["groups"])
    answers = [[each["answers"] for each in shown["groups"]] for shown in (by_one, usual)]
    assert answers[0] == answers[1]
    texts = researcher.get(at(world, f"faithfulness/texts/?labels={key}&sort=-f1")).json()
    assert texts["count"] == researcher.get(at(world, "faithfulness/texts/")).json()["count"]
    assert {row["f1"] for row in texts["results"]} == {None}
    assert researcher.get(at(world, "faithfulness/texts/?labels=nobody")).status_code == 400


def test_texts_are_listed_by_what_is_asked(world, researcher):
    rows = researcher.get(at(world, "faithfulness/texts/?sort=-f1")).json()["results"]
    known = [row["f1"] for row in rows if row["f1"] is not None]
    assert known == sorted(known, reverse=True)
    assert {row["mode"] for row in rows} == {"sound"}
    edited = researcher.get(at(world, "faithfulness/texts/?texts=edited")).json()["results"]
    assert all(row["revision"] for row in edited)
    assert str(world.faithful_revision.public_id) in {row["revision"] for row in edited}
    for query in ("sort=key", "problem=x", "system=x", "texts=all", "scenario=9"):
        response = researcher.get(at(world, f"faithfulness/texts/?{query}"))
        assert response.status_code == 400, query
