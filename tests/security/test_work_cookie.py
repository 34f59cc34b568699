"""The cookie that lets a browser show a work page without a connection, and who loses it when."""

import pytest
from django.conf import settings
from django.urls import reverse

from cqa_site.rounds.lifecycle import open_round
from tests.cast import make_label_round, make_member, make_study, sign_in

pytestmark = pytest.mark.django_db
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def client(study):
    """Somebody who has just looked at a page of labels."""
    label_round = make_label_round(study)
    open_round(round_=label_round, actor=make_member(study, "researcher"))
    client = sign_in(make_member(study, "annotator"))
    reply = client.get(reverse("label", args=[study.public_id, label_round.public_id]))
    cookie = reply.cookies[settings.WORK_COOKIE_NAME]
    assert reply["X-Work-Page"] == cookie.value != ""
    assert not cookie["max-age"]  # it ends with the browser's session
    return client


def is_taken_back(reply):
    return reply.cookies[settings.WORK_COOKIE_NAME].value == ""


def test_it_stays_with_the_session_and_signing_out_takes_it_back_at_once(client, study):
    reply = client.get(reverse("study", args=[study.public_id]))
    assert settings.WORK_COOKIE_NAME not in reply.cookies
    assert "X-Work-Page" not in reply
    assert is_taken_back(client.post(reverse("account_logout")))


def test_so_does_anybody_else_however_they_sign_in(client, study):
    before = client.cookies[settings.WORK_COOKIE_NAME].value
    client.force_login(make_member(study, "annotator"), backend=BACKEND)
    assert client.cookies[settings.WORK_COOKIE_NAME].value == before
    assert is_taken_back(client.get(reverse("home")))


def test_so_does_a_session_that_ended(client):
    del client.cookies["sessionid"]
    assert is_taken_back(client.get(reverse("account_login")))
