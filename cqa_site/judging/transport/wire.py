"""One HTTP/1.1 connection: a request goes out, its reply comes in, and again.

h11 writes and reads the protocol and knows when a connection may be used again; here are the
bytes and the waiting.
"""

import asyncio
import select
import time
from collections.abc import AsyncIterable
from dataclasses import dataclass
from typing import cast

import h11

# Seconds until a kept connection is given up, and its successor's address checked anew.
LONGEST_LIFE = 60.0
# Shorter than what servers keep an idle connection for (many: 5 s, some: 2 s): a request
# sent just when the server hangs up would be lost, and nobody knows whether it was read.
LONGEST_IDLE = 1.5
LARGEST_HEAD = 102_400
Head = h11.Response | h11.InformationalResponse


@dataclass(frozen=True, slots=True)
class Origin:
    """Whom a connection leads to: ``http`` or ``https``, the name asked for, and the port."""

    scheme: str
    host: str
    port: int


class Connection(asyncio.Protocol):
    """A connection that carries one request and its reply at a time."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        self._opened_at = self._idle_since = time.monotonic()
        self._waiter: asyncio.Future[None] | None = None
        self._is_full = self._is_lost = False
        self._poll = select.poll()

    async def ask(self, request: h11.Request, content: AsyncIterable[bytes]) -> Head:
        """Send a request and return the head of its reply: a final one, or a 101."""
        await self._send(request, content)
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                return event
            if isinstance(event, h11.InformationalResponse) and event.status_code == 101:
                return event

    async def part(self) -> bytes:
        """The next part of the reply's body; empty at its end."""
        event = await self._event()
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    def rest(self) -> bool:
        """Get ready for another request; False if there can be none."""
        parser = self._parser
        if parser.our_state is not h11.DONE or parser.their_state is not h11.DONE:
            return False
        parser.start_next_cycle()
        self._idle_since = time.monotonic()
        return True

    def is_stale(self) -> bool:
        """Whether a resting connection has rested or lived too long."""
        now = time.monotonic()
        return now - self._idle_since > LONGEST_IDLE or now - self._opened_at > LONGEST_LIFE

    def is_usable(self) -> bool:
        """Whether a resting connection may be asked again.

        Whatever arrives without a request is the server's goodbye, or would be taken for the
        reply to the next one. The socket is asked, too: the event loop may not have looked.
        """
        is_silent = not self._is_lost and self._parser.trailing_data == (b"", False)
        return is_silent and not self.is_stale() and not self._poll.poll(0)

    def close(self) -> None:
        """Hang up."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._poll.register(transport.get_extra_info("socket"), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        self._parser.receive_data(data)
        if self._waiter is None or self._is_full:
            # Nobody takes it now: more stays in the socket, and the server has to wait.
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
        # Head and first part leave together: every call of the system costs.
        waiting = self._parser.send(request)
        async for part in content:
            self._transport.write(waiting + self._parser.send(h11.Data(data=part)))
            waiting = b""
            while self._is_full and not self._is_lost:
                await self._change()
            if self._is_lost:
                # Why the server hung up so early may be there to be read.
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
        """Wait until something arrives, there is room to send, or the connection is lost."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
