"""Just enough of HTTP/1.1 for a stub server: keep-alive, fixed lengths, one request at a time."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

LARGEST_HEAD = 65_536
LARGEST_BODY = 256 * 1024 * 1024


@dataclass
class Request:
    """A request with lower-case header names."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Wire:
    """The way back to one client."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    @property
    def is_gone(self) -> bool:
        return self.transport.is_closing()

    def send_json(self, document: Any, status: int = 200, **headers: str) -> None:
        body = json.dumps(document).encode()
        self.send(status, body, {"content-type": "application/json"} | headers)

    def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.write(head(status, headers | {"content-length": str(len(body))}) + body)

    def write(self, data: bytes) -> None:
        if not self.is_gone:
            self.transport.write(data)

    def hang_up(self) -> None:
        self.transport.abort()


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Stub"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


Handler = Callable[[Request, Wire], Awaitable[None]]


class Connection(asyncio.Protocol):
    """Reads requests and hands each to the handler; the next one waits for its answer."""

    def __init__(self, handler: Handler, tasks: set[asyncio.Task], opened: Callable) -> None:
        self._handler = handler
        self._tasks = tasks
        self._opened = opened
        self._buffer = bytearray()
        self._request: Request | None = None
        self._is_busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = Wire(transport)
        self._opened()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def _next(self) -> None:
        if self._is_busy or self._wire.is_gone:
            return
        if self._request is None and not self._read_head():
            return
        length = int(self._request.headers.get("content-length", "0"))
        if length > LARGEST_BODY:
            self._wire.hang_up()
        elif len(self._buffer) >= length:
            request, self._request = self._request, None
            request.body = bytes(self._buffer[:length])
            del self._buffer[:length]
            self._start(request)

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > LARGEST_HEAD:
                self._wire.hang_up()
            return False
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        method, path, _version = first.split(" ", 2)
        headers: dict[str, str] = {}
        for name, _, value in (line.partition(":") for line in lines):
            name = name.strip().lower()
            headers[name] = ", ".join(filter(None, [headers.get(name), value.strip()]))
        self._request = Request(method, path, headers)
        if "100-continue" in headers.get("expect", ""):
            self._wire.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    def _start(self, request: Request) -> None:
        self._is_busy = True
        task = asyncio.get_running_loop().create_task(self._handle(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _handle(self, request: Request) -> None:
        try:
            await self._handler(request, self._wire)
        except Exception:
            self._wire.hang_up()
            raise
        finally:
            self._is_busy = False
        self._next()
