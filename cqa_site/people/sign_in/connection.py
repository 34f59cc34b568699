"""What a provider may cost: how long it may take, how much it may say, and to whom we listen.

Whoever runs the site names the providers, so their addresses are trusted where those of endpoints
are not, and may be inside the own network. Answers are not: they end at a size and a time, and
nothing follows them to another place.
"""

import time
from functools import partial
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


def bounded(session: Session) -> Session:
    """Let every request of a session end in time, in size and where it began."""
    session.trust_env = False  # no proxy and no password of the machine's own files
    session.request = partial(_ask, session.request)
    return session


def _ask(request: Any, method: str, url: str, **kwargs: Any) -> Any:
    if not is_trusted_address(url.partition("?")[0]):
        raise OAuth2Error("The provider names an address without TLS.")
    ends = time.monotonic() + WHOLE_SECONDS
    kwargs |= {"stream": True, "allow_redirects": False}
    kwargs["timeout"] = (CONNECT_SECONDS, READ_SECONDS)
    try:
        with request(method, url, **kwargs) as response:
            response._content = _read(response, ends)
            response._content_consumed = True
    except (OSError, HTTPError) as error:  # all failures of connecting are the one or the other
        raise OAuth2Error(f"The provider cannot be asked ({type(error).__name__}).") from error
    if not response.ok or response.is_redirect:
        raise OAuth2Error(f"The provider answered {response.status_code}.")
    return response


def _read(response: Any, ends: float) -> bytes:
    """The whole answer, or the end of patience."""
    read = bytearray()
    while piece := response.raw.read1(PIECE, decode_content=True):  # what is there, unlike `read`
        read += piece
        if len(read) > MOST_BYTES:
            raise OAuth2Error("The provider's answer is too large.")
        if time.monotonic() > ends:
            raise OAuth2Error("The provider's answer takes too long.")
    return bytes(read)
