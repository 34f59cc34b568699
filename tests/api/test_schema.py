"""The OpenAPI description: complete, valid, true about errors and tokens; docs/api.md, too."""

import json
import re
from pathlib import Path

import pytest
import yaml
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema

from cqa_site.files.models import ImportFile
from cqa_site.home import interface
from cqa_site.rounds.models import Round
from cqa_site.runs.models import Job, Run
from .addresses import ADDRESSES
from .described import document
from .routes import EVERY


@pytest.fixture(scope="module")
def schema():
    made = document()
    assert not GENERATOR_STATS._warn_cache
    assert not GENERATOR_STATS._error_cache
    return made


def operations(schema):
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


# Every eighth path with all components; the others at length.
EIGHTH, ALL = slice(None, None, 8), slice(None)


@pytest.mark.parametrize("part", [EIGHTH, pytest.param(ALL, marks=pytest.mark.long)])
def test_it_is_valid_openapi(schema, part):
    validate_schema(schema | {"paths": dict(list(schema["paths"].items())[part])})


def test_it_describes_every_address_once(schema):
    found = [operation["operationId"] for _, _, operation in operations(schema)]
    assert len(found) == len(set(found)) == len(EVERY)


def test_every_operation_names_its_errors_and_its_token(schema):
    for path, method, operation in operations(schema):
        codes = set(operation["responses"])
        assert {"400", "401", "403", "404", "429", "503"} <= codes, path
        assert ("409" in codes) == (method != "get" or path.endswith(("/file/", "/manifest/")))
        assert operation["security"] == [{"token": []}]
        problem = operation["responses"]["401"]["content"]["application/problem+json"]
        assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "Problem" in schema["components"]["schemas"]


def bodies(schema):
    """The name and component of every object that a request may carry."""
    parts = schema["components"]["schemas"]
    for path, _method, operation in operations(schema):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            name = content["schema"].get("$ref", "").rpartition("/")[2]
            choices = parts.get(name, {}).get("oneOf", [{"$ref": name}])
            for choice in choices:
                yield path, parts[choice["$ref"].rpartition("/")[2]]


def test_bodies_say_that_unknown_fields_are_refused(schema):
    found = list(bodies(schema))
    assert len(found) > 80
    for path, part in found:
        assert part["additionalProperties"] is False, path


def test_texts_that_may_not_be_blank_say_so(schema):
    parts = schema["components"]["schemas"]
    assert parts["ReasonInput"]["properties"]["reason"]["minLength"] == 1
    assert "minLength" not in parts["QuestionInput"]["properties"]["aspect"]


def test_pages_say_their_bounds_and_changes_list_no_filters(schema):
    for path, method, operation in operations(schema):
        query = {
            each["name"]: each["schema"]
            for each in operation.get("parameters", [])
            if each["in"] == "query"
        }
        assert method == "get" or not query, path
        if "page_size" in query:
            assert query["page"]["minimum"] == query["page_size"]["minimum"] == 1
            assert query["page_size"]["maximum"] == 200


@pytest.mark.long
@pytest.mark.django_db
def test_it_is_made_once(monkeypatch):
    """In each form: asking again costs next to nothing."""
    kinds = ["application/vnd.oai.openapi+json", "application/yaml"]
    first = {kind: Client().get("/api/schema/", headers={"Accept": kind}) for kind in kinds}
    assert json.loads(first[kinds[0]].content)["info"]["title"] == "Counterpoint API"
    monkeypatch.setattr(interface.SchemaGenerator, "get_schema", None)
    monkeypatch.setattr(OpenApiYamlRenderer, "render", None)
    for kind, made in first.items():
        again = Client().get("/api/schema/", headers={"Accept": kind})
        assert (again.content, again.headers["Content-Type"]) == (made.content, kind)


@pytest.mark.django_db
def test_it_is_served(monkeypatch):
    made = document()
    monkeypatch.setattr(interface.SchemaGenerator, "get_schema", lambda *_, **__: made)
    response = Client().get("/api/schema/")
    assert response.status_code == 200
    # Reading the whole takes a YAML parser longer than all other tests of this file.
    start = response.content[:2_000]
    assert yaml.safe_load(start[: start.index(b"paths:")])["info"]["title"] == "Counterpoint API"


DOCS = Path(__file__).resolve().parents[2] / "docs/api.md"
SHORT = {
    "studies/<uuid:study_id>/label-rounds/<uuid:label_round_id>/": "C ",
    "studies/<uuid:study_id>/runs/<uuid:run_id>/": "R ",
    "studies/<uuid:study_id>/runs/<uuid:public_id>/": "R ",
    "studies/<uuid:study_id>/": "…",
}


def short(address):
    for whole, own in SHORT.items():
        if address.startswith(whole):
            address = own + address.removeprefix(whole)
            break
    return re.sub(r"<[^>]+>", "<id>", address).strip()


def test_every_address_is_in_the_documentation():
    text = DOCS.read_text(encoding="utf-8")
    addresses = {short(str(each.pattern)) for each in ADDRESSES}
    assert [each for each in sorted(addresses) if f"`{each}`" not in text] == []


def test_an_id_is_named_after_the_list_that_it_is_from():
    found = re.findall(
        r"([\w-]+)/\{(\w+)\}", " ".join(o.path for o in interface.operations().values())
    )
    names = dict(found)
    assert len(set(found)) == len(names) > 50
    kept = {
        "label-rounds": "label_round_id",
        "editing-rounds": "editing_round_id",
        "imports": "import_id",
        "import-batches": "import_batch_id",
        "analyses": "analysis_id",
        "corpora": "corpus_id",
    }
    assert names.items() >= kept.items()


def test_states_that_a_program_waits_for_are_in_the_documentation():
    text = DOCS.read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| an? ([\w ]+) \|(.*)\|$", text, re.MULTILINE))
    models = {"job": Job, "import": ImportFile, "judge run": Run, "round": Round}
    reasons = {"job": {"error"}, "import": {"refusal"}, "judge run": {"message"}, "round": set()}
    for name, model in models.items():
        words = set(re.findall(r"`(\w+)`", told[name])) - set(model.State.values)
        assert words == reasons[name], name
        over, asked, alone = (
            set(re.findall(r"`(\w+)`", cell)) - words for cell in told[name].split("|")
        )
        assert over | asked | alone == set(model.State.values), name
        assert len(over) + len(asked) + len(alone) == len(model.State.values), name
    assert set(Job.ACTIVE) == {"ready", "leased"}
