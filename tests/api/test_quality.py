"""Annotators, control items, consensus and adopted labels, by a program."""

import pytest

from annotation.consensus.models import FinalLabel
from cqa_site.runs import jobs
from tests.annotation.voting import imported, make_raters

from .routes import ADOPTION, NOWHERE
from .test_behaviour import base, of_label_round, patch, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def crowd(world):
    """Three imported annotators; the last one is wrong on all eight control items."""
    votes, controls = [(3, 3, 0)] * 8 + [(2, 2, 1)] * 4, [(place, 3) for place in range(8)]
    return imported(world.study, make_raters(world.study, 3), votes=votes, controls=controls)


def rows(client, url):
    response = client.get(url)
    assert response.status_code == 200, response.content
    return response.json()["results"]


def test_the_quality_table_gives_the_control_record_and_its_interval(crowd, researcher, world):
    first, _second, last = rows(researcher, f"{of_label_round(world, crowd)}annotators/")
    assert (first["votes"], first["control_votes"], first["control_correct"]) == (12, 8, 8)
    assert first["control_interval"] == pytest.approx([0.6306, 1], abs=1e-4)
    assert (first["agreement"], first["is_low"]) == (1, False)
    assert (last["control_accuracy"], last["agreement"], last["is_low"]) == (0, 0, True)
    assert last["control_interval"] == pytest.approx([0, 0.3694], abs=1e-4)
    assert (last["median_seconds"], last["is_excluded"]) == (4, False)


@pytest.mark.long
def test_consensus_settings_say_who_overrules_and_recompute(world, researcher):
    url, experts = f"{of_label_round(world)}consensus/", str(world.experts.public_id)
    told = {"aggregator": "majority", "overridden_by": []}
    assert researcher.get(url).json() == told
    for body in ({"overridden_by": [experts, experts]}, {"aggregator": "mace"}):
        told |= {name: [experts] if name == "overridden_by" else body[name] for name in body}
        assert patch(researcher, url, 200, **body) == told
    jobs.drain()
    labels = FinalLabel.objects.filter(label_round=world.label_round, provenance="expert")
    assert set(labels.values_list("label", flat=True)) == {1}
    event = world.study.audit_events.filter(verb="consensus_changed").first()
    assert event.details["before"] == {"aggregator": "majority", "overridden_by": ["Experts"]}
    assert event.actor == world.people.researcher


def test_a_label_round_is_not_overruled_by_itself_or_by_strangers(world, foreign, researcher):
    url = f"{of_label_round(world)}consensus/"
    theirs, nothing, _own = (
        patch(researcher, url, 400, overridden_by=[str(each)])
        for each in (foreign.experts.public_id, NOWHERE, world.label_round.public_id)
    )
    assert theirs == nothing
    patch(researcher, url, 400, aggregator="mean")
    assert researcher.get(url).json() == {"aggregator": "majority", "overridden_by": []}


@pytest.mark.long
def test_adopting_an_experts_labels(world, researcher):
    url = f"{of_label_round(world)}adoptions/"
    everything = ADOPTION(world)
    sentences = world.label_round.items.values("argument").distinct().count()
    seen = post(researcher, f"{url}preview/", 200, **everything)
    assert (seen["labelled"], seen["decided"]) == (sentences, sentences - 1)
    made = post(researcher, url, 201, **everything)
    assert post(researcher, url, 201, **everything) == made
    assert made["rater_name"] == world.expert_rater.described
    jobs.drain()
    labels = FinalLabel.objects.filter(label_round=world.label_round)
    # The expert's own decision in the queue is stronger than what they said elsewhere.
    assert set(labels.values_list("label", "provenance")) == {(1, "adopted"), (2, "adjudicated")}
    in_force = [row["id"] for row in rows(researcher, f"{url}?in_force=true")]
    assert in_force == [str(world.adoption.public_id), made["id"]]
    away = f"{url}{made['id']}/withdraw/"
    assert post(researcher, away, 200)["withdrawn_at"]
    post(researcher, away, 409)


def test_labels_of_the_crowd_or_of_strangers_are_not_adopted(world, foreign, researcher):
    url, own = f"{of_label_round(world)}adoptions/", ADOPTION(world)
    refused = (
        {"rater": str(world.rater.public_id)},
        {"label_round": str(world.label_round.public_id)},
        ADOPTION(foreign),
        {"label_round": str(NOWHERE)},
    )
    answers = [post(researcher, url, 400, **own | body) for body in refused]
    assert all(answer == answers[0] for answer in answers)
    assert list(answers[0]["errors"]) == ["rater"]
    assert not world.label_round.adoptions.exclude(pk=world.adoption.pk).exists()


def test_retiring_a_control_and_bringing_it_back(crowd, researcher, world):
    url = f"{of_label_round(world, crowd)}controls/"
    item = rows(researcher, url)[0]["item_id"]
    retired = post(researcher, f"{url}change/", 200, item_id=item, label=None, reason="Broken.")
    assert (retired["is_retired"], retired["control_label"]) == (True, 3)
    people = rows(researcher, f"{of_label_round(world, crowd)}annotators/")
    assert [each["control_votes"] for each in people] == [7, 7, 7]
    back = post(researcher, f"{url}change/", 200, item_id=item, label=3, reason="Looked again.")
    assert back["is_retired"] is False
    history = rows(researcher, f"{base(world)}log/?subject=Crowd: {item}")
    assert [each["verb"] for each in history] == ["control_label_changed", "control_retired"]
    assert [each["reason"] for each in history] == ["Looked again.", "Broken."]
