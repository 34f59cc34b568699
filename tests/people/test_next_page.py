"""The reply to a submitted sheet is the page of the next one, where a script asks for it."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from cqa_site.rounds.kind import kind_of
from tests import cast

from .works import JSON, WORKS, address, sheet_at, work_page

ASKED = JSON | {"HTTP_PREFER": "return=representation"}
# What every answer has of its own: tokens, ids of a form and of a client, and when.
OWN = re.compile(r'[0-9A-Za-z]{64}|[0-9a-f]{32}|"saved_at": "[^"]+"')


@pytest.fixture(params=sorted(WORKS))
def kind(request):
    return WORKS[request.param]


@pytest.fixture
def round_(kind, study, people):
    kind.fill(study)
    return kind.round_(study, people["researcher"], **kind.several)


@pytest.fixture
def client(people):
    return cast.sign_in(people["annotator"])


def begin(client, round_):
    return sheet_at(round_, client.get(work_page(round_)))


def begun(round_):
    """The sheet that came with the last submission, without asking the server for it."""
    return kind_of(round_).Sheet.objects.get(round=round_, state="open")


def submit(client, round_, kind, sheet, asked=ASKED):
    name = f"{kind_of(round_).work_page}_submit"
    fields = kind.form() | {"base_version": str(sheet.version), "client_key": f"k{sheet.pk}"}
    return client.post(address(name, round_, sheet.public_id), fields, **asked)


def shown(answer):
    return OWN.sub("", answer.content.decode())


def test_it_is_the_page_that_a_visit_shows(kind, round_, client):
    reply = submit(client, round_, kind, begin(client, round_))
    there = reply["Content-Location"]
    assert there == client.get(work_page(round_))["Location"]
    visit = client.get(there)
    assert shown(reply) == shown(visit)
    for header in ("Content-Type", "Content-Security-Policy", "Cache-Control", "X-Work-Page"):
        assert reply[header] == visit[header]
    assert reply["Preference-Applied"] == "return=representation"


def test_whoever_does_not_ask_hears_where_it_is(kind, round_, client):
    reply = submit(client, round_, kind, begin(client, round_), asked=JSON)
    assert reply.json() == {"page": client.get(work_page(round_))["Location"]}
    assert "Content-Location" not in reply


def test_after_the_last_sheet_there_is_no_page(kind, round_, client):
    while True:
        reply = submit(client, round_, kind, begin(client, round_))
        if "Content-Location" not in reply:
            break
    assert reply.json() == {"page": work_page(round_)}


def test_it_costs_less_than_asking_for_it(kind, round_, client):
    submit(client, round_, kind, begin(client, round_))
    with CaptureQueriesContext(connection) as both:
        client.get(submit(client, round_, kind, begun(round_), JSON).json()["page"])
    with CaptureQueriesContext(connection) as one:
        submit(client, round_, kind, begun(round_))
    assert len(one) <= len(both) - 3
