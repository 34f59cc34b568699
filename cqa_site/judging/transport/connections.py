"""HTTP/1.1 connections to checked addresses, reused for later requests."""

import asyncio
import select
import socket
import ssl
import time
from collections import deque
from collections.abc import AsyncIterable
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import cast

import h11
import httpcore2

from ..chat import Failure
from .addresses import Address, AllowedNetwork, is_listed, is_permitted

# HTTP/1.1 connection that carries one request at a time
#
# h11 implements the protocol and decides whether a connection can be reused; this class transfers
# the bytes and waits for them.

# Seconds until a reusable connection is closed, so that the next one's address is checked again.
LONGEST_LIFE = 60.0
# Shorter than the time for which servers keep an idle connection (many: 5 s, some: 2 s). A request
# sent just as the server closes it would be lost, perhaps after the server had read it.
LONGEST_IDLE = 1.5
LARGEST_HEAD = 102_400
Head = h11.Response | h11.InformationalResponse


@dataclass(frozen=True, slots=True)
class ConnectionOrigin:
    """Target of a connection: the scheme (``http`` or ``https``), the host name and the port."""

    scheme: str
    host: str
    port: int


class Connection(asyncio.Protocol):
    """A connection that carries one request and its reply at a time."""

    def __init__(self, origin: ConnectionOrigin) -> None:
        self.origin = origin
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        self._opened_at = self._idle_since = time.monotonic()
        self._waiter: asyncio.Future[None] | None = None
        self._is_full = self._is_lost = False
        self._poll = select.poll()

    async def ask(self, request: h11.Request, content: AsyncIterable[bytes]) -> Head:
        """Send a request and return the head of its final reply, or of a 101 response."""
        await self._send(request, content)
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                return event
            if isinstance(event, h11.InformationalResponse) and event.status_code == 101:
                return event

    async def part(self) -> bytes:
        """Return the next part of the reply's body, or empty bytes at its end."""
        event = await self._event()
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    def rest(self) -> bool:
        """Prepare for another request; return False if that is impossible."""
        parser = self._parser
        if parser.our_state is not h11.DONE or parser.their_state is not h11.DONE:
            return False
        parser.start_next_cycle()
        self._idle_since = time.monotonic()
        return True

    def is_stale(self) -> bool:
        """Return whether an idle connection has been idle or open for too long."""
        now = time.monotonic()
        return now - self._idle_since > LONGEST_IDLE or now - self._opened_at > LONGEST_LIFE

    def is_usable(self) -> bool:
        """Return whether an idle connection can take another request.

        Data that arrives without a request announces the end of the connection, or would be
        mistaken for the reply to the next request. The socket is checked because the event loop
        may not have seen the data yet.
        """
        is_silent = not self._is_lost and self._parser.trailing_data == (b"", False)
        return is_silent and not self.is_stale() and not self._poll.poll(0)

    def close(self) -> None:
        """Abort the connection."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._poll.register(transport.get_extra_info("socket"), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        self._parser.receive_data(data)
        if self._waiter is None or self._is_full:
            # Nothing reads the data now. Leave the rest in the socket, so that the server waits.
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._parser.receive_data(b"")
        self._wake()

    def connection_lost(self, problem: Exception | None) -> None:
        self._is_lost = True
        self._wake()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._wake()

    async def _send(self, request: h11.Request, content: AsyncIterable[bytes]) -> None:
        # The head and the first part are sent together to save a system call.
        waiting = self._parser.send(request)
        async for part in content:
            self._transport.write(waiting + self._parser.send(h11.Data(data=part)))
            waiting = b""
            while self._is_full and not self._is_lost:
                await self._change()
            if self._is_lost:
                # The server may have sent the reason why it closed the connection early.
                return
        self._transport.write(waiting + self._parser.send(h11.EndOfMessage()))

    async def _event(self) -> h11.Event | type[h11.PAUSED]:
        while (event := self._parser.next_event()) is h11.NEED_DATA:
            if self._is_lost:
                raise ConnectionResetError
            self._transport.resume_reading()
            await self._change()
        return cast("h11.Event | type[h11.PAUSED]", event)

    async def _change(self) -> None:
        """Wait until data arrives, data can be sent, or the connection is lost."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


# Reusable connections to checked addresses only
#
# A name is resolved once, all its addresses are checked, and the connection is opened to one of
# the checked addresses directly, so that a second answer from the resolver cannot redirect it. TLS
# verifies the name.
#
# The HTTP library's own pool is not used because it examines every connection at the start and the
# end of every request; with hundreds in flight, this took most of the time of a call.


class EgressFailed(Exception):
    """Raised if a request gets no reply within its limits.

    Parameters
    ----------
    kind
        ``blocked``, ``connection``, ``certificate``, ``timeout`` or ``too_large``.
    message
        Message for people, without details of the network.
    """

    def __init__(self, kind: Failure, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Connections:
    """Opens connections to checked addresses, and keeps reusable connections open.

    Parameters
    ----------
    allowed
        Networks and ports that requests may reach although they are not public.
    connect_timeout
        Total seconds for lookup, connection and TLS handshake.
    """

    def __init__(self, allowed: tuple[AllowedNetwork, ...], connect_timeout: float) -> None:
        self._allowed = allowed
        self._connect_timeout = connect_timeout
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: dict[ConnectionOrigin, deque[Connection]] = {}
        self._tls: ssl.SSLContext | None = None

    async def take(self, origin: ConnectionOrigin) -> Connection:
        """Return a connection for exclusive use until it is given back."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # A connection can be used only in the loop in which it was opened.
            self._loop, self._idle = loop, {}
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.is_usable():
                return connection
            connection.close()
        return await self._open(origin)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection whose reply was read completely; close any other."""
        idle = self._idle.setdefault(connection.origin, deque())
        # The connection returned last is reused first, so stale connections are at the front.
        while idle and idle[0].is_stale():
            idle.popleft().close()
        if connection.rest():
            idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close the running loop's idle connections; those of an ended loop are already closed."""
        pools, self._idle = self._idle, {}
        if self._loop is asyncio.get_running_loop():
            for connection in (link for idle in pools.values() for link in idle):
                connection.close()

    async def _open(self, origin: ConnectionOrigin) -> Connection:
        try:
            async with asyncio.timeout(self._connect_timeout):
                addresses = await _look_up(origin.host, origin.port)
                self._check(addresses, origin)
                return await self._connect(addresses, origin)
        except TimeoutError:
            raise EgressFailed(Failure.CONNECTION, "no connection within the time limit") from None

    def _check(self, addresses: list[Address], origin: ConnectionOrigin) -> None:
        # Plain http is allowed for listed addresses only.
        is_fine = is_permitted if origin.scheme == "https" else is_listed
        # An attacker may add one internal address to several public ones.
        if not addresses or not all(
            is_fine(address, origin.port, self._allowed) for address in addresses
        ):
            raise EgressFailed(Failure.BLOCKED, "address not allowed")

    async def _connect(self, addresses: list[Address], origin: ConnectionOrigin) -> Connection:
        tls = self._context() if origin.scheme == "https" else None
        for place, address in enumerate(addresses):
            # An unreachable first address must not use up the time for the others.
            share = self._connect_timeout / (len(addresses) - place)
            try:
                async with asyncio.timeout(share):
                    return await _dial(address, origin, tls)
            except ssl.SSLCertVerificationError:
                message = "the certificate could not be verified"
                raise EgressFailed(Failure.CERTIFICATE, message) from None
            except ssl.SSLError:
                raise EgressFailed(Failure.CONNECTION, "the connection broke") from None
            except OSError:
                continue
        raise EgressFailed(Failure.CONNECTION, "no connection")

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpcore2.default_ssl_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        return self._tls


async def _dial(
    address: Address, origin: ConnectionOrigin, tls: ssl.SSLContext | None
) -> Connection:
    loop = asyncio.get_running_loop()
    name = origin.host if tls else None
    _, connection = await loop.create_connection(
        partial(Connection, origin), str(address), origin.port, ssl=tls, server_hostname=name
    )
    return connection


async def _look_up(host: str, port: int) -> list[Address]:
    """Return the distinct addresses of a name in the resolver's order."""
    loop = asyncio.get_running_loop()
    try:
        answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ip_address(answer[4][0]) for answer in answers))
    except OSError:
        raise EgressFailed(Failure.CONNECTION, "the name could not be resolved") from None
    except ValueError:
        # The name is invalid, or the answer is not an address.
        raise EgressFailed(Failure.BLOCKED, "address not allowed") from None
