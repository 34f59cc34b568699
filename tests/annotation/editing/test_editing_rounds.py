"""Rounds: the split that is seen is the split that opens, and who may do what when."""

import re
from collections import Counter

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.editing.actions import rounds as editing_rounds
from annotation.editing.models import EditingRound, EditingSheet
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.opening import close_round, open_round
from tests.annotation.editing_cast import make_answers, make_round, sheets_of
from tests.cast import make_member, make_study, sign_in

pytestmark = pytest.mark.django_db
DONE = {"state": "submitted", "submitted_at": timezone.now()}


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def boss(study):
    return make_member(study, "researcher")


def fields(people, **changes):
    return {
        "name": "Gold",
        "experts": [str(user.public_id) for user in people],
        "calibration": 2,
        "individual": 2,
        "seed": 5,
        "leave": "questions",
        "instructions": "Be **brief**.",
    } | changes


def held(editing_round):
    return {
        (sheet.rater.user_id, sheet.answer_id, sheet.is_calibration, sheet.place)
        for sheet in editing_round.sheets.select_related("rater")
    }


# -- drawing -------------------------------------------------------------------------------------


def test_a_researcher_sees_the_split_and_opens_exactly_it(study, boss):
    make_answers(study, questions=8)
    people = [make_member(study, "expert", name=f"Person {n}") for n in range(3)]
    client = sign_in(boss)
    made = client.post(reverse("editing_round_new", args=[study.public_id]), fields(people))
    row = EditingRound.objects.get()
    here = reverse("editing_round", args=[study.public_id, row.public_id])
    assert made.status_code == 302
    assert made["Location"] == here
    before = held(row)
    assert Counter(sheet[0] for sheet in before) == {user.pk: 4 for user in people}
    text = client.get(here).content.decode()
    assert all(user.name in text for user in people)
    assert text.count('class="question"') == 2 + 12
    client.post(reverse("editing_round_open", args=[study.public_id, row.public_id]))
    row.refresh_from_db()
    assert row.state == "open"
    assert row.opened_at
    assert held(row) == before
    assert AuditEvent.objects.get(verb="editing_round_open").actor == boss


def test_drawing_again_with_the_same_values_gives_the_same_split(study, boss):
    make_answers(study, questions=9)
    people = [make_member(study, "expert") for _ in range(2)]
    client = sign_in(boss)
    client.post(reverse("editing_round_new", args=[study.public_id]), fields(people))
    row = EditingRound.objects.get()
    first = held(row)
    edit = reverse("editing_round_edit", args=[study.public_id, row.public_id])
    shown = client.get(edit)
    assert 'value="5"' in shown.content.decode()
    assert shown.content.decode().count(" checked") == 2
    client.post(edit, fields(people))
    assert held(row) == first
    client.post(edit, fields(people, seed=6))
    assert held(row) != first
    assert EditingRound.objects.count() == 1


def test_too_few_answers_are_said_with_numbers_and_nothing_is_stored(study, boss):
    make_answers(study, questions=3)
    people = [make_member(study, "expert") for _ in range(2)]
    reply = sign_in(boss).post(
        reverse("editing_round_new", args=[study.public_id]), fields(people)
    )
    assert reply.status_code == 422
    assert "The sets need 6 answers, and 3 match." in reply.content.decode()
    assert not EditingRound.objects.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"experts": []}, "required"),
        ({"calibration": 0, "individual": 0}, "at least one answer"),
        ({"name": "Taken"}, "has this name"),
        ({"seed": -1}, "greater than or equal"),
        ({"leave": "all"}, "not one of the available choices"),
    ],
)
def test_what_makes_no_round_is_refused(study, boss, change, message):
    make_answers(study, questions=8)
    EditingRound.objects.create(study=study, name="Taken")
    people = [make_member(study, "expert")]
    reply = sign_in(boss).post(
        reverse("editing_round_new", args=[study.public_id]), fields(people, **change)
    )
    assert reply.status_code == 422
    assert message in reply.content.decode()
    assert EditingRound.objects.count() == 1


def test_only_experts_of_this_study_can_be_chosen(study, boss):
    make_answers(study)
    strangers = [make_member(study, "annotator"), make_member(make_study("B"), "expert")]
    for user in strangers:
        reply = sign_in(boss).post(
            reverse("editing_round_new", args=[study.public_id]),
            fields([user], calibration=1, individual=0),
        )
        assert reply.status_code == 422


@pytest.mark.parametrize(
    ("leave", "left"), [("questions", 4 * 2), ("answers", 4 * 2 + 2), ("nothing", 6 * 2)]
)
def test_what_other_rounds_hold_is_left_out_as_wanted(study, boss, leave, left):
    make_answers(study, questions=6, choices=2)
    make_round(study, experts=1, calibration=2, individual=0, choice=1)
    plan = editing_rounds.Plan("x", 1, (), 0, 0, leave=leave)
    assert editing_rounds.matching_answers(study=study, plan=plan).count() == left


def test_filters_choose_system_scenario_and_choice(study):
    answers = make_answers(study, questions=3, choices=2)
    system = answers[0].system

    def count(**filters):
        plan = editing_rounds.Plan("x", 1, (), 0, 0, **filters)
        return editing_rounds.matching_answers(study=study, plan=plan).count()

    assert count() == 6
    assert count(choice=2) == 3
    assert count(scenario=4, system=system) == 6
    assert count(scenario=0) == 0


def test_a_round_does_not_open_with_somebody_who_left(study, boss):
    make_answers(study)
    row = make_round(study, is_open=False)
    gone = row.sheets.first().rater.user
    gone.memberships.update(is_active=False)
    client = sign_in(boss)
    address = reverse("editing_round_open", args=[study.public_id, row.public_id])
    text = client.post(address, follow=True).content.decode()
    assert "No longer an expert of this study" in text
    row.refresh_from_db()
    assert row.state == "draft"


# -- pages ---------------------------------------------------------------------------------------


def test_experts_see_their_answers_once_the_round_is_open(study, boss):
    make_answers(study, questions=8)
    row = make_round(study, experts=2, calibration=2, individual=2, is_open=False)
    first, second = row.places.order_by("rater").values_list("rater", flat=True)
    own = sheets_of(row, rater_id=first)
    client = sign_in(own[0].rater.user)
    here = reverse("editing", args=[study.public_id])
    assert "No answers on your desk" in client.get(here).content.decode()
    assert client.get(desk_of(own[0])).status_code == 404
    open_round(round_=row, actor=boss)
    text = client.get(here).content.decode()
    shown = set(re.findall(r"/editing/([0-9a-f-]{36})/\"", text))
    assert shown == {str(sheet.public_id) for sheet in own}
    others = sheets_of(row, rater_id=second)
    assert client.get(desk_of(others[0])).status_code == 404


def desk_of(sheet):
    return reverse("desk_form", args=[sheet.round.study.public_id, sheet.public_id])


def test_the_table_of_a_round_is_filtered_by_expert_and_state(study, boss):
    make_answers(study, questions=8)
    row = make_round(study, experts=2, calibration=0, individual=3)
    expert = row.sheets.first().rater.user
    EditingSheet.objects.filter(rater__user=expert, place=1).update(**DONE)
    client = sign_in(boss)
    here = reverse("editing_round", args=[study.public_id, row.public_id])

    def count(query):
        return client.get(here + query).content.decode().count('class="question"')

    assert count("") == 6
    assert count(f"?expert={expert.public_id}") == 3
    assert count(f"?expert={expert.public_id}&state=submitted") == 1
    assert count("?expert=nobody&state=nothing") == 6


def test_the_overview_of_an_expert_leads_to_the_desk(study, boss):
    make_answers(study, questions=4)
    row = make_round(study, experts=1, calibration=1, individual=2)
    expert = row.sheets.first().rater.user
    here = reverse("study", args=[study.public_id])
    text = sign_in(expert).get(here).content.decode()
    assert "3 to do" in text
    assert reverse("desk", args=[study.public_id, row.public_id]) in text
    EditingSheet.objects.update(**DONE)
    text = sign_in(expert).get(here).content.decode()
    assert "to do" not in text
    assert "Nothing waits for you" in text


def test_closing_asks_for_the_agreement_of_experts(study, boss):
    make_answers(study)
    row = make_round(study, experts=1, calibration=1, individual=0)
    close_round(round_=row, actor=boss)
    [job] = study.jobs.filter(kind="faithfulness")
    assert job.is_active
