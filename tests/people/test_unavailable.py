"""The database is away: 503 with Retry-After everywhere, and only then."""

import sqlite3
import time
from unittest import mock

import psycopg
import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError
from django.test import Client, RequestFactory
from django.urls import reverse

from annotation.labelling.views import label as label_views
from cqa_site.rounds.lifecycle import open_round
from cqa_site.web import outages
from cqa_site.web.outages import Unavailable, error_500, is_away
from tests import cast


def caused(kind, cause):
    error = kind(str(cause))
    error.__cause__ = cause
    return error


def sqlite_error(code, text="x"):
    cause = sqlite3.OperationalError(text)
    cause.sqlite_errorcode = code
    return caused(OperationalError, cause)


PG = psycopg.errors
AWAY = [
    *(
        caused(OperationalError, kind("words of the server"))
        for kind in (
            psycopg.OperationalError,
            PG.AdminShutdown,
            PG.DiskFull,
            PG.TooManyConnections,
        )
    ),
    caused(OperationalError, PG.DeadlockDetected("deadlock")),
    caused(InterfaceError, psycopg.InterfaceError("the connection is closed")),
    *(sqlite_error(code) for code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL)),
    *(sqlite_error(code) for code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR_WRITE)),
]
WRONG = [
    caused(OperationalError, PG.StatementTooComplex("stack depth")),
    caused(InterfaceError, psycopg.InterfaceError("the cursor is closed")),
    sqlite_error(sqlite3.SQLITE_ERROR, "no such table: x"),
    *(IntegrityError("twice"), DatabaseError("malformed"), ValueError("connection"), None),
]


def test_errors_of_the_connection_are_told_apart_from_wrong_statements():
    assert [error for error in AWAY if not is_away(error)] == []
    assert [error for error in WRONG if is_away(error)] == []


@pytest.fixture
def away(monkeypatch):
    """Every look at a session fails as with a server that refuses connections."""
    monkeypatch.setattr(SessionStore, "load", lambda _store: failing(AWAY[0])())


def assert_busy(response):
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0


def test_posts_of_answers_drafts_and_sheets_are_503(db, study, people, away):
    client = Client()
    client.cookies["sessionid"] = "x" * 32
    for name in ("label_answer", "desk_save", "score_save", "count_save"):
        path = reverse(name, args=[study.public_id] * 2)
        reply = client.post(path, {"text": "x"}, headers={"accept": "application/json"})
        assert_busy(reply)
        assert reply.json()["error"] == "unavailable"
        page = client.post(path, {"text": "x"})
        assert_busy(page)
        assert b"try again" in page.content
    assert_busy(client.get(reverse("home")))


def test_an_answer_that_could_not_be_stored_is_503_and_goes_in_later(
    db, study, people, monkeypatch
):
    label_round = cast.make_label_round(study)
    open_round(round_=label_round, actor=people["admin"])
    client = cast.sign_in(people["annotator"])
    ids = [study.public_id, label_round.public_id]
    client.get(reverse("label", args=ids))
    row = label_round.assignments.filter(state="served").first()
    answer = {"item": str(row.public_id), "client_key": "k" * 32, "label": "1"}
    path = reverse("label_answer", args=ids)
    with monkeypatch.context() as patched:
        patched.setattr(label_views, "store", failing(AWAY[2]))
        assert_busy(client.post(path, answer, headers={"accept": "application/json"}))
        client.raise_request_exception = False
        patched.setattr(label_views, "store", failing(WRONG[2]))
        assert client.post(path, answer).status_code == 500
    assert client.post(path, answer).status_code == 303
    row.refresh_from_db()
    assert (row.state, row.label) == ("answered", 1)


def failing(error):
    return mock.Mock(side_effect=error)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["account_login", "account_reset_password"])
def test_signing_in_is_503_while_the_cache_is_away(settings, name):
    """Rate limits cannot be counted then, and nobody passes without."""
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": "redis://127.0.0.1:9/0"}}
    client = Client()
    client.raise_request_exception = False
    fields = {"login": "a@site.example", "password": "a wrong one", "email": "a@site.example"}
    response = client.post(reverse(name), fields)
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0


def test_errors_outside_of_views_are_503_too():
    request = RequestFactory().post("/", headers={"accept": "application/json"})
    for error, status in ((AWAY[0], 503), (WRONG[2], 500)):
        try:
            raise error
        except OperationalError:
            assert error_500(request).status_code == status


@pytest.fixture
def pulse(monkeypatch):
    made = outages.Pulse()
    monkeypatch.setattr(outages, "pulse", made)
    monkeypatch.setattr("cqa_site.web.outages.pulse", made)
    return made


@pytest.mark.django_db(transaction=True)
def test_health_is_ok_with_a_database(pulse):
    response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_health_says_within_a_second_that_the_database_hangs(pulse, monkeypatch):
    asked = []
    monkeypatch.setattr(outages, "ask_database", lambda: asked.append(1) or time.sleep(3))
    started = time.monotonic()
    assert_busy(Client().get("/healthz"))
    assert time.monotonic() - started < 1.5
    assert_busy(Client().get("/healthz"))
    assert len(asked) == 1  # the second check waits for the same question


def test_health_asks_again_after_a_failure(pulse, monkeypatch):
    for error, status in ((AWAY[0], 503), (None, 200)):
        monkeypatch.setattr(outages, "ask_database", failing(error))
        reply = Client().get("/healthz")
        assert (reply.status_code, "Retry-After" in reply) == (status, status == 503)


def test_requests_do_not_wait_for_a_database_known_to_be_away(pulse, monkeypatch):
    tried = []
    middleware = Unavailable(lambda request: tried.append(request) or error_500(request))
    request = RequestFactory().get("/")
    assert middleware.process_exception(request, ValueError()) is None
    assert_busy(middleware.process_exception(request, AWAY[0]))
    monkeypatch.setattr(outages, "ask_database", failing(AWAY[0]))
    assert_busy(middleware(request))
    assert not tried
    monkeypatch.setattr(outages, "ask_database", lambda: None)
    middleware(request)
    assert tried == [request]
