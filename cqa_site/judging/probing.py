"""Finding out what an endpoint honours, by asking it and looking at what comes back.

Servers accept parameters that they then ignore, so a request that is not refused proves
nothing: every answer here rests on a reply that could not have come otherwise.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .chat import CallFailed, ChatClient, ChatReply, ChatRequest, Failure
from .completions import decode

LONGEST_EVIDENCE = 160
_COLOURS = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
# These mean that the endpoint refused this parameter, as long as it answers without it.
_REFUSALS = {Failure.REQUEST, Failure.SERVER, Failure.GARBAGE, Failure.TIMEOUT}


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether something works, and the reply that says so."""

    works: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an endpoint honours.

    Parameters
    ----------
    model
        Name the endpoint answered with.
    json_schema
        Replies keep to a schema that the prompt does not mention.
    seed
        At temperature 1, equal seeds give equal replies and different ones different replies.
    logprobs
        Probabilities of tokens come with the reply.
    n
        Several replies to one request.
    """

    model: str
    json_schema: Finding
    seed: Finding
    logprobs: Finding
    n: Finding

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """``{"json_schema": {"works": True, "evidence": "…"}, …}``, without the model."""
        names = ("json_schema", "seed", "logprobs", "n")
        return {name: dataclasses.asdict(getattr(self, name)) for name in names}


async def probe(
    client: ChatClient,
    model: str,
    *,
    params: Mapping[str, Any] | None = None,
    deadline: float = 60.0,
) -> Capabilities:
    """Ask an endpoint seven tiny questions.

    Parameters
    ----------
    client, model
        Whom to ask.
    params
        Sent with every request; limits the length of replies. ``{"max_tokens": 64}`` if None.
    deadline
        Seconds for each request.

    Raises
    ------
    CallFailed
        If the endpoint does not answer at all, or stops to.
    """
    ask = _Question(client, model, {"max_tokens": 64} if params is None else params, deadline)
    first = await ask("Say hello.")
    return Capabilities(
        model=first.model,
        json_schema=await _json_schema(ask),
        seed=await _seed(ask),
        logprobs=await _logprobs(ask),
        n=await _n(ask),
    )


@dataclass(frozen=True, slots=True)
class _Question:
    client: ChatClient
    model: str
    params: Mapping[str, Any]
    deadline: float

    async def __call__(
        self, text: str, schema: Mapping[str, Any] | None = None, **params: Any
    ) -> ChatReply:
        messages = ({"role": "user", "content": text},)
        asked = {**self.params, **params}
        request = ChatRequest(self.model, messages, asked, schema, self.deadline)
        return await self.client.complete(request)


async def _json_schema(ask: _Question) -> Finding:
    try:
        reply = await ask("Name a tree in one word.", _COLOURS, temperature=0)
    except CallFailed as failure:
        return _refused(failure)
    document = decode(reply.text.encode())
    return Finding(document in ({"colour": "red"}, {"colour": "blue"}), _excerpt(reply.text))


async def _seed(ask: _Question) -> Finding:
    question = "Write ten random words."
    try:
        texts = [(await ask(question, temperature=1, seed=seed)).text for seed in (1, 1, 2)]
    except CallFailed as failure:
        return _refused(failure)
    works = texts[0] == texts[1] != texts[2]
    return Finding(works, " | ".join(_excerpt(text, LONGEST_EVIDENCE // 3) for text in texts))


async def _logprobs(ask: _Question) -> Finding:
    try:
        reply = await ask("Say hello.", logprobs=True, top_logprobs=2)
    except CallFailed as failure:
        return _refused(failure)
    found = _first_choice(reply).get("logprobs")
    tokens = found.get("content") if isinstance(found, Mapping) else None
    works = isinstance(tokens, list) and bool(tokens)
    return Finding(works, _excerpt(str(tokens[0])) if tokens and works else "no probabilities")


async def _n(ask: _Question) -> Finding:
    try:
        reply = await ask("Say hello.", n=2)
    except CallFailed as failure:
        return _refused(failure)
    count = len(_choices(reply))
    return Finding(count == 2, f"{count} of 2 replies")


def _refused(failure: CallFailed) -> Finding:
    if failure.kind not in _REFUSALS:
        raise failure
    return Finding(False, _excerpt(str(failure)))


def _choices(reply: ChatReply) -> list[Any]:
    document = decode(reply.body.encode())
    choices = document.get("choices") if isinstance(document, Mapping) else None
    return choices if isinstance(choices, list) else []


def _first_choice(reply: ChatReply) -> Mapping[str, Any]:
    choices = _choices(reply)
    return choices[0] if choices and isinstance(choices[0], Mapping) else {}


def _excerpt(text: str, longest: int = LONGEST_EVIDENCE) -> str:
    return " ".join(text.split())[:longest]
