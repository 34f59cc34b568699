"""How many tokens requests will take and what they will cost, before anything is sent.

The estimate leans upwards: it is shown before a run and checked against its budget, where
too low a figure hurts more than too high a one. What was really used comes from the replies.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from .chat import ChatRequest
from .identity import ordered_json
from .parameters import TOKEN_LIMITS

CHARACTERS_PER_TOKEN = 3
BYTES_PER_TOKEN = 2
TOKENS_PER_MESSAGE = 4
TOKENS_PER_REQUEST = 3


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a set of requests comes to; the cost is in millionths of the prices' currency."""

    requests: int
    tokens_in: int
    tokens_out: int
    cost_micro: int


def estimate_tokens(text: str) -> int:
    """Tokens of a text, rounded up.

    A token for every `CHARACTERS_PER_TOKEN` ASCII characters (English prose needs fewer tokens;
    names, figures and punctuation do not), and one for every
    `BYTES_PER_TOKEN` bytes of UTF-8 outside ASCII, where vocabularies hold fewer whole words.

    Examples
    --------
    >>> estimate_tokens("Oak is harder than pine."), estimate_tokens("дуб"), estimate_tokens("")
    (8, 3, 0)
    """
    characters = len(text.encode("ascii", "ignore"))
    other_bytes = len(text.encode("utf-8", "replace")) - characters
    return -(-characters // CHARACTERS_PER_TOKEN) + -(-other_bytes // BYTES_PER_TOKEN)


def estimate_messages(messages: Iterable[Mapping[str, str]]) -> int:
    """Tokens of a conversation with the marks chat templates put around each message."""
    sizes = [TOKENS_PER_MESSAGE + estimate_tokens(message["content"]) for message in messages]
    return TOKENS_PER_REQUEST + sum(sizes)


def cost_micro(tokens_in: int, tokens_out: int, *, price_in: Decimal, price_out: Decimal) -> int:
    """Cost in millionths of a currency unit, rounded up.

    Parameters
    ----------
    tokens_in, tokens_out
        At least 0.
    price_in, price_out
        Currency units per million tokens, which is millionths per token.

    Examples
    --------
    >>> cost_micro(1000, 50, price_in=Decimal("0.15"), price_out=Decimal("0.60"))
    180
    """
    if any(each < 0 for each in (tokens_in, tokens_out, price_in, price_out)):
        raise ValueError("tokens and prices are never negative")
    cost = tokens_in * price_in + tokens_out * price_out
    return int(cost.to_integral_value(rounding=ROUND_CEILING))


def estimate(
    requests: Iterable[ChatRequest],
    *,
    price_in: Decimal,
    price_out: Decimal,
    tokens_per_reply: int | None = None,
) -> Estimate:
    """Add up requests.

    Parameters
    ----------
    requests
        As they would be sent; read once, so a generator will do.
    price_in, price_out
        Currency units per million tokens.
    tokens_per_reply
        What a reply takes where that was measured. None takes every request's own limit,
        the most it can cost.

    Raises
    ------
    ValueError
        If a request has no limit and no measure is given: its cost has no bound.
    """
    count = tokens_in = tokens_out = 0
    for request in requests:
        count += 1
        tokens_in += estimate_messages(request.messages)
        if request.schema is not None:
            # Some servers put the schema into the prompt.
            tokens_in += estimate_tokens(ordered_json(request.schema))
        tokens_out += _reply_tokens(request, tokens_per_reply)
    cost = cost_micro(tokens_in, tokens_out, price_in=price_in, price_out=price_out)
    return Estimate(count, tokens_in, tokens_out, cost)


def _reply_tokens(request: ChatRequest, measured: int | None) -> int:
    limits = [int(request.params[name]) for name in TOKEN_LIMITS if request.params.get(name)]
    if not limits and measured is None:
        raise ValueError("a request without a token limit has no largest cost")
    return min([*limits, *([] if measured is None else [measured])])
