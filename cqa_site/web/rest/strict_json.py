"""The API's JSON parser: refuses what databases and readers later choke on."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from cqa_site.tabular.strict_json import StrictJsonError, loads

MAX_BYTES = 1_048_576
MAX_DEPTH = 32


class StrictJSONParser(BaseParser):
    """UTF-8 JSON up to 1 MB and 32 levels: no NaN, NUL, lone surrogate or repeated key."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Parse one request body; raises ``ParseError`` (400) with the reason."""
        body = stream.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise ParseError("The body is larger than 1 MB.")
        try:
            return loads(body, max_bytes=MAX_BYTES, depth=MAX_DEPTH)
        except StrictJsonError as error:
            raise ParseError(f"Not acceptable JSON: {error}.") from error
