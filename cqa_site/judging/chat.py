"""What is asked of a language model and what comes back, whoever carries it.

A client takes a `ChatRequest` and returns a `ChatReply` or raises `CallFailed`. Nothing
here knows prompts, labels, the database or an HTTP library.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request.

    Parameters
    ----------
    model
        Name the endpoint knows the model by.
    messages
        ``({"role": "system" | "user" | "assistant", "content": text}, …)``.
    params
        Sampling parameters that change the output (``temperature``, ``seed``, ``max_tokens``, …),
        merged into the request body as they are.
    schema
        JSON schema of the answer, or None where the endpoint does not honour one.
    deadline
        Seconds for everything together, from connecting to the last byte.
    """

    model: str
    messages: tuple[Mapping[str, str], ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    deadline: float = 120.0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the wire said, kept as it came.

    Parameters
    ----------
    text
        Content of the first choice; empty if there was none.
    finish_reason
        As the endpoint reports it: ``stop``, ``length``, ``content_filter``, …; empty if absent.
    model, fingerprint, request_id
        As returned; empty if absent.
    tokens_in, tokens_out, tokens_cached
        As reported in ``usage``; None if absent.
    milliseconds
        From sending to the last byte.
    body
        The response body, verbatim.
    refusal
        The model's own refusal text if the endpoint reports it apart.
    """

    text: str
    finish_reason: str = ""
    model: str = ""
    fingerprint: str = ""
    request_id: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    milliseconds: int = 0
    body: str = ""
    refusal: str = ""


class Failure(StrEnum):
    """Why there is no reply; what happens next is the engine's table of retries."""

    THROTTLED = "throttled"  # 429: the endpoint asks to slow down
    QUOTA = "quota"  # 429 insufficient_quota: paid up; no use in trying again
    DENIED = "denied"  # 401, 403
    KEY = "key"  # the stored key cannot be read, so nothing was sent
    SERVER = "server"  # 408, 409, 425, 5xx, 529
    CONNECTION = "connection"  # refused, reset, name not found
    TIMEOUT = "timeout"  # the total deadline passed
    REQUEST = "request"  # 400, 404, 413, 422: this request will never work
    PARAMETER = "parameter"  # 400, 422 that names a parameter: all other calls would fail alike
    BLOCKED = "blocked"  # the address is not allowed
    TOO_LARGE = "too_large"  # the reply passed the byte cap or was compressed
    GARBAGE = "garbage"  # a 200 whose body is not a chat completion
    CERTIFICATE = "certificate"  # TLS could not be verified


class CallFailed(Exception):
    """A request without a usable HTTP answer.

    Parameters
    ----------
    kind
        One of `Failure`.
    message
        For people; scrubbed of keys and internals.
    retry_after
        Seconds the endpoint asked to wait, between 1 and 900, or None.
    status
        HTTP status, or None if none came.
    body
        The response body as far as it was read, verbatim but scrubbed of the key.
    milliseconds
        Time spent.
    """

    def __init__(
        self,
        kind: Failure,
        message: str,
        *,
        retry_after: float | None = None,
        status: int | None = None,
        body: str = "",
        milliseconds: int = 0,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.status = status
        self.body = body
        self.milliseconds = milliseconds


class ChatClient(Protocol):
    """Anything that can carry a request; clients are used from one asyncio loop."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply, or raise `CallFailed`."""

    async def close(self) -> None:
        """Give back connections."""
