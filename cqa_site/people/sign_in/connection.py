"""What a provider may cost: how long it may take, how much it may say, and to whom we listen.

Whoever runs the site names the providers, so their addresses are trusted where those of endpoints
are not, and may be inside the own network. Answers are not: they end at a size and a time, and
nothing follows them to another place.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from socket import SHUT_RDWR, socket
from typing import Any, Protocol

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from urllib3.exceptions import HTTPError

from .providers import is_trusted_address

CONNECT_SECONDS, READ_SECONDS, WHOLE_SECONDS = 3.0, 5.0, 10.0
MOST_BYTES = 512 * 1024
PIECE = 16 * 1024


class Session(Protocol):
    """What is used of the session that the account library makes."""

    request: Any
    trust_env: bool
    adapters: dict[str, Any]


def bounded(session: Session) -> Session:
    """Let every request of a session end in time, in size and where it began."""
    session.trust_env = False  # no proxy and no password of the machine's own files
    session.request = partial(_ask_in_time, session.request, _hold_connections(session))
    return session


def _hold_connections(session: Session) -> list[socket]:
    """The connections that a session is going to open, as it opens them."""
    held: list[socket] = []
    for adapter in session.adapters.values():
        pools = adapter.poolmanager.pool_classes_by_scheme
        adapter.poolmanager.pool_classes_by_scheme = {
            scheme: type("Pool", (pool,), {"ConnectionCls": _held(pool.ConnectionCls, held)})
            for scheme, pool in pools.items()
        }
    return held


def _held(connection: Any, held: list[socket]) -> type:
    def connect(self: Any) -> None:
        connection.connect(self)
        held.append(self.sock)

    return type("Connection", (connection,), {"connect": connect})


def _ask_in_time(request: Any, held: list[socket], method: str, url: str, **kwargs: Any) -> Any:
    """Ask, and hang up at the end of patience: timeouts alone begin anew with every byte."""
    thread = ThreadPoolExecutor(1)
    try:
        return thread.submit(_ask, request, method, url, **kwargs).result(WHOLE_SECONDS)
    except TimeoutError:
        for each in held:
            with suppress(OSError):  # closed already
                each.shutdown(SHUT_RDWR)
        raise OAuth2Error("The provider's answer takes too long.") from None
    finally:
        thread.shutdown(wait=False)


def _ask(request: Any, method: str, url: str, **kwargs: Any) -> Any:
    if not is_trusted_address(url.partition("?")[0]):
        raise OAuth2Error("The provider names an address without TLS.")
    kwargs |= {"stream": True, "allow_redirects": False}
    kwargs["timeout"] = (CONNECT_SECONDS, READ_SECONDS)
    try:
        with request(method, url, **kwargs) as response:
            response._content = _read(response)
            response._content_consumed = True
    except (OSError, HTTPError) as error:  # all failures of connecting are the one or the other
        raise OAuth2Error(f"The provider cannot be asked ({type(error).__name__}).") from error
    if not response.ok or response.is_redirect:
        raise OAuth2Error(f"The provider answered {response.status_code}.")
    return response


def _read(response: Any) -> bytes:
    """The whole answer, unless it is too large."""
    read = bytearray()
    while piece := response.raw.read1(PIECE, decode_content=True):  # what is there, unlike `read`
        read += piece
        if len(read) > MOST_BYTES:
            raise OAuth2Error("The provider's answer is too large.")
    return bytes(read)
