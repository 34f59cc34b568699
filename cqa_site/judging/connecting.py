"""Connections to checked addresses only.

A name is looked up once, every address it stands for is checked, and the connection is
opened to one of the checked addresses itself, so that a second answer of the resolver cannot
lead elsewhere.
"""

import asyncio
import select
import socket
import ssl
import time
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

import httpcore2

from .addresses import Address, Allowed, is_listed, is_permitted
from .chat import Failure

# Seconds until a kept connection is given up, and its successor's address checked anew.
LONGEST_LIFE = 60.0


class EgressFailed(Exception):
    """A request that brought no reply within its bounds.

    Parameters
    ----------
    kind
        ``blocked``, ``connection``, ``certificate``, ``timeout`` or ``too_large``.
    message
        For people; says nothing about the network.
    """

    def __init__(self, kind: Failure, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Opens connections to checked addresses.

    Parameters
    ----------
    allowed
        Networks and ports that may be reached although they are not public.
    connect_timeout
        Seconds for lookup and connection together, and again for the TLS handshake.
    only_listed
        Whether public addresses are refused as well: for plain http.
    """

    def __init__(
        self, allowed: tuple[Allowed, ...], connect_timeout: float, *, only_listed: bool
    ) -> None:
        self._allowed = allowed
        self._connect_timeout = connect_timeout
        self._only_listed = only_listed
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            async with asyncio.timeout(self._connect_timeout):
                addresses = await _look_up(host, port)
                self._check(addresses, port)
                return AgingStream(await self._connect(addresses, port), self._connect_timeout)
        except TimeoutError:
            raise EgressFailed(Failure.CONNECTION, "no connection within the time") from None

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise EgressFailed(Failure.BLOCKED, "address not allowed")

    def _check(self, addresses: list[Address], port: int) -> None:
        is_fine = is_listed if self._only_listed else is_permitted
        # One bad answer among several is how a name is made to point inside.
        if not addresses or not all(is_fine(one, port, self._allowed) for one in addresses):
            raise EgressFailed(Failure.BLOCKED, "address not allowed")

    async def _connect(self, addresses: list[Address], port: int) -> httpcore2.AsyncNetworkStream:
        for place, address in enumerate(addresses):
            # A dead first address must not use up the time of the others.
            share = self._connect_timeout / (len(addresses) - place)
            try:
                return await self._network.connect_tcp(str(address), port, timeout=share)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        raise EgressFailed(Failure.CONNECTION, "no connection")


class AgingStream(httpcore2.AsyncNetworkStream):
    """A connection that knows its age and tells a bad certificate from a bad line."""

    def __init__(
        self,
        stream: httpcore2.AsyncNetworkStream,
        connect_timeout: float,
        opened_at: float | None = None,
    ) -> None:
        self._stream = stream
        self._connect_timeout = connect_timeout
        self._opened_at = time.monotonic() if opened_at is None else opened_at
        self._poll: select.poll | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            secure = await self._stream.start_tls(
                ssl_context, server_hostname, timeout=self._connect_timeout
            )
        except httpcore2.ConnectError as problem:
            if isinstance(problem.__cause__, ssl.SSLCertVerificationError):
                raise EgressFailed(
                    Failure.CERTIFICATE, "the certificate could not be verified"
                ) from None
            raise
        return AgingStream(secure, self._connect_timeout, self._opened_at)

    def get_extra_info(self, info: str) -> Any:
        # The pool gives up an idle connection that has something to read, because that can
        # only be the server's goodbye. An old one is given up the same way.
        if info == "is_readable":
            is_old = time.monotonic() - self._opened_at > LONGEST_LIFE
            return is_old or self._has_something_to_read()
        return self._stream.get_extra_info(info)

    def _has_something_to_read(self) -> bool:
        """Ask the socket itself.

        The pool asks every idle connection at every request, and the library's own way
        gathers the socket's other attributes to answer.
        """
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self._stream.get_extra_info("socket"), select.POLLIN)
        return bool(self._poll.poll(0))


async def _look_up(host: str, port: int) -> list[Address]:
    """Every address of a name, each once, in the resolver's order."""
    loop = asyncio.get_running_loop()
    try:
        answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ip_address(answer[4][0]) for answer in answers))
    except OSError:
        raise EgressFailed(Failure.CONNECTION, "the name could not be resolved") from None
    except ValueError:
        # No name at all, or an answer that is no address.
        raise EgressFailed(Failure.BLOCKED, "address not allowed") from None
