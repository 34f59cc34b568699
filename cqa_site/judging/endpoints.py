"""Capabilities of an endpoint, and estimates of the tokens and costs of requests."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from typing import Any

from .chat import CallFailed, ChatClient, ChatReply, ChatRequest, Failure, decode, ordered_json
from .endpoint_responses import TOKEN_LIMITS
from .extraction import ReplyNotUsable, without_reasoning
from .rate_limits import is_repeatable, most_paid

# Tests of which parameters an endpoint respects
#
# Servers accept parameters and then ignore them, so an accepted request proves nothing. Each
# finding here rests on a reply that would be different if the parameter were ignored.

LONGEST_EVIDENCE = 160
# Token limits: to cut a reply, for a short answer, and for a short answer after reasoning.
SHORT, ROOM, ROOM_TO_THINK = 16, 64, 2_000
ROOM_TO_ANSWER = 400
# Small models sometimes end a long task after a few words.
TRIES = 3
_COLOURS = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
# These mean that the endpoint refused the parameter, provided that it answers without it.
_REFUSALS = {Failure.REQUEST, Failure.SERVER, Failure.GARBAGE, Failure.TIMEOUT}


@dataclass(frozen=True, slots=True)
class EndpointFinding:
    """Whether a feature works, and the reply that shows it.

    ``refused`` is true if the endpoint refused the request rather than ignoring the parameter.
    ``parameter`` is the name of the request parameter if names differ between servers. For a model
    that reasons first, ``proposed`` is the token limit that a short answer needs; otherwise 0.
    """

    works: bool
    evidence: str
    refused: bool = False
    parameter: str = ""
    proposed: int = 0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Features that an endpoint supports.

    Parameters
    ----------
    model
        Model name that the endpoint returned.
    token_limit
        The endpoint respects the limit. ``parameter`` is the name to send: the first of
        `TOKEN_LIMITS` that cut a reply, otherwise the first that was not refused.
    temperature
        The endpoint accepts a temperature of 0, which some reasoning models refuse.
    json_schema
        Replies follow a schema that the prompt does not mention.
    seed
        At temperature 1, the same seed gives the same reply, and different seeds give different
        replies.
    logprobs
        Replies include token probabilities.
    n
        The endpoint can return several replies to one request.
    """

    model: str
    token_limit: EndpointFinding
    temperature: EndpointFinding
    json_schema: EndpointFinding
    seed: EndpointFinding
    logprobs: EndpointFinding
    n: EndpointFinding

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return ``{"json_schema": {"works": True, "evidence": "…"}, …}``, without the model."""
        names = ("token_limit", "temperature", "json_schema", "seed", "logprobs", "n")
        return {name: dataclasses.asdict(getattr(self, name)) for name in names}


async def probe(client: ChatClient, model: str, *, deadline: float = 60.0) -> Capabilities:
    """Send an endpoint eight tiny requests, and a ninth if the usual token limit fails.

    Parameters
    ----------
    client, model
        Client and model to test.
    deadline
        Time limit for each request, in seconds.

    Raises
    ------
    CallFailed
        If the endpoint does not answer, or stops answering.
    """
    first, limit = await _token_limit(_Question(client, model, {}, deadline))
    # A model that reasons first has not begun its answer when a short limit cuts the reply.
    does_think = _thinks(first.text)
    room = ROOM_TO_THINK if does_think else ROOM
    ask = _Question(client, model, {limit.parameter: room}, deadline)
    temperature = await _temperature(ask)
    ask = dataclasses.replace(ask, takes_temperature=not temperature.refused)
    capabilities = Capabilities(
        model=first.model,
        token_limit=limit,
        temperature=temperature,
        json_schema=await _json_schema(ask),
        seed=await _seed(ask),
        logprobs=await _logprobs(ask),
        n=await _n(ask),
    )
    if not does_think:
        return capabilities
    # Some questions need longer reasoning than these.
    proposed = max(ROOM_TO_THINK, ROOM_TO_ANSWER + 2 * max(ask.used, default=0))
    limit = dataclasses.replace(limit, proposed=proposed)
    return dataclasses.replace(capabilities, token_limit=limit)


def _thinks(text: str) -> bool:
    """Return whether a reply that was cut early contains no answer yet."""
    try:
        return not without_reasoning(text).strip()
    except ReplyNotUsable:
        return True


@dataclass(frozen=True, slots=True)
class _Question:
    client: ChatClient
    model: str
    params: Mapping[str, Any]
    deadline: float
    takes_temperature: bool = True
    # Tokens of each reply.
    used: list[int] = field(default_factory=list)

    async def __call__(
        self, text: str, schema: Mapping[str, Any] | None = None, **params: Any
    ) -> ChatReply:
        messages = ({"role": "user", "content": text},)
        options = {**self.params, **params}
        if not self.takes_temperature:
            options.pop("temperature", None)
        request = ChatRequest(self.model, messages, options, schema, self.deadline)
        reply = await self.client.complete(request)
        self.used.append(reply.tokens_out or 0)
        return reply


async def _token_limit(ask: _Question) -> tuple[ChatReply, EndpointFinding]:
    """Return the first reply and the accepted token limit; raises if all names are refused."""
    ignored: tuple[ChatReply, EndpointFinding] | None = None
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
        evidence = [*map(str, refusals), f"{name}={SHORT}: {_cut_or_not(reply, is_cut)}"]
        finding = EndpointFinding(
            is_cut, _excerpt("; ".join(evidence), 2 * LONGEST_EVIDENCE), parameter=name
        )
        if is_cut:
            return reply, finding
        ignored = ignored or (reply, finding)
    if ignored is None:
        raise refusals[0]
    return ignored


async def _long_reply(ask: _Question, name: str) -> ChatReply:
    """Return the reply to a limited request; try again if the reply ends before the limit."""
    limit: dict[str, Any] = {name: SHORT}
    for _ in range(TRIES):
        reply = await ask("Count from one to two hundred in words.", **limit)
        if reply.finish_reason == "length" or not 0 < (reply.tokens_out or 0) < SHORT:
            break
    return reply


def _cut_or_not(reply: ChatReply, is_cut: bool) -> str:
    excerpt = f"“{_excerpt(reply.text, 40)}”" if reply.text.strip() else "a reply without text"
    return f"{excerpt}, {'cut' if is_cut else 'not cut'}"


async def _temperature(ask: _Question) -> EndpointFinding:
    try:
        reply = await ask("Say hello.", temperature=0)
    except CallFailed as failure:
        return _refused(failure)
    return EndpointFinding(True, f"temperature=0: {_excerpt(reply.text)}")


async def _json_schema(ask: _Question) -> EndpointFinding:
    try:
        reply = await ask("Name a tree in one word.", _COLOURS, temperature=0)
    except CallFailed as failure:
        return _refused(failure)
    document = decode(reply.text.encode())
    return EndpointFinding(
        document in ({"colour": "red"}, {"colour": "blue"}), _excerpt(reply.text)
    )


async def _seed(ask: _Question) -> EndpointFinding:
    question = "Write ten random words."
    try:
        texts = [(await ask(question, temperature=1, seed=seed)).text for seed in (1, 1, 2)]
    except CallFailed as failure:
        return _refused(failure)
    works = texts[0] == texts[1] != texts[2]
    return EndpointFinding(
        works, " | ".join(_excerpt(text, LONGEST_EVIDENCE // 3) for text in texts)
    )


async def _logprobs(ask: _Question) -> EndpointFinding:
    try:
        reply = await ask("Say hello.", logprobs=True, top_logprobs=2)
    except CallFailed as failure:
        return _refused(failure)
    probabilities = _first_choice(reply).get("logprobs")
    tokens = probabilities.get("content") if isinstance(probabilities, Mapping) else None
    works = isinstance(tokens, list) and bool(tokens)
    return EndpointFinding(
        works, _excerpt(str(tokens[0])) if tokens and works else "no probabilities"
    )


async def _n(ask: _Question) -> EndpointFinding:
    try:
        reply = await ask("Say hello.", n=2)
    except CallFailed as failure:
        return _refused(failure)
    count = len(_choices(reply))
    return EndpointFinding(count == 2, f"{count} of 2 replies")


def _refused(failure: CallFailed) -> EndpointFinding:
    if failure.kind not in _REFUSALS:
        raise failure
    return EndpointFinding(False, _excerpt(str(failure)), refused=failure.kind is Failure.REQUEST)


def _choices(reply: ChatReply) -> list[Any]:
    document = decode(reply.body.encode())
    choices = document.get("choices") if isinstance(document, Mapping) else None
    return choices if isinstance(choices, list) else []


def _first_choice(reply: ChatReply) -> Mapping[str, Any]:
    choices = _choices(reply)
    return choices[0] if choices and isinstance(choices[0], Mapping) else {}


def _excerpt(text: str, longest: int = LONGEST_EVIDENCE) -> str:
    return " ".join(text.split())[:longest]


# Estimates of tokens and costs before requests are sent
#
# The estimate is deliberately high: it is shown before a run and checked against its budget, where
# underestimating does more harm than overestimating. Replies report the actual usage.

CHARACTERS_PER_TOKEN = 3
BYTES_PER_TOKEN = 2
TOKENS_PER_MESSAGE = 4
TOKENS_PER_REQUEST = 3


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Estimate for a set of requests; costs are in millionths of the prices' currency.

    ``cost_micro`` counts every request once; ``most_micro`` counts as many paid requests as the
    retry table allows.
    """

    requests: int
    tokens_in: int
    tokens_out: int
    cost_micro: int
    most_micro: int = 0


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens in a text, rounded up.

    Count one token per `CHARACTERS_PER_TOKEN` ASCII characters (English prose needs fewer tokens;
    names, figures and punctuation do not), and one per `BYTES_PER_TOKEN` bytes of UTF-8 outside
    ASCII, because vocabularies contain fewer whole words of other scripts.

    Examples
    --------
    >>> estimate_tokens("Oak is harder than pine."), estimate_tokens("дуб"), estimate_tokens("")
    (8, 3, 0)
    """
    characters = len(text.encode("ascii", "ignore"))
    other_bytes = len(text.encode("utf-8", "replace")) - characters
    return -(-characters // CHARACTERS_PER_TOKEN) + -(-other_bytes // BYTES_PER_TOKEN)


def estimate_messages(messages: Iterable[Mapping[str, str]]) -> int:
    """Estimate the tokens of a conversation, including the markup that the chat template adds."""
    sizes = [TOKENS_PER_MESSAGE + estimate_tokens(message["content"]) for message in messages]
    return TOKENS_PER_REQUEST + sum(sizes)


def cost_micro(tokens_in: int, tokens_out: int, *, price_in: Decimal, price_out: Decimal) -> int:
    """Return the cost in millionths of a currency unit, rounded up.

    Parameters
    ----------
    tokens_in, tokens_out
        Token counts, at least 0.
    price_in, price_out
        Currency units per million tokens or, equivalently, millionths of a unit per token.

    Examples
    --------
    >>> cost_micro(1000, 50, price_in=Decimal("0.15"), price_out=Decimal("0.60"))
    180
    """
    if any(number < 0 for number in (tokens_in, tokens_out, price_in, price_out)):
        raise ValueError("tokens and prices cannot be negative")
    cost = tokens_in * price_in + tokens_out * price_out
    return int(cost.to_integral_value(rounding=ROUND_CEILING))


def estimate(
    requests: Iterable[ChatRequest],
    *,
    price_in: Decimal,
    price_out: Decimal,
    tokens_per_reply: int | None = None,
) -> CostEstimate:
    """Return the estimated total tokens and costs of requests.

    Parameters
    ----------
    requests
        Requests as they would be sent; a generator is accepted.
    price_in, price_out
        Currency units per million tokens.
    tokens_per_reply
        Measured tokens per reply. If None, the token limit of each request is used, which is the
        maximum for a reply.

    Raises
    ------
    ValueError
        If a request has no token limit and ``tokens_per_reply`` is None, so that its cost has no
        upper limit.
    """
    count = tokens_in = tokens_out = most = 0
    prices = {"price_in": price_in, "price_out": price_out}
    for request in requests:
        count += 1
        sent = estimate_messages(request.messages)
        if request.schema is not None:
            # Some servers add the schema to the prompt.
            sent += estimate_tokens(ordered_json(request.schema))
        received = _reply_tokens(request, tokens_per_reply)
        tokens_in, tokens_out = tokens_in + sent, tokens_out + received
        requests_paid, limits = most_paid(is_repeatable=is_repeatable(request.params))
        # The cost of every paid request is rounded up.
        rounded = requests_paid if price_in or price_out else 0
        most += cost_micro(requests_paid * sent, limits * received, **prices) + rounded
    return CostEstimate(
        count, tokens_in, tokens_out, cost_micro(tokens_in, tokens_out, **prices), most
    )


def _reply_tokens(request: ChatRequest, measured: int | None) -> int:
    limits = [int(request.params[name]) for name in TOKEN_LIMITS if request.params.get(name)]
    if not limits and measured is None:
        raise ValueError("a request without a token limit has no maximum cost")
    return min([*limits, *([] if measured is None else [measured])])
