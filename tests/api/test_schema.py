"""The OpenAPI description: complete, valid, and true about errors and tokens."""

import pytest
import yaml
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from .routes import EVERY


@pytest.fixture(scope="module")
def schema():
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        found = SchemaGenerator().get_schema(public=True)
    assert not GENERATOR_STATS._warn_cache
    assert not GENERATOR_STATS._error_cache
    return found


def operations(schema):
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_it_is_valid_openapi(schema):
    validate_schema(schema)


def test_it_describes_every_address_once(schema):
    found = [operation["operationId"] for _, _, operation in operations(schema)]
    assert len(found) == len(set(found)) == len(EVERY)


def test_every_operation_names_its_errors_and_its_token(schema):
    for path, method, operation in operations(schema):
        codes = set(operation["responses"])
        assert {"400", "401", "403", "404", "429"} <= codes, path
        assert ("409" in codes) == (method != "get" or path.endswith(("/file/", "/manifest/")))
        assert operation["security"] == [{"token": []}]
        problem = operation["responses"]["401"]["content"]["application/problem+json"]
        assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "Problem" in schema["components"]["schemas"]


@pytest.mark.django_db
def test_it_is_served():
    response = Client().get("/api/schema/")
    assert response.status_code == 200
    assert yaml.safe_load(response.content)["info"]["title"] == "Counterpoint API"
