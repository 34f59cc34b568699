"""The pages of the steps, for members and crowd participants, and what they never tell."""

import re
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.labelling.actions.exercises import USUAL
from annotation.labelling.models import Assignment, Item
from cqa_site.people.models import Rater
from cqa_site.rounds.kind import kinds
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import (
    Participant,
    Place,
    Qualification,
    StepResult,
    SurveyResponse,
)
from cqa_site.rounds.onboarding.actions import grant_qualification, withdraw_qualification
from cqa_site.rounds.onboarding.questions import choice_value
from cqa_site.rounds.onboarding.reports import people_of, step_counts, survey_rows
from tests.annotation.voting import make_raters, opened
from tests.api.conftest import client_of
from tests.cast import make_label_round, make_member, make_study, sign_in
from tests.people.crowd import CODES, come_in, create_link
from tests.rounds.made_work import KINDS, World
from tests.worlds import built_once
from .made_steps import FIELDS, NONE, attach, make_version, place_of

pytestmark = pytest.mark.django_db


class LabelWorld(World):
    """A study with an open label round."""

    def __init__(self) -> None:
        super().__init__("label")


world = built_once(LabelWorld)
WORDS = {"declined_code": "NO-CONSENT", "failed_check_code": "NO-QUIZ"}


def steps(world, query=""):
    return reverse("round_steps", args=[world.study.public_id, world.round.public_id]) + query


def post(client, world, step, q0="", **fields):
    """Send a step; ``q0`` is the place of the first question's choice as it was written."""
    if q0:
        person = client.session["_auth_user_id"]
        rater = Rater.objects.filter(study=world.study, user=person).values_list("pk", flat=True)
        fields["q0"] = choice_value(rater.get(), 0, int(q0))
    return client.post(steps(world), {"step": step, "then": "next", **fields})


def pass_all(client, world):
    post(client, world, "consent", then="agree")
    post(client, world, "screening", q0="0")
    return post(client, world, "reading", q0="1")


def test_a_member_goes_through_the_steps_to_the_first_item(world):
    attach(world.round, make_version(world.study, world.researcher))
    client = sign_in(world.people[0])
    work = world.address("")
    assert client.get(work).url == steps(world)
    page = client.get(steps(world)).content.decode()
    assert "Step 1 of 3" in page
    assert client.get(
        reverse("label_next", args=[world.study.public_id, world.round.public_id])
    ).json() == {"next": [], "progress": {"answered": 0}, "state": "steps"}
    assert post(client, world, "consent", then="agree").status_code == 303
    # Going back keeps the chosen answers, and an empty form is refused.
    assert post(client, world, "screening").status_code == 422
    back = post(client, world, "screening", q0="1", then="back")
    assert back.url == steps(world, "?step=1")
    assert "We store your answers" in client.get(back.url).content.decode()
    page = client.get(steps(world)).content.decode()
    assert page.count("checked") == 1
    post(client, world, "screening", q0="0")
    page = client.get(steps(world)).content.decode()
    assert "EXPLANATION-1" not in page
    assert "PLACE-1" not in page
    # Nor does the source tell in which order the choices were written.
    values = re.findall(r'type="radio" name="q0" value="([^"]*)"', page)
    assert len(values) > 1
    assert all(re.fullmatch("[0-9a-f]{8}", value) for value in values)
    wrong = client.get(post(client, world, "reading", q0="0").url).content.decode()
    assert "EXPLANATION-1" in wrong
    assert "Right answer:" not in wrong
    right = post(client, world, "reading", q0="1")
    assert "All answers are right" in client.get(right.url).content.decode()
    assert client.get(steps(world)).url == work
    assert client.get(work).status_code == 200
    assert Assignment.objects.filter(rater=world.raters[0]).exists()


def test_a_label_sent_before_the_steps_is_of_no_item(world):
    attach(world.round, make_version(world.study, world.researcher))
    client = sign_in(world.people[0])
    fields = {"item": uuid.uuid4(), "label": 1, "client_key": "key"}
    assert client.post(world.address("_answer"), fields).status_code == 404
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("name", [name for name in KINDS if name != "label"])
@pytest.mark.long
def test_no_page_of_sheets_shows_one_before_the_steps(name):
    world = World(name)
    attach(world.round, make_version(world.study, world.researcher))
    client = sign_in(world.people[0])
    assert client.get(world.address("")).url == steps(world)
    if not world.kind.is_assigned:
        assert not world.kind.Sheet.objects.exists()
        return
    sheet = world.kind.Sheet.objects.filter(rater=world.raters[0]).first()
    form = world.work.full_form | {"base_version": 0}
    for reply in (
        client.get(world.address("_form", sheet)),
        client.post(world.address("_save", sheet), form),
        client.post(world.address("_submit", sheet), form),
    ):
        assert reply.url == steps(world)
    pass_all(client, world)
    assert client.get(world.address("_form", sheet)).status_code == 200


def test_steps_of_another_study_and_of_drafts_do_not_exist(world):
    stranger = sign_in(make_member(make_study("Other"), "annotator"))
    assert stranger.get(steps(world)).status_code == 404
    draft = make_label_round(world.study, name="Draft")
    page = reverse("round_steps", args=[world.study.public_id, draft.public_id])
    assert sign_in(world.people[0]).get(page).status_code == 404


def test_a_second_attempt_is_counted_and_a_wait_shows_the_guideline(world):
    attach(world.round, make_version(world.study, world.researcher, quiz_attempts=3))
    client = sign_in(world.people[0])
    post(client, world, "consent", then="agree")
    post(client, world, "screening", q0="0")
    post(client, world, "reading", q0="0")
    assert "Attempt 2 of 3" in client.get(steps(world)).content.decode()
    fields = NONE | {"name": "Waits", "quiz": FIELDS["quiz"], "quiz_minutes": 9}
    waits = make_version(world.study, world.researcher, **fields)
    attach(world.round, waits)
    post(client, world, "reading", q0="0")
    page = client.get(steps(world)).content.decode()
    assert "Wait before the next attempt" in page
    assert "GUIDELINE-TEXT" in page


# -- crowd participants ---------------------------------------------------------------------


def let_in(world, **fields):
    """A participant's client at the first step, and the round's link."""
    usual = {"platform": "Prolific", "required_items": 1, "max_participants": 5}
    link, secret = create_link(world.round, world.researcher, **usual | fields)
    return come_in(secret)[0], link


@pytest.mark.parametrize(
    ("sent", "outcome", "code"),
    [
        ([("consent", {"then": "decline"})], "declined", "NO-CONSENT"),
        (
            [("consent", {"then": "agree"}), ("screening", {"q0": "1"})],
            "screened_out",
            CODES["screened_out_code"],
        ),
        (
            [
                ("consent", {"then": "agree"}),
                ("screening", {"q0": "0"}),
                ("reading", {"q0": "0"}),
                ("reading", {"q0": "0"}),
            ],
            "failed_check",
            "NO-QUIZ",
        ),
    ],
)
def test_a_participant_leaves_at_each_step_with_its_code(world, sent, outcome, code):
    attach(world.round, make_version(world.study, world.researcher))
    client, _link = let_in(world, **WORDS)
    for step, fields in sent:
        assert Participant.objects.get().outcome == "running"
        post(client, world, step, **fields)
    assert Participant.objects.get().outcome == outcome
    assert client.get(steps(world)).url == reverse("participation_end")
    page = client.get(reverse("participation_end")).content.decode()
    assert code in page
    assert "reject" not in page.lower()
    assert not Assignment.objects.exists()
    # What is sent afterwards changes nothing.
    before = StepResult.objects.count()
    post(client, world, sent[-1][0], **sent[-1][1])
    assert StepResult.objects.count() == before


def test_a_participant_sees_how_the_last_attempt_went(world):
    attach(world.round, make_version(world.study, world.researcher, quiz_attempts=1))
    client, _link = let_in(world, **WORDS)
    post(client, world, "consent", then="agree")
    post(client, world, "screening", q0="0")
    after = client.get(post(client, world, "reading", q0="0").url)
    assert "EXPLANATION-1" in after.text
    assert client.get(steps(world)).url == reverse("participation_end")
    # So does somebody who pressed twice.
    assert "EXPLANATION-1" in client.get(post(client, world, "reading", q0="0").url).text


def test_a_form_sent_twice_is_one_attempt(world):
    attach(world.round, make_version(world.study, world.researcher, quiz_attempts=2))
    client = sign_in(world.people[0])
    post(client, world, "consent", then="agree")
    post(client, world, "screening", q0="0")
    assert 'name="attempt" value="1"' in client.get(steps(world)).text
    pages = [post(client, world, "reading", q0="0", attempt=1).url for _press in range(2)]
    assert pages[0] == pages[1]
    assert "EXPLANATION-1" in client.get(pages[1]).text
    assert StepResult.objects.filter(step="reading").count() == 1
    assert 'name="attempt" value="2"' in client.get(steps(world)).text


def test_a_participant_whose_qualification_is_withdrawn_leaves_with_a_code(world):
    version = attach(world.round, make_version(world.study, world.researcher)).onboarding
    client, _link = let_in(world, required_items=2, not_qualified_code="NO-WORK-NOW")
    pass_all(client, world)
    client.get(world.address(""))
    held = version.qualifications.get()
    withdraw_qualification(qualification=held, actor=world.researcher, reason="Left")
    end = client.get(client.get(world.address("")).url).url
    assert "NO-WORK-NOW" in client.get(end).text
    assert Participant.objects.get().outcome == "not_qualified"


def test_nobody_agrees_to_a_text_that_changed_meanwhile(world):
    first = make_version(world.study, world.researcher)
    attach(world.round, first)
    client = sign_in(world.people[0])
    client.get(steps(world))
    again = {"onboarding": first.onboarding, "consent": "OTHER-TEXT"}
    attach(world.round, make_version(world.study, world.researcher, **again))
    post(client, world, "consent", then="agree", version=first.public_id)
    assert not StepResult.objects.exists()
    page = client.get(steps(world)).text
    assert "The steps have changed in the meantime" in page
    assert "OTHER-TEXT" in page


def test_items_that_qualify_show_no_key():
    """Otherwise the next attempt, at the same items, would be no test."""
    world = World("score", opens=False)
    for item in world.round.items.order_by("position")[:2]:
        item.key_points = world.work.met
        item.save()
    fields = {"training": 1, "qualification": 1, "qualification_right": 1}
    version = make_version(world.study, world.researcher, **NONE | fields)
    attach(world.round, version)
    open_round(round_=world.round, actor=world.researcher)
    client = sign_in(world.people[0])
    seen = []
    for _number in range(2):
        sheet = world.take()
        form = world.work.full_form | {"base_version": "0", "client_key": f"k{sheet.pk}"}
        assert client.post(world.address("_submit", sheet), form).status_code == 303
        seen.append("feedback-title" in client.get(world.address("_form", sheet)).text)
    assert seen == [True, False]


def test_the_survey_comes_before_the_code_and_stands_beside_no_label(world):
    attach(world.round, make_version(world.study, world.researcher))
    client, _link = let_in(world)
    pass_all(client, world)
    client.get(world.address(""))
    end = reverse("participation_end")
    early = reverse("round_survey", args=[world.study.public_id, world.round.public_id])
    assert client.post(early, {"q0": "1"}).url == end
    assert not SurveyResponse.objects.exists()
    Participant.objects.update(outcome="completed")
    survey = client.get(end).url
    assert CODES["completed_code"] not in client.get(survey).content.decode()
    assert client.post(survey, {"q0": "many"}).status_code == 422
    assert client.post(survey, {"q0": "41", "q1": ""}).url == end
    assert CODES["completed_code"] in client.get(end).content.decode()
    assert SurveyResponse.objects.get().answers == {"q0": 41.0}
    # A second time changes nothing.
    client.post(survey, {"q0": "20"})
    assert SurveyResponse.objects.get().answers == {"q0": 41.0}
    ids = [world.study.public_id, world.round.onboarding.onboarding.public_id]
    file = sign_in(world.researcher).get(reverse("onboarding_survey", args=ids))
    assert b"41" in b"".join(file.streaming_content)
    counts = {count.step: count.people for count in step_counts(world.round.onboarding)}
    assert counts == {"consent": 1, "screening": 1, "reading": 1, "survey": 1}


def test_the_page_of_an_onboarding_shows_fifty_people_at_a_time_and_what_changed(
    world, monkeypatch
):
    first = make_version(world.study, world.researcher)
    changed = {"onboarding": first.onboarding, "text": "Another guideline."}
    newest = make_version(world.study, world.researcher, **changed)
    for rater in make_raters(world.study, 51):
        Qualification.objects.create(version=newest, rater=rater)
    ids = [world.study.public_id, first.onboarding.public_id]
    client, address = sign_in(world.researcher), reverse("onboarding", args=ids)
    shown = [client.get(address, {"page": number}).text for number in (1, 2)]
    assert [page.count(">Valid</span>") for page in shown] == [50, 1]
    assert "1–50 of 51" in shown[0]
    assert "<h3>Guideline</h3>" in shown[0]
    people = f"/api/v1/studies/{ids[0]}/onboardings/{ids[1]}/people/?page_size=2"
    read = []
    monkeypatch.setattr(
        "cqa_site.rounds.onboarding.api.people_of",
        lambda row, raters: read.append(len(raters)) or people_of(row, raters),
    )
    reply = client_of(world.researcher).get(people).json()
    assert (len(reply["results"]), reply["count"], read) == (2, 51, [2])


def test_the_file_of_a_survey_is_read_in_pieces_with_the_questions_of_all_versions(
    world, monkeypatch
):
    monkeypatch.setattr("cqa_site.rounds.onboarding.reports.PIECE", 2)
    first = make_version(world.study, world.researcher)
    newer = {"onboarding": first.onboarding, "survey": "What else?\n\nAnd now?"}
    versions = [first, make_version(world.study, world.researcher, **newer)]
    for number, rater in enumerate(make_raters(world.study, 5)):
        about = {"round_id": world.round.pk, "rater": rater, "version": versions[number % 2]}
        SurveyResponse.objects.create(**about, answers={"q0": number, "q1": f"text {number}"})
    with CaptureQueriesContext(connection) as queries:
        rows = list(survey_rows(first.onboarding))
    assert len(queries) == 5
    assert rows[0][4:] == ["How old are you?", "What else?", "And now?"]
    assert [row[2] for row in rows[1:]] == [1, 2, 1, 2, 1]
    assert rows[2][5:] == ["1", "text 1"]
    assert rows[5][4:] == ["4", "text 4", ""]


# -- training with sentences whose label is known --------------------------------------------


@pytest.fixture
def trained():
    """A round before which three sentences train, two of another round's control items left."""
    study = make_study()
    researcher = make_member(study, "researcher")
    make_label_round(study, name="Earlier", ordinary=1, controls=5, state="closed")
    # Its control items are hidden yet.
    make_label_round(study, name="Running", ordinary=1, controls=5, state="open")
    made = make_label_round(study, name="Now", ordinary=6, controls=1)
    steps = {"training": 2, "qualification": 2, "qualification_right": 2}
    version = make_version(study, researcher, **NONE | steps)
    attach(made, version)
    open_round(round_=made, actor=researcher)
    made.refresh_from_db()
    return made


def answer(client, page, step, label):
    shown = client.get(page).content.decode()
    item = shown.split('name="item" value="')[1].split('"')[0]
    assert "checked" not in shown
    assert "Not right" not in shown
    return client.post(page, {"step": step, "item": item, "label": label, "then": "next"})


def test_training_shows_the_key_and_qualification_decides_without_votes(trained):
    client = sign_in(make_member(trained.study, "annotator"))
    page = reverse("round_steps", args=[trained.study.public_id, trained.public_id])
    after = client.get(answer(client, page, "training", "1").url).content.decode()
    assert "3 · Both, with reason" in after
    assert "Both, with a reason." in after
    pressed_twice = {"step": "training", "item": "answered", "label": "1", "attempt": "1"}
    assert client.post(page, pressed_twice).url == page + "?after=training"
    answer(client, page, "training", "3")
    assert answer(client, page, "qualification", "3").url == page
    after = client.get(answer(client, page, "qualification", "3").url).text
    assert "Right answers: 2 of 2. Needed: 2 of 2." in " ".join(after.split())
    work = reverse("label", args=[trained.study.public_id, trained.public_id])
    assert client.get(page).url == work
    assert client.get(work).status_code == 200
    assert not Assignment.objects.exclude(state="served").exists()
    trained_on = {pair[0] for pair in trained.recipe["training"]}
    used = Item.objects.filter(round__study=trained.study).exclude(round__name="Earlier")
    ids = used.values_list("argument__public_id", flat=True)
    assert not trained_on & {str(public_id) for public_id in ids}


def test_too_many_wrong_answers_hold_a_member_back(trained):
    client = sign_in(make_member(trained.study, "annotator"))
    page = reverse("round_steps", args=[trained.study.public_id, trained.public_id])
    for step in ("training", "training", "qualification", "qualification"):
        answer(client, page, step, "0")
    assert "no attempts left" in client.get(page).content.decode()
    work = reverse("label", args=[trained.study.public_id, trained.public_id])
    assert client.get(work).url == page
    assert Place.objects.get().prepared_at is None


def test_a_step_ends_when_what_was_left_of_it_is_deleted(trained):
    client = sign_in(make_member(trained.study, "annotator"))
    page = reverse("round_steps", args=[trained.study.public_id, trained.public_id])
    for step in ("training", "training", "qualification"):
        answer(client, page, step, "3")
    gone = trained.recipe["training"].pop()
    trained.save()
    assert client.get(page).url == page
    assert StepResult.objects.last().answers == {"right": 1, "of": 1}
    assert client.get(page).url == reverse(
        "label", args=[trained.study.public_id, trained.public_id]
    )
    # Without any answer nobody is qualified.
    other = sign_in(make_member(trained.study, "annotator"))
    for _training in range(2):
        answer(other, page, "training", "3")
    trained.recipe["training"] = trained.recipe["training"][:2]
    trained.save()
    assert other.get(page).status_code == 200
    assert gone not in trained.recipe["training"]


def test_a_round_without_onboarding_trains_with_what_is_left():
    study = make_study()
    make_label_round(study, name="Earlier", ordinary=1, controls=4, state="closed")
    shown = opened(study, name="Shown", ordinary=4, controls=1, shows_guideline=True)
    assert len(shown.recipe["training"]) == USUAL
    few = make_study("Few")
    make_label_round(few, name="Earlier", ordinary=1, controls=2, state="closed")
    make_label_round(few, name="Running", ordinary=1, controls=4, state="open")
    assert "training" not in opened(few, name="Shown", controls=1, shows_guideline=True).recipe


@pytest.mark.parametrize("is_let_in", [False, True])
def test_only_who_passed_is_told_so(is_let_in):
    world = World("score")
    version = make_version(
        world.study, world.researcher, **NONE | {"qualification": 1, "qualification_right": 1}
    )
    attach(world.round, version)
    place = place_of(world)
    grants = {"version": version, "rater": world.raters[0], "actor": world.researcher}
    grant_qualification(**grants, reason="Known")
    place.score, place.is_passed, place.is_decided_by_person = 0.4, True, is_let_in
    place.save()
    text = sign_in(world.people[0]).get(world.address(""), follow=True).text
    text = " ".join(text.split())
    assert ("You passed the qualification: 40 %" in text) is not is_let_in


def test_a_new_study_is_told_how_to_get_items_to_train_on():
    world = World("score")
    page = reverse("onboarding_new", args=[world.study.public_id])
    _before, _title, text = sign_in(world.researcher).get(page).text.partition("of training items")
    help_text, _form, _fields = text.partition("<form")
    for kind in kinds():
        address = reverse(kind.rounds_page, args=[world.study.public_id])
        assert (f'href="{address}"' in help_text) == (kind.name != "edit")
