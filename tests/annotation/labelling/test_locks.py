"""Locks are taken in one order: nothing that runs at the same time can wait in a circle."""

import itertools
import threading
import time
from dataclasses import fields
from functools import partial

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models import F

from annotation.labelling.actions import serving
from annotation.labelling.actions.rounds import LabelPlan, plan_round
from annotation.labelling.models import Assignment, Slot
from annotation.labelling.reports import label_violations
from annotation.quality import actions as quality
from cqa_site.people.models import Rater
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import Place
from cqa_site.rounds.queue import place_for
from tests.annotation.voting import opened
from tests.cast import make_label_round, make_member, sign_in

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite has one writer, so nothing to order"
    ),
]
SECONDS = 4
KEYS = itertools.count()
WAITING = """
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@pytest.fixture
def label_round(study):
    return opened(study, ordinary=200, controls=40, block_size=40, votes_per_item=2)


def place_of(label_round, user=None):
    name = f"rater-{next(KEYS)}"
    rater = Rater.objects.create(study=label_round.study, user=user, external_id=name)
    return place_for(round_=label_round, rater=rater)


@pytest.fixture(params=[3, pytest.param(40, marks=pytest.mark.long)])
def together(request):
    """A function that lets acts race, each at least so many times; it returns the errors."""
    return partial(race, request.param)


def race(rounds, *acts):
    """Repeat every act in a thread of its own until all had their rounds; return the errors."""
    errors, counts = [], [0] * len(acts)
    deadline = time.monotonic() + (10 + rounds) * SECONDS

    def repeat(number, act):
        try:
            while time.monotonic() < deadline and not errors:
                act()
                counts[number] += 1
                if min(counts) >= rounds:
                    break
        except Exception as error:  # noqa: BLE001 the test looks at it
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=repeat, args=each) for each in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors or min(counts) >= rounds, counts
    return errors


def shuffle_slots():
    """Move the slots about in the table, so that its order is not that of the keys."""
    for pk in Slot.objects.filter(state="leased").order_by("?").values_list("pk", flat=True):
        Slot.objects.filter(pk=pk).update(lease_until=F("lease_until"))


def exclude_and_reinstate(label_round, rater, actor):
    decision = {"label_round": label_round, "rater": rater, "reason": "test", "actor": actor}
    quality.exclude_rater(**decision)
    quality.reinstate_rater(**decision)
    serving.claim_blocks(label_round=label_round, place=Place.objects.get(rater=rater))


def test_renewing_while_the_rater_is_excluded(label_round, study, together):
    actor = make_member(study, "admin")
    place = place_of(label_round)
    serving.claim_blocks(label_round=label_round, place=place)
    shuffle_slots()
    exclude = partial(exclude_and_reinstate, label_round, place.rater, actor)
    assert together(*[partial(serving.renew, place=place)] * 2, exclude) == []
    assert list(label_violations()) == []


def test_labelling_over_http_while_the_rater_is_excluded(label_round, study, together):
    actor, user = make_member(study, "admin"), make_member(study, "annotator")
    place = place_of(label_round, user)
    client = sign_in(user)
    address = f"/s/{study.public_id}/label-rounds/{label_round.public_id}/label"

    def label():
        todo = client.get(f"{address}/next/").json()["next"]
        if todo:
            body = {"item": todo[0]["id"], "client_key": f"key-{next(KEYS)}", "label": 2}
            reply = client.post(f"{address}/answer/", body, headers={"Accept": "application/json"})
            assert reply.status_code == 200, reply.content

    assert together(label, lambda: exclude_and_reinstate(label_round, place.rater, actor)) == []
    assert list(label_violations()) == []


def wait_until_somebody_waits():
    deadline = time.monotonic() + 15 * SECONDS
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            if cursor.fetchone():
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits for a lock")


def test_a_control_item_is_served_while_its_new_label_waits_for_the_rater(label_round, study):
    place = place_of(label_round)
    Place.objects.filter(pk=place.pk).update(is_stopped=True)  # the new label ends that
    item = label_round.items.filter(control_label__isnull=False).first()
    actor = make_member(study, "admin")
    errors = []

    def change_label():
        try:
            changed = {"item": item, "label": 1, "reason": "test", "actor": actor}
            quality.replace_control_label(label_round=label_round, **changed)
        except OperationalError as error:
            errors.append(error)
        finally:
            connections.close_all()

    change = threading.Thread(target=change_label)
    with transaction.atomic():
        Place.objects.select_for_update().get(pk=place.pk)
        change.start()
        wait_until_somebody_waits()
        Assignment.objects.create(round=label_round, item=item, rater=place.rater)
    change.join()
    assert errors == []
    assert not Place.objects.get(pk=place.pk).is_stopped


def test_who_waits_for_a_round_sees_the_state_it_was_given_meanwhile(label_round, study):
    """The state stands in the table of all rounds, the lock of a kind's own row is not enough."""
    draft = make_label_round(study, name="Round 2", ordinary=4, controls=2)
    actor = make_member(study, "admin")
    plan = LabelPlan(**{each.name: getattr(draft, each.name) for each in fields(LabelPlan)})
    found = []

    def change():
        try:
            plan_round(study=study, plan=plan, actor=actor, round_=draft)
            found.append("changed")
        except RoundNotReady:
            found.append("refused")
        finally:
            connections.close_all()

    with transaction.atomic():
        open_round(round_=draft, actor=actor)
        waiting = threading.Thread(target=change)
        waiting.start()
        wait_until_somebody_waits()
    waiting.join()
    assert found == ["refused"]
