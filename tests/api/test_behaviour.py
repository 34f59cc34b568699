"""What the addresses do, from a draft to the file with its labels."""

from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.labelling.models import Assignment, Item
from cqa_site.people.models import ApiToken, AuditEvent
from cqa_site.web.limits import CourtesyThrottle
from tests.cast import make_arguments
from .conftest import client_of
from .routes import LISTS

pytestmark = pytest.mark.django_db


def base(world):
    return f"/api/v1/studies/{world.study.public_id}/"


def of_label_round(world, label_round=None):
    return f"{base(world)}label-rounds/{(label_round or world.label_round).public_id}/"


def post(client, url, status, method="post", **body):
    response = getattr(client, method)(url, body, format="json")
    assert response.status_code == status, response.content
    return response.json()


patch = partial(post, method="patch")


def test_lists_cost_few_queries_however_long_the_page(world, researcher, alone):
    make_arguments(world.study, 30, pair=("chess", "draughts"))
    about = {"round": world.label_round, "argument": world.argument}
    items = Item.objects.bulk_create(Item(**about, external_id=f"more-{n}") for n in range(30))
    vote = {"round": world.label_round, "rater": world.rater, "state": "answered", "label": 1}
    Assignment.objects.bulk_create(Assignment(item=item, **vote) for item in items)
    for route in LISTS:
        with alone(route):
            # The first request notes the token's use, and some lists begin with what is made once.
            costs = [cost_of(route, researcher, world, size) for size in (200, 1)]
            if costs[0] > costs[1]:
                costs[0] = cost_of(route, researcher, world, 200)
            assert len(set(costs)) == 1, costs
            assert costs[0] <= route.queries


def cost_of(route, client, world, size):
    """How many queries a page of that size takes."""
    with CaptureQueriesContext(connection) as queries:
        assert route.send(client, world, query=f"?page_size={size}").status_code == 200
    return len(queries)


def test_the_database_holds_no_token(world, researcher):
    secret = researcher.secret
    row = ApiToken.objects.filter(pk=researcher.token.pk).values().get()
    assert secret not in str(row)
    assert row["secret_hash"] != secret
    assert secret not in str(list(AuditEvent.objects.values()))
    shown = researcher.get("/api/v1/me/").content.decode()
    assert secret not in shown
    assert row["secret_hash"] not in shown


def test_bad_authorization_headers_are_401(world):
    client = client_of(world.people.researcher)
    for header in ("Bearer", "Bearer a b", "Bearer \xff", "Bearer cqa_x", "Token x", "Basic eDp4"):
        client.credentials(HTTP_AUTHORIZATION=header)
        response = client.get("/api/v1/me/")
        assert response.status_code == 401, header
        assert response["WWW-Authenticate"].startswith("Bearer")


def test_too_many_requests_are_429(world, researcher, monkeypatch):
    monkeypatch.setattr(CourtesyThrottle, "rate", "3/min")
    CourtesyThrottle.cache.clear()
    codes = [researcher.get("/api/v1/me/").status_code for _ in range(4)]
    CourtesyThrottle.cache.clear()
    assert codes == [200, 200, 200, 429]


def test_a_label_round_from_draft_to_closed(world, researcher):
    plan = {"name": "Round 2", "votes_per_item": 1, "block_size": 2, "controls_per_block": 1}
    made = post(researcher, f"{base(world)}label-rounds/", 201, **plan)
    here = f"{base(world)}label-rounds/{made['id']}/"
    arguments = [str(row.public_id) for row in make_arguments(world.study, 4)]
    for added in (4, 0):
        assert post(researcher, f"{here}items/", 201, arguments=arguments) == {"added": added}
    assert post(researcher, f"{here}open/", 409)["detail"].startswith("Mark at least one item")
    item = post(researcher, f"{here}items/control/", 200, item_id=arguments[0], label=3)
    assert item["control_label"] == 3
    assert post(researcher, f"{here}open/", 200)["state"] == "open"
    assert post(researcher, f"{here}open/", 409)["title"] == "Conflict"
    assert post(researcher, f"{here}items/", 201, arguments=arguments) == {"added": 0}
    post(researcher, f"{here}items/control/", 409, item_id=arguments[1], label=1)
    refused = patch(researcher, here, 409, block_size=9, name="Other")
    assert "block_size can no longer change, only name, guideline" in refused["detail"]
    more = patch(researcher, here, 200, votes_per_item=2)
    assert (more["votes_per_item"], more["name"]) == (2, "Round 2")
    patch(researcher, here, 409, votes_per_item=1)
    for act, state in (("pause", "paused"), ("close", "closed"), ("reopen", "open")):
        moved = post(researcher, f"{here}{act}/", 200)
        assert (moved["state"], bool(moved["closed_at"])) == (state, act == "close")


def test_changing_a_draft_keeps_what_is_left_out(world, researcher):
    url = of_label_round(world, world.draft)
    before = researcher.get(url).json()
    after = patch(researcher, url, 200, lease_minutes=20)
    assert after == before | {"lease_minutes": 20}
    for wrong in ({"block_size": 2, "controls_per_block": 5}, {"name": "Round 1"}, {"seed": -1}):
        assert set(patch(researcher, url, 400, **wrong)["errors"]) <= set(wrong)
    assert researcher.get(url).json() == after


def test_deciding_with_what_was_known_replaces_nothing_else(world, researcher):
    url = f"{of_label_round(world)}adjudications/"
    about = {"argument": str(world.argument.public_id)}
    first = post(researcher, url, 201, **about, label=1, known=None)
    late = post(researcher, url, 409, **about, label=0, known=None)
    assert "You chose 1 on" in late["detail"]
    assert "Your new choice, 0, was not saved" in late["detail"]
    second = post(researcher, url, 201, **about, label=0, known=first["created_at"])
    post(researcher, url, 409, **about, label=2, known=first["created_at"])
    assert second["label"] == 0
    post(researcher, url, 400, **about, label=2, known="yesterday")


def test_raters_are_shown_without_name_and_person(world, researcher):
    world.rater.name = "A name to keep"
    world.rater.save()
    text = researcher.get(f"{of_label_round(world)}raters/").content.decode()
    text += researcher.get(f"{of_label_round(world)}votes/").content.decode()
    assert "A name to keep" not in text
    assert world.rater.user.email not in text
    assert str(world.rater.user.public_id) not in text
