"""Documentation of the REST API, read from its schema, and the pages that show it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.encoding import force_bytes
from django.utils.translation import gettext_lazy as _
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

# The REST API, read from the schema that the site generates.
#
# A schema is written for programs, but people look up one address with its input and output. Each
# process therefore reads the schema once into a row for each address. The pages show a list of
# these rows, and all details of an address on its own page.

STUDY = "/api/v1/studies/{study_id}/"
# Display names of groups whose names in addresses are not suitable for people.
GROUPS = {
    "": _("Studies"),
    "cam-requests": _("CAM requests"),
    "cam-service": _("CAM service"),
    "me": _("You"),
}
# Values with their labels, which `kind_of` already lists.
VALUES = re.compile(r"^\* `.*$", re.M)
PAGE_OF = re.compile(r"Paginated(\w+)List")
# Example values by type.
SAMPLES = {"integer": 1, "number": 0.5, "double": 0.5, "boolean": True}


@dataclass(frozen=True)
class Field:
    """A parameter or body field.

    ``kind`` is the type of its value.

    ``choices`` are all possible values, if they are known.
    """

    name: str
    kind: str
    about: str = ""
    is_required: bool = False
    place: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shape:
    """An object in a request or response; ``many`` is, for example, "a list of"."""

    name: str
    fields: tuple[Field, ...]
    many: Any = ""


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    name: str
    method: str
    path: str
    about: str
    parameters: tuple[Field, ...]
    takes: tuple[Shape, ...]
    is_form: bool
    gives: tuple[Shape, ...]
    status: str

    @property
    def group(self) -> str:
        """Subject of the address: the first part of its path, after the study if there is one."""
        inside = self.path.removeprefix(STUDY).removeprefix("/api/v1/")
        first = inside.partition("/")[0]
        return "" if first == "studies" else first

    @property
    def title(self) -> Any:
        """Display name of the group."""
        return GROUPS.get(self.group) or self.group.replace("-", " ").capitalize()

    @property
    def summary(self) -> str:
        """First sentence of the description."""
        return self.about.partition("\n\n")[0]

    @property
    def can_be_tried(self) -> bool:
        """Whether the request changes nothing, so that people can try it on the page."""
        return self.method == "GET"

    def at(self, study_id: object) -> str:
        """Return the path for a study."""
        return self.path.replace("{study_id}", str(study_id))

    def curl(self, site: str, study_id: object) -> str:
        """Return the shell command for the address; the reader fills in names in braces."""
        lines = [f"curl -H 'Authorization: Bearer {{token}}' \\\n  '{site}{self.at(study_id)}'"]
        if self.method != "GET":
            lines.append(f"-X {self.method}")
        needed = [field for shape in self.takes[:1] for field in shape.fields if field.is_required]
        if self.is_form:
            lines += [f"-F {field.name}={{{field.kind}}}" for field in needed]
        elif self.takes:
            body = {field.name: SAMPLES.get(field.kind, f"{{{field.kind}}}") for field in needed}
            lines += ["-H 'Content-Type: application/json'", f"-d '{json.dumps(body)}'"]
        return " \\\n  ".join(lines)


@cache
def whole_schema() -> Any:
    """Return the OpenAPI schema of the REST API, generated once per process for all users."""
    return SchemaGenerator().get_schema(public=True)


class Schema(SpectacularAPIView):
    """The schema as YAML or JSON, generated only once because this takes more than a second."""

    def _get_schema_response(self, request: Request) -> HttpResponse:
        media_type = request.accepted_renderer.media_type
        return HttpResponse(_rendered(media_type), content_type=media_type)


@cache
def _rendered(media_type: str) -> bytes:
    renderers = {
        renderer_class.media_type: renderer_class for renderer_class in Schema.renderer_classes
    }
    return force_bytes(renderers[media_type]().render(whole_schema(), renderer_context={}))


@cache
def operations() -> dict[str, Operation]:
    """Return all operations by schema name; the first call takes about a second."""
    schema = whole_schema()
    shapes = schema["components"]["schemas"]
    addresses = [
        _operation(path, method, spec, shapes)
        for path, methods in schema["paths"].items()
        for method, spec in methods.items()
    ]
    return {operation.name: operation for operation in addresses}


def _operation(path: str, method: str, spec: Any, shapes: Any) -> Operation:
    content = spec.get("requestBody", {}).get("content", {})
    status = next(code for code in sorted(spec["responses"]) if code.startswith(("2", "3")))
    media: dict[str, Any] = next(iter(spec["responses"][status].get("content", {}).values()), {})
    return Operation(
        name=spec["operationId"],
        method=method.upper(),
        path=path,
        about=_about(spec),
        parameters=tuple(
            _parameter(parameter, shapes) for parameter in spec.get("parameters", ())
        ),
        takes=tuple(_shapes(next(iter(content.values()))["schema"], shapes)) if content else (),
        is_form="multipart/form-data" in content,
        gives=tuple(_shapes(media.get("schema", {}), shapes)),
        status=status,
    )


def _parameter(spec: Any, shapes: Any) -> Field:
    kind = kind_of(spec["schema"], shapes)
    return Field(
        spec["name"],
        kind,
        _about(spec),
        spec.get("required", False),
        spec["in"],
        choices_of(spec["schema"], shapes),
    )


def _about(spec: Any) -> str:
    return VALUES.sub("", spec.get("description", "")).replace("``", "").strip()


def _shapes(part: Any, shapes: Any, many: Any = "") -> Iterator[Shape]:
    """Yield the objects in a part of the schema."""
    if part.get("type") == "array":
        yield from _shapes(part["items"], shapes, _("a list of"))
    for choice in part.get("oneOf", ()):
        yield from _shapes(choice, shapes, many)
    name = part.get("$ref", "").rpartition("/")[2]
    page = PAGE_OF.fullmatch(name)
    if page:
        yield from _shapes(shapes[name]["properties"]["results"]["items"], shapes, _("a page of"))
    elif name and "oneOf" in shapes[name]:
        yield from _shapes(shapes[name], shapes, many)
    elif name:
        yield Shape(name, tuple(_fields(shapes[name], shapes)), many)


def _fields(shape: Any, shapes: Any) -> Iterator[Field]:
    needed = shape.get("required", ())
    for name, part in shape.get("properties", {}).items():
        yield Field(name, kind_of(part, shapes), _about(part), name in needed)


def choices_of(part: Any, shapes: Any) -> tuple[str, ...]:
    """Return the values listed for a part of the schema; empty if the schema lists none."""
    name = part.get("$ref", "").rpartition("/")[2]
    if name:
        return choices_of(shapes[name], shapes)
    if part.get("type") == "boolean":
        return ("true", "false")
    return tuple(str(value) for value in part.get("enum", ()) if value not in (None, ""))


def kind_of(part: Any, shapes: Any) -> str:
    """Describe the type of a value: its choices, its format, its type, or an object's name."""
    name = part.get("$ref", "").rpartition("/")[2]
    if name:
        return kind_of(shapes[name], shapes) if "enum" in shapes[name] else name
    if "enum" in part:
        return " | ".join(str(value) for value in part["enum"] if value not in (None, ""))
    if part.get("type") == "array":
        return f"list of {kind_of(part['items'], shapes)}"
    for choice in ("allOf", "oneOf", "anyOf"):
        if choice in part:
            kinds = [kind_of(option, shapes) for option in part[choice]]
            return " | ".join(dict.fromkeys(kind for kind in kinds if kind))
    return str(part.get("format") or part.get("type", "any"))


# Pages about the REST API, on which people can look up and try the addresses of a study.
#
# They replace Swagger UI and Redoc, which load one to two MB of script and the 730 kB schema
# before they show any text, and which know neither the study nor the person. Redoc also adds style
# elements, which the Content-Security-Policy refuses. These pages are a list and a page for each
# address, with 3 kB of script for trying a read request.

LONGEST = 100


@study_page(*RESEARCHERS)
def study_api(request: StudyRequest, study: Study) -> HttpResponse:
    """List addresses in groups; a search finds the addresses that contain all its words."""
    words = request.GET.get("q", "")[:LONGEST].casefold().split()
    addresses = sorted(
        (
            operation
            for operation in operations().values()
            if all(word in _text(operation) for word in words)
        ),
        key=lambda operation: (
            operation.group not in ("", "me"),
            str(operation.title),
            operation.path,
        ),
    )
    groups = [
        (title, list(rows))
        for title, rows in groupby(addresses, lambda operation: operation.title)
    ]
    context = {
        "study": study,
        "groups_of_addresses": groups,
        "number": len(addresses),
        "words": " ".join(words),
        "tokens": [
            api_token for api_token in request.user.api_tokens.all()[:50] if api_token.is_open
        ],
    }
    return render(request, "api/addresses.html", context)


def _text(operation: Operation) -> str:
    return f"{operation.method} {operation.path} {operation.title} {operation.about}".casefold()


@study_page(*RESEARCHERS)
def study_api_address(request: StudyRequest, study: Study, operation: str) -> HttpResponse:
    """Show one address: its input, output, shell command and, for reads, a trial form."""
    address = operations().get(operation)
    if address is None:
        raise Http404
    site = f"{request.scheme}://{request.get_host()}"
    context = {
        "study": study,
        "operation": address,
        "path": address.at(study.public_id),
        "curl": address.curl(site, study.public_id),
        "asked": [parameter for parameter in address.parameters if parameter.name != "study_id"],
    }
    return render(request, "api/address.html", context)


urlpatterns = [
    path("api/", study_api, name="study_api"),
    path("api/<slug:operation>/", study_api_address, name="study_api_address"),
]
