"""Annotators, control items, consensus and adopted labels, by a program."""

import pytest

from annotation.consensus.models import FinalLabel
from cqa_site.runs import jobs
from tests.annotation.voting import imported, make_raters
from .routes import ADOPTION, NOWHERE
from .test_behaviour import of_label_round, patch, post

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
