"""Steps before work: nothing is served before they are passed, in whatever order they come."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone
from hypothesis import given, strategies as some
from rest_framework.test import APIClient

from annotation.editing.forms import EditingRoundForm
from annotation.labelling.actions.serving import next_work
from annotation.labelling.forms import LabelRoundForm
from argsum.counting.forms import CountingRoundForm
from benchmark.preferences.forms import PreferenceRoundForm
from benchmark.scoring.actions import ScoreContent
from benchmark.scoring.forms import ScoringRoundForm
from cqa_site.rounds.access import decide_rater, held_at_steps
from cqa_site.rounds.controls import set_control
from cqa_site.rounds.lifecycle import close_round, correct_round, open_round
from cqa_site.rounds.models import Qualification, StepResult
from cqa_site.rounds.onboarding.actions import (
    NotNow,
    grant_qualification,
    take_step,
    withdraw_qualification,
)
from cqa_site.rounds.onboarding.questions import read_questions
from cqa_site.rounds.onboarding.steps import ENDS, progress_from, step_progress
from cqa_site.rounds.queue import place_for
from cqa_site.runs import jobs
from cqa_site.upkeep.studies.deletion import archive_study, delete_study
from tests.cast import make_member, make_study, sign_in
from tests.lengths import mostly
from tests.rounds.made_work import KINDS, SERVED, World
from tests.worlds import built_once
from .made_steps import NONE, RIGHT, attach, make_version, place_of

pytestmark = pytest.mark.django_db


def reason_for_none(world, person=0):
    """Why nothing is served; empty if something is."""
    place = place_of(world, person)
    if world.name != "label":
        return world.ask(person).reason
    return next_work(label_round=place.round, place=place).reason


def do(world, kind, answers=None, person=0):
    place = place_of(world, person)
    answers = RIGHT.get(kind, {}) if answers is None else answers
    return take_step(round_=place.round, place=place, kind=kind, answers=answers, started_at=None)


def end(world, person=0):
    place = place_of(world, person)
    return step_progress(place.round, place).end


@pytest.mark.parametrize("name", mostly(KINDS, "label", "score"))
def test_no_kind_serves_before_every_step_is_passed(name):
    world = World(name)
    attach(world.round, make_version(world.study, world.researcher))
    for kind in ("consent", "screening", "reading"):
        assert reason_for_none(world) == "steps"
        with pytest.raises(NotNow):
            do(world, "training" if kind == "consent" else "consent")
        do(world, kind)
    assert reason_for_none(world) == ""
    # Somebody else's steps are their own.
    assert reason_for_none(world, 1) == "steps"


class ScoreWorld(World):
    """A study with an open scoring round."""

    def __init__(self) -> None:
        super().__init__("score")


world = built_once(ScoreWorld)


@pytest.fixture
def version(world):
    version = make_version(world.study, world.researcher)
    attach(world.round, version)
    return version


@pytest.mark.parametrize(
    ("kind", "wrong", "times"),
    [
        ("consent", {"agrees": False}, 1),
        ("screening", {"q0": "1"}, 1),
        ("reading", {"q0": "0"}, 2),
    ],
)
def test_each_way_out_has_its_own_outcome(world, version, kind, wrong, times):
    for before in ("consent", "screening", "reading"):
        if before == kind:
            break
        do(world, before)
    for _attempt in range(times):
        assert end(world) == ""
        do(world, kind, wrong)
    assert end(world) == ENDS[kind]
    assert reason_for_none(world) == "steps"
    if kind == "consent":
        do(world, "consent")
        assert end(world) == ""
    else:
        with pytest.raises(NotNow):
            do(world, kind)
        grant_qualification(
            version=version, rater=world.raters[0], actor=world.researcher, reason="Known"
        )
        assert reason_for_none(world) == ""


def test_a_new_version_asks_again_unless_the_change_is_small(world, version):
    for kind in RIGHT:
        do(world, kind)
    assert reason_for_none(world) == ""
    sheet = world.take()
    again = {"onboarding": version.onboarding}
    attach(
        world.round,
        make_version(
            world.study, world.researcher, **again, text="Longer.", keeps_qualifications="on"
        ),
    )
    assert reason_for_none(world) == ""
    attach(world.round, make_version(world.study, world.researcher, **again, text="Other."))
    # What was begun can be finished; nothing else comes after it.
    assert world.take().pk == sheet.pk
    assert world.submit(sheet).state == "submitted"
    assert reason_for_none(world) == "steps"
    assert Qualification.objects.count() == 1


def test_a_qualification_ends_by_time_and_by_a_researcher(world):
    version = make_version(world.study, world.researcher, valid_days=7)
    attach(world.round, version)
    for kind in RIGHT:
        do(world, kind)
    sheet = world.take()
    world.submit(sheet)
    held = Qualification.objects.get()
    past = timezone.now() - timedelta(seconds=1)
    Qualification.objects.update(expires_at=past)
    world.round.places.update(prepared_until=past)
    StepResult.objects.update(at=past - timedelta(days=7))
    assert reason_for_none(world) == "steps"
    with pytest.raises(NotNow):
        do(world, "consent")
    do(world, "screening")
    do(world, "reading")
    assert reason_for_none(world) == ""
    held = Qualification.objects.exclude(pk=held.pk).get()
    about = {"actor": world.researcher, "reason": "Left the lab"}
    assert withdraw_qualification(qualification=held, can_repeat=True, **about)
    assert not withdraw_qualification(qualification=held, can_repeat=True, **about)
    world.submit(world.take())
    assert (reason_for_none(world), end(world)) == ("steps", "")
    do(world, "screening")
    do(world, "reading")
    assert reason_for_none(world) == ""
    withdraw_qualification(qualification=held, **about)
    world.submit(world.take())
    assert reason_for_none(world) == "steps"
    assert end(world) == "withdrawn"
    with pytest.raises(NotNow):
        do(world, "screening")


def test_a_withdrawal_counts_for_every_version_until_somebody_is_let_in(world, version):
    for kind in RIGHT:
        do(world, kind)
    held = Qualification.objects.get()
    withdraw_qualification(qualification=held, actor=world.researcher, reason="Left the lab")
    newer = make_version(world.study, world.researcher, onboarding=version.onboarding)
    attach(world.round, newer)
    with pytest.raises(NotNow):
        do(world, "consent")
    grant_qualification(
        version=newer, rater=world.raters[0], actor=world.researcher, reason="Is back"
    )
    do(world, "consent")
    assert reason_for_none(world) == ""


def test_a_withdrawal_ends_what_older_versions_gave(world, version):
    for kind in RIGHT:
        do(world, kind)
    again = {"onboarding": version.onboarding}
    attach(world.round, make_version(world.study, world.researcher, **again))
    for kind in RIGHT:
        do(world, kind)
    held = Qualification.objects.first()
    withdraw_qualification(qualification=held, actor=world.researcher, reason="Left the lab")
    attach(world.round, version)
    assert reason_for_none(world) == "steps"


def test_steps_take_neither_the_practice_of_a_round_away_nor_a_decision():
    world = World("score", opens=False)
    item = world.round.items.first()
    item.key_points = world.work.met
    item.save()
    version = make_version(world.study, world.researcher, **NONE | {"consent": "Agree?"})
    attach(world.round, version)
    open_round(round_=world.round, actor=world.researcher)
    decide_rater(place=place_of(world, 1), actor=world.researcher, decision="fail", reason="No")
    do(world, "consent")
    do(world, "consent", person=1)
    assert world.take().is_example
    assert not place_of(world, 1).is_passed


def test_rounds_with_the_same_onboarding_share_the_qualification(world, version):
    for kind in RIGHT:
        do(world, kind)
    other = world.make_round(name="Second round")
    attach(other, version)
    assert world.ask(round_=other).reason == ""


def test_a_failed_quiz_can_be_tried_again_after_a_while(world):
    attach(world.round, make_version(world.study, world.researcher, quiz_minutes=30))
    do(world, "consent")
    do(world, "screening")
    do(world, "reading", {"q0": "0"})
    with pytest.raises(NotNow):
        do(world, "reading")
    StepResult.objects.update(at=timezone.now() - timedelta(minutes=31))
    do(world, "reading")
    assert reason_for_none(world) == ""


@pytest.mark.parametrize("name", mostly(("label", *SERVED), "label", "score"))
def test_a_round_shows_its_guideline_once(name):
    world = World(name)
    fields = {"shows_guideline": True, "instructions": "Read me."}
    world.kind.Round.objects.filter(pk=world.round.pk).update(**fields)
    assert reason_for_none(world) == "steps"
    do(world, "reading", {})
    assert reason_for_none(world) == ""


def test_only_rounds_with_known_answers_take_steps_that_train():
    study = make_study()
    version = make_version(study, make_member(study, "researcher"), **NONE | {"training": 1})
    forms = (LabelRoundForm, ScoringRoundForm, PreferenceRoundForm, CountingRoundForm)
    plans = [form({"onboarding": version.public_id}, study=study) for form in forms]
    assert not any("onboarding" in plan.errors for plan in plans)
    # An edited text is neither right nor wrong.
    plan = EditingRoundForm({"onboarding": version.public_id}, study=study)
    assert "onboarding" in plan.errors


def test_nobody_at_work_is_stopped_by_a_guideline_shown_later(world):
    world.take()
    fields = {"shows_guideline": True, "instructions": "Read me."}
    type(world.round).objects.filter(pk=world.round.pk).update(**fields)
    assert reason_for_none(world) == ""


def test_examples_train_and_qualify_with_attempts():
    world = World("score", opens=False)
    items = list(world.round.items.order_by("position")[:3])
    for item in items:
        item.key_points = world.work.met
        item.save()
    steps = {"training": 1, "qualification": 2, "qualification_right": 2}
    steps["qualification_attempts"] = 2
    version = make_version(world.study, world.researcher, **NONE | steps, name="Examples")
    attach(world.round, version)
    open_round(round_=world.round, actor=world.researcher)
    bad = ScoreContent(dict.fromkeys(world.work.met, 0))
    # The first one only trains, so that its wrong answer decides nothing.
    answers = [bad, world.work.full, bad, world.work.full, world.work.full]
    for content in answers:
        sheet = world.take()
        assert sheet.is_example
        world.submit(sheet, content)
    sheet = world.take()
    assert not sheet.is_example
    outcomes = StepResult.objects.order_by("pk").values_list("step", "outcome")
    ended = [("qualification", "failed"), ("qualification", "passed")]
    assert list(outcomes) == [("training", "passed"), *ended]
    held = Qualification.objects.get()
    assert held.version == version
    world.submit(sheet)
    withdraw_qualification(
        qualification=held, actor=world.researcher, reason="Drifts", can_repeat=True
    )
    # What qualified is asked again, what trained is not; attempts count from the beginning.
    for content in (bad, world.work.full, world.work.full, world.work.full):
        sheet = world.take()
        assert sheet.is_example
        world.submit(sheet, content)
    assert not world.take().is_example
    assert list(outcomes.all())[3:] == ended
    assert Qualification.objects.exclude(pk=held.pk).get().version == version


def test_steps_that_come_to_a_running_round_are_announced_and_explained():
    """Both to researchers, before they choose them, and to people who have begun."""
    world = World("score")
    for item in world.round.items.all():
        set_control(round_=world.round, item=item, known=world.work.met, actor=world.researcher)
    close_round(round_=world.round, actor=world.researcher)
    world.round = world.make_round(name="Running", size=3)
    steps = {"training": 1, "qualification": 1, "qualification_right": 1, "reads": "on"}
    version = make_version(world.study, world.researcher, **NONE | steps, name="Examples")
    (begun, *_rest) = world.do(at_most=1)
    assert begun.is_counted
    page = sign_in(world.researcher).get(world.office("_correct")).text
    assert "1 person has begun; new steps come before their next item" in page
    values = {"onboarding": version}
    assert correct_round(round_=world.round, actor=world.researcher, values=values)
    client, note = sign_in(world.people[0]), "Your work so far still counts."
    texts = [client.get(world.address(""), follow=True).text]
    assert "I have read the guideline" in texts[0]
    do(world, "reading")
    for _example in range(2):
        texts.append(client.get(world.address(""), follow=True).text)
        assert world.submit(world.take()).is_example
    for text in texts:
        assert note in " ".join(text.split())
    text = " ".join(client.get(world.address(""), follow=True).text.split())
    assert "You passed the qualification: 100 %" in text
    assert note not in text
    assert world.again(begun).is_counted


STEP = some.sampled_from(["consent", "screening", "reading", "training", "qualification"])
OUTCOME = some.sampled_from(["passed", "failed", "declined", "answered"])


@given(some.lists(STEP, unique=True), some.lists(some.tuples(STEP, OUTCOME), max_size=12))
def test_nobody_skips_a_step(kinds, done):
    steps = [{"kind": kind, "attempts": 2} for kind in kinds]
    at = timezone.now()
    results = [StepResult(step=kind, outcome=outcome, at=at) for kind, outcome in done]
    progress = progress_from(steps, results)
    passed = {kind for kind, outcome in done if outcome == "passed"}
    assert set(kinds[: progress.position]) <= passed
    assert progress.is_done == (set(kinds) <= passed)
    if not progress.is_done:
        assert kinds[progress.position] not in passed


def test_a_study_with_steps_can_be_deleted(world, version):
    for kind in RIGHT:
        do(world, kind)
    assert world.take()
    close_round(round_=world.round, actor=world.researcher)
    archive_study(study=world.study, actor=world.researcher)
    delete_study(study=world.study, actor=world.researcher)
    jobs.drain()
    assert not StepResult.objects.exists()
    assert not Qualification.objects.exists()


def test_a_withdrawal_counts_for_every_version(world, version):
    for kind in RIGHT:
        do(world, kind)
    assert reason_for_none(world) == ""
    newer = make_version(world.study, world.researcher, onboarding=version.onboarding, text="New")
    other = attach(world.make_round(name="Second round"), newer)
    held = Qualification.objects.get()
    withdraw_qualification(qualification=held, actor=world.researcher, reason="Left the lab")
    place = place_for(round_=other, rater=world.raters[0])
    assert step_progress(other, place).end == "withdrawn"
    about = {"rater": world.raters[0], "actor": world.researcher, "reason": "Is back"}
    assert grant_qualification(version=newer, **about)
    assert step_progress(other, place).end == ""


def test_a_program_qualifies_people_for_the_version_it_names(world, version):
    newer = make_version(world.study, world.researcher, onboarding=version.onboarding, text="New")
    ids = [world.study.public_id, version.onboarding.public_id]
    address = reverse("api_qualifications", args=ids)
    client = APIClient()
    client.force_authenticate(world.researcher)

    def post(person, **body):
        about = {"person": world.people[person].public_id, "reason": "Known"}
        return client.post(address, about | body, format="json")

    assert post(0, version=newer.onboarding.public_id).status_code == 400
    for person, body, granted in ((0, {"version": version.public_id}, version), (1, {}, newer)):
        assert post(person, **body).data["version"] == str(granted.public_id)


def test_people_without_attempts_wait_for_a_decision(world, version):
    do(world, "consent")
    do(world, "screening")
    do(world, "consent", {"agrees": False}, person=1)
    do(world, "reading", {"q0": "0"})
    assert held_at_steps(world.study, 10) == []
    do(world, "consent", person=2)
    do(world, "screening", {"q0": "1"}, person=2)
    # The first person, who has an attempt left, takes nobody's row.
    assert held_at_steps(world.study, 1) == [place_of(world, 2)]
    decide_rater(place=place_of(world, 2), actor=world.researcher, decision="exclude")
    do(world, "reading", {"q0": "0"})
    assert held_at_steps(world.study, 10) == [place_of(world)]
    decide_rater(place=place_of(world), actor=world.researcher, decision="exclude")
    assert held_at_steps(world.study, 10) == []
    decide_rater(place=place_of(world), actor=world.researcher, decision="reinstate")
    about = {"rater": world.raters[0], "actor": world.researcher, "reason": "Known"}
    grant_qualification(version=version, **about)
    assert held_at_steps(world.study, 10) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("What?\n+ a\n- b\n= One.\n= Two.", 5),
        ("What?\n+ a\n- b\n\nWhat?\n+ c\n- d", 5),
    ],
)
def test_no_typed_line_is_dropped(text, line):
    with pytest.raises(ValidationError, match=f"Line {line}:"):
        read_questions(text, purpose="quiz")
