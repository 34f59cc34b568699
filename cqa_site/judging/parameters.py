"""Sampling parameters: the two names of the token limit, and which one a refusal is about."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .chat import CallFailed, ChatRequest, Failure
from .completions import decode

# In the order in which they are tried: most servers know the first, reasoning models of some
# providers take only the second.
TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
SCHEMA = "response_format"
_INVALID = {400, 422}
# Too long a text concerns that text; no other parameter would help the rest of the run.
_TOO_LONG = re.compile(r"context[ _](?:length|window|size)|maximum context", re.IGNORECASE)
_QUOTES = "['\"`‘’“”]"


def parameter_named(document: Any, names: Iterable[str]) -> str:
    """The parameter that an error document is about; empty if it names none of ``names``.

    Parameters
    ----------
    document
        The JSON of a refusal, of any shape: OpenAI's ``error.param``, the ``loc`` of a schema
        check, or a sentence. A name of one plain word has to stand in quotes there.
    names
        What was sent.

    Examples
    --------
    >>> error = {"message": "Unsupported parameter: 'max_tokens' is not supported."}
    >>> parameter_named({"error": error}, ["temperature", "max_tokens"])
    'max_tokens'
    """
    wanted = sorted(set(names), key=len, reverse=True)
    words = list(_words(document))
    for key, word in words:
        if key in ("param", "loc") and (found := _of(word, wanted)):
            return found
    text = " ".join(word for key, word in words if key not in ("param", "loc"))
    places = {name: place for name in wanted if (place := _place(name, text)) is not None}
    return min(places, key=lambda name: places[name], default="")


def named(failure: CallFailed, request: ChatRequest) -> CallFailed:
    """The same failure, as ``parameter`` with the name first if it refuses one that was sent."""
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
    """Every text of a document with the name it stands under."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _words(child, str(name))
    elif isinstance(value, list):
        for child in value:
            yield from _words(child, key)
    elif isinstance(value, str):
        yield key, value


def _of(word: str, names: Iterable[str]) -> str:
    """The name that a place such as ``response_format.json_schema`` begins with."""
    return next((name for name in names if re.split(r"[.\[]", word)[0] == name), "")


def _place(name: str, text: str) -> int | None:
    word = re.escape(name)
    pattern = rf"\b{word}\b" if "_" in name else f"{_QUOTES}{word}{_QUOTES}"
    found = re.search(pattern, text)
    return found.start() if found else None
