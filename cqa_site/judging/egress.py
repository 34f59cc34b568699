"""The only way out: HTTP requests to addresses that were checked, within bounds.

A name is looked up once, every address it stands for is checked, and the connection is opened
to the checked address itself (`addresses`, `connecting`); TLS and the Host header keep the
name. Only https, and plain http to listed addresses. No redirects, no proxies, no Unix
sockets, nothing from the environment but the certificate store. A reply may not be compressed
(a small one could unfold to any size), has a largest size, and a deadline that covers
everything from the lookup to the last byte, so that a server that drips cannot hold a worker.

Connections are kept and used again for speed. A kept connection leads to the address that was
checked when it was opened; it is given up after a minute, and the next one is checked anew.

Messages name neither addresses nor what was found there: they are shown to people who may
have typed an internal name to see what answers. Besides this, production should have a
firewall or proxy for outgoing traffic; this is the second lock.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2

from .addresses import Allowed, NotAnAllowList, parse_allowed
from .chat import Failure
from .connecting import EgressFailed, GuardedNetwork

__all__ = [
    "Allowed",
    "EgressFailed",
    "Fetched",
    "GuardedTransport",
    "HTTPError",
    "InvalidURL",
    "NotAnAllowList",
    "Response",
    "fetch",
    "guarded_client",
    "parse_allowed",
    "post_json",
]

# So that nobody else imports the HTTP library.
Response = httpx2.Response
HTTPError = httpx2.HTTPError
InvalidURL = httpx2.InvalidURL
MAX_BYTES = 1_048_576
CONNECT_TIMEOUT = 10.0
# Where the caller names no deadline.
LONGEST_DEADLINE = 600.0
# Shorter than what servers keep an idle connection for (many: 5 s, some: 2 s): a request
# sent just when the server hangs up would be lost, and nobody knows whether it was read.
LONGEST_IDLE = 1.5


@dataclass(frozen=True, slots=True)
class Fetched:
    """A reply: status, headers with lower-case names, body, and how long it took."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    milliseconds: int


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Carries the requests of an ``httpx2.AsyncClient``.

    The deadline of a request is the ``read`` timeout it was built with, in seconds, and
    covers everything. The client has to be made with ``trust_env=False`` (see
    `guarded_client`).

    Parameters
    ----------
    allowed
        Networks and ports that may be reached although they are not public.
    connect_timeout
        Seconds for lookup, connection and TLS handshake, each tried once.
    max_bytes
        Largest body of a reply.
    header_names
        Lower-case names of the headers that may leave; None lets all leave. For libraries
        that add headers of their own accord.

    Raises
    ------
    EgressFailed
        When a request is carried.
    """

    def __init__(
        self,
        allowed: Iterable[Allowed] = (),
        *,
        connect_timeout: float = CONNECT_TIMEOUT,
        max_bytes: int = MAX_BYTES,
        header_names: Collection[str] | None = None,
    ) -> None:
        self._allowed = tuple(allowed)
        self._connect_timeout = connect_timeout
        self._max_bytes = max_bytes
        self._header_names = header_names
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pools: dict[str, httpcore2.AsyncConnectionPool] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the reply's body is read by the caller, still within the bounds."""
        _check_request(request)
        seconds = request.extensions.get("timeout", {}).get("read") or LONGEST_DEADLINE
        deadline = asyncio.get_running_loop().time() + min(seconds, LONGEST_DEADLINE)
        try:
            async with asyncio.timeout_at(deadline):
                reply = await self._pool(request.url.scheme).handle_async_request(
                    self._core_request(request)
                )
        except _CARRIED as problem:
            raise _failed(problem) from None
        body = _Body(reply, deadline, self._max_bytes)
        problem_found = _problem_of(reply, self._max_bytes)
        if problem_found is not None:
            await body.aclose()
            raise problem_found
        return httpx2.Response(reply.status, headers=reply.headers, stream=body)

    async def aclose(self) -> None:
        """Close every connection of the running loop; those of a loop that ended are gone."""
        pools, self._pools = self._pools, {}
        if self._loop is asyncio.get_running_loop():
            for pool in pools.values():
                await pool.aclose()

    def _core_request(self, request: httpx2.Request) -> httpcore2.Request:
        # Extensions stay behind: one of them would replace the name that TLS verifies.
        return httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=self._headers(request),
            content=request.stream,
        )

    def _headers(self, request: httpx2.Request) -> list[tuple[bytes, bytes]]:
        names = self._header_names
        kept = [
            (name, value)
            for name, value in request.headers.raw
            if (lower := name.decode("latin-1").lower()) != "accept-encoding"
            and (names is None or lower in names)
        ]
        return [*kept, (b"Accept-Encoding", b"identity")]

    def _pool(self, scheme: str) -> httpcore2.AsyncConnectionPool:
        # A connection belongs to the loop it was opened in.
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._pools = loop, {}
        if scheme not in self._pools:
            self._pools[scheme] = httpcore2.AsyncConnectionPool(
                ssl_context=httpcore2.default_ssl_context() if scheme == "https" else None,
                max_connections=None,
                keepalive_expiry=LONGEST_IDLE,
                network_backend=GuardedNetwork(
                    self._allowed, self._connect_timeout, only_listed=scheme != "https"
                ),
            )
        return self._pools[scheme]


def guarded_client(
    allowed: Iterable[Allowed] = (),
    *,
    connect_timeout: float = CONNECT_TIMEOUT,
    max_bytes: int = MAX_BYTES,
    header_names: Collection[str] | None = None,
) -> httpx2.AsyncClient:
    """An HTTP client whose requests all go through a `GuardedTransport`."""
    transport = GuardedTransport(
        allowed, connect_timeout=connect_timeout, max_bytes=max_bytes, header_names=header_names
    )
    return httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False)


async def fetch(
    url: str,
    *,
    method: str = "GET",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    allowed: Iterable[Allowed] = (),
    deadline: float = 10.0,
    max_bytes: int = MAX_BYTES,
) -> Fetched:
    """Carry one request and return the reply, whatever its status below 300 or above 399.

    Parameters
    ----------
    url, method, body, headers
        What is sent.
    allowed
        Networks and ports that may be reached although they are not public.
    deadline
        Seconds for everything together.
    max_bytes
        Largest body of the reply.

    Raises
    ------
    EgressFailed
        Without a reply within these bounds.
    """
    started = time.monotonic()
    try:
        async with guarded_client(allowed, max_bytes=max_bytes) as client:
            reply = await client.request(
                method, url, content=body, headers=dict(headers or {}), timeout=deadline
            )
    except (httpx2.InvalidURL, httpx2.HTTPError, ValueError):
        # The client refuses some addresses and headers before the transport sees them.
        raise EgressFailed(Failure.BLOCKED, "this cannot be sent anywhere") from None
    return Fetched(
        reply.status_code,
        dict(reply.headers),
        reply.content,
        round((time.monotonic() - started) * 1000),
    )


async def post_json(url: str, document: Any, **options: Any) -> Fetched:
    """Send a JSON document with `fetch`, which takes the other arguments."""
    headers = {"Content-Type": "application/json"} | dict(options.pop("headers", None) or {})
    body = json.dumps(document, allow_nan=False).encode()
    return await fetch(url, method="POST", body=body, headers=headers, **options)


class _Body(httpx2.AsyncByteStream):
    """The body of a reply up to its largest size and until the deadline."""

    def __init__(self, reply: httpcore2.Response, deadline: float, max_bytes: int) -> None:
        self._reply = reply
        self._deadline = deadline
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async with aclosing(self._reply.aiter_stream()) as chunks:
            while True:
                try:
                    async with asyncio.timeout_at(self._deadline):
                        chunk = await anext(chunks, None)
                except _CARRIED as problem:
                    raise _failed(problem) from None
                if chunk is None:
                    return
                size += len(chunk)
                if size > self._max_bytes:
                    raise _too_large(self._max_bytes)
                yield chunk

    async def aclose(self) -> None:
        await self._reply.aclose()


_CARRIED = (TimeoutError, httpcore2.NetworkError, httpcore2.ProtocolError,
            httpcore2.TimeoutException, OSError)  # fmt: skip


def _failed(problem: BaseException) -> EgressFailed:
    if isinstance(problem, TimeoutError):
        return EgressFailed(Failure.TIMEOUT, "no complete reply before the deadline")
    return EgressFailed(Failure.CONNECTION, "the connection broke")


def _too_large(max_bytes: int) -> EgressFailed:
    return EgressFailed(Failure.TOO_LARGE, f"the reply is larger than {max_bytes:,} bytes")


def _check_request(request: httpx2.Request) -> None:
    url = request.url
    if url.scheme not in ("https", "http"):
        raise EgressFailed(Failure.BLOCKED, "only https addresses are allowed")
    if not url.host or url.userinfo:
        raise EgressFailed(Failure.BLOCKED, "an address holds a host, and no user or password")


def _problem_of(reply: httpcore2.Response, max_bytes: int) -> EgressFailed | None:
    if reply.status < 200 or 300 <= reply.status < 400:
        return EgressFailed(Failure.BLOCKED, "redirects are not followed")
    headers = httpx2.Headers(reply.headers)
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        return EgressFailed(Failure.TOO_LARGE, "the reply is compressed")
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > max_bytes:
        return _too_large(max_bytes)
    return None
