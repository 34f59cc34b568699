"""Every address × every role × own and foreign study, generated from the URL table.

The table of expected access is tests/security/matrix.py. Ids of two studies
are mixed in every address that has two: the answer must equal that of an id
which does not exist.
"""

import re
import uuid

import pytest
from django.test import Client
from django.urls import reverse

from tests.cast import make_member, make_study
from tests.web.markup import faults_of
from .matrix import SITE_ROUTES, STUDY_ROUTES
from .world import PARAMETERS, ROLES, World, entries, parameters

__all__ = ["OF_THE_ANNOTATOR", "ROLES", "World", "parameters"]

pytestmark = pytest.mark.django_db

NOT_IDS = """
    act study_id number position revision format name figure operation part encoder step
"""
LACKING = {
    "round_survey",  # its round has no survey
    "endpoint_add",  # no endpoint of another study is named
    "label_compare_figure",  # nobody is named to compare with
    "scorer_figure",  # no training ran, so there is no curve
    "analysis_groups_figure",  # no group of its comments is large enough
    "system_run_figure",  # its run has one setting
    "summary_metric",  # one set is judged there, by one person, and no metric is named
}
# The sheet of the annotator is not that of the expert.
OF_THE_ANNOTATOR = {
    "count_form", "count_save", "count_settle", "count_submit", "prefer_form", "prefer_save",
    "point_check_form", "point_check_save", "point_check_settle", "point_check_submit",
    "prefer_settle", "prefer_submit", "score_form", "score_save", "score_settle", "score_submit",
}  # fmt: skip
KEPT_BY_BROWSERS = {
    "study_waiting", "quality_figure", "snapshot_figure", "judges_figure",
    "faithfulness_figure", "score_agreement_figure", "summary_set_figure",
    "analysis_trends_figure", "key_points_figure",
}  # fmt: skip


def ask(client, route, url):
    return client.post(url) if route.post else client.get(url)


def test_every_address_is_in_the_table():
    from tests.api.routes import ROUTES as api_routes

    names = PARAMETERS.keys() - {"schema", "api_unknown"}
    api = {name for name in names if name.startswith("api_")}
    assert names - api == set(STUDY_ROUTES) | set(SITE_ROUTES)
    assert api == {f"api_{route.name}" for route in api_routes} | {"api_me", "api_studies"}


def test_every_view_asks_for_the_roles_of_the_table():
    """A study page asks whose study it is, then for these roles, before it reads anything.

    So an address needs one request of somebody it refuses; all of them are in the long test.
    """
    views = {name: view for name, _params, view in entries() if name in STUDY_ROUTES}
    asked = {name: roles_of(view) for name, view in views.items()}
    assert asked == {name: set(route.roles) for name, route in STUDY_ROUTES.items()}


def roles_of(view):
    """Letters of the roles that the decorator `study_page` of a view was given."""
    while "roles" not in view.__code__.co_freevars:
        view = view.__wrapped__
    roles = view.__closure__[view.__code__.co_freevars.index("roles")].cell_contents
    return {letter for letter, role in ROLES.items() if role in roles}


def test_roles_in_the_own_study(own, visitors, opened, alone):
    """What the least who may gets, and of every twelfth address that somebody else is refused."""
    for at, (name, route) in enumerate(STUDY_ROUTES.items()):
        url = reverse(name, kwargs=own.kwargs(name))
        others = sorted(set(ROLES) - set(route.roles)) if at % 12 == 0 else []
        with alone(name):
            for letter in others and [others[at // 12 % len(others)]]:
                assert ask(visitors[letter], route, url).status_code == 403, ROLES[letter]
            least = route.roles[0]
            assert_role(name, least, opened.get(name) or ask(visitors[least], route, url))


@pytest.mark.long
def test_everybody_who_may_gets_it_and_everybody_else_is_refused(own, visitors, alone):
    for name, route in STUDY_ROUTES.items():
        for letter in sorted(ROLES.keys() - {route.roles[0]}):
            with alone(f"{name}, {ROLES[letter]}"):
                response = ask(visitors[letter], route, reverse(name, kwargs=own.kwargs(name)))
                if letter in route.roles:
                    assert_role(name, letter, response)
                else:
                    assert response.status_code == 403


def assert_role(name, letter, response):
    route, status = STUDY_ROUTES[name], response.status_code
    assert status < 500
    assert status != 403
    assert status != 404 or name in LACKING or (name in OF_THE_ANNOTATOR and letter == "e")
    if status == 200 and response["Content-Type"].startswith("text/html"):
        assert faults_of(response.content.decode()) == []
    if not route.post and letter == route.roles[0]:
        policy = response["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Referrer-Policy"] == "same-origin"
        assert response["X-Frame-Options"] == "DENY"
        assert "no-store" in response["Cache-Control"] or name in KEPT_BY_BROWSERS


def a_twelfth():
    """What all addresses have from one decorator a twelfth of them is asked for."""
    return list(STUDY_ROUTES.items())[::12]


def all_of_them():
    return list(STUDY_ROUTES.items())


SOME = pytest.mark.parametrize(
    "addresses", [a_twelfth, pytest.param(all_of_them, marks=pytest.mark.long)]
)


@SOME
def test_anonymous_visitors_are_asked_to_sign_in(own, alone, addresses):
    for name, route in addresses():
        with alone(name):
            response = ask(Client(), route, reverse(name, kwargs=own.kwargs(name)))
            assert response.status_code == 302
            assert response["Location"].startswith("/accounts/login/")


@SOME
def test_a_foreign_study_does_not_exist(own, foreign, visitors, alone, addresses):
    """Whose study it is is asked before anybody's role is."""
    nowhere = reverse("study", kwargs={"study_id": uuid.uuid4()})
    nothing = {each: without_tokens(client.get(nowhere)) for each, client in visitors.items()}
    for at, (name, route) in enumerate(addresses()):
        url = reverse(name, kwargs=foreign.kwargs(name))
        letters = list(ROLES) if addresses is all_of_them else list(ROLES)[at % 4 :][:1]
        for letter in letters:
            with alone(f"{name}, {ROLES[letter]}"):
                theirs = ask(visitors[letter], route, url)
                assert theirs.status_code == 404
                assert without_tokens(theirs) == nothing[letter]


def without_tokens(response):
    return re.sub(rb'(value|X-CSRFToken)[^>]{0,12}"[A-Za-z0-9]{32,64}"', b"", response.content)


def the_last(roles):
    """Who may most: that the least may is seen with ids of the own study."""
    return roles[-1]


@pytest.mark.parametrize("some", [the_last, pytest.param(list, marks=pytest.mark.long)])
def test_ids_of_another_study_do_not_exist(own, foreign, visitors, alone, some):
    for name, route in STUDY_ROUTES.items():
        kwargs = own.kwargs(name)
        for param in sorted(parameters(name) - set(NOT_IDS.split())):
            mixed = reverse(name, kwargs=kwargs | {param: foreign.kwargs(name)[param]})
            with alone(f"{name}, {param}"):
                for letter in some(route.roles):
                    theirs = ask(visitors[letter], route, mixed)
                    if name == "label_answer" and theirs.status_code == 422:
                        nowhere = reverse(name, kwargs=kwargs | {param: uuid.uuid4()})
                        assert ask(visitors[letter], route, nowhere).status_code == 422
                    else:
                        assert theirs.status_code == 404


@SOME
def test_unsafe_requests_need_the_form_token(own, visitors, alone, addresses):
    """Django asks before any view, but for those that say that they ask themselves."""
    strict = {letter: Client(enforce_csrf_checks=True) for letter in visitors}
    for letter, client in strict.items():
        client.cookies = visitors[letter].cookies
    themselves = {name for name, _, view in entries() if getattr(view, "csrf_exempt", False)}
    chosen = dict(addresses()) | {
        name: route for name, route in STUDY_ROUTES.items() if name in themselves
    }
    for name, route in chosen.items():
        url = reverse(name, kwargs=own.kwargs(name))
        with alone(name):
            letters = route.roles if addresses is all_of_them else route.roles[-1]
            for letter in letters:
                assert strict[letter].post(url).status_code in (403, 405), ROLES[letter]


def test_anonymous_visitors_outside_studies(alone):
    # A site without anybody leads to the page of its first administrator.
    make_member(make_study(), "annotator")
    values = {
        "token_id": uuid.uuid4(), "token": uuid.uuid4(), "name": "scenarios",
        "figure": "board", "format": "svg", "secret": "no-such-secret", "uidb36": "1",
        "key": "no-key", "page": "papers/deviations", "job_id": uuid.uuid4(),
        "provider_id": "no-provider", "pk": 1, "account_id": 1,
        "link_id": uuid.uuid4(),
    }  # fmt: skip
    for name, expected in SITE_ROUTES.items():
        params = parameters(name) or ({"uidb36", "key"} if name.endswith("from_key") else set())
        with alone(name):
            response = Client().get(reverse(name, kwargs={key: values[key] for key in params}))
            if expected == "in":
                assert response.status_code in (302, 405)
                assert response.status_code == 405 or "/accounts/login/" in response["Location"]
            else:
                assert response.status_code == int(expected)
