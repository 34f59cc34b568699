"""Calibration answers: independent until the round closes, then compared and discussed."""

import pytest
from django.urls import reverse

from annotation.editing.actions.discussion import NotDiscussed, add_comment
from cqa_site.rounds.opening import close_round, reopen_round
from cqa_site.rounds.saving import save_draft
from tests.annotation.editing_cast import hand_in, make_answers, make_round, sent, sheets_of
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once


class Lab:
    """Three experts with the same calibration answer and one of their own each."""

    def __init__(self):
        self.study = make_study()
        self.boss = make_member(self.study, "researcher", name="Rita")
        make_answers(self.study, questions=8)
        made = make_round(self.study, experts=3, calibration=1, individual=1)
        self.shared = sheets_of(made, is_calibration=True)
        for number, sheet in enumerate(self.shared, 1):
            sheet.rater.user.name = f"Name of {number}"
            sheet.rater.user.save()


lab = built_once(Lab)


@pytest.fixture
def study(lab):
    return lab.study


@pytest.fixture
def boss(lab):
    return lab.boss


@pytest.fixture
def shared(lab):
    return lab.shared


def here(sheet):
    study, row = sheet.round.study, sheet.round
    return reverse(
        "editing_discussion", args=[study.public_id, row.public_id, sheet.answer.public_id]
    )


def read(user, sheet):
    return sign_in(user).get(here(sheet)).content.decode()


def test_until_the_end_everybody_sees_only_the_own_version_and_words(shared, boss):
    for number, sheet in enumerate(shared, 1):
        hand_in(sheet, f"Version of expert {number}.")
        sign_in(sheet.rater.user).post(here(sheet), {"text": f"Thought {number}."})
    add_comment(
        editing_round=shared[0].round,
        answer=shared[0].answer,
        author=boss,
        text="A word from above.",
    )
    for number, sheet in enumerate(shared, 1):
        html = read(sheet.rater.user, sheet)
        for other in (1, 2, 3):
            assert (f"Version of expert {other}." in html) == (other == number)
            assert (f"Thought {other}." in html) == (other == number)
            assert f"Name of {other}" not in html.replace(f"Name of {number}</a>", "")
        assert "A word from above" not in html
    html = read(boss, shared[0])
    assert all(f"Version of expert {n}." in html and f"Thought {n}." in html for n in (1, 2, 3))
    assert all(f"Name of {n} (Expert {n})" in html for n in (1, 2, 3))


def test_after_the_end_all_versions_are_open_but_names_are_not(shared, boss):
    for number, sheet in enumerate(shared, 1):
        hand_in(sheet, f"Version of expert {number}.")
        sign_in(sheet.rater.user).post(here(sheet), {"text": f"Thought {number}."})
    close_round(round_=shared[0].round, actor=boss)
    html = read(shared[1].rater.user, shared[1])
    assert all(f"Version of expert {n}." in html and f"Thought {n}." in html for n in (1, 2, 3))
    assert "Your version" in html
    assert "Expert 1" in html
    assert "Name of 1" not in html
    assert "Name of 3" not in html
    history = reverse(
        "editing_history", args=[boss.memberships.get().study.public_id, shared[0].public_id]
    )
    reply = sign_in(shared[1].rater.user).get(history)
    assert reply.status_code == 200
    assert "Name of 1" not in reply.content.decode()
    reply = sign_in(shared[1].rater.user).post(here(shared[1]), {"text": "Agreed."})
    assert reply.status_code == 302
    assert "Agreed." in read(shared[0].rater.user, shared[0])


def test_opening_again_hides_what_others_wrote_and_marks_what_comes_later(shared, boss):
    row = shared[0].round
    hand_in(shared[0], "Version of expert 1.")
    close_round(round_=row, actor=boss)
    row.refresh_from_db()
    reopen_round(round_=row, actor=boss)
    assert "Version of expert 1." not in read(shared[1].rater.user, shared[1])
    late = sheets_of(row, user=shared[1].rater.user, is_calibration=True)[0]
    hand_in(late, "Version of expert 2.")
    for sheet, is_marked in ((shared[0], False), (late, True)):
        history = reverse("editing_history", args=[row.study.public_id, sheet.public_id])
        html = sign_in(boss).get(history).content.decode()
        assert ("After the round had been closed" in html) == is_marked


def test_drafts_of_others_stay_private_after_the_end(shared, boss):
    hand_in(shared[0], "Handed in.")
    save_draft(sheet=sheets_of(shared[0].round)[0], sent=sent("Only a draft.", 1))
    close_round(round_=shared[0].round, actor=boss)
    history = reverse(
        "editing_history", args=[boss.memberships.get().study.public_id, shared[0].public_id]
    )
    assert "Only a draft." not in sign_in(shared[1].rater.user).get(history).content.decode()
    assert "Only a draft." in sign_in(shared[0].rater.user).get(history).content.decode()


def test_only_those_who_edit_the_answer_discuss_it(shared, boss, study):
    row = shared[0].round
    outsider = make_member(study, "expert")
    own = sheets_of(row, is_calibration=False)[0]
    close_round(round_=row, actor=boss)
    assert sign_in(outsider).get(here(shared[0])).status_code == 404
    assert sign_in(make_member(study, "annotator")).get(here(shared[0])).status_code == 403
    individual = reverse(
        "editing_discussion", args=[study.public_id, row.public_id, own.answer.public_id]
    )
    assert sign_in(own.rater.user).get(individual).status_code == 404
    assert sign_in(boss).get(individual).status_code == 404
    history = reverse("editing_history", args=[study.public_id, own.public_id])
    colleague = next(sheet.rater.user for sheet in shared if sheet.rater.user != own.rater.user)
    assert sign_in(colleague).get(history).status_code == 404
    with pytest.raises(NotDiscussed):
        add_comment(editing_round=row, answer=own.answer, author=boss, text="x")


def test_the_page_costs_the_same_for_many_experts_and_words(study, boss):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    make_answers(study, questions=12)
    costs = []
    for count in (2, 5):
        row = make_round(study, experts=count, calibration=1, individual=0)
        sheets = sheets_of(row, is_calibration=True)
        for sheet in sheets:
            hand_in(sheet, "Version.")
            add_comment(
                editing_round=row, answer=sheet.answer, author=sheet.rater.user, text="Word."
            )
        client = sign_in(boss)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(here(sheets[0])).status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1] <= 10, costs
