"""The only network access: bounded HTTP requests to checked addresses, and JSON services."""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast
from urllib.parse import urlencode

import h11
import httpx2

from ..chat import Failure, decode
from .addresses import AllowedNetwork, NotAnAllowList, parse_allowed
from .connections import Connection, ConnectionOrigin, Connections, EgressFailed, Head

# Bounded HTTP requests to checked addresses
#
# A name is resolved once, all its addresses are checked, and the connection is opened to a checked
# address directly (`addresses`, `connections`); TLS and the Host header use the name. Only https
# is allowed, and plain http to listed addresses. Redirects, proxies, Unix sockets and environment
# variables are not used, apart from the certificate store. A reply must not be compressed, because
# a small reply could expand to any size. It has a maximum size and a deadline that covers
# everything from the lookup to the last byte, so that a slow server cannot block a worker.
#
# Connections are reused for speed. A reused connection leads to the address that was checked when
# it was opened; it is closed after a minute, and the address of the next one is checked again.
#
# Messages reveal neither addresses nor the services found there, because users may have entered an
# internal name to probe the network. A production site should also have a firewall or proxy for
# outgoing traffic; these checks are a second line of defence.

__all__ = [
    "AllowedNetwork", "EgressFailed", "FetchedReply", "GuardedTransport", "HTTPError",
    "InvalidURL", "NotAnAllowList", "fetch", "guarded_client", "parse_allowed",
]  # fmt: skip

# Defined here so that no other module imports the HTTP library.
HTTPError = httpx2.HTTPError
InvalidURL = httpx2.InvalidURL
MAX_BYTES = 1_048_576
CONNECT_TIMEOUT = 10.0
# Default deadline in seconds.
LONGEST_DEADLINE = 600.0
LAST_PORT = 65_535
_PORTS = {"https": 443, "http": 80}
# Requests go to the same few URLs, and parsing a URL is slow.
_parsed = lru_cache(maxsize=64)(httpx2.URL)


@dataclass(frozen=True, slots=True)
class FetchedReply:
    """A reply: status, headers with lower-case names, body and duration."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    milliseconds: int


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends single requests with `exchange`, and the requests of an ``httpx2.AsyncClient``.

    Such a client must be created with ``trust_env=False`` (see `guarded_client`). The deadline of
    its requests is their ``read`` timeout in seconds and covers the whole request.

    Parameters
    ----------
    allowed
        Networks and ports that requests may reach although they are not public.
    connect_timeout
        Total seconds for lookup, connection and TLS handshake; nothing is retried.
    max_bytes
        Maximum size of a reply's body.
    header_names
        Lower-case names of the headers to send; None sends all. Set this for libraries that add
        their own headers.

    Raises
    ------
    EgressFailed
        When a request fails.
    """

    def __init__(
        self,
        allowed: Iterable[AllowedNetwork] = (),
        *,
        connect_timeout: float = CONNECT_TIMEOUT,
        max_bytes: int = MAX_BYTES,
        header_names: Collection[str] | None = None,
    ) -> None:
        self._connections = Connections(tuple(allowed), connect_timeout)
        self._max_bytes = max_bytes
        names = None if header_names is None else {name.encode() for name in header_names}
        self._header_names = names

    async def exchange(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes = b"",
        deadline: float = LONGEST_DEADLINE,
    ) -> FetchedReply:
        """Send one request and return its reply, with any status below 300 or above 399.

        ``deadline`` is in seconds and covers the whole request.
        """
        started = time.monotonic()
        try:
            address = _parsed(url)
            fields = _fields_of(method, address, headers, body)
        except (InvalidURL, ValueError):
            raise EgressFailed(Failure.BLOCKED, "the request cannot be sent") from None
        content = httpx2.ByteStream(body)
        reply = await self._ask(method, address, fields, content, deadline)
        try:
            received = b"".join([part async for part in reply])
        finally:
            await reply.aclose()
        milliseconds = round((time.monotonic() - started) * 1000)
        return FetchedReply(reply.status, reply.headers, received, milliseconds)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a client's request; the caller reads the reply's body within the limits."""
        seconds = request.extensions.get("timeout", {}).get("read") or LONGEST_DEADLINE
        content = cast(httpx2.AsyncByteStream, request.stream)
        reply = await self._ask(request.method, request.url, request.headers.raw, content, seconds)
        return httpx2.Response(reply.status, headers=reply.headers, stream=reply)

    async def aclose(self) -> None:
        """Close all idle connections of the running loop."""
        self._connections.close()

    async def _ask(
        self,
        method: str,
        url: httpx2.URL,
        fields: Iterable[tuple[bytes, bytes]],
        content: AsyncIterable[bytes],
        seconds: float,
    ) -> "_Reply":
        origin = _origin_of(url)
        deadline = asyncio.get_running_loop().time() + min(seconds, LONGEST_DEADLINE)
        async with _within(deadline):
            request = h11.Request(method=method, target=url.raw_path, headers=self._sent(fields))
            connection = await self._connections.take(origin)
            reply = _Reply(connection, self._connections, deadline, self._max_bytes)
            try:
                reply.begin(await connection.ask(request, content))
            except BaseException:
                await reply.aclose()
                raise
        return reply

    def _sent(self, fields: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        names = self._header_names
        headers = [
            (name, value)
            for name, value in fields
            if (lower := name.lower()) != b"accept-encoding" and (names is None or lower in names)
        ]
        return [*headers, (b"Accept-Encoding", b"identity")]


def guarded_client(*arguments: Any, **options: Any) -> httpx2.AsyncClient:
    """Return an HTTP client that sends all requests through a new `GuardedTransport`."""
    transport = GuardedTransport(*arguments, **options)
    return httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False)


async def fetch(
    url: str,
    *,
    method: str = "GET",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    allowed: Iterable[AllowedNetwork] = (),
    deadline: float = 10.0,
    max_bytes: int = MAX_BYTES,
) -> FetchedReply:
    """Send one request on its own connection, as `GuardedTransport.exchange` does.

    Parameters
    ----------
    url, method, body, headers
        The request to send.
    allowed
        Networks and ports that requests may reach although they are not public.
    deadline
        Total time limit in seconds.
    max_bytes
        Maximum size of the reply's body.

    Raises
    ------
    EgressFailed
        If there is no reply within these limits.
    """
    transport = GuardedTransport(allowed, max_bytes=max_bytes)
    try:
        return await transport.exchange(
            method, url, headers=headers or {}, body=body, deadline=deadline
        )
    finally:
        await transport.aclose()


class _Reply(httpx2.AsyncByteStream):
    """A reply whose body is read up to the maximum size and until the deadline."""

    status: int
    headers: dict[str, str]

    def __init__(
        self, connection: Connection, home: Connections, deadline: float, max_bytes: int
    ) -> None:
        self._connection = connection
        self._home: Connections | None = home
        self._deadline = deadline
        self._max_bytes = max_bytes

    def begin(self, head: Head) -> None:
        """Store the head of the reply, unless it must be refused."""
        joined: dict[str, str] = {}
        for name, value in head.headers:
            key, text = name.decode("latin-1"), value.decode("latin-1")
            joined[key] = f"{joined[key]}, {text}" if key in joined else text
        self.status, self.headers = head.status_code, joined
        if self.status < 200 or 300 <= self.status < 400:
            raise EgressFailed(Failure.BLOCKED, "redirects are not followed")
        if self.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            raise EgressFailed(Failure.TOO_LARGE, "the reply is compressed")
        self._count(int(self.headers.get("content-length", "0")))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        while True:
            async with _within(self._deadline):
                part = await self._connection.part()
            if not part:
                return
            size += len(part)
            self._count(size)
            yield part

    async def aclose(self) -> None:
        # Only once, because another request may use the connection afterwards.
        home, self._home = self._home, None
        if home is not None:
            home.give_back(self._connection)

    def _count(self, size: int) -> None:
        if size > self._max_bytes:
            message = f"the reply is larger than {self._max_bytes:,} bytes"
            raise EgressFailed(Failure.TOO_LARGE, message)


@asynccontextmanager
async def _within(deadline: float) -> AsyncIterator[None]:
    """Apply the deadline, and reduce failures to messages that may be shown to people."""
    try:
        async with asyncio.timeout_at(deadline):
            yield
    except TimeoutError:
        message = "no complete reply before the deadline"
        raise EgressFailed(Failure.TIMEOUT, message) from None
    except (OSError, h11.ProtocolError):
        raise EgressFailed(Failure.CONNECTION, "the connection broke") from None


def _origin_of(url: httpx2.URL) -> ConnectionOrigin:
    if url.scheme not in _PORTS:
        raise EgressFailed(Failure.BLOCKED, "only https addresses are allowed")
    if not url.host or url.userinfo:
        raise EgressFailed(Failure.BLOCKED, "an address needs a host, and no user or password")
    port = url.port or _PORTS[url.scheme]
    if port > LAST_PORT:
        raise EgressFailed(Failure.BLOCKED, "ports are 1 to 65535")
    return ConnectionOrigin(url.scheme, url.raw_host.decode("ascii"), port)


def _fields_of(
    method: str, url: httpx2.URL, headers: Mapping[str, str], body: bytes
) -> list[tuple[bytes, bytes]]:
    named = {"Host": url.netloc.decode("ascii"), "User-Agent": "Counterpoint", **headers}
    if body or method != "GET":
        named["Content-Length"] = str(len(body))
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in named.items()]


JSON_MAX_BYTES = 32 * 1_048_576


class ServiceFailed(Exception):
    """Raised if a service did not answer with JSON.

    Parameters
    ----------
    kind
        One of the kinds of `EgressFailed`, ``server`` or ``request`` for a status of 400 or more,
        or ``garbage`` for a reply that is not JSON.
    message
        Message for people, without details of the network.
    """

    def __init__(self, kind: Failure, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def get_json(
    url: str,
    params: Mapping[str, str] | None = None,
    *,
    allowed: Iterable[AllowedNetwork] = (),
    deadline: float = 60.0,
    max_bytes: int = JSON_MAX_BYTES,
) -> Any:
    """Send one GET request and return the decoded JSON.

    Parameters
    ----------
    url
        URL, without a query if ``params`` are given.
    params
        Query parameters; any characters are allowed.
    allowed
        Networks and ports that requests may reach although they are not public.
    deadline
        Total time limit in seconds.
    max_bytes
        Maximum size of the reply.

    Returns
    -------
    object
        The JSON value from Python's decoder; it may contain NaN and unpaired surrogates.

    Raises
    ------
    ServiceFailed
        Unless the reply has a status below 300 and a JSON body.
    """
    address = f"{url}?{urlencode(params)}" if params else url
    return get_json_reply(address, allowed=allowed, deadline=deadline, max_bytes=max_bytes)[0]


def get_json_reply(
    address: str, *, allowed: Iterable[AllowedNetwork], deadline: float, max_bytes: int
) -> tuple[Any, FetchedReply]:
    """Return the decoded JSON like `get_json`, and the reply itself."""
    headers = {"Accept": "application/json", "User-Agent": "Counterpoint"}
    try:
        reply = asyncio.run(
            fetch(
                address, headers=headers, allowed=allowed, deadline=deadline, max_bytes=max_bytes
            )
        )
    except EgressFailed as problem:
        raise ServiceFailed(problem.kind, str(problem)) from None
    if reply.status >= 400:
        kind = Failure.SERVER if reply.status >= 500 else Failure.REQUEST
        raise ServiceFailed(kind, f"it answered {reply.status}")
    document = decode(reply.body)
    if document is None:
        raise ServiceFailed(Failure.GARBAGE, "its response is not JSON")
    return document, reply
