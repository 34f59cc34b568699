"""Who gets what at every address: the table of routes × callers."""

from inspect import getsource

import pytest

from cqa_site.api.base import StudyViews
from cqa_site.people.access import TokenAuthentication
from .addresses import ADDRESSES
from .described import assert_as_described
from .routes import EVERY, NOWHERE, OUTSIDE, ROUTES, WRITES, declared

pytestmark = pytest.mark.django_db
# Who is told apart by the same line of code, and what they get.
REFUSED = (
    (401, ("anonymous",)),
    (403, ("annotator", "expert")),
    (404, ("foreign", "former_member", "outside_site_admin")),
)


def test_every_address_and_method_is_in_the_table():
    assert {(route.name, route.method) for route in EVERY} == declared()


def test_one_class_asks_who_may_at_every_address_of_a_study():
    for pattern in ADDRESSES:
        if "study_id" in str(pattern.pattern):
            assert issubclass(pattern.callback.cls, StudyViews), pattern.name
            asking = [vars(each).get("initial") for each in pattern.callback.cls.__mro__]
            before_theirs = asking[: asking.index(StudyViews.initial)]
            for check in filter(None, before_theirs):
                assert "super().initial(" in getsource(check), pattern.name


# One class asks for all addresses: the long tests ask each of them.
SOME = pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.long)])


@SOME
def test_everybody_but_researchers_is_refused(world, clients, alone, step):
    everybody = [(status, name) for status, names in REFUSED for name in names]
    for at, route in enumerate(ROUTES[::step]):
        with alone(route):
            callers = everybody if step == 1 else everybody[at % len(everybody) :][:1]
            for status, name in callers:
                response = route.send(clients[name], world)
                assert response.status_code == status, name
                assert response["Content-Type"] == "application/problem+json"
                assert set(response.json()) == {"type", "title", "status", "detail"}


def test_a_token_that_ended_opens_nothing(world, clients):
    for name in ("revoked", "expired", "deactivated"):
        for route in ROUTES[:3]:
            assert route.send(clients[name], world).status_code == 401, (name, route)


def test_one_class_reads_the_tokens_of_every_address():
    for pattern in ADDRESSES:
        assert pattern.callback.cls.authentication_classes == [TokenAuthentication], pattern.name


def test_researchers_do_not_change_what_admins_decide(world, researcher, alone):
    for route in [each for each in EVERY if each.caller == "admin"]:
        with alone(route):
            response = route.send(researcher, world)
            assert (response.status_code, response.json()["status"]) == (403, 403)


def test_site_administrators_open_studies_and_researchers_where_the_site_allows_it(
    world, clients, settings, alone
):
    (route,) = [each for each in OUTSIDE if each.is_write]
    never = {"anonymous": 401, "annotator": 403, "expert": 403, "former_member": 403}
    for settings.RESEARCHERS_OPEN_STUDIES in (True, False):
        status = 201 if settings.RESEARCHERS_OPEN_STUDIES else 403
        others = {"researcher": status, "admin": status, "outside_site_admin": 201}
        for name, expected in (never | others).items():
            with alone(name):
                assert route.send(clients[name], world).status_code == expected, name


@SOME
def test_admins_and_read_tokens_may_read(world, clients, alone, step):
    for route in [each for each in ROUTES if not each.is_write][::step]:
        with alone(route):
            # A name of no parameter: who may not is refused before it is looked at.
            query = f"{route.query or '?'}&unheard_of=1"
            for name in ("admin", "read_token"):
                response = route.send(clients[name], world, query=query)
                assert response.status_code in (200, 400), name


@SOME
def test_a_read_token_changes_nothing(world, clients, alone, step):
    for route in WRITES[::step]:
        with alone(route):
            response = route.send(clients["read_token"], world)
            assert response.status_code == 403
            assert response.json()["detail"] == "This token is read-only."


@SOME
def test_ids_of_another_study_look_like_ids_of_nothing(world, foreign, callers, alone, step):
    """Whose study it is every address asks the same way; see who is refused."""
    for at, route in enumerate(each for each in ROUTES if each.ids[1:]):
        caller = callers[route.caller]
        with alone(route):
            for key, theirs in list(route.kwargs(foreign).items())[1:]:
                to_theirs = route.send(caller, world, **{key: theirs})
                assert to_theirs.status_code == 404, key
            if at % step == 0:
                assert_as_described(route, to_theirs)
                to_nothing = route.send(caller, world, **{key: NOWHERE})
                assert to_nothing.status_code == 404
                assert to_theirs.content == to_nothing.content


def test_annotators_and_experts_learn_only_who_they_are_and_where(world, clients):
    for name in ("annotator", "expert"):
        user = getattr(world.people, name)
        me = clients[name].get("/api/v1/me/").json()
        assert (me["id"], me["email"]) == (str(user.public_id), user.email)
        studies = clients[name].get("/api/v1/studies/").json()["results"]
        told = {"id": str(world.study.public_id), "name": "Study A", "is_archived": False}
        assert studies == [told | {"role": name}]


def test_the_list_of_studies_holds_only_own_ones(foreign, researcher):
    names = [row["name"] for row in researcher.get("/api/v1/studies/").json()["results"]]
    assert names == ["Study A"]


def test_unknown_addresses_and_methods_answer_as_the_api(world, researcher):
    for path in ("nothing/", "studies/1/", "studies/x/votes/", "studies"):
        response = researcher.get(f"/api/v1/{path}")
        assert (response.status_code, response.json()["status"]) == (404, 404)
    study = f"/api/v1/studies/{world.study.public_id}/"
    for path in (study, f"{study}systems/?page=1&kind=human"):
        for method in ("PUT", "TRACE", "OPTIONS"):
            assert researcher.generic(method, path).status_code == 405, (method, path)


def test_the_session_cookie_is_worth_nothing_here(world, client):
    client.force_login(
        world.people.researcher, backend="allauth.account.auth_backends.AuthenticationBackend"
    )
    assert client.get(f"/api/v1/studies/{world.study.public_id}/").status_code == 401
