"""Round and guideline pages: from nothing to an open round."""

from dataclasses import fields

import pytest
from django.urls import reverse

from annotation.labelling.actions import rounds as actions
from annotation.labelling.models import Guideline, LabelRound
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import open_round
from tests.cast import make_arguments, make_guideline, make_label_round, make_study
from tests.rounds.onboarding.made_steps import NONE, make_version

pytestmark = pytest.mark.django_db
SETTINGS = {
    "name": "First round", "votes_per_item": 3, "block_size": 5, "controls_per_block": 1,
    "min_control_accuracy": 0.5, "low_accuracy": "warn", "usual_accuracy": 0.92,
    "fallen_accuracy": 0.78, "on_fall": "warn", "share_cap": 1, "expected_seconds": 20,
    "lease_minutes": 10, "seed": 1, "which": "later", "known": 0,
}  # fmt: skip


def url(name, study, **kwargs):
    return reverse(name, kwargs={"study_id": study.public_id, **kwargs})


def test_from_nothing_to_an_open_label_round(study, client):
    make_arguments(study, 12)
    assert client.get(url("label_round_new", study)).status_code == 200
    assert not Guideline.objects.exists(), "looking at the form must not write anything"
    created = client.post(url("label_round_new", study), SETTINGS)
    label_round = LabelRound.objects.get()
    ids = {"label_round_id": label_round.public_id}
    assert created["Location"] == url("label_round_items", study, **ids)
    assert label_round.guideline.values == [0, 1, 2, 3]
    client.post(url("label_round_items", study, **ids), {"sample": 10})
    assert label_round.items.count() == 10
    page = client.post(url("label_round_open", study, **ids), follow=True)
    assert "Mark at least one item as a control item" in page.text
    argument = label_round.items.first().argument
    control = url("label_round_control", study, **ids, argument_id=argument.public_id)
    row = client.post(control, {"label": "2"}, headers={"HX-Request": "true"}).text
    assert "1 control item" in row
    client.post(url("label_round_open", study, **ids))
    label_round.refresh_from_db()
    assert (label_round.state, label_round.slots.count()) == ("open", 27)
    assert label_round.guideline.frozen_at
    assert "Label round opened" in client.get(url("audit", study)).text


def test_an_imported_round_is_listed_without_a_number_of_votes_to_collect(study, client):
    make_label_round(study, name="Files", ordinary=2, votes_per_item=0, origin="imported")
    row = client.get(url("label_rounds", study)).text.partition("Files")[2]
    assert "0 / 0" not in row


def test_a_round_without_control_items_offers_and_stores_none(study, client):
    make_arguments(study, 3)
    client.post(url("label_round_new", study), SETTINGS | {"controls_per_block": 0})
    label_round = LabelRound.objects.get()
    ids = {"label_round_id": label_round.public_id}
    client.post(url("label_round_items", study, **ids), {"sample": 3})
    page = client.get(url("label_round_items", study, **ids)).text
    assert "No control items per block" in page
    assert 'name="label"' not in page
    item = label_round.items.select_related("argument").first()
    control = url("label_round_control", study, **ids, argument_id=item.argument.public_id)
    refused = client.post(control, {"label": "2"}, headers={"HX-Request": "true"})
    assert refused["HX-Refresh"] == "true"
    assert "Set control items per block" in client.get(url("label_round_items", study, **ids)).text
    assert not label_round.items.filter(control_label=2).exists()


def test_settings_out_of_range_say_so(study, client):
    foreign = make_guideline(make_study("Other")).public_id
    usual = SETTINGS | {"guideline": make_guideline(study).public_id}
    for field, value, message in (
        ("controls_per_block", 5, "at least one ordinary item"),
        ("min_control_accuracy", 1.5, "less than or equal to 1"),
        ("share_cap", 0, "greater than or equal to"),
        ("votes_per_item", 0, "greater than or equal to 1"),
        ("name", "", "required"),
        ("guideline", foreign, "not one of the available choices"),
    ):
        answer = client.post(url("label_round_new", study), usual | {field: value})
        assert (answer.status_code, message in answer.text) == (422, True), field
    assert not LabelRound.objects.exists()


def scale(*values):
    fields = {"title": "Scale", "body": "Text"}
    for index, value in enumerate(values):
        fields |= {f"level-{index}-value": value, f"level-{index}-name": f"Level {value}"}
    return fields


def test_a_new_guideline_version_with_another_scale(study, client):
    for values, message in (
        (("1",), "between two and ten levels"),
        (("2", "1"), "ascending order"),
        (("1", "1"), "ascending order"),
        (("1", "x"), "a label from 0 to 9"),
        (("1", "12"), "one digit"),
    ):
        answer = client.post(url("guideline_new", study), scale(*values))
        assert (answer.status_code, message in answer.text) == (422, True), values
    assert not study.guidelines.exists()
    client.post(url("guideline_new", study), scale("1", "2", "3", "4", "5"))
    client.post(url("guideline_new", study), scale("0", "1"))
    made = [(each.number, each.values) for each in study.guidelines.order_by("number")]
    assert made == [(1, [1, 2, 3, 4, 5]), (2, [0, 1])]


def test_a_label_round_opened_meanwhile_takes_no_controls_and_no_plan(study, researcher):
    seen = make_label_round(study, ordinary=6, controls=2)
    # A key that the scale does not hold keeps it a draft.
    guideline, levels = Guideline.objects.filter(pk=seen.guideline_id), seen.guideline.levels
    guideline.update(levels=[level | {"value": at + 5} for at, level in enumerate(levels)])
    seen.refresh_from_db()
    with pytest.raises(RoundNotReady, match="scale"):
        open_round(round_=seen, actor=researcher)
    guideline.update(levels=levels)
    seen.refresh_from_db()
    open_round(round_=seen, actor=researcher)
    assert seen.state == "draft"  # as another request had read it
    with pytest.raises(RoundNotReady):
        actions.set_control(label_round=seen, item=seen.items.last(), label=3)
    plan = {each.name: getattr(seen, each.name) for each in fields(actions.LabelPlan)}
    with pytest.raises(RoundNotReady):
        actions.plan_round(
            study=study, plan=actions.LabelPlan(**plan), actor=researcher, round_=seen
        )
    assert seen.items.count() == 8


def test_a_fall_asks_for_the_steps_again_only_where_there_are_some(study, client, researcher):
    page, asked = url("label_round_new", study), SETTINGS | {"on_fall": "recheck"}
    reply = client.post(page, asked)
    assert reply.status_code == 422
    assert "no steps that people could repeat" in reply.text
    consent = make_version(study, researcher, **NONE | {"name": "Consent", "consent": "Agree?"})
    assert client.post(page, asked | {"onboarding": consent.public_id}).status_code == 422
    client.post(page, asked | {"onboarding": make_version(study, researcher).public_id})
    assert LabelRound.objects.get().on_fall == "recheck"
