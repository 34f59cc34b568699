"""Requests of this process: counts summed over all processes of the site, and a log line for each.

A server with several processes has one file of counts for each, in a folder named after the
server: all of them start at zero, and files of earlier servers are deleted.
"""

import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
from cqa_site.runs.processes import gone, process_name
from cqa_site.web.logging import around, security
from cqa_site.web.pages import Middleware

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram

SHARED = "PROMETHEUS_MULTIPROC_DIR"
# Age from which counts count as left behind, since servers on other machines cannot be checked.
LEFT_BEHIND = 7 * 24 * 3600.0
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Bytes that a new file of counts takes, and at most those of an entry beside its key.
ROOM, ENTRY = 1 << 20, 40
# Around what people notice: a label in 50 ms, a page in a quarter of a second.
BUCKETS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class RequestCounts(NamedTuple):
    registry: "CollectorRegistry"
    requests: "Counter"
    seconds: "Histogram"


def share(folder: Path) -> None:
    """Store this process's counts beside its neighbours'; call before anything is counted.

    A count of a process that ended stays as long as the server: a sum that fell would look like
    a new beginning.
    """
    if SHARED in os.environ:
        return
    own = folder / process_name(os.getppid(), "web")
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ[SHARED] = str(own)
    others = [neighbour for neighbour in folder.iterdir() if neighbour != own]
    over = gone(neighbour.name for neighbour in others)
    for other in others:
        # A neighbour that starts at the same time may be taking it away already.
        with suppress(FileNotFoundError):
            changed = max(path.stat().st_mtime for path in (other, *other.glob("*")))
            if other.name in over or time.time() - changed > LEFT_BEHIND:
                shutil.rmtree(other, ignore_errors=True)


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count one response; every label has few values, whatever the request.

    Where a full disk has no room for one more count the answer is not counted.
    """
    method = method if method in METHODS else "other"
    with suppress(OSError):
        counts = _counts()
        counts.requests.labels(route, method, f"{status // 100}xx").inc()
        counts.seconds.labels(route).observe(seconds)


def counted() -> "CollectorRegistry":
    """Return the counts of all processes of this server."""
    if SHARED not in os.environ:
        return _counts().registry
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


@cache
def _counts() -> RequestCounts:
    """Create the counters at the first request, because the package reads the folder on load."""
    from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

    disable_created_metrics()  # type: ignore[no-untyped-call]
    _reserve_room()
    registry = CollectorRegistry()
    return RequestCounts(
        registry,
        Counter(
            "counterpoint_requests",
            "Requests answered, by the name of the address.",
            ("route", "method", "status"),
            registry=registry,
        ),
        Histogram(
            "counterpoint_request_seconds",
            "Time until an answer began, by the name of the address.",
            ("route",),
            registry=registry,
            buckets=BUCKETS,
        ),
    )


def _reserve_room() -> None:
    """Reserve disk space for the files of counts before a process maps them.

    A page that is written where a full disk has no room for it ends the process (SIGBUS).
    """
    from prometheus_client import values
    from prometheus_client.mmap_dict import MmapedDict

    class Reserved(MmapedDict):
        def __init__(self, filename: str, read_mode: bool = False) -> None:
            if not read_mode:
                with open(filename, "ab") as file:
                    os.posix_fallocate(file.fileno(), 0, ROOM)
            super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]

        def _init_value(self, key: str) -> None:
            if self._used + len(key.encode()) + ENTRY > self._capacity:
                os.posix_fallocate(self._f.fileno(), self._capacity, self._capacity)
            super()._init_value(key)  # type: ignore[no-untyped-call]

    values.MmapedDict = Reserved  # type: ignore[misc]


# The request log: an id and a line for each request, and events of sign-in.

HEADER = "X-Request-ID"
# Ids as proxies make them; anything else could forge parts of a line or be somebody's text.
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
