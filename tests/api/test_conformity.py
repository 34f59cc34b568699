"""No address takes what its description forbids, and refusals are answered as described."""

from itertools import product
from urllib.parse import urlencode

import pytest

from .described import assert_as_described, body_of, operation_of
from .routes import LISTS, ROUTES, WRITES

pytestmark = pytest.mark.django_db


# One class refuses for every address: each of them is asked in the long tests.
SOME = pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])


@SOME
def test_a_change_takes_no_parameters(world, callers, alone, step):
    for route in WRITES[::step]:
        with alone(route):
            response = route.send(callers[route.caller], world, query="?unheard_of=1")
            assert response.status_code == 400, response.content
            assert_as_described(route, response)


HOSTILE = (
    *("", "abc", "-1", "9" * 30, "1e999", "nan", "a\x00b", "\u0663", "x" * 1_900),
    *("'; --", "\U0001f375", b"\xed\xa0\x80"),
)


def parameters_of(route):
    return [each for each in operation_of(route).get("parameters", []) if each["in"] == "query"]


def mixed(names, at):
    """One query in which each parameter has another value."""
    return [{name: HOSTILE[(at + turn) % len(HOSTILE)] for turn, name in enumerate(names)}]


def each_alone(names, _at):
    return [{name: value} for name, value in product(names, HOSTILE)]


@pytest.mark.parametrize("queries", [mixed, pytest.param(each_alone, marks=pytest.mark.long)])
def test_no_value_of_a_declared_parameter_breaks_a_list(world, callers, alone, queries):
    for at, route in enumerate(LISTS):
        names = [each["name"] for each in parameters_of(route)]
        with alone(route):
            assert names
            for query in queries(names, at):
                text = f"{route.query or '?'}&{urlencode(query)}"
                response = route.send(callers[route.caller], world, query=text)
                assert response.status_code < 500, query
                assert_as_described(route, response)


@SOME
def test_a_value_outside_a_declared_list_is_refused(world, callers, alone, step):
    met = set()
    named = {"judge_figures", "find", "votes"}
    for at, route in enumerate(each for each in ROUTES if each.method == "get"):
        if at % step and route.name not in named:
            continue
        for parameter in [each for each in parameters_of(route) if "enum" in each["schema"]]:
            met.add(route.name)
            with alone(f"{route}, {parameter['name']}"):
                query = f"{route.query or '?'}&{parameter['name']}=unheard-of"
                response = route.send(callers[route.caller], world, query=query)
                assert response.status_code == 400, response.content
    assert named <= met


def test_a_change_of_nothing_changes_nothing(world, callers, alone):
    """A PATCH with no field at all is allowed wherever none is required."""
    for route in [each for each in WRITES if each.method == "patch"]:
        with alone(route):
            response = callers[route.caller].patch(route.url(world), {}, format="json")
            is_refused = bool(body_of(route).get("required"))
            assert (response.status_code == 400) == is_refused, response.content
