"""Rules about the last labels: times, skips, flags, agreement with others, and blocks."""

from collections import Counter

import pytest
from django.utils import timezone

from annotation.labelling.actions.blocks import LABELS, majority_of
from annotation.labelling.models import Assignment
from annotation.quality import actions as quality
from cqa_site.people.actions import rater_for
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.models import Place
from cqa_site.rounds.onboarding.actions import take_step
from cqa_site.rounds.queue import place_for
from cqa_site.rounds.rules.actions import hits_of
from tests.annotation.labelling.test_label_page import Desk
from tests.annotation.voting import make_raters, opened, vote
from tests.cast import make_member
from tests.rounds.onboarding.made_steps import RIGHT, attach, make_version

pytestmark = pytest.mark.django_db


def rule(action, window, threshold=1.0):
    return {"action": action, "window": window, "threshold": threshold}


def test_what_most_others_said():
    assert majority_of(Counter()) is None
    assert majority_of(Counter({3: 1})) is None
    assert majority_of(Counter({3: 2})) == 3
    assert majority_of(Counter({3: 2, 1: 2})) is None
    assert majority_of(Counter({3: 2, 1: 1})) == 3


@pytest.fixture
def crowd(study):
    """A round of 30 items that three people label 2, and a fourth labels 0 or 2."""
    label_round = opened(study, ordinary=30, controls=2, votes_per_item=4)
    raters = make_raters(study, 4)
    for rater in raters:
        place_for(round_=label_round, rater=rater)
    for number, item in enumerate(label_round.items.order_by("pk")):
        for rater in raters:
            is_odd = rater == raters[3] and number % 3
            at = {"answered_at": timezone.now(), "active_ms": 4_000}
            vote(item, rater, 0 if is_odd else 2, **at)
    return label_round, raters


def set_rules(label_round, **rules):
    label_round.rules = rules
    label_round.save()


def found(label_round):
    return [(hit.place.rater, hit.finding.measure.name) for hit in hits_of(label_round)]


def test_agreement_is_with_others_and_leaves_control_items_out(crowd):
    label_round, raters = crowd
    answers = LABELS.last_answers(label_round, 100, with_majority=True)
    agrees = [answer.agrees for answer in answers[raters[3].pk]]
    assert Counter(agrees) == {True: 10, False: 20, None: 2}
    [alone] = LABELS.last_answers(
        label_round, 100, with_majority=True, rater=raters[3].pk
    ).values()
    assert alone == answers[raters[3].pk]
    # A third of 30: the interval ends at .53.
    set_rules(label_round, agreement=rule("warn", 30, 0.55))
    assert found(label_round) == [(raters[3], "agreement")]
    set_rules(label_round, agreement=rule("warn", 30, 0.5))
    assert found(label_round) == []


def test_labels_that_do_not_count_decide_nothing(crowd):
    label_round, raters = crowd
    Assignment.objects.filter(rater__in=raters[:2]).update(is_extra=True)
    answers = LABELS.last_answers(label_round, 100, with_majority=True)
    # One counted label of another person is no majority.
    assert {answer.agrees for answer in answers[raters[3].pk]} == {None}
    Assignment.objects.update(is_extra=False)
    Place.objects.filter(rater__in=raters[:2]).update(excluded_at=timezone.now())
    answers = LABELS.last_answers(label_round, 100, with_majority=True)
    assert {answer.agrees for answer in answers[raters[3].pk]} == {None}


def test_flags_times_and_values(crowd):
    label_round, raters = crowd
    Assignment.objects.filter(rater=raters[0]).update(is_flagged=True)
    Assignment.objects.filter(rater=raters[1]).update(active_ms=900)
    rules = {"flagged": rule("warn", 20, 0.9), "fast": rule("warn", 20, 1.0)}
    set_rules(label_round, **rules, one_value=rule("warn", 20))
    assert found(label_round) == [
        (raters[0], "one_value"),
        (raters[0], "flagged"),
        (raters[1], "fast"),
        (raters[1], "one_value"),
        (raters[2], "one_value"),
    ]
    assert sorted(LABELS.value_counts(label_round)) == [21, 107]


@pytest.fixture
def desk(study):
    """Somebody before a round with blocks of five."""
    label_round = opened(study, ordinary=60, controls=10, votes_per_item=1)
    user = make_member(study, "annotator")
    rater_for(membership=user.memberships.get())
    return Desk(user, label_round)


def label_one(desk, label=0):
    return desk.send(desk.next()["next"][0]["id"], label).json()


def test_a_rule_acts_after_a_block_and_no_other_rule_takes_it_back(desk):
    label_round = desk.label_round
    set_rules(label_round, one_value=rule("pause", 8))
    states = [label_one(desk)["state"] for _ in range(10)]
    assert [state == "stopped" for state in states] == [False] * 9 + [True]
    place = Place.objects.get(round=label_round)
    assert (place.is_stopped, place.stopped_by) == (True, "one_value")
    event = AuditEvent.objects.get(actor=None, verb="rater_paused")
    assert event.reason == "One value: 100 % (last 8 answers, threshold 100 %)."
    # Control accuracy is no reason to let them go on.
    quality.check_rater(label_round=label_round, place=place)
    place.refresh_from_db()
    assert place.is_stopped
    researcher = make_member(label_round.study, "researcher")
    quality.reinstate_rater(
        label_round=label_round, rater=place.rater, reason="Talked", actor=researcher
    )
    assert [label_one(desk)["state"] for _ in range(15)].count("stopped") == 0
    place.refresh_from_db()
    assert (place.is_stopped, place.stopped_by) == (False, "")


def test_the_steps_are_asked_again_after_a_block(desk):
    label_round = desk.label_round
    version = make_version(label_round.study, make_member(label_round.study, "researcher"))
    attach(label_round, version)
    place = place_for(round_=label_round, rater=desk.user.raters.get())
    for kind in RIGHT:
        take_step(round_=label_round, place=place, kind=kind, answers=RIGHT[kind], started_at=None)
    set_rules(label_round, one_value=rule("recheck", 8))
    states = [label_one(desk)["state"] for _ in range(10)]
    assert [state == "steps" for state in states] == [False] * 9 + [True]
    for kind in ("screening", "reading"):
        place.refresh_from_db()
        take_step(round_=label_round, place=place, kind=kind, answers=RIGHT[kind], started_at=None)
    # A window of eight begins with the first answer after the steps.
    states = [label_one(desk)["state"] for _ in range(10)]
    assert states[:9].count("steps") == 0
    assert states[9] == "steps"
