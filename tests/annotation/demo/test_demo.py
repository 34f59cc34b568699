"""The demo's people and their lost password; its answers break rules only where they should."""

import re

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from annotation.demo import actions
from annotation.demo.actions import PEOPLE, connect_stand_in
from annotation.labelling.actions.rounds import default_guideline
from annotation.labelling.models import LabelRound
from cqa_site.pay.stand_in import PlatformStandIn
from cqa_site.people.models import Membership, Role, Study, User
from cqa_site.rounds.models import ParticipantLink
from tests import cast
from tests.annotation.voting import newcomer, work

pytestmark = pytest.mark.django_db


def give(capsys):
    call_command("demo", password=True)
    return re.search(r"password for all of them: (\S+)", capsys.readouterr().out)[1]


def test_people_of_the_demo_and_nobody_else_get_a_new_password(capsys, settings):
    with pytest.raises(CommandError, match="Load it first"):
        call_command("demo", password=True)
    study = Study.objects.create(name="Demo", is_demo=True)
    for email in (PEOPLE[0][0], "guest@uni.example"):
        person = User.objects.create_user(email, "the first of all", name="One")
        Membership.objects.create(study=study, user=person, role=Role.ANNOTATOR)
    elsewhere = User.objects.create_user(PEOPLE[1][0], "the first of all", name="Other")
    first, second = give(capsys), give(capsys)
    assert authenticate(username=PEOPLE[0][0], password=second)
    assert not authenticate(username=PEOPLE[0][0], password=first)
    for email in ("guest@uni.example", elsewhere.email):
        assert authenticate(username=email, password="the first of all")
    settings.PRODUCTION = True
    with pytest.raises(CommandError, match="changepassword"):
        call_command("demo", password=True)


def test_the_crowd_of_a_second_start_has_not_been_here():
    study = cast.make_study()
    Study.objects.update(is_demo=True)
    cast.make_member(study, "researcher")
    round_ = cast.make_label_round(study, ordinary=5, controls=0)
    LabelRound.objects.filter(pk=round_.pk).update(state="open")
    crowds = []
    for start in range(2):
        # Somebody who tries the demo opens a round of their own.
        cast.make_label_round(study, name=f"Own {start}", ordinary=1, controls=0, state="open")
        with PlatformStandIn() as platform:
            link = connect_stand_in(platform, "http://testserver")
            crowds.append(set(platform.submissions))
    assert [len(crowd) for crowd in crowds] == [12, 12]
    assert crowds[0].isdisjoint(crowds[1])
    assert list(ParticipantLink.objects.filter(closed_at=None)) == [link]
    assert link.round_id == round_.pk
    LabelRound.objects.update(state="closed")
    with PlatformStandIn() as platform:
        assert connect_stand_in(platform, "http://testserver") is None


@pytest.mark.long
def test_two_systems_answer_three_questions_under_three_scenarios():
    study = cast.make_study()
    actions._arguments(study)
    actions._answers(study)
    first, second = actions.SYSTEMS
    assert set(study.systems.values_list("name", flat=True)) == {first, second}
    assert study.questions.count() == 3
    for question in study.questions.all():
        rows = question.answers.values_list("system__name", "scenario")
        assert set(rows) == {(first, 1), (first, 4), (second, 3), (second, 4)}
        (listed,) = question.argument_lists.all()
        assert list(listed.entries.values_list("number", flat=True)) == list(range(1, 10))
    assert not study.answers.exclude(scenario=4).exclude(argument_list=None).exists()


@pytest.mark.long
def test_simulated_people_leave_sentences_for_those_who_try_the_demo():
    study = cast.make_study()
    boss = cast.make_member(study, Role.RESEARCHER)
    labels = actions._arguments(study)
    round_ = actions._label_round(
        study, default_guideline(study), "Main round", labels, list(labels), controls=10
    )
    actions._simulate(round_, labels, boss, rounds=4)
    blocks = 4 * len(actions.SKILLS)
    assert round_.assignments.count() == blocks * round_.block_size
    assert round_.slots.exclude(state="done").count() > 80
    assert not round_.slots.filter(state="leased").exists()
    assert len(work(newcomer(round_)).assignments) >= round_.block_size
