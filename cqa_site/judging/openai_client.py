"""Client of OpenAI-compatible servers; the only file that imports ``openai``.

The SDK builds and signs requests and knows the files interface. Its generic ``post`` carries
chat completions without building typed models of them, which took a third of the time of a
call and served nothing: replies are kept as bytes and read by `completions`. It retries
nothing here (`retries` is the one table), and what it takes from environment variables
(organisation, project, further headers) stays behind: only the headers named below leave.
"""

import io
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import quote

from .answers import (
    Answer,
    BatchState,
    answer_of,
    batch_marked,
    batch_of,
    model_names,
    refusal_of,
)
from .chat import CallFailed, ChatReply, ChatRequest, Failure
from .completions import decode, reply_of, request_body
from .egress import (
    CONNECT_TIMEOUT,
    MAX_BYTES,
    Allowed,
    EgressFailed,
    HTTPError,
    InvalidURL,
    Response,
    guarded_client,
)
from .probing import Capabilities, probe
from .scrubbing import Scrubber

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LARGEST_FILE = 256 * 1024 * 1024
FILE_DEADLINE = 600.0
SHORT_DEADLINE = 30.0
_HEADERS = {"accept", "connection", "content-length", "content-type", "host", "user-agent"}
_Sent = TypeVar("_Sent")


class OpenAIClient:
    """Carries requests of one endpoint; used from one asyncio loop at a time.

    Every method raises `CallFailed` and nothing else for what happens on the way.

    Parameters
    ----------
    base_url
        Such as ``https://api.example.org/v1``.
    api_key
        Sent as bearer token; nothing is sent if it is empty.
    allowed
        Networks and ports that may be reached although they are not public.
    connect_timeout
        Seconds for lookup and connection.
    max_bytes
        Largest reply.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        allowed: Iterable[Allowed] = (),
        connect_timeout: float = CONNECT_TIMEOUT,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._base_url = base_url
        self._key = api_key
        self._allowed = tuple(allowed)
        self._connect_timeout = connect_timeout
        self._max_bytes = max_bytes
        self._scrub = Scrubber(api_key)
        self._sdk: AsyncOpenAI | None = None

    def __repr__(self) -> str:
        return "<OpenAIClient>"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply to a request.

        The reply's body is verbatim, except that the key is replaced where a server repeats
        it, and NUL and broken UTF-8 by U+FFFD.
        """
        body = request_body(request)
        answer = await self._ask("POST", "/chat/completions", body, request.deadline)
        return reply_of(
            answer.document,
            body=answer.body,
            request_id=answer.request_id,
            milliseconds=answer.milliseconds,
        )

    async def probe(self, model: str, params: Mapping[str, Any] | None = None) -> Capabilities:
        """What a model of this endpoint honours; see `cqa_site.judging.probing.probe`."""
        return await probe(self, model, params=params)

    async def models(self) -> list[str]:
        """Names of the models the endpoint offers."""
        return model_names(await self._ask("GET", "/models"))

    async def upload(self, requests: bytes | BinaryIO) -> str:
        """Upload the JSON lines of a batch and return the file's id."""

        async def send(sdk: "AsyncOpenAI") -> Response:
            sent = await sdk.files.with_raw_response.create(
                file=("batch.jsonl", requests), purpose="batch", timeout=FILE_DEADLINE
            )
            return sent.http_response

        return (await self._answer(send)).required("id")

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
        """How far a batch is."""
        return batch_of(await self._ask("GET", f"/batches/{quote(batch_id, safe='')}"))

    async def find_batch(self, metadata: Mapping[str, str]) -> BatchState | None:
        """The batch among the hundred newest whose metadata hold all of ``metadata``, if any."""
        return batch_marked(await self._ask("GET", "/batches?limit=100"), metadata)

    async def cancel_batch(self, batch_id: str) -> BatchState:
        """Ask for a batch to be cancelled; what was answered until then is paid for."""
        return batch_of(await self._ask("POST", f"/batches/{quote(batch_id, safe='')}/cancel", {}))

    async def download(self, file_id: str, target: BinaryIO, max_bytes: int = LARGEST_FILE) -> int:
        """Write a file's content to ``target`` as it arrives and return its size.

        After a failure ``target`` holds the part that had arrived.
        """

        async def send(sdk: "AsyncOpenAI") -> int:
            size = 0
            async with self._http(max_bytes) as http:
                files = sdk.with_options(http_client=http).files.with_streaming_response
                async with files.content(file_id, timeout=FILE_DEADLINE) as reply:
                    async for chunk in reply.iter_bytes():
                        size += target.write(chunk)
            return size

        return await self._carry(send)

    async def batch_lines(self, file_id: str) -> list[dict[str, Any]]:
        """Lines of a batch's result file that are JSON objects, without the key."""
        target = io.BytesIO()
        await self.download(file_id, target)
        lines = self._scrub(target.getvalue().decode("utf-8", "replace")).splitlines()
        return [one for one in map(decode, lines) if isinstance(one, dict)]

    async def close(self) -> None:
        """Give back connections."""
        if self._sdk is not None:
            await self._sdk.close()

    async def _ask(
        self, method: str, path: str, body: Any = None, deadline: float = SHORT_DEADLINE
    ) -> Answer:
        def send(sdk: "AsyncOpenAI") -> Awaitable[Response]:
            if method == "GET":
                return sdk.get(path, cast_to=Response, options={"timeout": deadline})
            return sdk.post(path, cast_to=Response, body=body, options={"timeout": deadline})

        return await self._answer(send)

    async def _answer(self, send: "Callable[[AsyncOpenAI], Awaitable[Response]]") -> Answer:
        started = time.monotonic()
        response = await self._carry(send)
        return answer_of(response.headers, response.content, _since(started), self._scrub)

    async def _carry(self, send: "Callable[[AsyncOpenAI], Awaitable[_Sent]]") -> _Sent:
        """Send something; every outcome but success becomes `CallFailed`."""
        import openai

        started = time.monotonic()
        try:
            return await send(self._opened())
        except openai.APIStatusError as problem:
            refused = problem.response
        except EgressFailed as problem:
            raise CallFailed(problem.kind, str(problem), milliseconds=_since(started)) from None
        except InvalidURL:
            raise CallFailed(Failure.BLOCKED, "the base address cannot be asked") from None
        except (openai.OpenAIError, HTTPError):
            message = "the connection broke"
            raise CallFailed(Failure.CONNECTION, message, milliseconds=_since(started)) from None
        except (ValueError, TypeError):
            raise CallFailed(Failure.REQUEST, "the request cannot be sent as JSON") from None
        content = refused.content
        raise refusal_of(
            refused.status_code, refused.headers, content, _since(started), self._scrub
        )

    def _opened(self) -> "AsyncOpenAI":
        if self._sdk is None:
            from openai import AsyncOpenAI

            headers = {"User-Agent": "Counterpoint"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._sdk = AsyncOpenAI(
                base_url=self._base_url,
                # Without one the SDK would take a key from the environment.
                api_key=self._key or "none",
                max_retries=0,
                default_headers=headers,
                http_client=self._http(self._max_bytes),
            )
        return self._sdk

    def _http(self, max_bytes: int) -> Any:
        return guarded_client(
            self._allowed,
            connect_timeout=self._connect_timeout,
            max_bytes=max_bytes,
            header_names=_HEADERS | {"authorization"} if self._key else _HEADERS,
        )


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
