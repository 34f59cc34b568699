"""Two tabs that decide, or label, at the same moment: the second sees what the first stored."""

import threading

import pytest
from django.db import connection, connections, transaction

from annotation.consensus.actions import consensus
from annotation.consensus.actions.decisions import DecidedMeanwhile, adjudicate
from annotation.consensus.models import Adjudication
from annotation.labelling.actions.votes import AnsweredMeanwhile, SubmittedLabel, answer
from annotation.labelling.models import Assignment
from tests.annotation.labelling.test_locks import wait_until_somebody_waits
from tests.annotation.voting import imported, make_raters

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer"),
]


def race(act, refusal):
    """Act twice, the second time while the first is not committed; return the second's refusal."""
    refusals = []

    def second():
        try:
            act(3, "second")
        except refusal as error:
            refusals.append(str(error))
        finally:
            connections.close_all()

    waiting = threading.Thread(target=second)
    with transaction.atomic():
        act(1, "first")
        waiting.start()
        wait_until_somebody_waits()
    waiting.join()
    return refusals


def test_of_two_decisions_at_once_the_second_is_refused(study):
    expert = make_raters(study, 1, kind="expert")[0]
    label_round = imported(study, make_raters(study, 2), votes=[[0, 3]])
    consensus.recompute_final_labels(label_round)
    about = {
        "label_round": label_round,
        "argument": label_round.items.get().argument,
        "rater": expert,
    }

    def decide(label, comment):
        adjudicate(**about, label=label, comment=comment, known=None)

    (refusal,) = race(decide, DecidedMeanwhile)
    assert "You chose 1" in refusal
    assert Adjudication.objects.get().label == 1


def test_of_two_labels_at_once_the_second_is_refused(study):
    imported(study, make_raters(study, 1), votes=[[2]])
    row = Assignment.objects.get()
    Assignment.objects.update(state="served", label=None)

    def label(value, key):
        answer(rater=row.rater, assignment=row, given=SubmittedLabel(key, label=value, known=""))

    (refusal,) = race(label, AnsweredMeanwhile)
    assert "1. That answer was kept; 3 was not" in refusal
    assert Assignment.objects.get().label == 1
