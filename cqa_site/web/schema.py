"""The OpenAPI description: bearer tokens, and the errors every address may answer."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from .problems import MEDIA_TYPE, ProblemSerializer

ERRORS = {
    "400": "The body or a parameter is not acceptable.",
    "401": "No valid token.",
    "403": "The token may only read, or the role does not allow this.",
    "404": "No such thing in a study of yours.",
    "409": "Not possible in the present state.",
    "429": "Too many requests.",
}


class TokenScheme(OpenApiAuthenticationExtension):
    """``Authorization: Bearer cqa_…``."""

    target_class = "cqa_site.people.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Describe the header."""
        return {"type": "http", "scheme": "bearer", "description": "A token of your account page."}


class ProblemSchema(AutoSchema):
    """Adds problem documents to what the views declare."""

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        responses = super()._get_response_bodies(direction)
        # Components need a serializer instance once; every error refers to the same one.
        component = self.resolve_serializer(ProblemSerializer, direction)
        for code in self._error_codes():
            responses.setdefault(
                code,
                {
                    "description": ERRORS[code],
                    "content": {MEDIA_TYPE: {"schema": component.ref}},
                },
            )
        return dict(sorted(responses.items()))

    def _error_codes(self) -> list[str]:
        codes = {"400", "401", "403", "404", "429"}
        reads_that_wait = getattr(self.view, "reads_that_wait", ())
        if self.method != "GET" or getattr(self.view, "action", "") in reads_that_wait:
            codes.add("409")
        return sorted(codes)
