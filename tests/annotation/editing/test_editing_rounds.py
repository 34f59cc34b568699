"""Rounds: the split that is seen opens; calibration answers are discussed when a round is over."""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.editing.actions import rounds as editing_rounds
from annotation.editing.actions.rounds import NotDiscussed, add_comment
from annotation.editing.models import EditingRound, EditingSheet
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.drafts import save_draft
from cqa_site.rounds.lifecycle import close_round, reopen_round
from tests.annotation.editing_cast import hand_in, make_answers, make_round, sent, sheets_of
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

pytestmark = pytest.mark.django_db

DONE = {"state": "submitted", "submitted_at": timezone.now()}


def fields(people, **changes):
    usual = {"name": "Gold", "experts": [str(user.public_id) for user in people], "seed": 5}
    usual |= {"calibration": 2, "individual": 2, "leave": "questions"}
    return usual | {"instructions": "Be **brief**."} | changes


def address(name, row, *more):
    return reverse(name, args=[row.study.public_id, row.public_id, *more])


@pytest.fixture
def draw(client, study):
    """Ask for a round of these people."""
    url = reverse("editing_round_new", args=[study.public_id])
    return lambda people, **changes: client.post(url, fields(people, **changes))


def held(editing_round):
    return {
        (sheet.rater.user_id, sheet.answer_id, sheet.is_calibration, sheet.place)
        for sheet in editing_round.sheets.select_related("rater")
    }


def test_a_researcher_sees_the_split_and_opens_exactly_it(study, researcher, client, draw):
    make_answers(study, questions=8)
    people = [make_member(study, "expert", name=f"Person {n}") for n in range(3)]
    made = draw(people)
    row = EditingRound.objects.get()
    here = address("editing_round", row)
    assert (made.status_code, made["Location"]) == (302, here)
    before = held(row)
    assert Counter(sheet[0] for sheet in before) == {user.pk: 4 for user in people}
    text = client.get(here).text
    assert all(user.name in text for user in people)
    assert text.count('class="question"') == 2 + 12
    # Drawing again with the same values gives the same split.
    edit = address("editing_round_edit", row)
    shown = client.get(edit).text
    assert ('value="5"' in shown, shown.count(" checked")) == (True, 3)
    for seed in (6, 5):
        client.post(edit, fields(people, seed=seed))
        assert (held(row) == before) == (seed == 5)
    # It does not open with somebody who left.
    memberships = people[0].memberships
    memberships.update(is_active=False)
    reply = client.post(address("editing_round_open", row), follow=True)
    assert "No longer an expert in this study" in reply.text
    row.refresh_from_db()
    assert row.state == "draft"
    memberships.update(is_active=True)
    client.post(address("editing_round_open", row))
    row.refresh_from_db()
    assert (row.state, bool(row.opened_at)) == ("open", True)
    assert held(row) == before
    assert AuditEvent.objects.get(verb="editing_round_open").actor == researcher
    # The table is filtered by expert and state.
    own = row.sheets.filter(is_calibration=False).first()
    EditingSheet.objects.filter(pk=own.pk).update(**DONE)

    def count(**query):
        return client.get(here, query).text.count('class="question"')

    every = {"expert": own.rater.user.public_id}
    assert (count(), count(**every), count(**every, state="submitted")) == (14, 6, 3)
    assert count(expert="nobody", state="nothing") == 14


def test_where_only_experts_are_missing_the_next_step_is_the_page_of_people(study, client):
    make_answers(study, questions=1)
    for page, word in (("editing_rounds", "No rounds yet"), ("editing_round_new", "experts from")):
        text = client.get(reverse(page, args=[study.public_id])).text
        assert (
            f'href="{reverse("members", args=[study.public_id])}">People'
            in text.partition(word)[2]
        )


@pytest.mark.long
def test_what_makes_no_round_is_refused_and_nothing_is_stored(study, draw):
    """Names that are taken are tested in tests/rounds/test_round_states.py."""
    make_answers(study, questions=3)
    people = [make_member(study, "expert") for _ in range(2)]
    strangers = [make_member(study, "annotator"), make_member(make_study("B"), "expert")]
    one = {"calibration": 1, "individual": 0}
    for chosen, change, message in (
        (people, {}, "The round needs 6 answers, but 3 match."),
        (people, {"calibration": 0, "individual": 0}, "at least one answer"),
        ([], one, "required"),
        *(([user], one, "not one of the available choices") for user in strangers),
    ):
        reply = draw(chosen, **change)
        assert (reply.status_code, message in reply.text) == (422, True), message
    assert not EditingRound.objects.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("leave", "left"), [("questions", 4 * 2), ("answers", 4 * 2 + 2), ("nothing", 6 * 2)]
)
def test_what_other_rounds_hold_is_left_out_as_wanted(study, researcher, leave, left):
    make_answers(study, questions=6, choices=2)
    make_round(study, experts=1, calibration=2, individual=0, choice=1)
    plan = editing_rounds.EditingPlan("x", 1, (), 0, 0, leave=leave)
    assert editing_rounds.matching_answers(study=study, plan=plan).count() == left


class Lab:
    """Three experts with the same calibration answer and one of their own each."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, "researcher", name="Rita")
        make_answers(self.study, questions=8)
        made = make_round(self.study, experts=3, calibration=1, individual=1)
        self.shared = sheets_of(made, is_calibration=True)
        for number, sheet in enumerate(self.shared, 1):
            sheet.rater.user.name = f"Name of {number}"
            sheet.rater.user.save()


lab = built_once(Lab)


@pytest.fixture
def shared(lab):
    return lab.shared


def here(sheet):
    return address("editing_discussion", sheet.round, sheet.answer.public_id)


def read(user, sheet):
    return sign_in(user).get(here(sheet)).content.decode()


def test_until_the_end_everybody_sees_the_own_version_and_then_all_but_no_names(lab, shared):
    row, answer = shared[0].round, shared[0].answer
    for number, sheet in enumerate(shared, 1):
        hand_in(sheet, f"Version of expert {number}.")
        sign_in(sheet.rater.user).post(here(sheet), {"text": f"Thought {number}."})
    add_comment(editing_round=row, answer=answer, author=lab.researcher, text="A word from above.")
    save_draft(sheet=sheets_of(row)[0], sent=sent("Only a draft.", 1))
    for number, sheet in enumerate(shared, 1):
        html = read(sheet.rater.user, sheet)
        for other in (1, 2, 3):
            assert (f"Version of expert {other}." in html) == (other == number)
            assert (f"Thought {other}." in html) == (other == number)
            assert f"Name of {other}" not in html.replace(f"Name of {number}</a>", "")
        assert "A word from above" not in html
    html = read(lab.researcher, shared[0])
    assert all(f"Version of expert {n}." in html and f"Thought {n}." in html for n in (1, 2, 3))
    assert all(f"Name of {n} (Expert {n})" in html for n in (1, 2, 3))
    close_round(round_=row, actor=lab.researcher)
    html = read(shared[1].rater.user, shared[1])
    assert all(f"Version of expert {n}." in html and f"Thought {n}." in html for n in (1, 2, 3))
    for words in ("Your version", "Expert 1"):
        assert words in html
    for words in ("Name of 1", "Name of 3"):
        assert words not in html
    history = reverse("editing_history", args=[lab.study.public_id, shared[0].public_id])
    reply = sign_in(shared[1].rater.user).get(history)
    assert reply.status_code == 200
    assert "Name of 1" not in reply.text
    # Drafts of others stay private.
    assert "Only a draft." not in reply.text
    assert "Only a draft." in sign_in(shared[0].rater.user).get(history).text
    reply = sign_in(shared[1].rater.user).post(here(shared[1]), {"text": "Agreed."})
    assert reply.status_code == 302
    assert "Agreed." in read(shared[0].rater.user, shared[0])
    # Opening again hides what others wrote, and what comes later is marked.
    row.refresh_from_db()
    reopen_round(round_=row, actor=lab.researcher)
    assert "Version of expert 1." not in read(shared[1].rater.user, shared[1])
    late = sheets_of(row, user=shared[1].rater.user, is_calibration=True)[0]
    hand_in(late, "Another version of expert 2.", late.version)
    for sheet, is_marked in ((shared[2], False), (late, True)):
        history = reverse("editing_history", args=[row.study.public_id, sheet.public_id])
        html = sign_in(lab.researcher).get(history).text
        assert ("Submitted after the round closed" in html) == is_marked


def test_only_those_who_edit_the_answer_discuss_it(lab, shared):
    study, row = lab.study, shared[0].round
    own = sheets_of(row, is_calibration=False)[0]
    close_round(round_=row, actor=lab.researcher)
    colleague = next(sheet.rater.user for sheet in shared if sheet.rater.user != own.rater.user)
    history = reverse("editing_history", args=[study.public_id, own.public_id])
    for user, page, status in (
        (make_member(study, "expert"), here(shared[0]), 404),
        (make_member(study, "annotator"), here(shared[0]), 403),
        (own.rater.user, here(own), 404),
        (lab.researcher, here(own), 404),
        (colleague, history, 404),
    ):
        assert sign_in(user).get(page).status_code == status, page
    with pytest.raises(NotDiscussed):
        add_comment(editing_round=row, answer=own.answer, author=lab.researcher, text="x")


@pytest.mark.long
def test_the_discussion_costs_the_same_for_many_experts_and_words(lab):
    make_answers(lab.study, questions=12)
    client, costs = sign_in(lab.researcher), []
    for count in (2, 5):
        row = make_round(lab.study, experts=count, calibration=1, individual=0)
        sheets = sheets_of(row, is_calibration=True)
        for sheet in sheets:
            hand_in(sheet, "Version.")
            about = {"editing_round": row, "answer": sheet.answer}
            add_comment(author=sheet.rater.user, text="Word.", **about)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(here(sheets[0])).status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1] <= 10, costs
