"""One line of a provider batch's result: a chat completion, or why there is none."""

import json
from collections.abc import Mapping
from typing import Any

from .chat import CallFailed, ChatReply, Failure
from .completions import reply_of, storable
from .transport.refusals import failure_of


def reply_of_line(line: Mapping[str, Any] | None) -> ChatReply:
    """Read the line of one request.

    Parameters
    ----------
    line
        ``{"custom_id": …, "response": {"status_code": 200, "request_id": …, "body": {…}} | null,
        "error": {…} | null}``, or None if the result has no line for the request.

    Raises
    ------
    CallFailed
        ``connection`` for a request the batch did not get to; otherwise as for a reply that
        came by itself.
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
    request_id = response.get("request_id")
    return reply_of(
        document, body=body, request_id=request_id if isinstance(request_id, str) else ""
    )
