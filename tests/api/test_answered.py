"""What whoever may gets at every address, each asked once: on PostgreSQL where it answers."""

import pytest

from cqa_site.runs.ledger import gates
from tests.runs.made_runs import SENTINEL
from .described import assert_as_described
from .routes import EVERY, LISTS, NAMED, ROUTES

pytestmark = pytest.mark.django_db


def test_whoever_may_gets_it_as_described(answers, subtests):
    for route in EVERY:
        with subtests.test(str(route)):
            response = answers[route]
            assert response.exc_info is None
            assert response.status_code == route.status, getattr(response, "data", response)
            assert_as_described(route, response)


def test_every_list_has_rows(answers):
    assert [str(route) for route in LISTS if not answers[route].json()["count"]] == []


def test_lists_show_nothing_of_another_study(answers, foreign, subtests):
    rows = [getattr(foreign, name) for name in ("label_round", "draft", "experts", *NAMED)]
    for route in [each for each in ROUTES if each.is_list]:
        with subtests.test(str(route)):
            text = answers[route].content.decode()
            assert not [row for row in rows if str(row.public_id) in text]


def test_no_address_ever_tells_a_key(world, answers, subtests):
    assert gates.open_key(world.endpoint) == SENTINEL
    for route in EVERY:
        with subtests.test(str(route)):
            assert SENTINEL.encode() not in answers[route].body
            assert "sk-" not in str(answers[route].events)
