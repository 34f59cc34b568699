"""Crowd links of scoring, counting and preference rounds: one way in, one round, one code."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from cqa_site.people.models import Rater
from cqa_site.rounds.crowd.participants import create_link
from cqa_site.rounds.integrity import find_violations
from cqa_site.rounds.kind import kind_of, kinds
from cqa_site.rounds.models import Participant, Place, Sheet
from cqa_site.rounds.opening import close_round
from cqa_site.rounds.qualifying import decide_rater
from cqa_site.rounds.serving import next_sheet, place_for
from tests import cast
from tests.benchmark.made_rounds import full_form, make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.people.works import JSON, WORKS, address, sheet_at, work_page

CODES = {
    "completed_code": "CODE-COMPLETED",
    "screened_out_code": "CODE-SCREENED",
    "no_work_code": "CODE-NOWORK",
    "fault_code": "CODE-FAULT",
}
IDS = {"PROLIFIC_PID": "PID-5f1", "STUDY_ID": "STUDY-1", "SESSION_ID": "SESSION-1"}
DONE = "/join/done/"
NOTHING_LEFT = "Nothing is left for you here at present."


@pytest.fixture(params=sorted(WORKS))
def kind(request):
    return WORKS[request.param]


@pytest.fixture
def round_(kind, study, people):
    kind.fill(study)
    return kind.round_(study, people["researcher"])


@pytest.fixture
def other(kind, round_, study, people):
    """A second round of the kind, open as well."""
    return kind.round_(study, people["researcher"], name="Another round")


def make_link(round_, people, **fields):
    defaults = {"required_items": 2, "expires_at": timezone.now() + timedelta(days=1)}
    return create_link(round_=round_, actor=people["researcher"], **(CODES | defaults | fields))


def come_in(secret, ids=IDS):
    client = Client()
    client.get(reverse("join", args=[secret]), ids)
    return client, client.post("/join/start/")


@pytest.fixture
def inside(round_, people):
    """The browser of somebody who came in."""
    return come_in(make_link(round_, people)[1])[0]


def submit(client, round_, kind):
    """Fill in the sheet that waits; the reply of the server."""
    reply = client.get(work_page(round_))
    assert reply.status_code == 302, reply.content.decode()[-2000:]
    sheet = sheet_at(round_, reply)
    page = f"{kind_of(round_).work_page}_submit"
    fields = kind.form() | {"base_version": str(sheet.version), "client_key": f"k{sheet.pk}"}
    done = client.post(address(page, round_, sheet.public_id), fields, **JSON)
    assert done.status_code == 200, done.content
    return done


def codes_in(text):
    return [code for code in CODES.values() if code in text]


def finish(client):
    return codes_in(client.post(DONE, follow=True).content.decode())


def test_every_kind_for_a_crowd_is_tried_here():
    taking = {each.name: each.work_page for each in kinds() if each.takes_crowd}
    # Labels are tried in test_crowd.py.
    assert set(taking.values()) == {"label", *WORKS}


def test_whoever_did_everything_is_not_asked_to_go_on(kind, round_, other, people, study):
    client = cast.sign_in(people["annotator"])
    first_page = reverse("study", args=[study.public_id])
    submit(client, round_, kind)
    assert NOTHING_LEFT not in client.get(first_page).content.decode()
    while client.get(work_page(round_)).status_code == 302:
        submit(client, round_, kind)
    text = client.get(first_page).content.decode()
    assert NOTHING_LEFT in text
    # What is still to do stands first.
    assert text.index(work_page(other)) < text.index(NOTHING_LEFT)


def test_from_the_platform_to_the_code(kind, round_, people, study):
    _link, secret = make_link(round_, people)
    client, reply = come_in(secret)
    assert reply["Location"] == work_page(round_)
    submit(client, round_, kind)
    assert "1 item to go" in client.get(DONE).content.decode()
    assert finish(client) == []
    last = submit(client, round_, kind)
    assert last.json()["page"] == work_page(round_), "two were asked for, a third waits"
    page = client.get(work_page(round_)).content.decode()
    assert "Finish and get your code" in page
    assert "2 / 2 done" in page
    assert finish(client) == ["CODE-COMPLETED"]
    assert Participant.objects.get().outcome == "completed"
    home = client.get(reverse("study", args=[study.public_id])).content.decode()
    assert "To your completion code" in home


def test_before_they_begin_people_read_what_is_asked(round_, people):
    client = Client()
    client.get(reverse("join", args=[make_link(round_, people)[1]]), IDS)
    text = client.get("/join/start/").content.decode()
    assert "You will fill in 2 sheets." in text
    assert kind_of(round_).card(0).text in text


def test_a_participant_finds_no_other_round(kind, round_, other, inside, study):
    kind_name = kind_of(round_).work_page
    for page in (kind_name, f"{kind_name}_own"):
        assert inside.get(address(page, other, other.public_id)).status_code == 404
    assert not Place.objects.filter(round=other).exists()
    home = inside.get(reverse("study", args=[study.public_id])).content.decode()
    assert "First" in home
    assert "Another round" not in home


def test_a_sheet_of_another_round_is_not_theirs_even_if_it_was_made(kind, round_, other, inside):
    person = Participant.objects.get()
    inside.get(work_page(round_))
    rater = person.user.raters.get()
    sheet = next_sheet(round_=other, rater=rater).sheet
    name = kind_of(round_).work_page
    assert inside.get(address(f"{name}_form", other, sheet.public_id)).status_code == 404
    for page in (f"{name}_save", f"{name}_submit"):
        fields = kind.form() | {"base_version": "0", "client_key": "k"}
        reply = inside.post(address(page, other, sheet.public_id), fields, **JSON)
        assert reply.status_code == 404
    sheet.refresh_from_db()
    assert (sheet.state, sheet.draft) == (Sheet.State.OPEN, None)


def test_sheets_of_others_stay_closed(kind, round_, inside, people):
    member = cast.sign_in(people["annotator"])
    sheet = sheet_at(round_, member.get(work_page(round_)))
    page = address(f"{kind_of(round_).work_page}_form", round_, sheet.public_id)
    assert inside.get(page).status_code == 404
    own = sheet_at(round_, inside.get(work_page(round_)))
    page = address(f"{kind_of(round_).work_page}_form", round_, own.public_id)
    assert member.get(page).status_code == 404


def test_pages_of_participants_lead_nowhere_else(kind, round_, inside, study):
    waiting = inside.get(work_page(round_))["Location"]
    pages = [inside.get(page).content.decode() for page in (waiting, DONE)]
    pages.append(inside.get(reverse("study", args=[study.public_id])).content.decode())
    for text in pages:
        assert 'class="tabs"' not in text
        assert not codes_in(text)
    links = set(re.findall(r'href="(/s/[^"]*)"', pages[0]))
    own = {work_page(round_), f"{work_page(round_)}own/"}
    assert links <= own | {reverse("study", args=[study.public_id]), waiting}


def test_no_page_of_researchers_opens(round_, inside, people):
    link = round_.links.get()
    person = Participant.objects.get().user
    page = kind_of(round_).audit.round
    assert inside.get(address(page, round_, round_.public_id)).status_code == 403
    assert inside.get(address("crowd_links", round_, round_.public_id)).status_code == 403
    close = address("crowd_link_close", round_, round_.public_id, link.public_id)
    assert inside.post(close).status_code == 403
    for name in ("participant_release", "participant_fault"):
        page = address(name, round_, round_.public_id, person.public_id)
        assert inside.post(page).status_code == 403


def test_links_and_people_of_another_round_are_not_found(round_, other, inside, researcher):
    link, person = round_.links.get(), Participant.objects.get().user
    close = address("crowd_link_close", other, other.public_id, link.public_id)
    assert researcher.post(close).status_code == 404
    for name in ("participant_release", "participant_fault"):
        page = address(name, other, other.public_id, person.public_id)
        assert researcher.post(page).status_code == 404
    link.refresh_from_db()
    assert link.is_open


def test_links_of_another_study_are_not_found(round_, inside, stranger, other_study):
    for study in (round_.study, other_study):
        page = reverse("crowd_links", args=[study.public_id, round_.public_id])
        assert stranger.get(page).status_code == 404
        assert stranger.post(page, CODES).status_code == 404
    assert round_.links.count() == 1


def test_a_researcher_makes_a_link_on_the_page_of_the_round(round_, researcher):
    page = address("crowd_links", round_, round_.public_id)
    shown = researcher.get(address(kind_of(round_).audit.round, round_, round_.public_id))
    assert page in shown.content.decode()
    assert "Crowd links" in researcher.get(page).content.decode()
    most = kind_of(round_).Item.objects.filter(round=round_).count()
    fields = {"platform": "P", "max_participants": "3", "days": "30", "participant_param": "ID"}
    refused = researcher.post(page, CODES | fields | {"required_items": str(most + 1)})
    assert refused.status_code == 422
    assert f"The round has {most} items for one person" in refused.content.decode()
    made = researcher.post(page, CODES | fields | {"required_items": str(most)})
    assert made.status_code == 200
    secret = re.search(r"/join/([^/]+)/\?ID=", made.content.decode())[1]
    link = round_.links.get()
    assert secret not in link.secret_hash
    assert come_in(secret, {"ID": "W1"})[1]["Location"] == work_page(round_)


def test_the_page_costs_the_same_for_many(
    round_, researcher, people, django_assert_max_num_queries
):
    _link, secret = make_link(round_, people)
    for number in range(8):
        come_in(secret, IDS | {"PROLIFIC_PID": f"P{number}"})
    with django_assert_max_num_queries(8):
        text = researcher.get(address("crowd_links", round_, round_.public_id)).content.decode()
    assert text.count("STUDY-1") == 8


def test_a_submission_asks_no_more_of_the_database_for_members(
    kind, study, people, django_assert_max_num_queries
):
    """A participant costs one query more: how many sheets there are already."""
    kind.fill(study)
    round_ = kind.round_(study, people["researcher"], **kind.several)
    client = cast.sign_in(people["annotator"])
    inside = come_in(make_link(round_, people, required_items=3)[1])[0]
    counts = []
    for one in (client, inside):
        sheet = sheet_at(round_, one.get(work_page(round_)))
        page = f"{kind_of(round_).work_page}_submit"
        fields = kind.form() | {"base_version": "0", "client_key": f"k{sheet.pk}"}
        with django_assert_max_num_queries(60) as asked:
            assert one.post(address(page, round_, sheet.public_id), fields, **JSON).status_code
        counts.append(len(asked))
    assert counts[1] <= counts[0] + 1


def test_a_round_that_closes_amid_the_work_is_a_fault(kind, round_, inside, people):
    submit(inside, round_, kind)
    close_round(round_=round_, actor=people["researcher"])
    assert finish(inside) == ["CODE-FAULT"]


def test_a_round_that_closed_before_the_work_began_left_no_work(round_, inside, people):
    close_round(round_=round_, actor=people["researcher"])
    assert finish(inside) == ["CODE-NOWORK"]


def test_who_was_left_out_is_screened_out_and_who_was_done_is_paid(kind, round_, inside, people):
    inside.get(work_page(round_))
    Place.objects.filter(round=round_).update(excluded_at=timezone.now())
    assert finish(inside) == ["CODE-SCREENED"]
    second = come_in(make_link(round_, people)[1], IDS | {"PROLIFIC_PID": "P2"})[0]
    submit(second, round_, kind)
    submit(second, round_, kind)
    Place.objects.filter(round=round_).update(excluded_at=timezone.now())
    assert finish(second) == ["CODE-COMPLETED"]


def test_who_does_not_qualify_is_screened_out(study, people):
    answers = make_scored_answers(study, questions=3)
    round_ = make_round(study, people["researcher"], examples=(answers[0],))
    secret = make_link(round_, people)[1]
    unknown = Client()
    start = unknown.get(reverse("join", args=[secret]), IDS, follow=True).content.decode()
    assert "One sheet of practice comes first" in " ".join(start.split())
    client = come_in(secret)[0]
    sheet = sheet_at(round_, client.get(work_page(round_)))
    assert sheet.is_example
    fields = full_form("0") | {"base_version": "0", "client_key": "k"}
    client.post(address("score_submit", round_, sheet.public_id), fields, **JSON)
    home = reverse("study", args=[study.public_id])
    # Every page leads to the code, and none back to work.
    practice = client.get(address("score_form", round_, sheet.public_id)).content.decode()
    for text in (practice, client.get(work_page(round_)).content.decode()):
        assert "part ends here" in " ".join(text.split())
        assert "can let you go on" not in text
    assert "items to go" not in client.get(DONE).content.decode()
    first = client.get(home).content.decode()
    assert work_page(round_) not in first
    assert f'href="{DONE}"' in first
    # The platform's people wait for nobody, and nobody is asked about them.
    assert "Waits for a researcher" not in client.get(home).content.decode()
    assert "cannot go on" not in cast.sign_in(people["researcher"]).get(home).content.decode()
    assert finish(client) == ["CODE-SCREENED"]


def test_an_answer_the_server_lost_is_a_fault(kind, round_, inside, monkeypatch):
    sheet = sheet_at(round_, inside.get(work_page(round_)))
    page = address(f"{kind_of(round_).work_page}_submit", round_, sheet.public_id)
    inside.raise_request_exception = False
    with monkeypatch.context() as patched:
        patched.setattr("cqa_site.rounds.pages.work.submit_sheet", broken)
        fields = kind.form() | {"base_version": "0", "client_key": "k"}
        assert inside.post(page, fields, **JSON).status_code == 500
    inside.raise_request_exception = True
    text = inside.post("/join/fault/", {"comment": "It broke"}, follow=True).content.decode()
    assert codes_in(text) == ["CODE-FAULT"]


def broken(**_fields):
    raise RuntimeError("the disk is full")


def test_a_draft_gets_no_link(kind, round_, researcher, people, study):
    draft = kind.round_(study, people["researcher"], name="Draft", opens=False)
    page = address("crowd_links", draft, draft.public_id)
    fields = {"platform": "P", "max_participants": "3", "days": "30", "participant_param": "ID"}
    refused = researcher.post(page, CODES | fields | {"required_items": "1"})
    assert refused.status_code == 422
    assert "or open it first" in refused.content.decode()
    assert (
        page
        not in researcher.get(
            address(kind_of(draft).audit.round, draft, draft.public_id)
        ).content.decode()
    )


def test_a_link_into_a_round_of_another_study_is_found(round_, people, other_study):
    link, _secret = make_link(round_, people)
    assert list(find_violations()) == []
    type(link).objects.update(study=other_study)
    assert list(find_violations()) == [f"crowd link {link.pk} leads into a round of another study"]


def test_a_decision_made_twice_is_one(round_, people, study):
    place = place_for(round_=round_, rater=make_rater(study))
    asked = {"place": place, "actor": people["researcher"]}
    assert decide_rater(**asked, decision="exclude", reason="Guessed.").is_excluded
    assert decide_rater(**asked, decision="exclude", reason="Again.") is None
    assert Place.objects.get(pk=place.pk).exclusion_reason == "Guessed."
    assert not decide_rater(**asked, decision="reinstate").is_excluded
    assert decide_rater(**asked, decision="reinstate") is None
    verbs = [event.verb for event in study.audit_events.order_by("pk")]
    person = kind_of(round_).audit.person
    assert verbs[-2:] == [f"{person}_exclude", f"{person}_reinstate"]


def test_a_rule_stops_somebody_until_a_person_decides(round_, people, study):
    rater = make_rater(study)
    place = place_for(round_=round_, rater=rater)
    assert decide_rater(place=place, actor=None, decision="pause").is_stopped
    assert next_sheet(round_=round_, rater=rater).reason == "stopped"
    decide_rater(place=place, actor=people["researcher"], decision="reinstate")
    assert next_sheet(round_=round_, rater=rater).sheet is not None
    decide_rater(place=place, actor=people["researcher"], decision="pass")
    assert decide_rater(place=place, actor=None, decision="pause") is None
    assert not Place.objects.get(pk=place.pk).is_stopped


def make_rater(study):
    return Rater.objects.create(study=study, external_id="one")
