"""Control accuracy, exclusion that can be undone, control keys, and the pages about them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.consensus.models import FinalLabel
from annotation.consensus.reports import counted_votes, vote_table
from annotation.labelling.models import Assignment, Item, LabelRound, Slot
from annotation.labelling.reports import label_violations
from annotation.quality import actions as quality
from annotation.quality.reports.controls import controls, crowd_views
from annotation.quality.reports.quality import annotators, control_record, facts_of
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.lifecycle import close_round
from cqa_site.rounds.models import Place
from tests.annotation.voting import (
    imported,
    label,
    label_all,
    make_raters,
    newcomer,
    opened,
    vote,
    work,
)
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


def with_controls(study, right, wrong, **fields):
    """One rater with that many right and wrong answers on control items."""
    (rater,) = make_raters(study, 1)
    votes = [[3]] * right + [[0]] * wrong
    keys = [(place, 3) for place in range(right + wrong)]
    label_round = imported(study, [rater], votes=votes, controls=keys, **fields)
    place = Place.objects.create(round=label_round, rater=rater)
    return label_round, place


def counts(label_round):
    """Counted votes of each item, and how many slots are done."""
    votes = vote_table(label_round)["item"].value_counts().sort_index().to_dict()
    return votes, label_round.slots.filter(state="done").count()


@pytest.mark.parametrize(
    ("right", "wrong", "is_acted_on"), [(0, 6, False), (0, 7, True), (3, 5, False)]
)
def test_the_rule_acts_only_on_evidence_that_holds_at_every_look(study, right, wrong, is_acted_on):
    label_round, place = with_controls(study, right, wrong, low_accuracy="exclude")
    found = quality.check_rater(label_round=label_round, place=place)
    assert (found.right, found.n) == (right, right + wrong)
    place.refresh_from_db()
    assert place.is_excluded is is_acted_on
    assert not place.is_decided_by_person


@pytest.mark.parametrize(
    ("policy", "is_stopped", "is_excluded"),
    [("warn", False, False), ("pause", True, False), ("exclude", False, True)],
)
def test_what_the_rule_does_is_the_label_rounds_choice(study, policy, is_stopped, is_excluded):
    label_round, place = with_controls(study, 0, 8, low_accuracy=policy)
    for _ in range(2):
        quality.check_rater(label_round=label_round, place=place)
        place.refresh_from_db()
    assert (place.is_stopped, place.is_excluded) == (is_stopped, is_excluded)
    assert AuditEvent.objects.filter(actor=None).count() == (policy != "warn")
    (found,) = annotators(label_round, facts_of(vote_table(label_round, exclude=False)))
    assert found.is_low


def test_a_paused_rater_gets_nothing_until_reinstated(study, researcher):
    label_round = opened(study, ordinary=40, controls=10, low_accuracy="pause")
    place = newcomer(label_round)
    label_all(place, value=0, at_most=40)
    quality.check_rater(label_round=label_round, place=place)
    assert work(place).reason == "stopped"
    assert counted_votes(label_round).count() == 40
    quality.reinstate_rater(
        label_round=label_round, rater=place.rater, reason="ok", actor=researcher
    )
    assert work(place).assignments


def test_checking_an_unsuspicious_rater_is_one_query(study, django_assert_num_queries):
    label_round, place = with_controls(study, 5, 1)
    with django_assert_num_queries(1):
        quality.check_rater(label_round=label_round, place=place)


def test_exclusion_gives_the_places_to_others_and_keeps_every_label(study, researcher):
    label_round = opened(study, ordinary=6, controls=1, votes_per_item=2)
    bad, good = newcomer(label_round), newcomer(label_round)
    label_all(bad, value=0)
    label_all(good)
    assert label_round.slots.filter(state="done").count() == 12
    quality.exclude_rater(
        label_round=label_round, rater=bad.rater, reason="noise", actor=researcher
    )
    assert label_round.slots.filter(state="open").count() == 6
    assert set(vote_table(label_round)["rater"]) == {good.rater_id}
    assert bad.rater.assignments.filter(state="answered", label=0).count() == 7
    assert not bad.rater.assignments.filter(slot__isnull=False).exists()
    third = newcomer(label_round)
    assert label_all(third) == 7
    assert label_round.slots.filter(state="done").count() == 12
    quality.reinstate_rater(
        label_round=label_round, rater=bad.rater, reason="sorry", actor=researcher
    )
    ordinary = bad.rater.assignments.filter(item__control_label=None)
    assert ordinary.filter(is_extra=True, slot=None).count() == 6
    assert counted_votes(label_round).filter(item__control_label=None).count() == 12


def test_items_only_reserved_go_back_when_a_rater_is_excluded(study, researcher):
    label_round = opened(study, ordinary=8, controls=2)
    place = newcomer(label_round)
    block = work(place).assignments
    quality.exclude_rater(
        label_round=label_round, rater=place.rater, reason="noise", actor=researcher
    )
    assert not label_round.slots.filter(state="leased").exists()
    assert not place.rater.assignments.filter(slot__isnull=False).exists()
    # Not even a control item is left of the block.
    assert not place.rater.assignments.filter(state="served").exists()
    assert work(place).reason == "stopped"
    quality.reinstate_rater(
        label_round=label_round, rater=place.rater, reason="ok", actor=researcher
    )
    assert work(place).assignments
    assert Assignment.objects.filter(pk__in=[row.pk for row in block]).count() == 5


def test_in_a_closed_round_exclusion_opens_no_place(study, researcher):
    label_round = opened(study, ordinary=4, controls=0, controls_per_block=0, votes_per_item=1)
    place = newcomer(label_round)
    label_all(place)
    close_round(round_=label_round, actor=researcher)
    label_round.refresh_from_db()
    quality.exclude_rater(label_round=label_round, rater=place.rater, reason="x", actor=researcher)
    assert label_round.slots.filter(state="done").count() == 4
    assert vote_table(label_round).empty


@pytest.mark.parametrize(
    ("amounts", "close", "who"), [([9, 9, 4], False, 0), ([5, 9], True, 1), ([0, 7], False, 1)]
)
def test_exclusion_and_reinstatement_cancel_out_when_nobody_came_between(
    study, researcher, amounts, close, who
):
    """Raters label so many items each; one of them goes and comes back."""
    label_round = opened(study, ordinary=7, controls=2, votes_per_item=2)
    places = [newcomer(label_round) for _ in amounts]
    for place, amount in zip(places, amounts, strict=True):
        label_all(place, value=1, at_most=amount)
    if close:
        close_round(round_=label_round, actor=researcher)
        label_round.refresh_from_db()
    rater = places[who % len(places)].rater
    before = counts(label_round)
    quality.exclude_rater(label_round=label_round, rater=rater, reason="?", actor=researcher)
    assert rater.pk not in set(vote_table(label_round)["rater"])
    quality.reinstate_rater(label_round=label_round, rater=rater, reason="!", actor=researcher)
    assert counts(label_round) == before
    held = Assignment.objects.filter(round=label_round, slot__isnull=False, state="answered")
    assert held.count() == Slot.objects.filter(round=label_round, state="done").count()


def test_excluding_an_imported_rater_needs_no_participation_is_logged_and_moves_final_labels(
    study, researcher, inline
):
    crowd = make_raters(study, 2)
    label_round = imported(study, crowd, votes=[[3, 1], [2, 2]])
    with inline():
        quality.exclude_rater(
            label_round=label_round, rater=crowd[0], reason="spam", actor=researcher
        )
    labels = FinalLabel.objects.filter(label_round=label_round).order_by("argument")
    assert list(labels.values_list("label", flat=True)) == [1, 2]
    quality.exclude_rater(
        label_round=label_round, rater=crowd[0], reason="again", actor=researcher
    )
    assert vote_table(label_round)["rater"].unique().tolist() == [crowd[1].pk]
    assert not Assignment.objects.filter(is_extra=True).exists()
    (event,) = AuditEvent.objects.filter(verb="rater_excluded")
    assert (event.reason, event.actor) == ("spam", researcher)
    quality.reinstate_rater(label_round=label_round, rater=crowd[0], reason="no", actor=researcher)
    assert len(vote_table(label_round)) == 4


def test_crowd_or_experts_against_the_key_make_a_control_contested(study):
    votes, keys = [[3, 3, 0], [1, 1, 3], [3, 3, 3], [2, 2, 2]], [(0, 3), (1, 3), (2, 3)]
    label_round = imported(study, make_raters(study, 3), votes=votes, controls=keys)
    experts = make_raters(study, 3, kind="expert")
    third = label_round.items.order_by("pk")[2]
    theirs = imported(study, [], votes=[[]], name="Experts")
    item = Item.objects.create(round=theirs, argument=third.argument, external_id="x")
    for expert, value in zip(experts, (1, 1, 3), strict=True):
        vote(item, expert, value)
    views = crowd_views(vote_table(label_round, exclude=False))
    found = {each.item.external_id: each for each in controls(label_round, views)}
    items = label_round.items.order_by("pk")
    agreed, crowd_objects, experts_object = (found[item.external_id] for item in items[:3])
    assert not agreed.is_contested
    assert (agreed.right, agreed.votes) == (2, 3)
    assert (crowd_objects.crowd_objects, crowd_objects.experts_object) == (True, False)
    assert (experts_object.crowd_objects, experts_object.experts_object) == (False, True)
    assert (experts_object.expert_label, experts_object.experts) == (1, 3)
    assert len(found) == 3


def test_a_new_key_recomputes_accuracies_and_takes_automatic_exclusions_back(study, researcher):
    label_round, place = with_controls(study, 0, 7, low_accuracy="exclude")
    quality.check_rater(label_round=label_round, place=place)
    item = label_round.items.first()
    change = {"label_round": label_round, "item": item, "actor": researcher}
    quality.replace_control_label(label=0, reason="The key was wrong", **change)
    item.refresh_from_db()
    assert (item.control_label, item.imported_control_label) == (0, 3)
    assert control_record(label_round, place.rater_id).right == 1
    place.refresh_from_db()
    assert not place.is_excluded
    event = AuditEvent.objects.get(verb="control_label_changed")
    assert event.details["before"]["label"] == 3
    quality.replace_control_label(label=3, reason="It was right", **change)
    place.refresh_from_db()
    assert place.is_excluded


def test_the_table_compares_with_others_and_flags_one_label_and_haste(study):
    crowd = make_raters(study, 4)
    votes = [[1, 1, 1, 2], [2, 2, 2, 2], [0, 0, 0, 2], [1, 1, 1, 2], [0, 0, 0, 2]]
    label_round = imported(study, crowd, votes=votes, expected_seconds=30)
    Assignment.objects.filter(rater=crowd[0]).update(active_ms=31_000)
    label_round.places.create(rater=crowd[3], excluded_at="2024-05-02T00:00Z")
    table = annotators(label_round, facts_of(vote_table(label_round, exclude=False)))
    one, _two, _three, same = table
    assert (one.agreement, one.is_one_value, one.is_hasty) == (1, False, False)
    assert (same.agreement, same.is_one_value, same.is_hasty) == (0.2, True, True)
    assert (one.compared, same.compared) == (5, 5)
    assert (same.is_excluded, same.median_seconds) == (True, 4)
    assert one.controls.accuracy is None
    assert not one.is_low


def test_the_votes_are_read_once_until_a_vote_a_decision_or_a_key_changes(
    study, researcher, client
):
    crowd = make_raters(study, 3)
    votes = [[1, 1, 2], [2, 2, 2], [0, 0, 0], [3, 3, 1]]
    label_round = imported(study, crowd, votes=votes, controls=[(3, 3)])
    label_round.places.create(rater=crowd[2])
    page = f"/s/{study.public_id}/label-rounds/{label_round.public_id}/quality/"

    def seen():
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(page)
        asked = [query["sql"] for query in queries.captured_queries]
        people = answer.context["page"].object_list
        # The database counts skips and adds up times; that reads no vote.
        wholes = sum('"active_ms"' in each and "AVG(" not in each for each in asked)
        return wholes, len(asked) <= 15, {each.rater.pk: each.agreement for each in people}

    agreed = {each.pk: 2 / 3 for each in crowd}
    assert seen() == (1, True, agreed)
    assert seen() == (0, True, agreed)
    argument = label_round.items.first().argument
    item = Item.objects.create(round=label_round, argument=argument, external_id="one more")
    vote(item, make_raters(study, 1)[0], 2)
    assert seen()[0] == 1
    quality.exclude_rater(label_round=label_round, rater=crowd[0], reason="x", actor=researcher)
    assert seen()[0] == 1
    change = {"item": label_round.items.get(control_label=3), "label": 1, "reason": "x"}
    quality.replace_control_label(label_round=label_round, actor=researcher, **change)
    assert seen()[0] == 1
    (found,) = client.get(page).context["controls"]
    assert (found.right, found.votes, found.crowd_label) == (1, 2, 3)
    assert seen()[0] == 0
    # Marks of the round are no figures of its votes.
    LabelRound.objects.filter(pk=label_round.pk).update(min_control_accuracy=0.1)
    assert client.get(page).context["mark_percent"] == 10


class Played:
    """An imported round with thirty annotators, three controls and a contested one."""

    def __init__(self):
        study = make_study()
        crowd = make_raters(study, 30)
        votes = [[3] * 30, [0] * 20 + [3] * 10, [3] * 29 + [0], *([[1, 2, 3] * 10] * 4)]
        keys = [(0, 3), (1, 3), (2, 3)]
        self.label_round = imported(study, crowd, votes=votes, controls=keys)
        self.boss = make_member(study, "researcher", name="Zoe Researcher")


game = built_once(Played)


def address(label_round, *parts):
    base = f"/s/{label_round.study.public_id}/label-rounds/{label_round.public_id}"
    return "/".join([base, *map(str, parts), ""])


def test_the_quality_page_lists_everybody_in_few_queries(game, django_assert_max_num_queries):
    client = sign_in(game.boss)
    with django_assert_max_num_queries(14):
        page = client.get(address(game.label_round, "quality"))
    text = page.content.decode()
    assert page.status_code == 200
    assert page.context["totals"]["people"] == 30
    assert (page.context["totals"]["right"], page.context["totals"]["controls"]) == (69, 90)
    assert len(page.context["contested"]) == 1
    assert "Zoe" in text  # the signed-in person, and no external id of a rater
    assert "person-" not in text


def test_the_annotator_page_excludes_and_reinstates(game, django_assert_max_num_queries):
    client = sign_in(game.boss)
    rater = game.label_round.assignments.first().rater
    here = address(game.label_round, "annotators", rater.public_id)
    with django_assert_max_num_queries(16):
        page = client.get(here)
    assert page.status_code == 200
    assert [row.first for row in page.context["detail"].labels] == [1, 4, 0, 2]
    assert client.post(here, {"act": "exclude", "reason": ""}).status_code == 422
    assert client.post(here, {"act": "exclude", "reason": "spam <b>"}).status_code == 302
    assert game.label_round.places.get(rater=rater).is_excluded
    excluded = client.get(address(game.label_round, "quality"), {"show": "excluded"}).context[
        "page"
    ]
    assert [row.rater for row in excluded] == [rater]
    text = client.get(here).content.decode()
    assert "spam &lt;b&gt;" in text
    assert "spam <b>" not in text
    client.post(here, {"act": "reinstate", "reason": "no spam"})
    assert not game.label_round.places.get(rater=rater).is_excluded
    stranger = make_raters(game.label_round.study, 1)[0]
    assert (
        client.get(address(game.label_round, "annotators", stranger.public_id)).status_code == 404
    )


def test_the_control_page_changes_and_retires(game, django_assert_max_num_queries):
    client = sign_in(game.boss)
    item = game.label_round.items.order_by("pk")[1]
    here = address(game.label_round, "controls", item.argument.public_id)
    with django_assert_max_num_queries(14):
        page = client.get(here)
    assert [row.first for row in page.context["detail"].labels] == [20, 0, 0, 10]
    assert client.post(here, {"label": "9", "reason": "x"}).status_code == 422
    assert client.post(here, {"label": "0", "reason": ""}).status_code == 422
    client.post(here, {"label": "0", "reason": "Everybody says so"})
    item.refresh_from_db()
    assert (item.control_label, item.imported_control_label) == (0, 3)
    client.post(here, {"label": "retire", "reason": "Unclear"})
    item.refresh_from_db()
    assert item.is_retired
    assert "Unclear" in client.get(here).content.decode()
    ordinary = game.label_round.items.order_by("pk").last()
    page = address(game.label_round, "controls", ordinary.argument.public_id)
    assert client.get(page).status_code == 404


def test_two_keys_on_one_argument_change_together_or_not_at_all(game, monkeypatch):
    client = sign_in(game.boss)
    item = game.label_round.items.order_by("pk")[1]
    twin = Item.objects.create(
        round=game.label_round, argument=item.argument, external_id="twin", control_label=3
    )
    change, changed = quality.replace_control_label, []

    def change_one(**given):
        if changed:
            raise RuntimeError("the second one fails")
        changed.append(change(**given))

    monkeypatch.setattr(quality, "replace_control_label", change_one)
    client.raise_request_exception = False
    answer = {"label": "0", "reason": "Everybody says so"}
    page = address(game.label_round, "controls", item.argument.public_id)
    assert client.post(page, answer).status_code == 500
    assert len(changed) == 1
    for each in (item, twin):
        each.refresh_from_db()
        assert each.control_label == 3


def test_a_place_regained_ends_the_whole_reservation_of_who_let_it_run_out(study, researcher):
    """Otherwise the slow rater would find the control items of the block, and only them."""
    label_round = opened(study, ordinary=4, controls=1, votes_per_item=1)
    first, slow = newcomer(label_round), newcomer(label_round)
    label_all(first)
    quality.exclude_rater(label_round=label_round, rater=first.rater, reason="x", actor=researcher)
    assert len(work(slow).assignments) == 5
    ended = timezone.now() - timedelta(seconds=1)
    Slot.objects.filter(state="leased").update(lease_until=ended)
    quality.reinstate_rater(
        label_round=label_round, rater=first.rater, reason="y", actor=researcher
    )
    assert counted_votes(label_round).filter(rater=first.rater).count() == 5
    assert set(slow.rater.assignments.values_list("state", flat=True)) == {"expired"}
    assert list(label_violations()) == []


def test_reinstating_counts_nothing_that_came_after_the_round_was_closed(study, researcher):
    label_round = opened(study, ordinary=4, controls=1, votes_per_item=1)
    place = newcomer(label_round)
    early, late, *_rest = (row for row in work(place).assignments if not row.item.is_control)
    label(place, early)
    quality.exclude_rater(label_round=label_round, rater=place.rater, reason="x", actor=researcher)
    close_round(round_=label_round, actor=researcher)
    label(place, late)
    Assignment.objects.filter(pk=late.pk).update(answered_at=timezone.now())
    label_round.refresh_from_db()
    quality.reinstate_rater(
        label_round=label_round, rater=place.rater, reason="y", actor=researcher
    )
    assert list(counted_votes(label_round).values_list("pk", flat=True)) == [early.pk]


def test_the_rule_does_not_overturn_a_decision_made_while_it_looked(study, researcher):
    label_round, place = with_controls(study, 0, 8, low_accuracy="exclude")
    quality.exclude_rater(label_round=label_round, rater=place.rater, reason="x", actor=researcher)
    quality.reinstate_rater(
        label_round=label_round, rater=place.rater, reason="y", actor=researcher
    )
    assert place.is_decided_by_person is False  # as the rule had read it
    quality.check_rater(label_round=label_round, place=place)
    place.refresh_from_db()
    assert (place.is_excluded, place.is_decided_by_person) == (False, True)
