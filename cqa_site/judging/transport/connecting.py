"""Connections to checked addresses only, kept for the next request.

A name is looked up once, every address it stands for is checked, and the connection is
opened to one of the checked addresses itself, so that a second answer of the resolver cannot
lead elsewhere. TLS verifies the name.

The HTTP library's own pool is not used: it looks at every connection at the start and at the
end of every request, which with hundreds in flight took most of the time of a call.
"""

import asyncio
import socket
import ssl
from collections import deque
from functools import partial
from ipaddress import ip_address

import httpcore2

from ..chat import Failure
from .addresses import Address, Allowed, is_listed, is_permitted
from .wire import Connection, Origin


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


class Connections:
    """Opens connections to checked addresses, and keeps those that can be used again.

    Parameters
    ----------
    allowed
        Networks and ports that may be reached although they are not public.
    connect_timeout
        Seconds for lookup, connection and TLS handshake together.
    """

    def __init__(self, allowed: tuple[Allowed, ...], connect_timeout: float) -> None:
        self._allowed = allowed
        self._connect_timeout = connect_timeout
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: dict[Origin, deque[Connection]] = {}
        self._tls: ssl.SSLContext | None = None

    async def take(self, origin: Origin) -> Connection:
        """A connection that nobody else uses until it is given back."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # A connection belongs to the loop it was opened in.
            self._loop, self._idle = loop, {}
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.is_usable():
                return connection
            connection.close()
        return await self._open(origin)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection whose reply was read to its end, and close any other."""
        idle = self._idle.setdefault(connection.origin, deque())
        # The last one given back is the first to be taken, so the stale ones are in front.
        while idle and idle[0].is_stale():
            idle.popleft().close()
        if connection.rest():
            idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close what is kept for the running loop; that of a loop that ended is gone."""
        kept, self._idle = self._idle, {}
        if self._loop is asyncio.get_running_loop():
            for connection in (one for idle in kept.values() for one in idle):
                connection.close()

    async def _open(self, origin: Origin) -> Connection:
        try:
            async with asyncio.timeout(self._connect_timeout):
                addresses = await _look_up(origin.host, origin.port)
                self._check(addresses, origin)
                return await self._connect(addresses, origin)
        except TimeoutError:
            raise EgressFailed(Failure.CONNECTION, "no connection within the time") from None

    def _check(self, addresses: list[Address], origin: Origin) -> None:
        # Plain http is for listed addresses alone.
        is_fine = is_permitted if origin.scheme == "https" else is_listed
        # One bad answer among several is how a name is made to point inside.
        if not addresses or not all(is_fine(one, origin.port, self._allowed) for one in addresses):
            raise EgressFailed(Failure.BLOCKED, "address not allowed")

    async def _connect(self, addresses: list[Address], origin: Origin) -> Connection:
        tls = self._context() if origin.scheme == "https" else None
        for place, address in enumerate(addresses):
            # A dead first address must not use up the time of the others.
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


async def _dial(address: Address, origin: Origin, tls: ssl.SSLContext | None) -> Connection:
    loop = asyncio.get_running_loop()
    name = origin.host if tls else None
    _, connection = await loop.create_connection(
        partial(Connection, origin), str(address), origin.port, ssl=tls, server_hostname=name
    )
    return connection


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
