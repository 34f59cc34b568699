"""What the description of the API says about an address, and whether an answer keeps to it."""

import json
import re
from functools import cache

import jsonschema
from django.urls import get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from .routes import Route


@cache
def document():
    """The description of the whole API, made once in a process."""
    GENERATOR_STATS.reset()
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


def body_of(route: Route):
    """The description of what an address takes, or None where it takes nothing."""
    content = operation_of(route).get("requestBody", {}).get("content", {})
    schema = next((each["schema"] for each in content.values()), {})
    return strict_components().get(schema.get("$ref", "").rpartition("/")[2])


def fields_of(route: Route) -> set[str]:
    """Names of all fields that an address takes, whichever of several bodies it is."""
    body = body_of(route) or {}
    parts = [each["$ref"].rpartition("/")[2] for each in body.get("oneOf", ())]
    return set(body.get("properties", ())).union(
        *(strict_components()[each].get("properties", ()) for each in parts)
    )


def operation_of(route: Route):
    """What the description says about an address."""
    # The first of the ways to write the address, and within it the text with places for ids.
    template = get_resolver().reverse_dict.getlist(f"api_{route.name}")[0][0][0][0]
    path = "/" + re.sub(r"%\(\w+\)s", "{}", template)
    return next(
        methods[route.method]
        for each, methods in document()["paths"].items()
        if re.sub(r"\{\w+\}", "{}", each) == path
    )


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
