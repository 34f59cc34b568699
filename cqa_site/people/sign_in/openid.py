"""OpenID Connect: checks of provider replies, and limits on them."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial, wraps
from socket import SHUT_RDWR, socket
from typing import Any, Protocol

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import constant_time_compare, get_random_string
from urllib3.exceptions import HTTPError

from .providers import OpenIDProvider, is_trusted_address

# OpenID Connect checks that the account library omits.
#
# The library trusts any ID token received over TLS without checking its signature, sends no nonce,
# and identifies the person by the user information, even if the token is about another person.
# This module fixes all three. (The view fixes a fourth: the library copies query parameters of our
# own URL into the request.)

# Only signatures by a key that the provider alone has: no shared secrets, no unsigned tokens.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
CLOCK_SECONDS = 60
LONGEST_AGE_SECONDS = 600
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
LONGEST_SUBJECT = 191
# Errors raised when reading a reply that does not follow the protocol.
MISSHAPEN = (jwt.PyJWTError, KeyError, TypeError, ValueError, AttributeError, OSError)


def _read_with_care(read: Callable[..., Any]) -> Callable[..., Any]:
    """Convert every error from a malformed reply into the error that callers expect."""

    @wraps(read)
    def careful(*args: Any, **kwargs: Any) -> Any:
        try:
            return read(*args, **kwargs)
        except MISSHAPEN as error:
            raise OAuth2Error(f"The response is not valid ({type(error).__name__}).") from error

    return careful


class CheckedAdapter(OpenIDConnectOAuth2Adapter):
    """Adapter that accepts an ID token only if every check succeeds."""

    nonce = ""

    @property
    def described(self) -> OpenIDProvider:
        """The provider as defined in `OIDC_PROVIDERS`."""
        return settings.OIDC_PROVIDERS[self.provider_id]

    @property
    @_read_with_care
    def openid_config(self) -> dict[str, Any]:
        """The configuration published by the provider; raises OAuth2Error if it is invalid."""
        if not hasattr(self, "_openid_config"):
            with get_adapter().get_requests_session() as session:
                config = session.get(self.get_provider().server_url).json()
            if not isinstance(config, dict) or not self._is_own(config):
                raise OAuth2Error("The provider identifies itself as a different one.")
            self._openid_config = config
        return self._openid_config

    def _is_own(self, config: dict[str, Any]) -> bool:
        issuer = str(config.get("issuer", ""))
        return issuer.rstrip("/") == self.described.issuer.rstrip("/") and all(
            is_trusted_address(config.get(endpoint)) for endpoint in ENDPOINTS
        )

    get_access_token_data = _read_with_care(OpenIDConnectOAuth2Adapter.get_access_token_data)
    parse_token = _read_with_care(OpenIDConnectOAuth2Adapter.parse_token)

    @_read_with_care
    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        """Identify the person by the signed token and the user information about its subject."""
        signed = self._decode_id_token(app, str(kwargs["response"].get("id_token", "")))
        more = self._fetch_user_info(token.token)
        if not isinstance(more, dict) or more.get("sub") != signed["sub"]:
            raise OAuth2Error("The user information is about someone else.")
        # The method and time of the sign-in must be signed. The address and its verification must
        # come from the same source, because the other source may name a different address.
        named = signed if {"email", "email_verified"} <= signed.keys() else more
        claims = {
            **more,
            **signed,
            **{claim: signed.get(claim) for claim in ("amr", "auth_time")},
            **{claim: named.get(claim) for claim in ("email", "email_verified")},
        }
        login = self.get_provider().sociallogin_from_response(request, claims)
        login.claims = claims
        return login

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        claims = jwt.decode(
            id_token,
            key=self._key(jwt.get_unverified_header(id_token).get("kid")),
            algorithms=ALGORITHMS,
            audience=app.client_id,
            issuer=self.openid_config["issuer"],
            leeway=CLOCK_SECONDS,
            options={"require": ["iss", "sub", "aud", "exp", "iat"], "strict_aud": False},
        )
        if not self.nonce or not constant_time_compare(claims.get("nonce", ""), self.nonce):
            raise ValueError("nonce")
        if isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and "azp" not in claims:
            raise ValueError("azp")
        if claims.get("azp", app.client_id) != app.client_id:
            raise ValueError("azp")
        if claims["iat"] < time.time() - LONGEST_AGE_SECONDS:
            raise ValueError("iat")
        if not 0 < len(claims["sub"]) <= LONGEST_SUBJECT:
            raise ValueError("sub")
        return claims

    @_read_with_care
    def signing_keys(self) -> list[jwt.PyJWK]:
        """Return the provider's published signing keys; raise OAuth2Error if there are none."""
        with get_adapter().get_requests_session() as session:
            published = jwt.PyJWKSet.from_dict(session.get(self.openid_config["jwks_uri"]).json())
        return [key for key in published.keys if key.public_key_use in ("sig", None)]

    def _key(self, named: object) -> jwt.PyJWK:
        signing = self.signing_keys()
        if named is None and len(signing) == 1:
            return signing[0]
        return {key.key_id: key for key in signing}[str(named)]


class CheckedProvider(OpenIDConnectProvider):
    """A provider that adds a nonce to each request."""

    oauth2_adapter_class = CheckedAdapter

    def redirect(
        self,
        request: HttpRequest,
        process: str,
        next_url: str | None = None,
        data: Any = None,
        *,
        again: bool = False,
        **kwargs: Any,
    ) -> HttpResponseBase:
        """Redirect the person to the provider with a nonce that the token must contain.

        With `again`, the provider asks the person to sign in again, even after a recent sign-in.
        """
        nonce = get_random_string(32)
        once_more = {"prompt": "login", "max_age": "0"} if again else {}
        kwargs["auth_params"] = {"nonce": nonce} | once_more
        data = {"nonce": nonce, "again": again}
        return super().redirect(request, process, next_url, data, **kwargs)

    def extract_uid(self, data: dict[str, Any]) -> str:
        """Return the person's subject identifier at the provider, which is never reassigned."""
        return str(data["sub"])

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return only the address, which distinguishes connected accounts."""
        return {"email": data.get("email")}

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"email": data.get("email"), "name": data.get("name")}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[Any]:
        """Return the address, marked as verified only if the provider says so explicitly."""
        from allauth.account.models import EmailAddress

        email, verified = data.get("email"), data.get("email_verified")
        if not isinstance(email, str) or not email:
            return []
        # 1 is not accepted, although it equals True.
        is_verified = verified is True or verified == "true"
        return [EmailAddress(email=email.lower(), verified=is_verified, primary=True)]


class CheckedCallback(OAuth2CallbackView):
    """View that accepts a provider's reply only in the session that sent the request."""

    adapter: CheckedAdapter

    def _get_state(self, request: HttpRequest, provider: Any) -> Any:
        """Find the request by its state, and pass its nonce to the adapter."""
        state, refusal = super()._get_state(request, provider)
        if state is not None:
            self.adapter.nonce = (state.get("data") or {}).get("nonce", "")
        return state, refusal


# Limits on the time, size and origin of provider replies.
#
# The site's operator configures the providers, so their addresses are trusted, unlike those of
# endpoints, and may be on the internal network. Replies are not trusted: their size and time are
# limited, and redirects are not followed.

CONNECT_SECONDS, READ_SECONDS, WHOLE_SECONDS = 3.0, 5.0, 10.0
MOST_BYTES = 512 * 1024
PIECE = 16 * 1024


class Session(Protocol):
    """The part of the account library's session that is used here."""

    request: Any
    trust_env: bool
    adapters: dict[str, Any]


def bounded(session: Session) -> Session:
    """Limit the time and size of a session's requests, and do not follow redirects."""
    session.trust_env = False  # no proxies or passwords from the machine's environment
    session.request = partial(_ask_in_time, session.request, _hold_connections(session))
    return session


def _hold_connections(session: Session) -> list[socket]:
    """Return a list to which every connection opened by the session is added."""
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
    """Send a request with an overall time limit, because plain timeouts restart at every byte."""
    thread = ThreadPoolExecutor(1)
    try:
        return thread.submit(_ask, request, method, url, **kwargs).result(WHOLE_SECONDS)
    except TimeoutError:
        for connection in held:
            with suppress(OSError):  # already closed
                connection.shutdown(SHUT_RDWR)
        raise OAuth2Error("The provider took too long to respond.") from None
    finally:
        thread.shutdown(wait=False)


def _ask(request: Any, method: str, url: str, **kwargs: Any) -> Any:
    if not is_trusted_address(url.partition("?")[0]):
        raise OAuth2Error("The provider uses an address without TLS.")
    kwargs |= {"stream": True, "allow_redirects": False}
    kwargs["timeout"] = (CONNECT_SECONDS, READ_SECONDS)
    try:
        with request(method, url, **kwargs) as response:
            response._content = _read(response)
            response._content_consumed = True
    except (OSError, HTTPError) as error:  # covers all connection failures
        raise OAuth2Error(f"The provider cannot be reached ({type(error).__name__}).") from error
    if not response.ok or response.is_redirect:
        raise OAuth2Error(f"The provider responded with status {response.status_code}.")
    return response


def _read(response: Any) -> bytes:
    """Return the whole reply; raise OAuth2Error if it is too large."""
    read = bytearray()
    while piece := response.raw.read1(PIECE, decode_content=True):  # does not wait, unlike `read`
        read += piece
        if len(read) > MOST_BYTES:
            raise OAuth2Error("The provider's response is too large.")
    return bytes(read)
