"""Failed, cut and drafted replies over the wire: a label that was said, or the reason for none."""

import asyncio

import pytest

from cqa_site.judging.chat import CallFailed, ChatRequest
from cqa_site.judging.reply_parsing import (
    ReplyNotUsable,
    UnscoredReason,
    parse_prose,
    parse_single,
)
from cqa_site.judging.transport.egress import AllowedNetwork
from cqa_site.judging.transport.openai_client import OpenAIClient

from .bad_replies import SHAPES, sent, told
from .llmstub import StubServer

SCALE = range(4)
REQUEST = ChatRequest("stub-1", ({"role": "user", "content": "x"},), {"max_tokens": 50}, None, 10)


@pytest.fixture(scope="module")
def ask():
    """Ask a server that sends one body, whatever it is asked."""
    bodies: list[bytes] = []
    with StubServer(answer=lambda request: bodies[-1]) as stub:

        async def complete():
            client = OpenAIClient(stub.base_url, "", [AllowedNetwork("127.0.0.1", stub.port)])
            try:
                return await client.complete(REQUEST)
            finally:
                await client.close()

        def answer(body: bytes):
            bodies.append(body)
            return asyncio.run(complete())

        yield answer


def worth(ask, body: bytes):
    """The label of a body, or why there is none."""
    try:
        reply = ask(body)
    except CallFailed as failure:
        return failure.kind
    try:
        return parse_single(reply.text, reply.finish_reason, SCALE, refusal=reply.refusal).value
    except ReplyNotUsable as problem:
        return problem.reason


@pytest.mark.parametrize("name", SHAPES)
def test_a_reply_gives_the_label_it_says_or_a_reason(name, ask):
    shape = SHAPES[name]
    assert worth(ask, shape.body) == shape.expected


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_no_whole_text_is_no_text(name, ask):
    try:
        reply = ask(SHAPES[name].body)
        text = parse_prose(reply.text, reply.finish_reason, refusal=reply.refusal)
    except (CallFailed, ReplyNotUsable):
        return
    # Words that hold no usable label are a text all the same; a draft in marks is not.
    assert SHAPES[name].expected not in (
        UnscoredReason.UNFINISHED,
        UnscoredReason.REFUSED,
        UnscoredReason.EMPTY,
    )
    assert "in words" in name or not (name.startswith("draft") and "3" in text)


@pytest.mark.parametrize("finish", ["", None, "quux", "abort", "length", "content_filter"])
def test_a_text_is_whole_where_the_endpoint_says_so(finish, ask):
    def read(finish):
        reply = ask(sent(told("Tea wins.", finish)))
        return parse_prose(reply.text, reply.finish_reason, refusal=reply.refusal)

    with pytest.raises((CallFailed, ReplyNotUsable)):
        read(finish)
    assert read("stop") == "Tea wins."
