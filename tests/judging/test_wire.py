"""Connections that are used again never mix replies, and big bodies never fill the memory."""

import asyncio
import contextlib
import hashlib
import socket
import time

import httpx2
import pytest

from cqa_site.judging.chat import Failure
from cqa_site.judging.transport import connections as wire, egress

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n%d"
LAST = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\n%d"
HINTS = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
GONE = b"HTTP/1.1 408 Gone\r\ncontent-length: 0\r\n\r\n"


class Server:
    """Calls ``answer(reader, writer, place)`` for every request it has the head of."""

    def __init__(self, answer):
        self._answer = answer
        self.connections = self.requests = 0

    async def _serve(self, reader, writer):
        self.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                self.head = await reader.readuntil(b"\r\n\r\n")
                self.requests += 1
                await self._answer(reader, writer, self.requests)
        writer.close()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.allowed = [egress.AllowedNetwork("127.0.0.1", self.port)]
        return self

    async def __aexit__(self, *_exc):
        self._server.close()


async def plain(reader, writer, place):
    writer.write(OK % place)


def replies(answer, *, times=3, between=lambda server: asyncio.sleep(0.02), **options):
    """Bodies of so many requests in a row, and how many connections they took."""

    async def run():
        async with Server(answer) as server:
            transport, bodies = egress.GuardedTransport(server.allowed, **options), []
            for _ in range(times):
                got = await transport.exchange("GET", server.url, headers={}, deadline=2)
                bodies.append(got.body)
                await between(server)
            await transport.aclose()
            return bodies, server.connections

    return asyncio.run(run())


THREE = [b"1", b"2", b"3"]


async def hung_up(reader, writer, place):
    writer.write(OK % place)
    writer.close()


async def goodbye(reader, writer, place):
    writer.write(LAST % place)


async def hinted(reader, writer, place):
    writer.write(HINTS + OK % place)


def test_one_connection_does_for_requests_in_a_row_until_one_side_ends_it(monkeypatch):
    for answer, connections in ((plain, 1), (hinted, 1), (hung_up, 3), (goodbye, 3)):
        assert replies(answer) == (THREE, connections)
    # One that rested long is given up.
    monkeypatch.setattr(wire, "LONGEST_IDLE", 0.01)
    assert replies(plain) == (THREE, 3)


@pytest.mark.parametrize("second", [OK % 9, GONE, b"?"])
@pytest.mark.parametrize("wait", [0, 0.01])
def test_what_nobody_asked_for_is_no_reply_to_the_next_request(second, wait):
    async def answer(reader, writer, place):
        writer.write(OK % place + (b"" if wait else second))
        if wait:
            await asyncio.sleep(wait)
            writer.write(second)

    assert replies(answer, between=lambda server: asyncio.sleep(0.05)) == (THREE, 3)


def test_a_server_that_hung_up_unnoticed_is_called_again():
    async def run():
        listener, loop = socket.create_server(("127.0.0.1", 0)), asyncio.get_running_loop()
        listener.setblocking(False)
        port = listener.getsockname()[1]
        transport = egress.GuardedTransport([egress.AllowedNetwork("127.0.0.1", port)])
        for place in (1, 2, 3):
            asked = asyncio.ensure_future(
                transport.exchange("GET", f"http://127.0.0.1:{port}", headers={}, deadline=2)
            )
            async with asyncio.timeout(5):
                server, _ = await loop.sock_accept(listener)
            await loop.sock_sendall(server, OK % place)
            assert (await asked).body == b"%d" % place
            server.close()
            time.sleep(0.02)
        await transport.aclose()
        listener.close()

    asyncio.run(run())


def test_an_abandoned_request_takes_its_connection_along():
    async def answer(reader, writer, place):
        if place == 1:
            await asyncio.sleep(0.2)
        writer.write(OK % place)

    async def run():
        async with Server(answer) as server:
            transport = egress.GuardedTransport(server.allowed)
            ask = lambda seconds: transport.exchange(  # noqa: E731
                "GET", server.url, headers={}, deadline=seconds
            )
            with pytest.raises(egress.EgressFailed) as problem:
                await ask(0.1)
            assert problem.value.kind is Failure.TIMEOUT
            given_up = asyncio.ensure_future(ask(2))
            await asyncio.sleep(0)
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up
            await asyncio.sleep(0.2)
            assert (await ask(2)).body == b"%d" % server.requests
            await transport.aclose()

    asyncio.run(run())


def test_replies_closed_twice_or_not_read_to_their_end_give_nothing_back_twice():
    async def run():
        async with Server(plain) as server:
            async with egress.guarded_client(server.allowed) as client:
                first = await client.get(server.url)
                await first.stream.aclose()
                second = client.build_request("GET", server.url)
                third = client.build_request("GET", server.url)
                both = await asyncio.gather(client.send(second), client.send(third))
            return {first.content, *(one.content for one in both)}, server.connections

    assert asyncio.run(run()) == ({b"1", b"2", b"3"}, 2)

    async def answer(reader, writer, place):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab")

    async def run():
        async with Server(answer) as server, egress.guarded_client(server.allowed) as client:
            for _ in range(2):
                async with client.stream("GET", server.url) as reply:
                    assert await anext(reply.aiter_raw()) == b"ab"
            return server.connections

    assert asyncio.run(run()) == 2


class Slow(httpx2.AsyncByteStream):
    def __init__(self, part, times):
        self.part, self.times, self.sent = part, times, 0

    async def __aiter__(self):
        for _ in range(self.times):
            self.sent += 1
            yield self.part


def test_a_big_body_leaves_as_fast_as_it_is_taken():
    sent = Slow(b"x" * 65_536, 320)
    size = sent.times * len(sent.part)
    held = []

    async def answer(reader, writer, place):
        await asyncio.sleep(0.2)
        held.append(sent.sent)
        body = await reader.readexactly(size)
        digest = hashlib.sha256(body).hexdigest().encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 64\r\n\r\n" + digest)

    async def run():
        async with Server(answer) as server, egress.guarded_client(server.allowed) as client:
            headers = {"Content-Length": str(size)}
            return await client.post(server.url, content=sent, headers=headers, timeout=20)

    assert asyncio.run(run()).text == hashlib.sha256(b"x" * size).hexdigest()
    assert held[0] < sent.times / 2


def test_why_a_server_hung_up_early_is_read():
    async def answer(reader, writer, place):
        writer.write(b"HTTP/1.1 413 No\r\ncontent-length: 3\r\nconnection: close\r\n\r\nbig")
        await asyncio.sleep(0.1)
        writer.close()

    async def run():
        sent = Slow(b"x" * 65_536, 3_000)
        async with Server(answer) as server, egress.guarded_client(server.allowed) as client:
            headers = {"Content-Length": str(sent.times * len(sent.part))}
            reply = await client.post(server.url, content=sent, headers=headers, timeout=20)
            return reply.status_code, reply.content, sent.sent < sent.times

    assert asyncio.run(run()) == (413, b"big", True)


def test_a_big_reply_arrives_as_fast_as_it_is_taken():
    part, times, written = b"x" * 65_536, 1_000, []

    async def answer(reader, writer, place):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (times * len(part)))
        for _ in range(times):
            writer.write(part)
            await writer.drain()
            written.append(1)

    async def read(client, url):
        async with client, client.stream("GET", url, timeout=20) as reply:
            parts = reply.aiter_raw()
            size = len(await anext(parts))
            await asyncio.sleep(0.2)
            ahead = len(written)
            return ahead, size + sum([len(one) async for one in parts])

    async def run():
        async with Server(answer) as server:
            client = egress.guarded_client(server.allowed, max_bytes=times * len(part))
            return await read(client, server.url)

    ahead, size = asyncio.run(run())
    assert ahead < times / 2
    assert size == times * len(part)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"content-encoding: identity\r\ncontent-encoding: gzip", Failure.TOO_LARGE),
        (b"content-length: " + b"9" * 15, Failure.TOO_LARGE),
        (b"content-length: " + b"9" * 5000, Failure.CONNECTION),
    ],
    ids=["a second encoding", "15 digits", "5,000 digits"],
)
def test_heads_beyond_reading_are_refused(head, kind):
    async def answer(reader, writer, place):
        writer.write(b"HTTP/1.1 200 OK\r\n%b\r\n\r\n" % head)

    with pytest.raises(egress.EgressFailed) as problem:
        replies(answer)
    assert problem.value.kind is kind
