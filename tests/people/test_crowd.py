"""Crowd links: making them, coming in by them, and the code at the end."""

import re
from unittest import mock

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.actions.serving import member_place, next_work
from annotation.labelling.models import Assignment
from annotation.labelling.views import label as label_views
from cqa_site.people.models import AuditEvent, Membership, User
from cqa_site.rounds.crowd.participants import PlatformIds, take_part
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import Participant, ParticipantLink, Place
from tests import cast
from tests.worlds import built_once, parts_of
from .crowd import (
    CODES,
    DONE,
    IDS,
    Lab,
    answer_item,
    codes_in,
    come_in,
    finish,
    label_items,
    make_link,
    open_link,
)

lab = built_once(Lab)


study, people, label_round = parts_of("lab", "study", "people", "label_round")


@pytest.fixture
def secret(label_round, people):
    return make_link(label_round, people)[1]


def links_page(label_round):
    return reverse("crowd_links", args=[label_round.study.public_id, label_round.public_id])


def post_link(client, label_round, **fields):
    data = CODES | {
        "platform": "Prolific",
        "required_items": "4",
        "max_participants": "3",
        "days": "30",
        "participant_param": "PROLIFIC_PID",
        "study_param": "STUDY_ID",
        "session_param": "SESSION_ID",
    }
    return client.post(links_page(label_round), data | fields)


def test_researcher_makes_a_link_that_is_shown_once(researcher, label_round, other_study, people):
    """Whatever else a form may send."""
    more = {"study": other_study.pk, "secret_hash": "x", "closed_at": "2020-01-01"}
    text = post_link(researcher, label_round, **more).text
    address = text.split('id="new-link" value="')[1].split('"')[0]
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in address
    secret = address.split("/join/")[1].split("/")[0]
    assert text.count(secret) == 1
    link = ParticipantLink.objects.get()
    assert (link.study, link.round_id) == (label_round.study, label_round.pk)
    assert (link.created_by, link.closed_at) == (people["researcher"], None)
    assert len(link.secret_hash) == 64
    assert secret not in (link.secret_hash, str(link.public_id))
    assert secret not in researcher.get(links_page(label_round)).text
    assert AuditEvent.objects.filter(verb="participant_link_created").count() == 1


def test_bad_form_makes_no_link(researcher, label_round, subtests):
    for fields in (
        *({"completed_code": text} for text in ("", "CODE-FAULT")),
        *({"max_participants": text} for text in ("0", "-1")),
        *({"required_items": "0"}, {"days": "0"}, {"participant_param": ""}),
        {"study_param": "PROLIFIC_PID"},
        *({"return_url": url} for url in ("javascript:alert(1)", "ftp:x", "no address at all")),
    ):
        with subtests.test(str(fields)):
            assert post_link(researcher, label_round, **fields).status_code == 422
    assert not ParticipantLink.objects.exists()


def test_opening_the_link_makes_nobody_and_the_button_an_annotator(secret, label_round, study):
    client = Client()
    assert open_link(client, secret).url == "/join/start/"
    assert client.get("/join/start/").status_code == 200
    assert not Participant.objects.exists()
    assert not User.objects.filter(email=None).exists()
    before = client.session.session_key
    response = client.post("/join/start/")
    assert response.url == reverse("label", args=[study.public_id, label_round.public_id])
    assert client.session.session_key != before
    assert "crowd_entry" not in client.session
    person = Participant.objects.select_related("user").get()
    ids = (person.participant_id, person.platform_study_id, person.session_id)
    assert ids == tuple(IDS.values())
    assert not person.user.has_usable_password()
    assert person.user.email is None
    assert Membership.objects.get(user=person.user).role == "annotator"
    assert client.get(response.url).status_code == 200
    for page in (response.url, "/join/start/"):
        shown = client.get(page, follow=True)
        for word in (secret, *IDS.values()):
            assert word not in page + shown.text


def sessionless(client):
    """The same browser a day later: its session ran out, its other cookies are there."""
    later = Client()
    later.cookies = client.cookies.copy()
    del later.cookies["sessionid"]
    return later


def test_coming_back_is_the_same_person(secret):
    first, _ = come_in(secret)
    client, response = come_in(secret, client=sessionless(first))
    assert "/label/" in response.url
    # Another session of the same id is noted.
    come_in(secret, IDS | {"SESSION_ID": "SESSION-2"}, client=sessionless(client))
    assert Participant.objects.get().session_id == "SESSION-1"
    assert AuditEvent.objects.filter(verb="participant_came_with_another_session").count() == 1
    assert User.objects.filter(email=None).count() == 1
    assert open_link(client, secret).url == response.url


BAD_IDS = [
    *({}, {"PROLIFIC_PID": "x"}, IDS | {"STUDY_ID": "../.."}, IDS | {"SESSION_ID": "a" * 1_000}),
    *(
        IDS | {"PROLIFIC_PID": text}
        for text in (
            "",
            "a" * 129,
            "{{%PROLIFIC_PID%}}",
            "<script>",
            "a b",
            "a\n",
            "é",
            ["1", "2"],
        )
    ),
]


def test_odd_ids_are_refused_with_a_page(secret, subtests):
    for ids in BAD_IDS:
        with subtests.test(str(ids)[:60]):
            client = Client()
            response = open_link(client, secret, ids)
            assert response.status_code == 400
            assert b"has no participant ID" in response.content
            assert b"script>" not in response.content.split(b"<main")[1]
            assert client.post("/join/start/").status_code == 404
    assert not Participant.objects.exists()


def test_links_and_the_names_of_their_parameters_are_known(label_round, people):
    response = open_link(Client(), "nonsense")
    assert response.status_code == 404
    assert b"does not exist" in response.content
    names = {"participant_param": "worker", "study_param": "", "session_param": ""}
    _link, secret = make_link(label_round, people, **names)
    assert open_link(Client(), secret).status_code == 400
    assert "/label/" in come_in(secret, {"worker": "W1"})[1].url


def test_somebody_else_is_not_signed_out_silently_nor_becomes_another(secret, people):
    client = cast.sign_in(people["researcher"])
    response = open_link(client, secret)
    assert response.status_code == 409
    assert b"Sign out" in response.content
    assert client.post("/join/start/").status_code == 404
    assert client.session["_auth_user_id"] == str(people["researcher"].pk)
    assert not Participant.objects.exists()
    participant, _ = come_in(secret)
    assert open_link(participant, secret, IDS | {"PROLIFIC_PID": "PID-2"}).status_code == 409
    assert Participant.objects.count() == 1


def refusal(secret, ids=IDS, client=None):
    client = client or Client()
    open_link(client, secret, ids)
    page = client.get("/join/start/")
    assert page.status_code == client.post("/join/start/").status_code
    return page


def test_another_browser_gets_neither_place_nor_answers_nor_code(secret, label_round, study):
    client, _ = come_in(secret)
    person = Participant.objects.get()
    label_items(person, 4)
    finish(client)
    thief = Client()
    assert open_link(thief, secret).url == "/join/start/"
    response = thief.post("/join/start/")
    assert response.status_code == 409
    assert b"belongs to another browser" in response.content
    assert not codes_in(response.text)
    answers = reverse("label_answers", args=[study.public_id, label_round.public_id])
    for page in (answers, DONE):
        assert "/accounts/login/" in thief.get(page).url
    assert "_auth_user_id" not in thief.session
    assert Participant.objects.count() == 1


def test_before_the_button_every_id_is_told_the_same(secret):
    come_in(secret)
    now = timezone.now()
    for end, status in (
        ({}, 200),
        ({"max_participants": 1}, 410),
        ({"max_participants": 3, "closed_at": now}, 410),
        ({"closed_at": None, "expires_at": now}, 410),
    ):
        ParticipantLink.objects.update(**end)
        texts = []
        for name in ("PID-5f1", "PID-nobody"):
            client = Client()
            # Who tries ids does not know the session that the platform made for somebody.
            open_link(client, secret, IDS | {"PROLIFIC_PID": name, "SESSION_ID": "SESSION-9"})
            page = client.get("/join/start/")
            assert page.status_code == status, end
            token = r'csrfmiddlewaretoken" value="[^"]+"'
            texts.append(re.sub(token, "", page.text.split("<main")[1]))
        assert texts[0] == texts[1], end


def test_the_cookie_is_signed_and_only_its_hash_is_stored(secret, label_round, people):
    client, response = come_in(secret)
    cookie = response.cookies["place"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    kept = Participant.objects.get().browser_hash
    known = cookie.value.split(":")[0]
    assert len(kept) == 64
    assert kept not in cookie.value
    assert known not in str(list(Participant.objects.values()))
    for value in ("", known, f"{known}:forged", cookie.value[:-1]):
        other = Client()
        other.cookies["place"] = value
        open_link(other, secret)
        assert other.post("/join/start/").status_code == 409
    # Whoever is signed in keeps the place without it. It differs between links of one browser.
    del client.cookies["place"]
    assert "/label/" in open_link(client, secret).url
    client, response = come_in(secret, client=sessionless(client))
    assert "/label/" in response.url
    kept = Participant.objects.get().browser_hash
    _link, second = make_link(label_round, people, platform="Other")
    come_in(second, client=sessionless(client))
    assert Participant.objects.exclude(browser_hash=kept).count() == 1


def release_path(label_round, name="participant_release"):
    person = Participant.objects.get().user.public_id
    return reverse(name, args=[label_round.study.public_id, label_round.public_id, person])


def test_a_released_place_goes_to_the_next_browser_and_is_logged(
    secret, label_round, researcher, people
):
    old, _ = come_in(secret)
    label_items(Participant.objects.get(), 1)
    assert researcher.post(release_path(label_round)).status_code == 302
    event = AuditEvent.objects.get(verb="participant_place_released")
    assert event.actor == people["researcher"]
    assert "/accounts/login/" in old.get(DONE).url  # signed out
    ParticipantLink.objects.update(closed_at=timezone.now())  # they may finish all the same
    new, response = come_in(secret)
    assert "/label/" in response.url
    assert "3 items to go" in new.get(DONE).text
    assert Participant.objects.count() == 1
    assert refusal(secret).status_code == 409


@pytest.mark.parametrize(("places", "words"), [(3, b"no longer accepts"), (1, b"All places")])
def test_a_closed_or_full_link_lets_back_in_but_nobody_new(
    researcher, label_round, people, places, words
):
    link, secret = make_link(label_round, people, max_participants=places)
    client, _ = come_in(secret)
    if places > 1:
        ids = [label_round.study.public_id, label_round.public_id, link.public_id]
        researcher.post(reverse("crowd_link_close", args=ids))
    assert "/label/" in come_in(secret, client=sessionless(client))[1].url
    page = refusal(secret, IDS | {"PROLIFIC_PID": "PID-2"})
    assert (page.status_code, words in page.content) == (410, True)
    assert Participant.objects.count() == 1


def test_same_id_by_a_second_link_and_a_removed_participant_stay_out(label_round, people, secret):
    client, response = come_in(secret)
    _link, second = make_link(label_round, people)
    own = refusal(second, client=sessionless(client))
    assert b"already taken part in this study" in own.content
    _other, taken = come_in(second)
    assert taken.status_code == 409
    assert b"belongs to another browser" in taken.content
    assert Participant.objects.count() == 1
    Membership.objects.filter(user__email=None).update(is_active=False)
    for page in (response.url, DONE):
        assert client.get(page).status_code == 404
    assert refusal(secret, client=sessionless(client)).status_code == 410
    assert come_in(secret)[1].status_code == 409


def test_answers_in_another_label_round_do_not_count(secret, study, people):
    other = cast.make_label_round(study, name="Round 2")
    open_round(round_=other, actor=people["admin"])
    client, _ = come_in(secret)
    membership = Membership.objects.get(user=Participant.objects.get().user)
    place = member_place(label_round=other, membership=membership)
    for row in next_work(label_round=other, place=place).assignments[:4]:
        answer_item(row, f"other-{row.pk}")
    assert not finish(client)


def test_platform_ids_are_for_researchers_only_on_a_page_that_costs_the_same_for_many(
    secret, label_round, researcher, study, django_assert_max_num_queries
):
    client, _ = come_in(secret)
    text = researcher.get(links_page(label_round)).text
    assert [word for word in IDS.values() if word not in text] == []
    for name in ("members", "audit"):
        text = researcher.get(reverse(name, args=[study.public_id])).text
        assert [word for word in IDS.values() if word in text] == []
    for own in ("/account/", reverse("study", args=[study.public_id]), DONE):
        assert IDS["PROLIFIC_PID"] not in client.get(own, follow=True).text
    link = ParticipantLink.objects.get()
    link.max_participants = 100
    link.save()
    for number in range(50):
        take_part(link=link, ids=PlatformIds(f"PID-{number}", "S", "T"), browser="browser")
    with django_assert_max_num_queries(10):
        assert "1–50 of 51" in researcher.get(links_page(label_round)).text


def test_no_page_before_the_end_holds_a_code(secret, study, label_round):
    client = Client()
    work = reverse("label", args=[study.public_id, label_round.public_id])
    pages = [open_link(client, secret), client.get("/join/start/")]
    pages += [client.post("/join/start/", follow=True)]
    home = reverse("study", args=[study.public_id])
    pages += [client.get(page) for page in (home, work, "/account/", DONE)]
    person = Participant.objects.get()
    label_items(person, 3)
    for page in (*pages, client.get(DONE), client.post(DONE)):
        assert not codes_in(page.text)
    person.refresh_from_db()
    assert person.outcome == "running"


def test_finished_work_shows_the_completed_code_once_and_for_all(secret, study):
    client, _ = come_in(secret)
    home = reverse("study", args=[study.public_id])
    label_items(Participant.objects.get(), 1)
    assert "3 items to go" in client.get(DONE).text
    said = client.post(DONE, {"outcome": "completed", "answered": "99"})
    assert "You still have items left to do" in said.text
    assert Participant.objects.get().outcome == "running", "the server decides"
    assert "Continue labelling" in client.get(home).text
    label_items(Participant.objects.get(), 3)
    assert not codes_in(client.get(DONE).text)
    for _state in ("all done", "code shown"):
        text = client.get(home).text
        assert "Show your completion code" in text
        assert DONE in text
        assert "Continue labelling" not in text
        assert "report a problem" not in text
        assert finish(client) == ["CODE-COMPLETED"]
    client.post("/join/fault/", {"comment": "Another code, please"})
    assert codes_in(client.get(DONE).text) == ["CODE-COMPLETED"]
    person = Participant.objects.get()
    assert (person.outcome, person.ended_at is None) == ("completed", False)
    assert AuditEvent.objects.filter(verb="participant_ended").count() == 1
    assert open_link(client, secret).url == DONE
    assert come_in(secret, client=sessionless(client))[1].url == DONE


@pytest.mark.parametrize("fields", [{"is_stopped": True}, {"excluded_at": timezone.now()}])
def test_who_is_kept_out_is_screened_out_and_who_was_done_is_paid(secret, fields):
    for name, labels, code in (("P1", 1, "CODE-SCREENED"), ("P2", 4, "CODE-COMPLETED")):
        client, _ = come_in(secret, IDS | {"PROLIFIC_PID": name})
        label_items(Participant.objects.get(participant_id=name), labels)
        Place.objects.update(**fields)
        assert finish(client) == [code]


def test_somebody_whose_round_ran_out_is_not_told_to_go_on(label_round, people):
    _link, secret = make_link(label_round, people, required_items=50)
    client, _ = come_in(secret)
    label_items(Participant.objects.get(), 9)
    assert "41 items to go" in client.get(DONE).text
    label_items(Participant.objects.get(), 1)
    text = client.get(DONE).text
    assert "Items done: 10 of 50." in " ".join(text.split())
    assert "to go" not in text
    assert "Continue</a>" not in text
    assert finish(client) == ["CODE-NOWORK"]
    assert "Others finished the rest" not in client.get(DONE).text


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_round_that_stops_left_no_work_and_amid_the_work_is_a_fault(secret, label_round, state):
    clients = [come_in(secret, IDS | {"PROLIFIC_PID": name})[0] for name in ("P0", "P1")]
    label_items(Participant.objects.get(participant_id="P1"), 1)
    type(label_round).objects.filter(pk=label_round.pk).update(state=state)
    assert [finish(client) for client in clients] == [["CODE-NOWORK"], ["CODE-FAULT"]]


def report(client, comment="The keys do nothing"):
    return client.post("/join/fault/", {"comment": comment}, follow=True).text


def test_words_alone_are_no_fault_and_are_kept_for_the_researchers(
    secret, label_round, researcher, people
):
    client, _ = come_in(secret)
    assert client.post("/join/fault/", {"comment": " "}).status_code == 422
    for labels in (0, 1):
        label_items(Participant.objects.get(), labels)
        text = report(client)
        assert not codes_in(text)
        assert "The researchers have received your report" in " ".join(text.split())
        person = Participant.objects.get()
        assert (person.outcome, person.fault_report) == ("running", "The keys do nothing")
    assert "The keys do nothing" in researcher.get(links_page(label_round)).text
    researcher.post(release_path(label_round, "participant_fault"))
    assert codes_in(client.get(DONE).text) == ["CODE-FAULT"]
    event = AuditEvent.objects.get(verb="participant_ended")
    assert (event.reason, event.actor) == ("The keys do nothing", people["researcher"])


def test_only_a_reported_fault_of_running_work_is_confirmed(secret, label_round, researcher):
    client, _ = come_in(secret)
    for outcome in ("running", "completed"):
        researcher.post(release_path(label_round, "participant_fault"))
        assert Participant.objects.get().outcome == outcome
        report(client)
        label_items(Participant.objects.get(), 4 if outcome == "running" else 0)
        finish(client)


def test_an_answer_the_server_lost_is_a_fault_of_one_browser(secret, label_round, monkeypatch):
    client, response = come_in(secret)
    client.get(response.url)
    path = reverse("label_answer", args=[label_round.study.public_id, label_round.public_id])
    row = Assignment.objects.filter(state="served").first()
    sent = {"item": row.public_id, "client_key": "k" * 32, "label": "1"}
    client.raise_request_exception = False
    with monkeypatch.context() as patched:
        patched.setattr(label_views, "store", mock.Mock(side_effect=RuntimeError))
        assert client.post(path, sent).status_code == 500
    other, _ = come_in(secret, IDS | {"PROLIFIC_PID": "PID-2"})
    other.cookies["lost-answer"] = client.cookies["lost-answer"].value
    assert not codes_in(report(other))
    assert codes_in(report(client)) == ["CODE-FAULT"]
    assert Participant.objects.get(participant_id="PID-5f1").outcome == "fault"


def test_end_page_is_for_participants(people):
    for role in ("annotator", "researcher", "admin"):
        client = cast.sign_in(people[role])
        assert client.get(DONE).status_code == 404
        assert client.post(DONE).status_code == 404
        assert client.post("/join/fault/", {"comment": "x"}).status_code == 404
