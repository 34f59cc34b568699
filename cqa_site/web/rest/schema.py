"""The OpenAPI description: bearer tokens, and the errors that every address may return."""

import re
from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from .queries import MEDIA_TYPE, ProblemSerializer

ERRORS = {
    "400": "The body or a parameter is not valid.",
    "401": "No valid token.",
    "403": "The token is read-only, or the role does not allow this.",
    "404": "Not found in your studies.",
    "409": "Not possible in the current state.",
    "429": "Too many requests.",
    "503": "The database does not respond. Retry-After says when to try again.",
}


class TokenScheme(OpenApiAuthenticationExtension):
    """The security scheme ``Authorization: Bearer cqa_…``."""

    target_class = "cqa_site.people.access.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Describe the header."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An access token from your account page.",
        }


# Lists whose singular is irregular; ``compare/{other_id}`` does not follow a list.
_UNUSUAL = {"people": "rater", "corpora": "corpus", "analyses": "analysis", "studies": "study"}
_ID = re.compile(r"([\w-]+s|people|corpora)/\{(\w+)\}")


def name_ids(result: dict[str, Any], **_about: Any) -> dict[str, Any]:
    """Name each id in a path after its list, for example ``{import_id}``, at any position.

    In the code, the last id is ``public_id``, and ``round_id`` is used for several kinds of round.
    """
    paths = {}
    for path, methods in result["paths"].items():
        names = {name: f"{_one_of(many)}_id" for many, name in _ID.findall(path)}
        for method in methods.values():
            for parameter in method.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter["name"] = names.get(parameter["name"], parameter["name"])
        for name, plain in names.items():
            path = path.replace(f"{{{name}}}", f"{{{plain}}}")
        paths[path] = methods
    return result | {"paths": paths}


def _one_of(many: str) -> str:
    if many in _UNUSUAL:
        return _UNUSUAL[many]
    name = many.replace("-", "_").removesuffix("s")
    return name.removesuffix("e") if name.endswith("che") else name


class ProblemSchema(AutoSchema):
    """A schema that adds problem documents and limits on bodies to the views' declarations."""

    def _get_response_bodies(
        self, direction: Literal["request", "response"] = "response"
    ) -> dict[str, Any]:
        responses = super()._get_response_bodies(direction)
        # Components need a serializer instance once; every error refers to the same instance.
        component = self.resolve_serializer(ProblemSerializer, direction)
        for code in self._error_codes():
            responses.setdefault(
                code,
                {"description": ERRORS[code], "content": {MEDIA_TYPE: {"schema": component.ref}}},
            )
        return dict(sorted(responses.items()))

    def get_filter_backends(self) -> list[Any]:
        """Return filters for reads only; a change rejects every query parameter."""
        return super().get_filter_backends() if self.method == "GET" else []

    def _map_serializer_field(self, field: Any, direction: str, *args: Any) -> Any:
        map_serializer_field = super()._map_serializer_field(field, direction, *args)
        is_text = (
            isinstance(field, serializers.CharField)
            and map_serializer_field.get("type") == "string"
        )
        if direction == "request" and is_text and not field.allow_blank:
            map_serializer_field.setdefault("minLength", 1)
        return map_serializer_field

    def _map_basic_serializer(self, serializer: Any, direction: str) -> dict[str, Any]:
        map_basic_serializer = super()._map_basic_serializer(serializer, direction)
        if getattr(serializer, "refuses_unknown", False):
            map_basic_serializer["additionalProperties"] = False
        return map_basic_serializer

    def _get_paginator(self) -> Any:
        """Return the paginator for reads only; created objects are listed in full."""
        return super()._get_paginator() if self.method == "GET" else None

    def _error_codes(self) -> list[str]:
        codes = {"400", "401", "403", "404", "429", "503"}
        reads_that_wait = getattr(self.view, "reads_that_wait", ())
        if self.method != "GET" or getattr(self.view, "action", "") in reads_that_wait:
            codes.add("409")
        return sorted(codes)
