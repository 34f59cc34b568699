"""Request log: an id and a line for each request, and events of sign-in."""

import logging
import re
import secrets
import time
from collections.abc import Callable
from functools import partial

from allauth.account import signals
from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.dispatch import Signal
from django.http import HttpRequest, HttpResponse
from django.utils.functional import LazyObject

from cqa_site.people.models import User
from cqa_site.people.sign_in.second_step import network
from cqa_site.web.logging import around, security
from cqa_site.web.pages import Middleware

from .counting import count_request

HEADER = "X-Request-ID"
# As proxies make them; anything else could forge parts of a line or be somebody's text.
WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
REFUSED = (401, 403, 429)
log = logging.getLogger("counterpoint.access")


class Follow(Middleware):
    """Middleware that adds a request's id, route and person to all its log lines."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the id to the response, write one line and count, whatever the response is."""
        began, name = time.perf_counter(), id_of(request)
        with around(
            request=name,
            route=partial(route_of, request),
            person=partial(person_of, request),
            network=partial(network_of, request),
        ):
            response = self.get_response(request)
            response.headers[HEADER] = name
            _tell(request, response.status_code, time.perf_counter() - began)
        return response


def id_of(request: HttpRequest) -> str:
    """Return the request id from the proxy if it is well-formed; else a new one."""
    header = request.headers.get(HEADER, "")
    return header if WELL_FORMED.fullmatch(header) else secrets.token_hex(16)


def route_of(request: HttpRequest) -> str:
    """Return the name of the address, never its path, because links with a secret are paths."""
    if request.resolver_match is not None:
        return request.resolver_match.view_name or "unnamed"
    return "static" if request.path.startswith(settings.STATIC_URL) else "unknown"


def person_of(request: HttpRequest) -> str:
    """Return the signed-in user's public id, if the user was already loaded."""
    user = vars(request).get("user")
    if isinstance(user, LazyObject):
        user = vars(request).get("_cached_user")
    return str(user.public_id) if user is not None and user.is_authenticated else ""


def network_of(request: HttpRequest) -> str:
    """Return the network of the request's address, without the last part."""
    try:
        return network(get_adapter().get_client_ip(request))
    except (ValueError, PermissionDenied, ImproperlyConfigured):
        return ""


def _tell(request: HttpRequest, status: int, seconds: float) -> None:
    method = request.method or ""
    count_request(route_of(request), method, status, seconds)
    fields = {"method": method, "status": status, "milliseconds": round(1000 * seconds, 1)}
    log.info("request", extra={"fields": fields})
    match = request.resolver_match
    names_a_row = match is not None and bool(match.kwargs)
    if status in REFUSED or (status == 404 and names_a_row):
        security("refused", status=status)


EVENTS: dict[str, Signal] = {
    "signed_in": user_logged_in,
    "signed_out": user_logged_out,
    "sign_in_failed": user_login_failed,
    "password_changed": signals.password_changed,
    "password_reset": signals.password_reset,
}


def watch() -> None:
    """Log each sign-in event; for a failed attempt, nothing that was typed."""
    for event, signal in EVENTS.items():
        signal.connect(_writer(event), weak=False, dispatch_uid=f"watching-{event}")


def _writer(event: str) -> Callable[..., None]:
    def write(sender: object, user: User | None = None, **_: object) -> None:
        security(event, **({"person": user.public_id} if user is not None else {}))

    return write
