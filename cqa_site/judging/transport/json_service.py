"""Asking a service that answers with JSON, through the guarded transport."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from ..chat import Failure
from ..completions import decode
from .addresses import Allowed
from .connecting import EgressFailed
from .egress import fetch

MAX_BYTES = 32 * 1_048_576


class ServiceFailed(Exception):
    """A service that did not answer with JSON.

    Parameters
    ----------
    kind
        As of `EgressFailed`; ``server`` or ``request`` for a status of 400 or more, ``garbage``
        for a reply that is no JSON.
    message
        For people; says nothing about the network.
    """

    def __init__(self, kind: Failure, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def get_json(
    url: str,
    params: Mapping[str, str] | None = None,
    *,
    allowed: Iterable[Allowed] = (),
    deadline: float = 60.0,
    max_bytes: int = MAX_BYTES,
) -> Any:
    """GET an address once and decode what comes back.

    Parameters
    ----------
    url
        Without a query if there are ``params``.
    params
        Of the query, in any characters.
    allowed
        Networks and ports that may be reached although they are not public.
    deadline
        Seconds for everything together.
    max_bytes
        Largest reply.

    Returns
    -------
    object
        The JSON value as Python's decoder gives it: NaN and lone surrogates may be in it.

    Raises
    ------
    ServiceFailed
        For anything but a reply with a status below 300 and a JSON body.
    """
    asked = f"{url}?{urlencode(params)}" if params else url
    headers = {"Accept": "application/json", "User-Agent": "Counterpoint"}
    try:
        reply = asyncio.run(
            fetch(asked, headers=headers, allowed=allowed, deadline=deadline, max_bytes=max_bytes)
        )
    except EgressFailed as problem:
        raise ServiceFailed(problem.kind, str(problem)) from None
    if reply.status >= 400:
        kind = Failure.SERVER if reply.status >= 500 else Failure.REQUEST
        raise ServiceFailed(kind, f"it answered {reply.status}")
    document = decode(reply.body)
    if document is None:
        raise ServiceFailed(Failure.GARBAGE, "its answer is no JSON")
    return document
