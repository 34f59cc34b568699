"""Chat completions as documents: what is sent, and what a reply's bytes say.

Servers that call themselves compatible differ in what they leave out and in what types they
use, so nothing in a reply is trusted to be there or to be what it should be.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from .chat import CallFailed, ChatReply, ChatRequest, Failure

LONGEST_NAME = 200
MOST_TOKENS = 2**31 - 1
_OURS = ("model", "messages", "stream")
# What databases refuse: NUL, and halves of UTF-16 pairs standing alone.
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def request_body(request: ChatRequest) -> dict[str, Any]:
    """The JSON document of a request.

    Raises
    ------
    CallFailed
        ``request`` if a sampling parameter would replace the model, the messages or the way
        the reply is sent.
    """
    for name in _OURS:
        if name in request.params:
            raise CallFailed(Failure.REQUEST, f"{name} is no sampling parameter")
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
    """The bytes of a JSON document; raises `CallFailed` (``request``) if it is none."""
    try:
        return _encoded(document).encode()
    except (ValueError, TypeError, RecursionError):
        raise CallFailed(Failure.REQUEST, "the request cannot be sent as JSON") from None


def decode(content: bytes | str) -> Any:
    """The JSON value of a reply, or None if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def storable(content: bytes | str) -> str:
    """Text of a reply with U+FFFD for whatever cannot be stored as text."""
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
        What `decode` returned.
    body, request_id, milliseconds
        Kept with the reply.

    Raises
    ------
    CallFailed
        ``garbage`` if this is no chat completion. A completion without choices is one: it
        was paid for, and its text is empty.
    """
    choices = _mapping(document).get("choices")
    if not isinstance(choices, list):
        reason = "the reply is no chat completion"
        raise CallFailed(Failure.GARBAGE, reason, status=200, body=body, milliseconds=milliseconds)
    choice = _mapping(choices[0]) if choices else {}
    message = _mapping(choice.get("message"))
    usage = _mapping(document.get("usage"))
    return ChatReply(
        text=_content(message.get("content")),
        finish_reason=_name(choice.get("finish_reason")),
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
    """A message's text, also where it comes in parts."""
    if isinstance(value, list):
        return "".join(_content(_mapping(part).get("text")) for part in value)
    return storable(value) if isinstance(value, str) else ""


def _name(value: Any) -> str:
    return storable(value)[:LONGEST_NAME] if isinstance(value, str) else ""


def _tokens(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= MOST_TOKENS else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
