"""The list of sessions, signing out elsewhere, and letting in who is locked out."""

import re
import time
from datetime import timedelta
from io import StringIO
from unittest import mock

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.usersessions.models import UserSession
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from cqa_site.people.models import AuditEvent, User
from cqa_site.people.sign_in import second_step
from cqa_site.web.housekeeping import run_chores
from tests import cast
from .flows import (
    PASSWORD,
    WAYS,
    give_password,
    is_in,
    make_passkey,
    options_for,
    secure,
    signed_in,
    sure,
    try_passkey,
)

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)


def test_only_the_network_of_an_address_is_kept(people):
    kept = {"192.0.2.77": "192.0.2.0", "2001:db8:1:2:3:4:5:6": "2001:db8:1::"}
    for address, network in kept.items():
        give_password(Client(REMOTE_ADDR=address), people["expert"])
        assert UserSession.objects.latest("pk").ip == network


def test_the_list_says_where_somebody_is_and_forgets_what_ended(people):
    person = people["expert"]
    here, there = (signed_in(person, Client(HTTP_USER_AGENT=agent)) for agent in (FIREFOX, SAFARI))
    page = here.get(WAYS).text
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" in page
    there.post("/accounts/logout/")
    assert "Safari on iPhone" not in here.get(WAYS).text


def test_signing_out_elsewhere_ends_every_other_session_even_one_that_is_on_no_list(people):
    person = people["expert"]
    here, listed, unlisted = signed_in(person), signed_in(person), cast.sign_in(person)
    assert here.get(f"{WAYS}elsewhere/").status_code == 405
    assert here.post(f"{WAYS}elsewhere/").url == WAYS
    assert is_in(here)
    assert not is_in(listed)
    assert not is_in(unlisted)
    assert AuditEvent.objects.filter(actor=person, verb="sessions_ended").exists()


@pytest.mark.parametrize("is_sent", [True, False])
def test_a_new_password_is_told_by_mail_and_stays_if_that_cannot_be_sent(
    people, monkeypatch, is_sent
):
    if not is_sent:
        refuse = mock.Mock(side_effect=ConnectionRefusedError)
        monkeypatch.setattr(mail.backends.locmem.EmailBackend, "send_messages", refuse)
    person, words = people["expert"], "four unrelated dull words"
    given = {"oldpassword": PASSWORD, "password1": words, "password2": words}
    assert cast.sign_in(person).post("/accounts/password/", given).url == "/account/"
    person.refresh_from_db()
    assert person.check_password(words)
    if is_sent:
        [told] = mail.outbox
        assert told.to == [person.email]
        assert "was changed" in told.subject
        assert words not in told.body


def test_a_session_is_written_down_now_and_then_and_never_of_the_crowd(people, study):
    client = signed_in(people["annotator"])
    first = UserSession.objects.get().last_seen_at
    client.get("/account/")
    assert UserSession.objects.get().last_seen_at == first
    crowd = User.objects.create_user(None)
    study.memberships.create(user=crowd, role="annotator")
    participant = cast.sign_in(crowd)
    session = participant.session
    del session[second_step.NOTED_KEY]
    session.save()
    participant.get("/account/")
    assert UserSession.objects.count() == 1


def test_an_answer_goes_out_although_the_list_cannot_be_written(people, monkeypatch):
    refuse = mock.Mock(side_effect=DatabaseError)
    monkeypatch.setattr(UserSession.objects, "update_or_create", refuse)
    client = Client()
    assert give_password(client, people["expert"]).status_code == 302
    assert is_in(client)


def test_what_the_list_says_of_sessions_that_ran_out_is_thrown_away(people):
    give_password(Client(), people["expert"])
    old = timezone.now() - timedelta(hours=13)
    for seen, thrown in (({}, 0), ({"last_seen_at": old}, 1)):
        UserSession.objects.update(user=people["expert"], **seen)
        assert run_chores()["ended sign-ins"] == thrown


@pytest.fixture
def hours(monkeypatch):
    """Let so many hours pass."""
    now, moment, passed = timezone.now, time.time, [0.0]
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(hours=passed[0]))
    monkeypatch.setattr(time, "time", lambda: moment() + 3600 * passed[0])

    def go_by(number):
        passed[0] += number

    return go_by


def test_a_session_ends_however_much_it_is_used(people, hours):
    client = signed_in(people["expert"])
    for _ in range(11):
        hours(1)
        assert is_in(client)
    hours(1)
    assert not is_in(client)
    give_password(client, people["expert"])
    hours(11)
    assert is_in(client)


def test_a_session_from_before_that_rule_ends_too(people, hours):
    client = cast.sign_in(people["expert"])
    for passed, is_on in ((1, True), (11, True), (1, False)):
        hours(passed)
        assert is_in(client) == is_on


def test_the_end_of_a_session_asks_the_database_nothing_more(people, django_assert_num_queries):
    client = signed_in(people["expert"])
    client.get("/account/keys/")
    with django_assert_num_queries(2):  # the session, the person
        client.get("/account/keys/")


def unlock(*args):
    out = StringIO()
    call_command("unlock", *args, stdout=out)
    return out.getvalue()


def test_unlock_lets_in_who_typed_wrong_passwords(people):
    person = people["expert"]
    clients = [Client(REMOTE_ADDR=f"10.0.{n}.1") for n in range(7)]
    for client in clients[:6]:
        give_password(client, person, "wrong")
    assert give_password(clients[6], person).status_code == 429
    assert "can sign in again" in unlock(person.email.upper())
    assert give_password(clients[6], person).status_code == 302
    assert AuditEvent.objects.get(verb="unlocked").subject == str(person)


def test_unlock_removes_the_second_step_when_the_address_is_typed_again(people, monkeypatch):
    person = people["expert"]
    TOTP.activate(person, "JBSWY3DPEHPK3PXP")
    elsewhere = cast.sign_in(person)
    monkeypatch.setattr("builtins.input", lambda words: "yes")
    with pytest.raises(CommandError, match="Nothing was changed"):
        unlock(person.email, "--second-step")
    assert is_in(elsewhere)
    monkeypatch.setattr("builtins.input", lambda words: person.email)
    assert "Second steps removed: 1" in unlock(person.email, "--second-step")
    assert not is_in(elsewhere)
    assert give_password(client := Client(), person).url == "/"
    assert is_in(client)


def test_unlock_ends_sessions_but_not_of_a_closed_account_and_says_when_there_is_no_way_in(people):
    person = people["expert"]
    client = cast.sign_in(person)
    unlock(person.email, "--sessions")
    assert not is_in(client)
    AuditEvent.objects.all().delete()
    User.objects.filter(pk=person.pk).update(is_active=False)
    for email, words in ((person.email, "closed"), ("nobody@nowhere.example", "No account")):
        with pytest.raises(CommandError, match=words):
            unlock(email, "--sessions")
    assert not AuditEvent.objects.filter(verb="unlocked").exists()
    person = people["annotator"]
    person.set_unusable_password()
    person.save()
    said = unlock(person.email)
    assert "can sign in" not in said
    assert f"changepassword {person.email}" in said


def lock(user, **here):
    """Five wrong passwords, each from a network of its own or all from here."""
    for number in range(5):
        give_password(Client(**({"REMOTE_ADDR": f"10.0.{number}.1"} | here)), user, "wrong")
    assert give_password(Client(REMOTE_ADDR="10.0.9.1"), user).status_code == 429


def test_a_passkey_opens_a_locked_address_and_network_and_an_open_session_stays(people):
    owner = people["expert"]
    session = sure(owner, secure())
    passkey, _made = make_passkey(session)
    for person, here in ((owner, {}), (people["annotator"], {"REMOTE_ADDR": "127.0.0.1"})):
        lock(person, **here)
        browser = secure()
        assert try_passkey(browser, passkey.use(options_for(browser))).status_code == 302
        assert is_in(browser)
        # It opens the one browser and lifts nothing for whoever goes on guessing.
        assert give_password(Client(REMOTE_ADDR="10.0.9.1"), owner).status_code == 429
    assert is_in(session)
    lock(owner, REMOTE_ADDR="127.0.0.1")
    assert give_password(Client(), people["researcher"]).status_code == 429
    browser = secure()
    assert try_passkey(browser, passkey.use(options_for(browser))).status_code == 302


def test_a_new_password_by_mail_lifts_the_lock(people):
    owner, new, browser = people["expert"], "four unrelated dull words", Client()
    lock(owner)
    browser.post("/accounts/reset/", {"email": owner.email.upper()})
    link = re.search(r"http://testserver(\S+)", mail.outbox[-1].body)[1]
    page = browser.get(link).url
    # Asking for the mail lifts nothing: anybody can.
    assert give_password(Client(), owner).status_code == 429
    browser.post(page, {"password1": new, "password2": new})
    assert give_password(Client(), owner, new).status_code == 302
