"""Steps sent, and qualifications ended, at the same moment: one result, and no attempt more."""

import threading

import pytest
from django.db import OperationalError, connection, transaction

from cqa_site.people.models import AuditEvent
from cqa_site.rounds.models import Qualification, StepResult
from cqa_site.rounds.onboarding.actions import (
    NotNow,
    grant_qualification,
    take_step,
    withdraw_qualification,
)
from cqa_site.rounds.onboarding.steps import state_of
from tests.people.at_once import at_once
from tests.rounds.made_work import World
from .made_steps import NONE, attach, make_version, place_of

pytestmark = pytest.mark.django_db(transaction=True)
TABS = 4


def send(world, start, ends):
    start.wait()
    place = place_of(world)
    while True:
        try:
            take_step(
                round_=place.round,
                place=place,
                kind="reading",
                answers={"q0": "0"},
                started_at=None,
            )
        except NotNow:
            ends.append("late")
        except OperationalError:  # the in-memory database of the suite does not wait
            continue
        else:
            ends.append("stored")
        connection.close()
        return


def test_tabs_that_send_a_wrong_quiz_at_once_use_no_attempt_twice():
    world = World("label")
    fields = NONE | {"quiz": "Which?\n- This\n+ That", "quiz_attempts": 2}
    attach(world.round, make_version(world.study, world.researcher, **fields))
    place_of(world)
    start, ends = threading.Barrier(TABS), []
    tabs = [threading.Thread(target=send, args=(world, start, ends)) for _tab in range(TABS)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert sorted(ends) == ["late", "late", "stored", "stored"]
    attempts = StepResult.objects.order_by("pk").values_list("attempt", flat=True)
    assert list(attempts) == [1, 2]


def test_a_withdrawal_stands_whatever_a_rule_and_a_colleague_do_at_once():
    world = World("score")
    version = make_version(world.study, world.researcher, **(NONE | {"consent": "Agree?"}))
    attach(world.round, version)
    held = grant_qualification(
        version=version, rater=world.raters[0], actor=world.researcher, reason="Known"
    )
    world.take()
    Qualification.objects.update(granted_by=None)
    held.refresh_from_db()
    ways = (
        {"actor": None, "can_repeat": True},
        {"actor": world.researcher, "can_repeat": True},
        {"actor": world.researcher},
    )

    def withdraw(way):
        while True:
            try:
                with transaction.atomic():
                    return bool(withdraw_qualification(qualification=held, reason="Late", **way))
            except OperationalError:
                if connection.vendor != "sqlite":
                    raise

    done = at_once(withdraw, ways * 3)
    assert {type(each) for each in done} == {bool}
    assert state_of(Qualification.objects.get()) == "withdrawn"
    assert place_of(world).prepared_for is None
    verbs = list(AuditEvent.objects.values_list("verb", flat=True))
    assert verbs.count("qualification_withdrawn") == 1
    assert verbs.count("qualification_to_repeat") <= 1
