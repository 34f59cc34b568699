"""Rules about people's last answers: what they find, what they do, and their page."""

from argparse import Namespace
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmark.preferences.kind import PreferenceContent
from benchmarks.rules import ANNOTATORS, WRITERS, rule_cells, signal_cells
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.access import decide_rater
from cqa_site.rounds.models import Qualification
from cqa_site.rounds.onboarding.actions import take_step
from cqa_site.rounds.queue import place_for
from cqa_site.rounds.rules.actions import hits_of
from cqa_site.rounds.rules.measures import (
    MEASURES,
    OF_CONTROLS,
    RecentAnswer,
    find,
    share_by_chance,
)
from tests.cast import sign_in
from tests.worlds import built_of
from .made_work import KINDS, SERVED, World
from .onboarding.made_steps import RIGHT, attach, make_version

built, world = built_of(World, SERVED, "score")
NOW = timezone.now()


def answers(*rows, **fields):
    """Answers, newest first, from (seconds, value) or a value alone."""
    pairs = [row if isinstance(row, tuple) else (9.0, row) for row in rows]
    return [
        RecentAnswer(NOW, seconds, value, is_skipped=value is None, **fields)
        for seconds, value in pairs
    ]


def rule(name, window, threshold=1.0):
    return {name: {"action": "warn", "window": window, "threshold": threshold}}


@pytest.mark.parametrize(
    ("rules", "given", "value"),
    [
        (rule("fast", 3, 3), answers((1, 0), (2.9, 1), (9, 2)), 2.9),
        (rule("fast", 3, 3), answers((1, 0), (3, 1), (9, 2)), None),
        # Unknown times are long ones.
        (rule("fast", 3, 3), answers((None, 0), (1, 1), (None, 2)), None),
        (rule("fast", 3, 3), answers((None, 0), (1, 1), (2, 2)), 2),
        (rule("fast", 3, 3), answers((1, 0), (1, 1)), None),
        (rule("one_value", 3), answers(2, 2, 2, 0), 1),
        (rule("one_value", 3), answers(2, 2, 0, 2), None),
        (rule("one_value", 3), answers(2, 2), None),
        (rule("one_value", 3), answers(None, None, None), None),
        (rule("one_value", 3), answers([{"C1": 1}], [{"C1": 1}], [{"C1": 1}]), 1),
        (rule("skips", 2), answers(None, None, 1), 1),
        (rule("skips", 2), answers(None, 1, None), None),
        (rule("flagged", 2, 0.5), [*answers(1, is_flagged=True), *answers(1)], 0.5),
        (rule("flagged", 2, 0.6), [*answers(1, is_flagged=True), *answers(1)], None),
        # 1 of 10: the interval ends at .45.
        (
            rule("agreement", 10, 0.5),
            answers(*[0] * 9, agrees=False) + answers(1, agrees=True),
            0.1,
        ),
        (
            rule("agreement", 10, 0.4),
            answers(*[0] * 9, agrees=False) + answers(1, agrees=True),
            None,
        ),
        # Only what others decided is counted.
        (rule("agreement", 10, 0.5), answers(*[0] * 9, agrees=False) + answers(1), None),
    ],
)
def test_what_a_measure_finds(rules, given, value):
    assert [finding.value for finding in find(rules, given)] == ([] if value is None else [value])


def set_rules(world, **rules):
    type(world.round).objects.filter(pk=world.round.pk).update(rules=rules)
    world.round.refresh_from_db()


def one_value(action="pause", window=5):
    return {"action": action, "window": window, "threshold": 1.0}


def actions(world):
    """What rules did, in the study's log."""
    events = AuditEvent.objects.filter(study=world.study, actor=None, reason__contains="threshold")
    return list(events.order_by("pk"))


def alike(world, number):
    """Submit sheets that look the same to the person: their right side, where there are two."""
    for _ in range(number):
        sheet = world.take()
        is_turned = world.name == "prefer" and sheet.is_swapped
        world.submit(sheet, PreferenceContent("second") if is_turned else world.work.full)


def decide(world, decision, actor=None):
    place = world.place()
    place.round = world.round
    decide_rater(place=place, actor=actor or world.researcher, decision=decision)


def test_answers_that_are_all_the_same_pause_until_a_person_decides(world):
    set_rules(world, one_value=one_value())
    alike(world, 4)
    assert not world.place().is_stopped
    alike(world, 1)
    place = world.place()
    assert (place.is_stopped, place.stopped_by) == (True, "one_value")
    assert world.ask().reason == "stopped"
    overview = sign_in(world.researcher).get(reverse("study", args=[world.study.public_id])).text
    assert f"{world.raters[0]} cannot continue" in overview
    [event] = actions(world)
    assert event.reason == "One value: 100 % (last 5 answers, threshold 100 %)."
    decide(world, "reinstate")
    assert not world.place().stopped_by
    # The answers from before trigger nothing again.
    alike(world, 3)
    assert not world.place().is_stopped
    assert len(actions(world)) == 1
    assert hits_of(world.round) == []


def test_sides_are_compared_and_not_answers(db):
    world = World("prefer")
    set_rules(world, one_value=one_value())
    world.do()
    # Always the same answer of a pair, which stands on either side.
    sides = set(world.kind.Sheet.objects.values_list("is_swapped", flat=True))
    assert len(sides) == 2
    assert not world.place().is_stopped


def test_without_rules_a_submission_costs_nothing_more(world, django_assert_num_queries):
    def submit():
        sheet = world.take()
        with CaptureQueriesContext(connection) as captured:
            world.submit(sheet)
        return [query["sql"] for query in captured.captured_queries]

    submit()
    before = submit()
    set_rules(world, fast={"action": "pause", "window": 50, "threshold": 3.0})
    after = submit()
    assert len(after) == len(before) + 1
    assert not any("ROW_NUMBER" in sql for sql in before)


def test_whoever_a_person_let_in_is_left_alone(world):
    set_rules(world, one_value=one_value())
    alike(world, 1)
    decide(world, "pass")
    alike(world, 6)
    assert not world.place().is_stopped
    [hit] = hits_of(world.round)
    assert (hit.place, hit.finding.value) == (world.place(), 1)


def test_a_warning_only_stands_on_the_page(world):
    set_rules(world, one_value=one_value("warn"))
    alike(world, 6)
    assert not world.place().is_stopped
    assert actions(world) == []
    page = reverse("round_rules", args=[world.study.public_id, world.round.public_id])
    text = sign_in(world.researcher).get(page).text
    assert str(world.raters[0]) in text
    assert "100 %" in text


def test_times_that_no_page_told_are_those_between_serving_and_submission(world):
    set_rules(world, fast={"action": "pause", "window": 5, "threshold": 3.0})
    for _ in range(5):
        sheet = world.take()
        served = timezone.now() - timedelta(seconds=60)
        world.kind.Sheet.objects.filter(pk=sheet.pk).update(served_at=served)
        world.submit(sheet)
    assert not world.place().is_stopped
    world.kind.Sheet.objects.update(active_seconds=2)
    world.submit(world.take())
    assert world.place().is_stopped
    assert "Fast answers: 2.0 s (last 5 answers, threshold 3.0 s)." in actions(world)[0].reason


def steps_again(world, version):
    place = world.place()
    place.round = world.round
    for kind in ("screening", "reading"):
        take_step(round_=world.round, place=place, kind=kind, answers=RIGHT[kind], started_at=None)


@pytest.fixture
def version(world):
    made = make_version(world.study, world.researcher)
    attach(world.round, made)
    place = place_for(round_=world.round, rater=world.raters[0])
    for kind in RIGHT:
        take_step(round_=world.round, place=place, kind=kind, answers=RIGHT[kind], started_at=None)
    return made


def test_the_steps_are_asked_again_and_then_a_new_window_begins(world, version):
    set_rules(world, one_value=one_value("recheck"))
    alike(world, 5)
    assert world.ask().reason == "steps"
    [event] = actions(world)
    assert event.verb == "qualification_to_repeat"
    assert event.reason.startswith(f"{world.round.name}: One value: 100 %")
    steps_again(world, version)
    alike(world, 3)
    assert world.ask().reason != "steps"
    assert len(actions(world)) == 1


def test_looking_at_the_steps_begins_no_new_window(world, version):
    set_rules(world, one_value=one_value())
    alike(world, 4)
    person = sign_in(world.people[0])
    person.get(reverse("round_steps", args=[world.study.public_id, world.round.public_id]))
    alike(world, 1)
    assert world.place().is_stopped


def test_a_qualification_that_a_person_granted_stands(world, version):
    Qualification.objects.update(granted_by=world.researcher)
    set_rules(world, one_value=one_value("recheck"))
    alike(world, 6)
    assert world.ask().reason != "steps"
    assert actions(world) == []


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_offers_what_it_knows(name, db):
    world = World(name)
    client = sign_in(world.researcher)
    page = reverse("round_rules", args=[world.study.public_id, world.round.public_id])
    text = client.get(page).text
    known = {
        "label": ["fast", "one_value", "skips", "flagged", "agreement"],
        "score": ["fast", "one_value", "skips", *OF_CONTROLS],
        "count": ["fast", "one_value", "skips", *OF_CONTROLS],
        "edit": ["fast"],
    }.get(name, ["fast", "one_value", *OF_CONTROLS])
    assert [measure for measure in MEASURES if f"{measure}_action" in text] == known
    assert ('value="pause"' in text) == (name != "edit")
    assert 'value="recheck"' not in text
    form = {"action": "warn", "window": 7, "threshold": 2.5}
    sent = {f"{measure}_{part}": value for measure in known for part, value in form.items()}
    sent |= {f"{measure}_threshold": 0.5 for measure in ("flagged", "agreement", *OF_CONTROLS)}
    sent["fall_usual"] = 0.9
    assert ('value="exclude"' in text) == ("controls" in known)
    assert client.post(page, sent | {"fast_window": 3}).status_code == 422
    refused = client.post(page, sent | {"fast_window": 3}).text
    assert refused.count("has-error") == 1
    assert client.post(page, sent).status_code == 302
    world.round.refresh_from_db()
    assert sorted(world.round.rules) == sorted(known)
    assert world.round.rules["fast"] == form
    assert 'value="7"' in client.get(page).text
    link = reverse(world.kind.audit.round, args=[world.study.public_id, world.round.public_id])
    assert f'href="{page}"' in client.get(link).text
    off = {f"{measure}_action": "off" for measure in known}
    client.post(page, sent | off)
    world.round.refresh_from_db()
    assert world.round.rules == {}
    changed = AuditEvent.objects.filter(verb="rules_changed")
    assert [bool(event.details["after"]) for event in changed.order_by("pk")] == [True, False]


def test_the_page_tells_chance_from_the_rounds_own_values(world):
    contents = {"score": "points", "count": "covered, unique"}
    world.do()
    page = reverse("round_rules", args=[world.study.public_id, world.round.public_id])
    text = " ".join(sign_in(world.researcher).get(page).text.split())
    if world.name in contents:
        assert "By chance, 100 % of windows of 30 answers would have a single value" in text
    assert "independent and distributed as in this round (" in text


def test_the_page_costs_the_same_for_any_number_of_people(world):
    page = reverse("round_rules", args=[world.study.public_id, world.round.public_id])
    client = sign_in(world.researcher)
    set_rules(world, one_value=one_value("warn"))
    counts = []
    for person in (0, 1, 2):
        world.do(person)
        with CaptureQueriesContext(connection) as captured:
            client.get(page)
        counts.append(len(captured))
    assert len(set(counts[1:])) == 1
    assert counts[-1] <= 14


def test_share_by_chance():
    assert share_by_chance([], 5) == 0
    assert share_by_chance([5], 20) == 1
    assert share_by_chance([6, 2, 2], 3) == pytest.approx(0.6**3 + 2 * 0.2**3)


def test_the_simulations_in_the_documents_run():
    options, rng = Namespace(people=3, number=100), np.random.default_rng(1)
    assert "100.0 %" in rule_cells(ANNOTATORS["skips 80 %"], options, rng)[2]
    program = signal_cells(WRITERS["a program that types (50 a second)"], options, rng)
    assert program == ["0.0 %", "100.0 %", "0.0 %"]
