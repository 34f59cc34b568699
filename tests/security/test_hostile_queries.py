"""Whatever the query of an address of the benchmark says, it is answered, and never with a 500."""

import uuid

import pytest
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, reverse

from benchmark.actions.board_freezing import freeze_board, publish_board
from benchmark.urls import urlpatterns
from tests.cast import sign_in

from .matrix import STUDY_ROUTES
from .test_matrix import World, parameters

pytestmark = pytest.mark.django_db

PAGES = [each.name for each in urlpatterns if not STUDY_ROUTES[each.name].post]
NUMBERED = [name for name in PAGES if "number" in parameters(name)]
# Everything that a page of the benchmark reads from its address.
READ = (
    "page rubric judge column measure pair snapshot aspect scenario dataset seen system rater "
    "other criterion points others format theme size v state trust outcome reason probe q from "
    "sheet encoding sheets with_texts is_raw basis least_total widest_gap each validation seed "
    "systems scenarios show file"
)
NAMES = READ.split()
# A bad one of these is a 404 already, behind which the others would not be looked at.
FINDERS = {"rubric", "snapshot", "system", "from", "format", "theme", "size"}
VALUES = (
    "",
    "abc",
    "-1",
    "9" * 30,
    "1e999",
    "nan",
    "a\x00b",
    "'\"><script>",
    "\u202e",
    "٣",
    str(uuid.UUID(int=0)),
    "x" * 3_000,
)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        yield World("Hostile")
        transaction.set_rollback(True)


def person_of(world, name):
    return sign_in(world.people[STUDY_ROUTES[name].roles[0]])


def check(response, name, query):
    assert response.status_code < 500, (name, query)
    kind = response.get("Content-Type", "")
    is_page = kind.startswith("text/html") and not response.streaming
    assert not (is_page and b"'\"><script>" in response.content), (name, query)


@pytest.mark.parametrize("name", PAGES)
def test_no_query_breaks_a_page(world, name):
    client, url = person_of(world, name), reverse(name, kwargs=world.kwargs(name))
    for value in VALUES:
        for names in (NAMES, [each for each in NAMES if each not in FINDERS]):
            check(client.get(url, dict.fromkeys(names, value)), name, (len(names), value))
    check(client.get(url, {each: ["a", "b", ""] for each in NAMES}), name, "repeated")
    check(client.get(url + "?" + "&".join(["page"] * 20 + ["=", "%ff=%ff"])), name, "odd")


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize("number", [0, 2**31, 2**63, 10**40])
def test_no_number_breaks_a_page(world, name, number):
    kwargs = world.kwargs(name) | {"number": number}
    assert person_of(world, name).get(reverse(name, kwargs=kwargs)).status_code == 404


@pytest.mark.parametrize("text", ["exe", "csv\x00", "CSV", "sv\u0261", "x" * 500])
def test_no_format_breaks_a_page(world, text):
    for name in PAGES:
        for param in {"format", "name", "figure"} & set(parameters(name)):
            kwargs = world.kwargs(name) | {param: "odd" if param == "figure" else text}
            try:
                url = reverse(name, kwargs=kwargs)
            except NoReverseMatch:
                continue
            assert person_of(world, name).get(url).status_code == 404, (name, param)


def test_no_query_breaks_a_public_board(world):
    study, boss = world.study, world.people["d"]
    with transaction.atomic():
        freeze_board(study=study, number=world.board.number, note="", actor=boss)
        token = publish_board(study=study, number=world.board.number, actor=boss).public_token
        for url in (
            reverse("public_board", args=[token]),
            reverse("public_board_table", args=[token, "board", "csv"]),
            reverse("public_board_chart", args=[token, "scenarios", "svg"]),
        ):
            for value in VALUES:
                check(Client().get(url, dict.fromkeys(NAMES, value)), url, value)
        transaction.set_rollback(True)
