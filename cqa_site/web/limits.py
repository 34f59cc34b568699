"""Limits on API requests: the size and structure of JSON bodies, and the rate."""

from collections.abc import Mapping
from typing import IO, Any

from django.core.cache.backends.locmem import LocMemCache
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.throttling import UserRateThrottle

from cqa_site.tabular.cells import StrictJsonError, loads

MAX_BYTES = 1_048_576
MAX_DEPTH = 32


class StrictJSONParser(BaseParser):
    """A parser for UTF-8 JSON of up to 1 MB and 32 levels.

    It rejects NaN, NUL, lone surrogates and repeated keys.
    """

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
            raise ParseError(f"Not valid JSON: {error}.") from error


class CourtesyThrottle(UserRateThrottle):
    """A limit of 600 requests per person per minute, counted separately in each process.

    The shared cache may be the database, where counting would add a write to every read.
    """

    rate = "600/min"
    cache = LocMemCache("api-throttle", {})
