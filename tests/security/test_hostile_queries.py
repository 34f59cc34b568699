"""Whatever the query of an address says, it is answered, and never with a 500.

Every page of a study, with every parameter that it looks at. SQLite takes what PostgreSQL refuses,
so run these on PostgreSQL, too.
"""

import uuid
from contextlib import suppress
from itertools import product
from typing import ClassVar
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import NoReverseMatch, reverse

from benchmark.leaderboard.actions import BOARDS
from cqa_site.results import snapshots
from cqa_site.web.rest.queries import LONGEST_VALUE, MOST_VALUES
from .matrix import STUDY_ROUTES
from .world import PARAMETERS

pytestmark = pytest.mark.django_db

PAGES = [name for name, cell in STUDY_ROUTES.items() if not cell.post]

# A bad one of these is a 404 already, behind which the others would not be looked at.
FINDERS = {"rubric", "snapshot", "system", "from", "format", "theme", "size"}
# What the frame of every page looks at, and nothing but whether it is there; "*" is no name.
EVERYWHERE = {"tour", "*"}
MARKUP = "'\"><script>"
VALUES = (
    *("", "abc", "-1", "9" * 30, "1e999", "nan", MARKUP, "\u202e", "٣"),
    *(str(uuid.UUID(int=0)), "x" * LONGEST_VALUE),
)


@pytest.fixture
def asked(own, visitors):
    """The client of somebody who may, and the address, of each page."""
    return {
        name: (visitors[STUDY_ROUTES[name].roles[0]], reverse(name, kwargs=own.kwargs(name)))
        for name in PAGES
    }


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


ODD = "&".join([*["page"] * 20, "=", "%ff=%ff"])


def uniform(names, value):
    return urlencode(dict.fromkeys(names, value))


def others(names, at):
    """A query in which each name has another value, and one that repeats them."""
    mixed = {name: VALUES[(at + turn) % len(VALUES)] for turn, name in enumerate(names)}
    thrice = {name: ["a", "b", ""] for name in names}
    return [urlencode(mixed), f"{urlencode(thrice, doseq=True)}&{ODD}"]


def one_kind(names, at):
    """Markup for all names, and one of the other kinds at each second page."""
    more = [uniform(names, VALUES[at % len(VALUES)]), *others(names, at)]
    return [uniform(names, MARKUP), *(more[at // 2 % 3 :][:1] if at % 2 else ())]


def every_kind(names, at):
    """Every value, for all names at once."""
    return [*(uniform(names, value) for value in VALUES), *others(names, at)]


@pytest.mark.parametrize(
    ("step", "more"), [(10, one_kind), pytest.param(1, every_kind, marks=pytest.mark.long)]
)
def test_no_query_breaks_a_page(asked, alone, monkeypatch, step, more):
    """What a page asks its query for, with and without what may lead to a 404 at once."""
    monkeypatch.setattr("django.core.handlers.wsgi.QueryDict", Watched)
    seen = set()
    for at, (name, (client, url)) in enumerate(list(asked.items())[::step]):
        with alone(name):
            names = names_asked(client, url)
            seen |= set(names)
            both = names, [each for each in names if each not in FINDERS]
            for some in both if step == 1 else both[at % 2 :][:1]:
                for query in more(some, at) if some else ():
                    check(client.get(f"{url}?{query}"), name, query)
    assert len(seen) > 10


def names_asked(client, url):
    """What a view asks its query for, also where it has what it asked for first."""
    Watched.asked.clear()
    client.get(url)
    client.get(url, dict.fromkeys(Watched.asked - FINDERS - EVERYWHERE, "1"))
    return sorted(Watched.asked - EVERYWHERE)


def test_it_is_seen_which_pages_look_at_their_query(asked, monkeypatch):
    monkeypatch.setattr("django.core.handlers.wsgi.QueryDict", Watched)
    for name, looks_at in (("run_calls", "reason"), ("units", "page"), ("study_settings", None)):
        Watched.asked.clear()
        client, url = asked[name]
        client.get(url, {"reason": "x"})
        seen = Watched.asked - EVERYWHERE
        assert looks_at in seen if looks_at else not seen, seen


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.long)])
def test_what_no_database_stores_is_refused_on_every_page(asked, alone, step):
    refused = ({"state": "a\x00b"}, {"page": "x" * (LONGEST_VALUE + 1)})
    for at, (name, (client, url)) in enumerate([*asked.items()][::step]):
        with alone(name):
            assert client.get(url, refused[at % 2]).status_code == 400


def test_what_no_database_stores_is_refused_by_name_and_never_shown(asked):
    client, url = asked["run_calls"]
    refused = ["a\x00<script>", "\x00", "\x1b[0m", "x" * (LONGEST_VALUE + 1)]
    for value, param in product(refused, ("state", "reason", "page", "unheard_of")):
        reply = client.get(url, {param: value})
        assert (reply.status_code, param in reply.text) == (400, True), (param, value)
        assert "script" not in reply.text
    for query in ({"a\x00b": "x"}, {"x" * 101: "x"}, {"page": ["1"] * (MOST_VALUES + 1)}):
        assert client.get(url, query).status_code == 400
    reply = client.get("/api/v1/me/", {"q": "\x00"})
    assert (reply.status_code, reply["Content-Type"]) == (400, "application/problem+json")
    assert list(reply.json()["errors"]) == ["q"]


LARGE = [2**63, *(pytest.param(each, marks=pytest.mark.long) for each in (0, 2**31, 10**40))]


@pytest.mark.parametrize("number", LARGE)
def test_no_number_breaks_a_page(own, asked, number, alone):
    for name in [name for name in PAGES if "number" in PARAMETERS[name]]:
        with alone(name):
            url = reverse(name, kwargs=own.kwargs(name) | {"number": number})
            assert asked[name][0].get(url).status_code == 404


FORMATS = ("exe", "csv\x00", "CSV", "sv\u0261", "x" * 500)


def one_format(at):
    return [FORMATS[at % len(FORMATS)]]


def every_format(_at):
    return FORMATS


@pytest.mark.parametrize("some", [one_format, pytest.param(every_format, marks=pytest.mark.long)])
def test_no_format_breaks_a_page(own, asked, alone, some):
    for at, name in enumerate(PAGES):
        params = {"format", "name", "figure"} & PARAMETERS[name]
        for param, text in product(sorted(params), some(at)):
            odd = {param: "odd" if param == "figure" else text}
            with alone(f"{name}, {param}"), suppress(NoReverseMatch):
                url = reverse(name, kwargs=own.kwargs(name) | odd)
                assert asked[name][0].get(url).status_code == 404


def test_no_query_breaks_a_public_board(own, monkeypatch):
    monkeypatch.setattr("django.core.handlers.wsgi.QueryDict", Watched)
    study, boss = own.study, own.people["d"]
    usual = {"owner": study, "number": own.board.number, "actor": boss}
    snapshots.freeze(BOARDS, note="", **usual)
    token = snapshots.publish(BOARDS, **usual).public_token
    figure = ("public_board_figure", token)
    addresses = [("public_board", token), (*figure, "board", "csv"), (*figure, "scenarios", "svg")]
    for at, (name, *args) in enumerate(addresses):
        url = reverse(name, args=args)
        names = names_asked(Client(), url)
        for query in every_kind(names, at):
            check(Client().get(f"{url}?{query}"), url, query)
