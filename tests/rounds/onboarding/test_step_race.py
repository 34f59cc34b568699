"""Two tabs send the same step at once: one result, and no attempt more than there are."""

import threading

import pytest
from django.db import OperationalError, connection

from cqa_site.rounds.models import StepResult
from cqa_site.rounds.onboarding.actions import NotNow, take_step
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
