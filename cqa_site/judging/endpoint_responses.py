"""Replies from OpenAI-compatible servers: answers, batch lines, refusals and parameters."""

import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from .chat import CallFailed, ChatReply, ChatRequest, Failure, decode, reply_of, storable

# Meaning of an HTTP status other than 200

LONGEST_WAIT = 900.0
SHORTEST_WAIT = 1.0
LONGEST_MESSAGE = 300
# Finish reasons of a reply that the server, not the model, ended.
_BROKEN_OFF = {"error", "abort", "aborted", "cancelled", "canceled", "timeout"}
_NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}


def failure_of(
    status: int,
    headers: Mapping[str, str],
    document: Any,
    *,
    body: str = "",
    milliseconds: int = 0,
) -> CallFailed:
    """Return the failure for an HTTP status.

    Parameters
    ----------
    status
        HTTP status, or the status inside an error that was sent with status 200.
    headers
        Headers of the reply, with lower-case names.
    document
        The reply's JSON, or None.
    body, milliseconds
        Stored with the failure; keys are already removed from the body.
    """
    error = document.get("error") if isinstance(document, Mapping) else None
    details = error if isinstance(error, Mapping) else {}
    detail = details.get("message") if details else error
    message = f"the endpoint answered {status}"
    if isinstance(detail, str) and detail.strip():
        message += ": " + " ".join(storable(detail).split())[:LONGEST_MESSAGE]
    # The values may be of any type, including unhashable types.
    has_no_money = str(details.get("code")) in _NO_MONEY or str(details.get("type")) in _NO_MONEY
    return CallFailed(
        _kind(status, has_no_money),
        message,
        retry_after=retry_after(headers),
        status=status,
        body=body,
        milliseconds=milliseconds,
    )


def failure_inside(
    document: Any, headers: Mapping[str, str], *, body: str = "", milliseconds: int = 0
) -> CallFailed | None:
    """Return an error sent with status 200: alone, next to choices or inside a choice.

    Routers send such errors. An error without a status counts as a server error; an error
    sent with choices reached the model and counts as paid.
    """
    root = document if isinstance(document, Mapping) else {}
    choices = root.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    choice = choice if isinstance(choice, Mapping) else {}
    message = choice.get("message")
    places = (root, choice, message if isinstance(message, Mapping) else {})
    errors = [place["error"] for place in places if place.get("error")]
    finish = str(choice.get("finish_reason")).lower()
    if finish in _BROKEN_OFF:
        errors.append(f"finish reason {finish}")
    if not errors:
        return None
    failure = failure_of(
        _status_of(errors[0]), headers, {"error": errors[0]}, body=body, milliseconds=milliseconds
    )
    failure.is_paid = bool(choice) and failure.kind in (Failure.SERVER, Failure.REQUEST)
    return failure


def _status_of(error: Any) -> int:
    details = error if isinstance(error, Mapping) else {}
    names = [str(details.get(name)) for name in ("code", "status", "type")]
    status = next((int(name) for name in names if re.fullmatch("[45][0-9][0-9]", name)), 0)
    is_haste = any(name in _NO_MONEY or "rate_limit" in name for name in names)
    return status or (429 if is_haste else 502)


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the wait that a server asks for, in seconds from 1 to 900, or None if unreadable.

    Parameters
    ----------
    headers
        ``retry-after-ms`` (milliseconds) takes precedence over ``retry-after`` (seconds, whole or
        not, or an HTTP date; RFC 9110, section 10.2.3).
    now
        Seconds since the epoch; None means the current time.

    Examples
    --------
    >>> retry_after({"retry-after": "2.5"}), retry_after({"retry-after": "86400"})
    (2.5, 900.0)
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None:
            return _clamped(seconds * unit)
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        return _clamped(date.timestamp() - (time.time() if now is None else now))
    except (ValueError, OverflowError):
        return None


def _kind(status: int, has_no_money: bool) -> Failure:
    if status == 402 or (status in (403, 429) and has_no_money):
        return Failure.QUOTA
    if status == 429:
        return Failure.THROTTLED
    if status in (401, 403):
        return Failure.DENIED
    if status in (408, 409, 425) or status >= 500:
        return Failure.SERVER
    return Failure.REQUEST


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _clamped(seconds: float) -> float:
    return min(LONGEST_WAIT, max(SHORTEST_WAIT, seconds))


# Replies of OpenAI-compatible servers, whose structure is not trusted

# Maximum number of bytes read of an error's body; the rest adds nothing.
LONGEST_ERROR = 65_536


@dataclass(frozen=True, slots=True)
class EndpointResponse:
    """A 2xx reply: its JSON (None if invalid), text, id and duration."""

    document: Any
    body: str
    request_id: str
    milliseconds: int

    def field(self, name: str) -> Any:
        """Return a field of the document, or None."""
        return self.document.get(name) if isinstance(self.document, Mapping) else None

    def text(self, name: str) -> str:
        """Return a text field; empty if it is missing or not text."""
        value = self.field(name)
        return storable(value) if isinstance(value, str) else ""

    def required(self, name: str) -> str:
        """Return a required text field; raises `CallFailed` (``garbage``)."""
        value = self.text(name)
        if not value:
            message = f"the reply has no {name}"
            raise CallFailed(Failure.GARBAGE, message, status=200, body=self.body)
        return value


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the endpoint reports it; a file id is empty until the file exists."""

    id: str
    status: str
    output_file: str = ""
    error_file: str = ""
    total: int = 0
    completed: int = 0
    failed: int = 0


def answer_of(
    headers: Mapping[str, str], content: bytes, milliseconds: int, scrub: Callable[[str], str]
) -> EndpointResponse:
    """Read a 2xx reply.

    Raises
    ------
    CallFailed
        If the reply is an error that was sent with status 200.
    """
    body = scrub(storable(content))
    document = decode(body.encode())
    failure = failure_inside(document, headers, body=body, milliseconds=milliseconds)
    if failure is not None:
        raise failure
    return EndpointResponse(document, body, scrub(headers.get("x-request-id", "")), milliseconds)


def refusal_of(
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    milliseconds: int,
    scrub: Callable[[str], str],
) -> CallFailed:
    """Read a reply with a status of 400 or more."""
    body = scrub(storable(content[:LONGEST_ERROR]))
    document = decode(body.encode())
    return failure_of(status, headers, document, body=body, milliseconds=milliseconds)


def batch_of(answer: EndpointResponse) -> BatchState:
    """Read a batch; raises `CallFailed` (``garbage``) if it is not one."""
    counts = answer.field("request_counts")
    numbers = counts if isinstance(counts, Mapping) else {}
    return BatchState(
        id=answer.required("id"),
        status=answer.required("status"),
        output_file=answer.text("output_file_id"),
        error_file=answer.text("error_file_id"),
        total=_count(numbers.get("total")),
        completed=_count(numbers.get("completed")),
        failed=_count(numbers.get("failed")),
    )


def batch_marked(answer: EndpointResponse, metadata: Mapping[str, str]) -> BatchState | None:
    """Return the first listed batch whose metadata contain all of ``metadata``, or None."""
    listed = answer.field("data")
    for entry in listed if isinstance(listed, list) else []:
        held = entry.get("metadata") if isinstance(entry, Mapping) else None
        if isinstance(held, Mapping) and metadata.items() <= held.items():
            return batch_of(EndpointResponse(entry, "", "", 0))
    return None


def model_names(answer: EndpointResponse) -> list[str]:
    """Return the ids in a list of models; malformed entries are left out."""
    listed = answer.field("data")
    entries = listed if isinstance(listed, list) else []
    ids = [entry.get("id") for entry in entries if isinstance(entry, Mapping)]
    return [storable(name) for name in ids if isinstance(name, str)]


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def reply_of_line(line: Mapping[str, Any] | None) -> ChatReply:
    """Read the result line of one request.

    Parameters
    ----------
    line
        ``{"custom_id": …, "response": {"status_code": 200, "request_id": …, "body": {…}} | null,
        "error": {…} | null}``, or None if the result has no line for the request.

    Raises
    ------
    CallFailed
        ``connection`` for a request that the batch did not process; otherwise as for a single
        reply.
    """
    response = line.get("response") if line else None
    if not isinstance(response, Mapping):
        raise CallFailed(Failure.CONNECTION, "the batch ended without this request")
    document = response.get("body")
    body = storable(json.dumps(document))
    status = response.get("status_code")
    if status != 200:
        code = status if isinstance(status, int) else 500
        raise failure_of(code, {}, document, body=body)
    if failure := failure_inside(document, {}, body=body):
        raise failure
    request_id = response.get("request_id")
    return reply_of(
        document, body=body, request_id=request_id if isinstance(request_id, str) else ""
    )


# Sampling parameters: the two names of the token limit, and the parameter a refusal is about

# In the order in which they are tried: most servers accept the first; reasoning models of some
# providers accept only the second.
TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
SCHEMA = "response_format"
_INVALID = {400, 422}
# A refusal because of a long text concerns that text only; the other requests may still succeed.
_TOO_LONG = re.compile(r"context[ _](?:length|window|size)|maximum context", re.IGNORECASE)
_QUOTES = "['\"`‘’“”]"


def parameter_named(document: Any, names: Iterable[str]) -> str:
    """Return the parameter in ``names`` that an error document is about, or an empty string.

    Parameters
    ----------
    document
        The JSON of a refusal in any form: OpenAI's ``error.param``, the ``loc`` of a schema
        check, or a sentence. In a sentence, a name that is a single plain word must be quoted.
    names
        Names of the parameters sent.

    Examples
    --------
    >>> error = {"message": "Unsupported parameter: 'max_tokens' is not supported."}
    >>> parameter_named({"error": error}, ["temperature", "max_tokens"])
    'max_tokens'
    """
    wanted = sorted(set(names), key=len, reverse=True)
    words = list(_words(document))
    for key, word in words:
        if key in ("param", "loc") and (parameter := _of(word, wanted)):
            return parameter
    text = " ".join(word for key, word in words if key not in ("param", "loc"))
    places = {name: place for name in wanted if (place := _place(name, text)) is not None}
    return min(places, key=lambda name: places[name], default="")


def named(failure: CallFailed, request: ChatRequest) -> CallFailed:
    """Return the failure, or a failure of kind ``parameter`` that names the refused parameter."""
    if failure.kind is not Failure.REQUEST or failure.status not in _INVALID:
        return failure
    if _TOO_LONG.search(f"{failure} {failure.body}"):
        return failure
    document = decode(failure.body)
    sent = [*request.params, *([SCHEMA] if request.schema is not None else [])]
    name = parameter_named(str(failure) if document is None else document, sent)
    if not name:
        return failure
    return CallFailed(
        Failure.PARAMETER,
        f"{name}: {failure}",
        status=failure.status,
        body=failure.body,
        milliseconds=failure.milliseconds,
    )


def _words(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a document with the name of its field."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _words(child, str(name))
    elif isinstance(value, list):
        for child in value:
            yield from _words(child, key)
    elif isinstance(value, str):
        yield key, value


def _of(word: str, names: Iterable[str]) -> str:
    """Return the name at the start of a path such as ``response_format.json_schema``."""
    return next((name for name in names if re.split(r"[.\[]", word)[0] == name), "")


def _place(name: str, text: str) -> int | None:
    word = re.escape(name)
    pattern = rf"\b{word}\b" if "_" in name else f"{_QUOTES}{word}{_QUOTES}"
    match = re.search(pattern, text)
    return match.start() if match else None
