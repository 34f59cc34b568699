"""Wrong passwords of somebody else lock an address; its owner comes in all the same."""

import re

import pytest
from django.core import mail
from django.test import Client

from .flows import (
    give_password,
    is_in,
    make_passkey,
    options_for,
    secure,
    sure,
    try_passkey,
)

pytestmark = pytest.mark.django_db
NEW = "four unrelated dull words"


@pytest.fixture
def owner(people):
    """Somebody whose address five wrong passwords have locked."""
    return people["expert"]


def lock(user, **here):
    """Five wrong passwords, each from a network of its own or all from here."""
    for number in range(5):
        give_password(Client(**({"REMOTE_ADDR": f"10.0.{number}.1"} | here)), user, "wrong")
    assert give_password(Client(REMOTE_ADDR="10.0.9.1"), user).status_code == 429


def test_a_passkey_opens_a_locked_address(owner):
    passkey, _made = make_passkey(sure(owner, secure()))
    lock(owner)
    browser = secure()
    assert try_passkey(browser, passkey.use(options_for(browser))).status_code == 302
    assert is_in(browser)
    # It opens the one browser and lifts nothing for whoever goes on guessing.
    assert give_password(Client(REMOTE_ADDR="10.0.9.1"), owner).status_code == 429


def test_a_passkey_opens_from_a_network_with_many_wrong_passwords(owner, people):
    passkey, _made = make_passkey(sure(owner, secure()))
    for person in (owner, people["annotator"]):
        lock(person, REMOTE_ADDR="127.0.0.1")
    assert give_password(Client(), people["researcher"]).status_code == 429
    browser = secure()
    assert try_passkey(browser, passkey.use(options_for(browser))).status_code == 302


def test_a_new_password_by_mail_lifts_the_lock(owner):
    lock(owner)
    browser = Client()
    browser.post("/accounts/reset/", {"email": owner.email.upper()})
    link = re.search(r"http://testserver(\S+)", mail.outbox[-1].body)[1]
    page = browser.get(link).url
    # Asking for the mail lifts nothing: anybody can.
    assert give_password(Client(), owner).status_code == 429
    browser.post(page, {"password1": NEW, "password2": NEW})
    assert give_password(Client(), owner, NEW).status_code == 302


def test_a_session_that_is_open_stays_open(owner):
    browser = sure(owner)
    lock(owner)
    assert is_in(browser)
