"""Every address answers what its description says, and takes nothing that it forbids."""

import json
from functools import cache
from itertools import product
from urllib.parse import quote

import jsonschema
import pytest
from django.urls import get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from .routes import EVERY, LISTS, NOWHERE, ROUTES, WRITES, Route

pytestmark = pytest.mark.django_db


@cache
def document():
    with GENERATOR_STATS.silence():
        return SchemaGenerator().get_schema(public=True)


@cache
def strict_components():
    found = document()["components"]["schemas"]
    return {name: strict(each) for name, each in found.items()}


def strict(node):
    """OpenAPI 3.0 as JSON Schema: null where it is allowed, and no key that is not declared."""
    if isinstance(node, list):
        return [strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {key: strict(value) for key, value in node.items() if key != "nullable"}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return {"anyOf": [made, {"type": "null"}]} if node.get("nullable") is True else made


def operation_of(route: Route):
    """What the description says about an address; ids in it are called as in its pattern."""
    # The first of the ways to write the address, and within it the text with places for ids.
    template = get_resolver().reverse_dict.getlist(f"api_{route.name}")[0][0][0][0]
    path = "/" + template.replace("%(", "{").replace(")s", "}")
    return document()["paths"][path][route.method]


def assert_as_described(route, response):
    answers = operation_of(route)["responses"]
    assert str(response.status_code) in answers, (response.status_code, sorted(answers))
    content = answers[str(response.status_code)].get("content", {})
    if response.status_code == 204:
        assert not response.content
        return
    kind = response["Content-Type"].split(";")[0]
    assert kind in content, (kind, list(content))
    if kind.endswith("json") and not response.streaming:
        checker_of(json.dumps(content[kind]["schema"])).validate(response.json())


@cache
def checker_of(schema: str):
    whole = {**strict(json.loads(schema)), "components": {"schemas": strict_components()}}
    formats = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(whole, format_checker=formats)


def test_a_good_request_is_answered_as_described(answers, subtests):
    for route in EVERY:
        with subtests.test(str(route)):
            assert_as_described(route, answers[route])


def test_an_unknown_id_is_answered_as_described(world, callers, alone):
    for route in [each for each in ROUTES if each.ids[1:]]:
        with alone(route):
            last = list(route.kwargs(world))[-1]
            missing = route.send(callers[route.caller], world, **{last: NOWHERE})
            assert missing.status_code == 404, missing.content
            assert_as_described(route, missing)


def test_a_change_takes_no_parameters(world, callers, alone):
    for route in WRITES:
        with alone(route):
            response = route.send(callers[route.caller], world, query="?unheard_of=1")
            assert response.status_code == 400, response.content
            assert_as_described(route, response)


HOSTILE = ("", "abc", "-1", "9" * 30, "1e999", "nan", "a\x00b", "\u0663", "x" * 1_900)


def in_turn(parameters):
    """Three of the values for each parameter, the next three for the next."""
    return [
        (each, HOSTILE[(3 * at + turn) % len(HOSTILE)])
        for at, each in enumerate(parameters)
        for turn in range(3)
    ]


def all_of_them(parameters):
    return product(parameters, HOSTILE)


@pytest.mark.parametrize("cases", [in_turn, pytest.param(all_of_them, marks=pytest.mark.long)])
def test_no_value_of_a_declared_parameter_breaks_a_list(world, callers, alone, cases):
    for route in LISTS:
        parameters = [each for each in operation_of(route)["parameters"] if each["in"] == "query"]
        with alone(route):
            assert parameters
            for parameter, value in cases(parameters):
                query = f"{route.query or '?'}&{parameter['name']}={quote(value)}"
                response = route.send(callers[route.caller], world, query=query)
                assert response.status_code < 500, (parameter["name"], value)
                assert_as_described(route, response)


def test_a_value_outside_a_declared_list_is_refused(world, callers, alone):
    met = set()
    for route in [each for each in ROUTES if each.method == "get"]:
        for parameter in operation_of(route).get("parameters", []):
            if parameter["in"] == "query" and "enum" in parameter["schema"]:
                met.add(route.name)
                with alone(f"{route}, {parameter['name']}"):
                    query = f"{route.query or '?'}&{parameter['name']}=unheard-of"
                    response = route.send(callers[route.caller], world, query=query)
                    assert response.status_code == 400, response.content
    assert {"judge_figures", "find", "votes"} <= met


def test_a_change_of_nothing_changes_nothing(world, callers, alone):
    """A PATCH with no field at all is allowed wherever none is required."""
    for route in [each for each in WRITES if each.method == "patch"]:
        schema = operation_of(route)["requestBody"]["content"]["application/json"]["schema"]
        required = strict_components()[schema["$ref"].rpartition("/")[2]].get("required", [])
        with alone(route):
            response = callers[route.caller].patch(route.url(world), {}, format="json")
            assert (response.status_code == 400) == bool(required), response.content
