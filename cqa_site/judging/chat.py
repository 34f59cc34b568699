"""Chat requests and replies: their types, their JSON, and the identity of a request."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

# Requests to a language model and its replies, independent of the client
#
# A client takes a `ChatRequest` and returns a `ChatReply` or raises `CallFailed`. This part does
# not depend on prompts, labels, the database or an HTTP library.


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat request.

    Parameters
    ----------
    model
        Model name at the endpoint.
    messages
        ``({"role": "system" | "user" | "assistant", "content": text}, …)``.
    params
        Sampling parameters that change the output (``temperature``, ``seed``, ``max_tokens``, …),
        merged unchanged into the request body.
    schema
        JSON schema of the answer, or None if the endpoint does not support schemas.
    deadline
        Total time limit in seconds, from connecting to receiving the last byte.
    """

    model: str
    messages: tuple[Mapping[str, str], ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    deadline: float = 120.0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A reply as the endpoint sent it.

    Parameters
    ----------
    text
        Content of the first choice; empty if there are no choices.
    finish_reason
        Reason from the endpoint: ``stop``, ``length``, ``content_filter``, …; empty if absent.
    model, fingerprint, request_id
        Values as returned; empty if absent.
    tokens_in, tokens_out, tokens_cached
        Token counts as reported in ``usage``; None if absent.
    milliseconds
        Time from sending the request to receiving the last byte.
    body
        The response body, verbatim.
    refusal
        The model's own refusal text if the endpoint reports it separately.
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
    """Reason why a reply is missing; the engine's retry table decides the next step."""

    THROTTLED = "throttled"  # 429: the endpoint asks to slow down
    QUOTA = "quota"  # 429 insufficient_quota: no credit left, so retrying is useless
    DENIED = "denied"  # 401, 403
    KEY = "key"  # the stored key cannot be read, so nothing was sent
    SERVER = "server"  # 408, 409, 425, 5xx, 529
    CONNECTION = "connection"  # refused, reset, name not found
    TIMEOUT = "timeout"  # the total deadline passed
    REQUEST = "request"  # 400, 404, 413, 422: this request can never succeed
    PARAMETER = "parameter"  # 400, 422 about a parameter: all other calls would fail too
    BLOCKED = "blocked"  # the address is not allowed
    TOO_LARGE = "too_large"  # the reply exceeded the size limit or was compressed
    GARBAGE = "garbage"  # a 200 whose body is not a chat completion
    CERTIFICATE = "certificate"  # the TLS certificate could not be verified


class CallFailed(Exception):
    """Raised for a request without a usable HTTP answer.

    Parameters
    ----------
    kind
        A member of `Failure`.
    message
        Message for people, without keys or internals.
    retry_after
        Wait that the endpoint asked for, in seconds from 1 to 900, or None.
    status
        HTTP status, or None if there was no response.
    body
        The part of the response body that was read, verbatim except that the key is removed.
    milliseconds
        Time spent.
    is_paid
        Whether the endpoint may charge for the request because it reached the model.
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
        is_paid: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.status = status
        self.body = body
        self.milliseconds = milliseconds
        self.is_paid = is_paid


class ChatClient(Protocol):
    """Interface for clients that send requests; a client is used from one asyncio loop."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply, or raise `CallFailed`."""

    async def close(self) -> None:
        """Close the connections."""


# Chat completions as JSON documents: requests and replies
#
# Servers that claim compatibility omit different fields and use different types, so the code does
# not rely on the presence or the type of any field in a reply.

LONGEST_NAME = 200
MOST_TOKENS = 2**31 - 1
_TEXTS = ("text", "output_text")
_OURS = ("model", "messages", "stream")
# Characters that databases refuse: NUL and unpaired UTF-16 surrogates.
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def request_body(request: ChatRequest) -> dict[str, Any]:
    """Return the JSON document of a request.

    Raises
    ------
    CallFailed
        ``request`` if a sampling parameter would override the model, the messages or the
        format in which the reply is sent.
    """
    for name in _OURS:
        if name in request.params:
            raise CallFailed(Failure.REQUEST, f"{name} is not a sampling parameter")
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [dict(message) for message in request.messages],
        **request.params,
    }
    if request.schema is not None:
        schema = {"name": "answer", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def encode(document: Any) -> bytes:
    """Return the bytes of a JSON document; raises `CallFailed` (``request``) if it is invalid."""
    try:
        return _encoded(document).encode()
    except (ValueError, TypeError, RecursionError):
        raise CallFailed(Failure.REQUEST, "the request cannot be sent as JSON") from None


def decode(content: bytes | str) -> Any:
    """Return the JSON value of a reply, or None if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def storable(content: bytes | str) -> str:
    """Return a reply's text with U+FFFD in place of characters that cannot be stored."""
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    if text.isascii() and "\x00" not in text:
        return text
    return _NOT_STORABLE.sub("\ufffd", text)


def reply_of(
    document: Any, *, body: str, request_id: str = "", milliseconds: int = 0
) -> ChatReply:
    """Read a chat completion.

    Parameters
    ----------
    document
        The result of `decode`.
    body, request_id, milliseconds
        Stored with the reply.

    Raises
    ------
    CallFailed
        ``garbage`` if this is not a chat completion. A completion without choices is accepted,
        with an empty text, because it was paid for.
    """
    choices = _mapping(document).get("choices")
    if not isinstance(choices, list):
        reason = "the reply is not a chat completion"
        raise CallFailed(Failure.GARBAGE, reason, status=200, body=body, milliseconds=milliseconds)
    choice = _mapping(choices[0]) if choices else {}
    message = _mapping(choice.get("message"))
    finish = choice.get("finish_reason")
    usage = _mapping(document.get("usage"))
    return ChatReply(
        text=_content(message.get("content")),
        finish_reason=_name(finish if isinstance(finish, str | None) else repr(finish)),
        model=_name(document.get("model")),
        fingerprint=_name(document.get("system_fingerprint")),
        request_id=_name(request_id),
        tokens_in=_tokens(usage.get("prompt_tokens")),
        tokens_out=_tokens(usage.get("completion_tokens")),
        tokens_cached=_tokens(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        milliseconds=milliseconds,
        body=body,
        refusal=_content(message.get("refusal")),
    )


def _content(value: Any) -> str:
    """Return a message's text, with its parts joined and reasoning parts left out."""
    if isinstance(value, list):
        parts = [part for part in map(_mapping, value) if not part.get("thought")]
        texts = [part.get("text") for part in parts if part.get("type", "text") in _TEXTS]
        return "".join(map(_content, texts))
    return storable(value) if isinstance(value, str) else ""


def _name(value: Any) -> str:
    return storable(value)[:LONGEST_NAME] if isinstance(value, str) else ""


def _tokens(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= MOST_TOKENS else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# Identity of requests
#
# A stored reply may answer a request only if everything that can change the answer is equal.
# Settings that cannot change it (deadlines, prices, the number of parallel requests, the number
# of tries) are not arguments here, so changing one never causes a new request.

KEY_VERSION = 1
_EXACT_INTEGERS = 2**53
_SORTED = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True)
_ORDERED = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """Return a value's canonical JSON: sorted names, no spaces, ASCII, whole floats as integers.

    Raises
    ------
    ValueError
        For NaN and infinities.
    TypeError
        For values that JSON cannot represent.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": [True, "é"]})
    '{"a":[true,"\\\\u00e9"],"b":1}'
    """
    return _SORTED.encode(_plain_numbers(value))


def ordered_json(value: Any) -> str:
    """Return JSON like `canonical_json`, but with the names in their given order.

    A constrained model writes properties in the order of the schema, so their order can change
    the answer.
    """
    return _ORDERED.encode(_plain_numbers(value))


def digest(document: Any) -> str:
    """Return the hexadecimal SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


def content_key(
    *,
    origin: str,
    model: str,
    messages: Sequence[Mapping[str, str]],
    params: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    replicate: int,
) -> str:
    """Return the key for finding a stored reply.

    Parameters
    ----------
    origin
        Base address of the endpoint, because two servers may use the same name for different
        weights.
    model
        Requested model name.
    messages
        Messages as sent, in order.
    params
        Sampling parameters as sent; the order of their names does not matter.
    schema
        JSON schema as sent, or None. The order of its properties matters; see `ordered_json`.
    replicate
        Number of the repetition (0, 1, …), because each repetition needs a new answer.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    return digest(
        {
            "version": KEY_VERSION,
            "origin": origin,
            "model": model,
            "messages": [dict(message) for message in messages],
            # A parameter may contain a schema or a grammar.
            "params": {name: ordered_json(value) for name, value in params.items()},
            "schema": None if schema is None else ordered_json(schema),
            "replicate": replicate,
        }
    )


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, (str, int)):
        return value
    # The database may return the temperature 0 as 0.0.
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return int(value)
    if isinstance(value, Mapping):
        return {name: _plain_numbers(child) for name, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_numbers(child) for child in value]
    return value
