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
from .parameters import TOKEN_LIMITS

LONGEST_EVIDENCE = 160
# Tokens: to be cut, for a short answer, and for a short answer after some thinking.
SHORT, ROOM, ROOM_TO_THINK = 16, 64, 2_000
# Small models sometimes end a long task after a few words.
TRIES = 3
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
    """Whether something works, and the reply that says so.

    ``refused`` if asking for it was refused, which is more than being ignored. ``parameter`` is
    what it is asked for with, where that is not the same everywhere.
    """

    works: bool
    evidence: str
    refused: bool = False
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an endpoint honours.

    Parameters
    ----------
    model
        Name the endpoint answered with.
    token_limit
        Replies are cut where they are told to be; its ``parameter`` is what to send: the first of
        `TOKEN_LIMITS` that cut a reply, else the first that was not refused.
    temperature
        A temperature of 0 is not refused, as some reasoning models do.
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
    token_limit: Finding
    temperature: Finding
    json_schema: Finding
    seed: Finding
    logprobs: Finding
    n: Finding

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """``{"json_schema": {"works": True, "evidence": "…"}, …}``, without the model."""
        names = ("token_limit", "temperature", "json_schema", "seed", "logprobs", "n")
        return {name: dataclasses.asdict(getattr(self, name)) for name in names}


async def probe(client: ChatClient, model: str, *, deadline: float = 60.0) -> Capabilities:
    """Ask an endpoint eight tiny questions, and a ninth where the usual token limit fails.

    Parameters
    ----------
    client, model
        Whom to ask.
    deadline
        Seconds for each request.

    Raises
    ------
    CallFailed
        If the endpoint does not answer at all, or stops to.
    """
    first, limit = await _token_limit(_Question(client, model, {}, deadline))
    # A model that thinks first has nothing said yet when a short limit cuts it.
    room = ROOM if first.text.strip() else ROOM_TO_THINK
    ask = _Question(client, model, {limit.parameter: room}, deadline)
    temperature = await _temperature(ask)
    ask = dataclasses.replace(ask, takes_temperature=not temperature.refused)
    return Capabilities(
        model=first.model,
        token_limit=limit,
        temperature=temperature,
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
    takes_temperature: bool = True

    async def __call__(
        self, text: str, schema: Mapping[str, Any] | None = None, **params: Any
    ) -> ChatReply:
        messages = ({"role": "user", "content": text},)
        asked = {**self.params, **params}
        if not self.takes_temperature:
            asked.pop("temperature", None)
        request = ChatRequest(self.model, messages, asked, schema, self.deadline)
        return await self.client.complete(request)


async def _token_limit(ask: _Question) -> tuple[ChatReply, Finding]:
    """The first reply, and by which name a limit cuts it; raises if no name is taken at all."""
    ignored: tuple[ChatReply, Finding] | None = None
    refusals: list[CallFailed] = []
    for name in TOKEN_LIMITS:
        try:
            reply = await _long_reply(ask, name)
        except CallFailed as failure:
            if failure.kind is not Failure.REQUEST:
                raise
            refusals.append(failure)
            continue
        is_cut = reply.finish_reason == "length" or reply.tokens_out == SHORT
        said = [*map(str, refusals), f"{name}={SHORT}: {_cut_or_not(reply, is_cut)}"]
        found = Finding(is_cut, _excerpt("; ".join(said), 2 * LONGEST_EVIDENCE), parameter=name)
        if is_cut:
            return reply, found
        ignored = ignored or (reply, found)
    if ignored is None:
        raise refusals[0]
    return ignored


async def _long_reply(ask: _Question, name: str) -> ChatReply:
    """A reply to a limit; one that ended before it shows nothing, so it is asked for again."""
    limit: dict[str, Any] = {name: SHORT}
    for _ in range(TRIES):
        reply = await ask("Count from one to two hundred in words.", **limit)
        if reply.finish_reason == "length" or not 0 < (reply.tokens_out or 0) < SHORT:
            break
    return reply


def _cut_or_not(reply: ChatReply, is_cut: bool) -> str:
    said = f"“{_excerpt(reply.text, 40)}”" if reply.text.strip() else "a reply without text"
    return f"{said}, {'cut' if is_cut else 'not cut'}"


async def _temperature(ask: _Question) -> Finding:
    try:
        reply = await ask("Say hello.", temperature=0)
    except CallFailed as failure:
        return _refused(failure)
    return Finding(True, f"temperature=0: {_excerpt(reply.text)}")


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
    return Finding(False, _excerpt(str(failure)), refused=failure.kind is Failure.REQUEST)


def _choices(reply: ChatReply) -> list[Any]:
    document = decode(reply.body.encode())
    choices = document.get("choices") if isinstance(document, Mapping) else None
    return choices if isinstance(choices, list) else []


def _first_choice(reply: ChatReply) -> Mapping[str, Any]:
    choices = _choices(reply)
    return choices[0] if choices and isinstance(choices[0], Mapping) else {}


def _excerpt(text: str, longest: int = LONGEST_EVIDENCE) -> str:
    return " ".join(text.split())[:longest]
