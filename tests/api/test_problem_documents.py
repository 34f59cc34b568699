"""Whatever refuses a request to the interface says so in a problem document, never in a page."""

import json
from unittest import mock

import psycopg
import pytest
import redis.exceptions
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig
from django.db import IntegrityError, OperationalError
from django.http import Http404, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.test import Client

from cqa_site.web import outages

ACCEPTED = ("*/*", "text/html, */*;q=0.5", "application/json")
AWAY = OperationalError("connection refused")
AWAY.__cause__ = psycopg.OperationalError("connection refused")
FULL = OperationalError("could not extend file")
FULL.__cause__ = psycopg.errors.DiskFull("could not extend file")
OUTAGES = [
    (AWAY, 503),
    (FULL, 503),
    (redis.exceptions.ConnectionError("refused"), 503),
    (redis.exceptions.TimeoutError("no answer"), 503),
    (IntegrityError("twice"), 500),
    (ValueError("a fault of ours"), 500),
    (RecursionError(), 500),
]
REFUSALS = [
    (BadRequest("x"), 400),
    (MultiPartParserError("x"), 400),
    (RequestDataTooBig("x"), 400),
    (PermissionDenied("x"), 403),
    (Http404("x"), 404),
]


def failing(error):
    return mock.Mock(side_effect=error)


def asked(path="/api/v1/me/", method="get", **headers):
    client = Client(raise_request_exception=False)
    return getattr(client, method)(path, headers=headers)


def assert_problem(response, status):
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    problem = json.loads(response.content)
    assert (problem["type"], problem["status"]) == ("about:blank", status)
    assert problem["title"]
    assert problem["detail"]
    assert int(response["Content-Length"]) == len(response.content)
    assert ("Retry-After" in response) == (status in (429, 503))


@pytest.mark.django_db
@pytest.mark.parametrize(("error", "status"), OUTAGES, ids=repr)
def test_a_view_that_fails(error, status, monkeypatch):
    monkeypatch.setattr("cqa_site.people.access.hash_secret", failing(error))
    for accepted in ACCEPTED:
        response = asked(accept=accepted, authorization="Bearer cqa_x")
        assert_problem(response, status)


@pytest.mark.parametrize(("error", "status"), OUTAGES + REFUSALS, ids=repr)
def test_middleware_that_fails_or_refuses(error, status, monkeypatch):
    monkeypatch.setattr("cqa_site.web.rest.queries.wrong_parameters", failing(error))
    for accepted in ACCEPTED:
        assert_problem(asked(accept=accepted), status)


def test_a_database_known_to_be_away(monkeypatch):
    answer = outages.unavailable
    monkeypatch.setattr(outages.Unavailable, "__call__", lambda _self, request: answer(request))
    for accepted in ACCEPTED:
        assert_problem(asked(accept=accepted), 503)


def test_addresses_and_queries_that_no_view_sees():
    for path, method, status in (
        ("/api", "get", 404),
        ("/api/v2/", "get", 404),
        ("/api/v2/", "post", 404),
        ("/api/v1/nothing/", "delete", 401),
        ("/api/v1/me/?x=%00", "get", 400),
        ("/api/v1/me/?" + "a=1&" * 3000, "get", 400),
    ):
        assert_problem(asked(path, method), status)


def test_a_host_that_is_not_the_sites_own(settings):
    for settings.SECURE_SSL_REDIRECT in (False, True):
        assert_problem(asked(host="elsewhere.example"), 400)


def test_a_refusal_that_was_packed_already(monkeypatch):
    page = JsonResponse({"error": "x" * 3000}, status=503, headers={"Retry-After": "5"})
    monkeypatch.setattr(outages.Unavailable, "__call__", lambda _self, _request: page)
    response = asked(accept_encoding="gzip")
    assert_problem(response, 503)
    assert "Content-Encoding" not in response


def test_pages_stay_pages():
    assert asked("/apiary/")["Content-Type"].startswith("text/html")
