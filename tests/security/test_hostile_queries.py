"""Whatever the query of an address says, it is answered, and never with a 500.

Every page of the site, with every parameter that any page reads: the names are collected from the
source. SQLite takes what PostgreSQL refuses, so run these on PostgreSQL, too.
"""

import ast
import uuid
from functools import cache
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.urls import NoReverseMatch, reverse

from benchmark.leaderboard.actions import BOARDS
from cqa_site.results import keeping
from cqa_site.web.strict_query import LONGEST_VALUE, MOST_VALUES
from tests.cast import sign_in

from .matrix import STUDY_ROUTES
from .test_matrix import PARAMETERS, World

pytestmark = pytest.mark.django_db

PAGES = [name for name, cell in STUDY_ROUTES.items() if not cell.post]
NUMBERED = [name for name in PAGES if "number" in PARAMETERS[name]]
ROOT = Path(__file__).parents[2]
QUERIES = {"GET", "query", "query_params"}


@cache
def names_read():
    """Every parameter that code reads by its name: ``GET.get("x")``, ``query["x"]``, …"""
    found = set()
    for app in ("annotation", "argsum", "benchmark", "cqa_site"):
        for path in (ROOT / app).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            # Whatever is read stands beside one of these words.
            if any(word in text for word in ("GET", "query", "chosen")):
                found |= set(names_in(ast.parse(text)))
    return found


def names_in(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inside, given = node.func.value, node.args[:1]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "chosen":
            inside, given = ast.Name("query"), node.args[1:2]
        elif isinstance(node, ast.Subscript):
            inside, given = node.value, [node.slice]
        else:
            continue
        is_query = getattr(inside, "attr", getattr(inside, "id", "")) in QUERIES
        for each in given if is_query else ():
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value


# Forms and loops read these; the rest stands in the source.
READ = (
    "page rubric judge column measure pair snapshot aspect scenario dataset seen system rater "
    "other criterion points others format theme size v state trust outcome reason probe q from "
    "sheet encoding sheets with_texts is_raw basis least_total widest_gap each validation seed "
    "systems scenarios show tour file search comparison choice key_point without a b"
)


@cache
def all_names():
    """Read from the source by the process that asks, not by each that collects."""
    return sorted({*READ.split(), *names_read()})


# A bad one of these is a 404 already, behind which the others would not be looked at.
FINDERS = {"rubric", "snapshot", "system", "from", "format", "theme", "size"}
# What the frame of every page looks at, and nothing but whether it is there.
EVERYWHERE = {"tour"}
MARKUP = "'\"><script>"
VALUES = (
    "",
    "abc",
    "-1",
    "9" * 30,
    "1e999",
    "nan",
    MARKUP,
    "\u202e",
    "٣",
    str(uuid.UUID(int=0)),
    "x" * LONGEST_VALUE,
)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        yield World("Hostile")
        transaction.set_rollback(True)


def person_of(world, name):
    return sign_in(world.people[STUDY_ROUTES[name].roles[0]])


@pytest.fixture
def visitors(world):
    """Somebody who may for each page; signed in once for each role."""
    clients = {letter: sign_in(person) for letter, person in world.people.items()}
    return {name: clients[STUDY_ROUTES[name].roles[0]] for name in PAGES}


def check(response, name, query):
    assert response.status_code < 500, (name, query)
    kind = response.get("Content-Type", "")
    is_page = kind.startswith("text/html") and not response.streaming
    assert not (is_page and b"'\"><script>" in response.content), (name, query)


class Watched(QueryDict):
    """A query that notes what a view asks it for; "*" stands for everything."""

    asked: ClassVar[set[str]] = set()

    def note(self, key):
        # Before any view it is filled, and the strict reader goes through it once.
        if "is_checked" in vars(self):
            self.asked.add(key)

    def __getitem__(self, key):
        self.note(key)
        return super().__getitem__(key)

    def getlist(self, key, default=None):
        self.note(key)
        return super().getlist(key, default)

    def __contains__(self, key):
        self.note(key)
        return super().__contains__(key)

    def lists(self):
        self.note("*")
        self.is_checked = True
        return super().lists()


def uniform(names, _page):
    """Every value, for all names at once."""
    return [dict.fromkeys(names, value) for value in VALUES]


def mixed(names, page):
    """One query in which each name has another value; which ones depends on the page."""
    start = sum(page.encode())
    return [{name: VALUES[(start + at) % len(VALUES)] for at, name in enumerate(names)}]


@pytest.mark.parametrize("queries", [mixed, pytest.param(uniform, marks=pytest.mark.long)])
def test_no_query_breaks_a_page(world, visitors, alone, monkeypatch, queries):
    """A page that never looks at its query is asked once; one without finders, with one set."""
    repeated = urlencode({each: ["a", "b", ""] for each in all_names()}, doseq=True)
    odd = "&".join([*["page"] * 20, "=", "%ff=%ff"])
    monkeypatch.setattr("django.core.handlers.wsgi.QueryDict", Watched)
    others = [each for each in all_names() if each not in FINDERS]
    for name, client in visitors.items():
        url = reverse(name, kwargs=world.kwargs(name))
        Watched.asked.clear()
        with alone(name):
            first = client.get(url, dict.fromkeys(all_names(), MARKUP))
            check(first, name, MARKUP)
            if first.status_code != 200:  # a finder may stand before the others
                check(client.get(url, dict.fromkeys(others, MARKUP)), name, MARKUP)
            seen = set(Watched.asked) - EVERYWHERE
            finders = [all_names()] if seen & {"*", *FINDERS} else []
            for names in (others, *finders) if seen else ():
                for query in queries(names, name):
                    check(client.get(url, query), name, query)
            last = f"{repeated}&{odd}" if seen else odd
            check(client.get(f"{url}?{last}"), name, last)


def test_it_is_seen_which_pages_look_at_their_query(world, visitors, monkeypatch):
    monkeypatch.setattr("django.core.handlers.wsgi.QueryDict", Watched)
    for name, looks_at in (("run_calls", "reason"), ("units", "page"), ("study_settings", None)):
        Watched.asked.clear()
        visitors[name].get(reverse(name, kwargs=world.kwargs(name)), {"reason": "x"})
        seen = Watched.asked - EVERYWHERE
        assert looks_at in seen if looks_at else not seen, seen


def test_what_no_database_stores_is_refused_on_every_page(world, visitors, alone):
    for name, client in visitors.items():
        url = reverse(name, kwargs=world.kwargs(name))
        with alone(name):
            for query in ({"state": "a\x00b"}, {"page": "x" * (LONGEST_VALUE + 1)}):
                assert client.get(url, query).status_code == 400, list(query)


def test_what_no_database_stores_is_refused_whatever_it_is_called(world, visitors):
    client, url = visitors["run_calls"], reverse("run_calls", kwargs=world.kwargs("run_calls"))
    refused = ["a\x00b", "\x00", "\x1b[0m", "x" * (LONGEST_VALUE + 1)]
    for value in refused:
        for param in ("state", "reason", "page", "unheard_of"):
            assert client.get(url, {param: value}).status_code == 400, (param, value)
    assert client.get(url, {"a\x00b": "x"}).status_code == 400
    assert client.get(url, {"x" * 101: "x"}).status_code == 400
    assert client.get(url + "?" + "&".join(["page=1"] * (MOST_VALUES + 1))).status_code == 400


def test_the_refusal_names_the_parameter_and_shows_no_value(world):
    client = person_of(world, "run_calls")
    url = reverse("run_calls", kwargs=world.kwargs("run_calls"))
    text = client.get(url, {"reason": "a\x00<script>"}).content.decode()
    assert "reason" in text
    assert "script" not in text
    reply = client.get("/api/v1/me/", {"q": "\x00"})
    assert reply.status_code == 400
    assert reply["Content-Type"] == "application/problem+json"
    assert list(reply.json()["errors"]) == ["q"]


def test_the_names_are_found_in_the_source():
    found = names_read()
    assert {"state", "reason", "page", "seen", "dataset", "item", "scope"} <= found
    assert "study_id" not in found


@pytest.mark.parametrize("number", [0, 2**31, 2**63, 10**40])
def test_no_number_breaks_a_page(world, visitors, number, subtests):
    for name in NUMBERED:
        with subtests.test(name):
            kwargs = world.kwargs(name) | {"number": number}
            assert visitors[name].get(reverse(name, kwargs=kwargs)).status_code == 404


@pytest.mark.parametrize("text", ["exe", "csv\x00", "CSV", "sv\u0261", "x" * 500])
def test_no_format_breaks_a_page(world, visitors, text):
    for name in PAGES:
        for param in {"format", "name", "figure"} & PARAMETERS[name]:
            kwargs = world.kwargs(name) | {param: "odd" if param == "figure" else text}
            try:
                url = reverse(name, kwargs=kwargs)
            except NoReverseMatch:
                continue
            assert visitors[name].get(url).status_code == 404, (name, param)


def test_no_query_breaks_a_public_board(world):
    study, boss = world.study, world.people["d"]
    with transaction.atomic():
        keeping.freeze(BOARDS, owner=study, number=world.board.number, note="", actor=boss)
        token = keeping.publish(
            BOARDS, owner=study, number=world.board.number, actor=boss
        ).public_token
        for url in (
            reverse("public_board", args=[token]),
            reverse("public_board_figure", args=[token, "board", "csv"]),
            reverse("public_board_figure", args=[token, "scenarios", "svg"]),
        ):
            for value in VALUES:
                check(Client().get(url, dict.fromkeys(all_names(), value)), url, value)
        transaction.set_rollback(True)
