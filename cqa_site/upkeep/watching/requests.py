"""Request counts, added up over all processes of a server, and a log line for each request.

A server with several processes has one file of counts per process, in a folder named after the
server. All counts start at zero, and files of earlier servers are deleted.
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
# Age at which files count as abandoned, because servers on other machines cannot be checked.
LEFT_BEHIND = 7 * 24 * 3600.0
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Size of a new file of counts, and the maximum size of an entry without its key, in bytes.
ROOM, ENTRY = 1 << 20, 40
# Limits near times that people notice: 50 ms for a label, a quarter of a second for a page.
BUCKETS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class RequestCounts(NamedTuple):
    registry: "CollectorRegistry"
    requests: "Counter"
    seconds: "Histogram"


def share(folder: Path) -> None:
    """Store this process's counts with those of the server's other processes.

    Call this function before anything is counted. Counts of ended processes are kept until the
    server ends, because a decreasing total would look like a restart.
    """
    if SHARED in os.environ:
        return
    own = folder / process_name(os.getppid(), "web")
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ[SHARED] = str(own)
    others = [neighbour for neighbour in folder.iterdir() if neighbour != own]
    over = gone(neighbour.name for neighbour in others)
    for other in others:
        # Another server that starts at the same time may already have deleted it.
        with suppress(FileNotFoundError):
            changed = max(path.stat().st_mtime for path in (other, *other.glob("*")))
            if other.name in over or time.time() - changed > LEFT_BEHIND:
                shutil.rmtree(other, ignore_errors=True)


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count one response, using labels with few possible values.

    The response is not counted if the disk is full.
    """
    method = method if method in METHODS else "other"
    with suppress(OSError):
        counts = _counts()
        counts.requests.labels(route, method, f"{status // 100}xx").inc()
        counts.seconds.labels(route).observe(seconds)


def counted() -> "CollectorRegistry":
    """Return the counts from all processes of this server."""
    if SHARED not in os.environ:
        return _counts().registry
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


@cache
def _counts() -> RequestCounts:
    """Create the counters at the first request, because the package reads the folder on import."""
    from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

    disable_created_metrics()  # type: ignore[no-untyped-call]
    _reserve_room()
    registry = CollectorRegistry()
    return RequestCounts(
        registry,
        Counter(
            "counterpoint_requests",
            "Requests by the name of the route.",
            ("route", "method", "status"),
            registry=registry,
        ),
        Histogram(
            "counterpoint_request_seconds",
            "Time until the response started, by the name of the route.",
            ("route",),
            registry=registry,
            buckets=BUCKETS,
        ),
    )


def _reserve_room() -> None:
    """Reserve disk space for the files of counts before a process maps them.

    On a full disk, writing to a mapped page would kill the process (SIGBUS).
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


# Request log, with an id and a line for each request, and sign-in events.

HEADER = "X-Request-ID"
# Ids in the format of proxies; other values could forge parts of a line or contain user text.
WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
REFUSED = (401, 403, 429)
log = logging.getLogger("counterpoint.access")


class Follow(Middleware):
    """Middleware that adds a request's id, route and person to all its log lines."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the id to the response, write a log line and count the response."""
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
    """Return the proxy's request id if it is well-formed, or a new id."""
    header = request.headers.get(HEADER, "")
    return header if WELL_FORMED.fullmatch(header) else secrets.token_hex(16)


def route_of(request: HttpRequest) -> str:
    """Return the name of the route, never the path, because paths may contain secrets."""
    if request.resolver_match is not None:
        return request.resolver_match.view_name or "unnamed"
    return "static" if request.path.startswith(settings.STATIC_URL) else "unknown"


def person_of(request: HttpRequest) -> str:
    """Return the signed-in user's public id if the user has already been loaded."""
    user = vars(request).get("user")
    if isinstance(user, LazyObject):
        user = vars(request).get("_cached_user")
    return str(user.public_id) if user is not None and user.is_authenticated else ""


def network_of(request: HttpRequest) -> str:
    """Return the network of the request's IP address, or an empty string if unknown."""
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
    """Log each sign-in event, but never the text entered in a failed attempt."""
    for event, signal in EVENTS.items():
        signal.connect(_writer(event), weak=False, dispatch_uid=f"watching-{event}")


def _writer(event: str) -> Callable[..., None]:
    def write(sender: object, user: User | None = None, **_: object) -> None:
        security(event, **({"person": user.public_id} if user is not None else {}))

    return write
