"""The scripted client keeps to the protocol of real ones."""

import asyncio

import pytest

from cqa_site.judging.chat import CallFailed, ChatClient, ChatReply, ChatRequest, Failure
from tests.judging.scripted import ScriptedClient, ScriptEnded


def request(text="Oak."):
    return ChatRequest("small", ({"role": "user", "content": text},))


def test_answers_come_in_order_and_requests_are_remembered():
    reply = ChatReply(text="", finish_reason="length")
    client: ChatClient = ScriptedClient(["two", reply, CallFailed(Failure.SERVER, "down")])
    first = asyncio.run(client.complete(request("a")))
    assert first == ChatReply(text="two", finish_reason="stop", model="small")
    assert asyncio.run(client.complete(request("b"))) is reply
    with pytest.raises(CallFailed, match="down") as caught:
        asyncio.run(client.complete(request("c")))
    assert caught.value.kind is Failure.SERVER
    with pytest.raises(ScriptEnded):
        asyncio.run(client.complete(request("d")))
    assert [each.messages[0]["content"] for each in client.requests] == ["a", "b", "c", "d"]
    assert client.in_flight == 0


def test_a_function_answers_from_the_request():
    async def later(asked):
        await asyncio.sleep(0)
        return asked.messages[0]["content"] * 2

    for respond in (lambda asked: asked.messages[0]["content"] * 2, later):
        assert asyncio.run(ScriptedClient(respond).complete(request("ab"))).text == "abab"


def test_requests_in_flight_are_counted():
    async def together():
        client = ScriptedClient(lambda asked: "x", latency=0.01)
        await asyncio.gather(*(client.complete(request()) for _ in range(5)))
        return client

    client = asyncio.run(together())
    assert (client.most_in_flight, client.in_flight, len(client.requests)) == (5, 0, 5)


def test_a_closed_client_answers_nothing():
    async def close_then_ask():
        client = ScriptedClient(["x"])
        await client.close()
        assert client.is_closed
        await client.complete(request())

    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(close_then_ask())
