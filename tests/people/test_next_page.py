"""The reply to a submitted sheet is the page of the next one, where a script asks for it."""

import re

import pytest

from tests.cast import sign_in
from tests.rounds.made_work import ITEMS, JSON, SERVED, World
from tests.worlds import built_of

ASKED = JSON | {"HTTP_PREFER": "return=representation"}
# What every answer has of its own: tokens, ids of a form and of a client, and when.
OWN = re.compile(r'[0-9A-Za-z]{64}|[0-9a-f]{32}|"saved_at": "[^"]+"')


built, world = built_of(World, SERVED, "score")


@pytest.fixture
def client(world):
    return sign_in(world.people[0])


def begun(world):
    """The sheet that came with the last submission, without asking the server for it."""
    return world.kind.Sheet.objects.get(round=world.round, state="open")


def submit(client, world, sheet, asked=ASKED):
    sent = {"base_version": str(sheet.version), "client_key": f"k{sheet.pk}"}
    return client.post(world.address("_submit", sheet), world.work.full_form | sent, **asked)


def shown(answer):
    return OWN.sub("", answer.text)


def test_it_is_the_page_that_a_visit_shows_for_whoever_asks_up_to_the_last_sheet(world, client):
    client.get(world.address(""))
    reply = submit(client, world, begun(world))
    there = reply["Content-Location"]
    assert there == client.get(world.address(""))["Location"]
    visit = client.get(there)
    assert shown(reply) == shown(visit)
    for header in ("Content-Type", "Content-Security-Policy", "Cache-Control", "X-Work-Page"):
        assert reply[header] == visit[header]
    assert reply["Preference-Applied"] == "return=representation"
    told = submit(client, world, begun(world), asked=JSON)
    assert told.json() == {"page": client.get(world.address(""))["Location"]}
    assert "Content-Location" not in told
    for number in range(2, ITEMS):
        reply = submit(client, world, begun(world))
        assert ("Content-Location" in reply) == (number < ITEMS - 1)
    assert reply.json() == {"page": world.address("")}
