"""Client for OpenAI-compatible servers, and the removal of API keys from errors."""

import io
import re
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

from ..chat import (
    CallFailed,
    ChatReply,
    ChatRequest,
    Failure,
    decode,
    encode,
    reply_of,
    request_body,
)
from ..endpoint_responses import (
    BatchState,
    EndpointResponse,
    answer_of,
    batch_marked,
    batch_of,
    model_names,
    refusal_of,
)
from ..endpoints import Capabilities, probe
from .egress import (
    CONNECT_TIMEOUT,
    MAX_BYTES,
    AllowedNetwork,
    EgressFailed,
    GuardedTransport,
    HTTPError,
    InvalidURL,
    guarded_client,
)

if TYPE_CHECKING:
    from openai.resources import AsyncFiles


SHORTEST_SECRET = 8
PIECE = 8
# Length of the marks to search for; every piece of the key contains a whole mark.
MARK = 4
# A text without any of these has no masked key, and searching for them is fast.
_MASKS = ("***", "...", "…", "•", "●")
# All quantifiers are possessive, so that each character is read once even in a hostile text.
_MASKED = re.compile(
    r"(?:(?<![\w-])([\w-]{2,200}+))?+(?:[*•●]{3,}+|…|\.{3}+)(?:([\w-]{2,200}+))?+"
)


class Scrubber:
    """Replaces a key, any `PIECE` characters of it, or a masked form such as ``sk-ab***wxyz``.

    Parameters
    ----------
    key
        A key shorter than `SHORTEST_SECRET` is treated as a placeholder for a local server, and
        nothing is replaced, because such a word may occur in text.

    Examples
    --------
    >>> Scrubber("sk-abcdefghijklmn")("Incorrect key: sk-ab*******klmn, see the manual")
    'Incorrect key: [key], see the manual'
    """

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= SHORTEST_SECRET else ""
        starts = range(len(self._key) - PIECE + 1)
        self._pieces = {self._key[start : start + PIECE] for start in starts}
        marks = range(0, len(self._key) - MARK + 1, PIECE - MARK + 1)
        self._marks = {self._key[start : start + MARK] for start in marks}

    def __repr__(self) -> str:
        return "<Scrubber>"

    def __call__(self, text: str) -> str:
        """Return the text without the key."""
        if not self._key:
            return text
        if any(mask in text for mask in _MASKS):
            text = _MASKED.sub(self._unmask, text)
        if any(mark in text for mark in self._marks):
            text = self._without_pieces(text)
        return text

    def _without_pieces(self, text: str) -> str:
        starts = sorted(
            match.start()
            for piece in self._pieces
            if piece in text
            for match in re.finditer(f"(?={re.escape(piece)})", text)
        )
        parts, position = [], 0
        for start in starts:
            if start >= position:
                parts += [text[position:start], "[key]"]
            # Pieces overlap; a piece that starts inside the previous one only moves its end.
            position = start + PIECE
        return "".join([*parts, text[position:]])

    def _unmask(self, match: re.Match[str]) -> str:
        head, tail = match.groups()
        shows_start = head is not None and self._key.startswith(head)
        shows_end = tail is not None and self._key.endswith(tail)
        return "[key]" if shows_start or shows_end else match.group()


# Client of OpenAI-compatible servers; the only file that imports ``openai``.
#
# The SDK transfers files. All other requests are JSON and go directly through the guarded
# transport, because the SDK's work on a request (options, typed models, new URLs and headers) took
# most of the time of a call and is not needed: replies are stored as bytes and read by `chat`.
# Nothing is retried here (see `rate_limits`), and values that the SDK takes from environment
# variables (organisation, project, further headers) are not sent; only the headers below are.

LARGEST_FILE = 256 * 1024 * 1024
FILE_DEADLINE = 600.0
SHORT_DEADLINE = 30.0
_HEADERS = {"accept", "content-length", "content-type", "host", "user-agent"}
_JSON = {"Content-Type": "application/json"}


class OpenAIClient:
    """Sends requests to one endpoint; used from one asyncio loop at a time.

    Every method raises `CallFailed` for every failure, and no other exception.

    Parameters
    ----------
    base_url
        For example, ``https://api.example.org/v1``.
    api_key
        Key to send as a bearer token; if empty, no token is sent.
    allowed
        Networks and ports that requests may reach although they are not public.
    connect_timeout
        Total seconds for lookup, connection and TLS handshake.
    max_bytes
        Maximum size of a reply.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        allowed: Iterable[AllowedNetwork] = (),
        connect_timeout: float = CONNECT_TIMEOUT,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._key = api_key
        self._max_bytes = max_bytes
        self._scrub = Scrubber(api_key)
        self._headers = {"Accept": "application/json", "User-Agent": "Counterpoint"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._bounds: dict[str, Any] = {
            "allowed": tuple(allowed),
            "connect_timeout": connect_timeout,
            "header_names": _HEADERS | {"authorization"} if api_key else _HEADERS,
        }
        self._transport = GuardedTransport(max_bytes=max_bytes, **self._bounds)

    def __repr__(self) -> str:
        return "<OpenAIClient>"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply to a request.

        The reply's body is verbatim, except that the key is replaced if the server repeats it,
        and NUL and invalid UTF-8 are replaced by U+FFFD.
        """
        body = request_body(request)
        answer = await self._ask("POST", "/chat/completions", body, request.deadline)
        return reply_of(
            answer.document,
            body=answer.body,
            request_id=answer.request_id,
            milliseconds=answer.milliseconds,
        )

    async def probe(self, model: str) -> Capabilities:
        """Return a model's features at the endpoint; see `cqa_site.judging.endpoints.probe`."""
        return await probe(self, model)

    async def models(self) -> list[str]:
        """Return the names of the endpoint's models."""
        return model_names(await self._ask("GET", "/models"))

    async def upload(self, requests: bytes | BinaryIO) -> str:
        """Upload the JSON lines of a batch and return the file's id."""
        started = time.monotonic()
        async with self._files(self._max_bytes) as files:
            sent = await files.with_raw_response.create(
                file=("batch.jsonl", requests), purpose="batch", timeout=FILE_DEADLINE
            )
        reply = sent.http_response
        answer = answer_of(reply.headers, reply.content, _since(started), self._scrub)
        return answer.required("id")

    async def create_batch(
        self, file_id: str, metadata: Mapping[str, str] | None = None
    ) -> BatchState:
        """Start a batch of chat completions from an uploaded file."""
        body = {
            "input_file_id": file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": dict(metadata or {}),
        }
        return batch_of(await self._ask("POST", "/batches", body))

    async def batch(self, batch_id: str) -> BatchState:
        """Return the state of a batch."""
        return batch_of(await self._ask("GET", f"/batches/{quote(batch_id, safe='')}"))

    async def find_batch(self, metadata: Mapping[str, str]) -> BatchState | None:
        """Return a batch with this metadata from the hundred newest batches, or None."""
        return batch_marked(await self._ask("GET", "/batches?limit=100"), metadata)

    async def download(self, file_id: str, target: BinaryIO, max_bytes: int = LARGEST_FILE) -> int:
        """Write a file's content to ``target`` as it arrives and return its size.

        After a failure, ``target`` contains the part that arrived.
        """
        size = 0
        async with self._files(max_bytes) as files:
            sent = files.with_streaming_response.content(file_id, timeout=FILE_DEADLINE)
            async with sent as reply:
                async for part in reply.iter_bytes():
                    size += target.write(part)
        return size

    async def batch_lines(self, file_id: str) -> list[dict[str, Any]]:
        """Return the JSON objects in a batch's result file, with the API key removed."""
        target = io.BytesIO()
        await self.download(file_id, target)
        lines = self._scrub(target.getvalue().decode("utf-8", "replace")).splitlines()
        return [line for line in map(decode, lines) if isinstance(line, dict)]

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _ask(
        self, method: str, path: str, body: Any = None, deadline: float = SHORT_DEADLINE
    ) -> EndpointResponse:
        content = b"" if body is None else encode(body)
        started = time.monotonic()
        try:
            reply = await self._transport.exchange(
                method,
                self._base_url + path,
                headers=self._headers | _JSON if content else self._headers,
                body=content,
                deadline=deadline,
            )
        except EgressFailed as problem:
            raise CallFailed(problem.kind, str(problem), milliseconds=_since(started)) from None
        if reply.status >= 400:
            raise refusal_of(
                reply.status, reply.headers, reply.body, reply.milliseconds, self._scrub
            )
        return answer_of(reply.headers, reply.body, reply.milliseconds, self._scrub)

    @asynccontextmanager
    async def _files(self, max_bytes: int) -> "AsyncIterator[AsyncFiles]":
        """Yield the SDK's file interface; every failure becomes `CallFailed`."""
        import openai

        started = time.monotonic()
        try:
            async with guarded_client(max_bytes=max_bytes, **self._bounds) as http:
                yield openai.AsyncOpenAI(
                    base_url=self._base_url,
                    # Without a key the SDK would use one from the environment.
                    api_key=self._key or "none",
                    max_retries=0,
                    default_headers=self._headers,
                    http_client=http,
                ).files
        except openai.APIStatusError as problem:
            refused, took = problem.response, _since(started)
            raise refusal_of(
                refused.status_code, refused.headers, refused.content, took, self._scrub
            ) from None
        except EgressFailed as problem:
            raise CallFailed(problem.kind, str(problem), milliseconds=_since(started)) from None
        except InvalidURL:
            raise CallFailed(Failure.BLOCKED, "the base address is not valid") from None
        except (openai.OpenAIError, HTTPError):
            message = "the connection broke"
            raise CallFailed(Failure.CONNECTION, message, milliseconds=_since(started)) from None
        except (ValueError, TypeError):
            raise CallFailed(Failure.REQUEST, "the file cannot be sent") from None


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
