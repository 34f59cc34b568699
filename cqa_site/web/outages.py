"""Health check, and replies while the database is unavailable."""

import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any
from weakref import WeakSet

from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    connections,
)
from django.db.backends.signals import connection_created
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.defaults import server_error

from cqa_site.web.pages import wants_json

DEADLINE = 0.8
# A query without a reply after this time is abandoned, and a new query is sent.
GIVEN_UP = 10.0


class DatabaseProbe:
    """One query to the database, run in a thread because no driver guarantees a deadline."""

    def __init__(self) -> None:
        self.asked_at = time.monotonic()
        self.done = threading.Event()
        self.is_reached = False
        threading.Thread(target=self._ask, daemon=True, name="health").start()

    def _ask(self) -> None:
        try:
            ask_database()
            self.is_reached = True
        except DatabaseError:
            pass
        finally:
            self.done.set()

    @property
    def is_pending(self) -> bool:
        """Whether a reply may still come."""
        return not self.done.is_set() and time.monotonic() - self.asked_at < GIVEN_UP


class Pulse:
    """A health check with one query at a time, so that queries do not pile up."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.question: DatabaseProbe | None = None

    def reaches_database(self) -> bool:
        """Return whether the database replies within the deadline."""
        with self.lock:
            if self.question is None or not self.question.is_pending:
                self.question = DatabaseProbe()
            question = self.question
        # Later callers wait for the same reply, but no longer.
        question.done.wait(max(0.0, question.asked_at + DEADLINE - time.monotonic()))
        return question.is_reached


pulse = Pulse()


def ask_database() -> None:
    """Open a connection outside the pool, which may be busy, and select one row."""
    usual = connections[DEFAULT_DB_ALIAS]
    values = deepcopy(usual.settings_dict)
    values["OPTIONS"].pop("pool", None)
    probe = type(usual)(values, alias="health")
    try:
        with probe.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        probe.close()


def health(request: HttpRequest) -> JsonResponse:
    """Report that the web process works and can reach its database; return 503 if it cannot."""
    if pulse.reaches_database():
        return JsonResponse({"status": "ok"})
    return JsonResponse({"status": "database away"}, status=503, headers={"Retry-After": "5"})


# Release of threads that wait for a PostgreSQL server that accepts connections but never replies.
#
# No driver guarantees a deadline for a reply, and TCP timeouts do not expire while the other
# machine's kernel acknowledges packets. If a request takes long, the health check's query is
# therefore sent. If it gets no reply either, the sockets of all requests are shut down, and the
# requests end as if the server were unreachable.

log = logging.getLogger(__name__)
LOOK_SECONDS = 0.25
# A request that takes longer may be waiting for the database.
LONG_SECONDS = 0.5
WORKER_LOOK_SECONDS = 2.0


class Watch:
    """Requests in progress by thread, each with its connection."""

    def __init__(self) -> None:
        self._begun: dict[int, tuple[float, Any]] = {}
        self._lock = threading.Lock()
        self._process = 0

    @contextmanager
    def over(self) -> Iterator[None]:
        """Watch the request that this thread handles."""
        connection = connections[DEFAULT_DB_ALIAS]
        if connection.vendor != "postgresql":
            yield
            return
        self._start()
        me = threading.get_ident()
        self._begun[me] = (time.monotonic(), connection)
        try:
            yield
        finally:
            self._begun.pop(me, None)

    def _start(self) -> None:
        """Start one thread in each process, even after a fork."""
        if self._process == os.getpid():
            return
        with self._lock:
            if self._process != os.getpid():
                self._process = os.getpid()
                self._begun = {}
                threading.Thread(target=self._look, daemon=True, name="stalled").start()

    def _look(self) -> None:
        silent = 0
        while True:
            time.sleep(LOOK_SECONDS)
            now = time.monotonic()
            begun = list(self._begun.values())
            is_long = any(now - at > LONG_SECONDS for at, _connection in begun)
            silent = silent + 1 if is_long and not pulse.reaches_database() else 0
            # A single late reply only means that the machine is busy.
            if silent > 1:
                waiting = [connection for _at, connection in list(self._begun.values())]
                log.warning("the database does not reply; %d requests are ended", len(waiting))
                _cut(waiting)


watch = Watch()


def _cut(waiting: list[Any]) -> None:
    """Shut down the sockets of connections that other threads wait for."""
    for connection in waiting:
        with suppress(Exception):
            copy = socket.socket(fileno=os.dup(connection.connection.fileno()))
            with copy:
                copy.shutdown(socket.SHUT_RDWR)


class WorkerWatch:
    """Frees a worker's threads as `Watch` frees those of requests, but only after several minutes.

    After a short pause of the database, work continues where it stopped. A server that was
    replaced in the meantime never replies on old connections, so these are closed, including idle
    connections in the pool, once the leases of this worker have expired.

    Parameters
    ----------
    patience
        Seconds without a reply after which the connections are closed.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._opened: WeakSet[Any] = WeakSet()

    def start(self) -> None:
        """Watch all connections that this process opens from now on."""
        if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
            connection_created.connect(self._add, weak=False)
            threading.Thread(target=self._look, daemon=True, name="stalled").start()

    def _add(self, connection: Any, **_about: object) -> None:
        with self._lock:
            if connection.alias == DEFAULT_DB_ALIAS:
                self._opened.add(connection)

    def _look(self) -> None:
        answered_at = time.monotonic()
        while True:
            time.sleep(WORKER_LOOK_SECONDS)
            with self._lock:
                in_use = [wrapper for wrapper in self._opened if wrapper.connection is not None]
            if not in_use or pulse.reaches_database():
                answered_at = time.monotonic()
            elif time.monotonic() - answered_at > self._patience:
                log.warning("the database does not reply; %d connections are cut", len(in_use))
                _cut(in_use)
                usual: Any = connections[DEFAULT_DB_ALIAS]
                with suppress(Exception):
                    usual.pool.drain()
                answered_at = time.monotonic()


# Responses while the database is unavailable: 503, with a time for the next attempt.
#
# One middleware and one handler cover every view; the API has its own error document. Only errors
# of the connection and of the server's resources count; an invalid statement remains a 500.

RETRY_SECONDS = 5
CAREFUL_SECONDS = 15.0
# Pages about the site's health, which always respond.
ALWAYS = ("/healthz", "/metrics")
# Connection, rollback by the server, resources, shutdown, input and output, lock not granted.
AWAY_STATES = ("08", "25P", "40", "53", "55P03", "57", "58")
REDIS_AWAY = {"ConnectionError", "TimeoutError"}
# Busy, locked, no memory, read only, input and output, full, cannot open, protocol.
AWAY_CODES = {5, 6, 7, 8, 10, 13, 14, 15}


def is_away(error: BaseException | None) -> bool:
    """Return whether an error means that the database or cache cannot be reached or written to."""
    # Compare names, because the package is loaded only on sites that use it.
    if type(error).__module__ == "redis.exceptions":
        return not REDIS_AWAY.isdisjoint(base.__name__ for base in type(error).__mro__)
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    cause = error.__cause__ or error
    if isinstance(error, InterfaceError):
        return "connection" in str(cause)
    if (code := getattr(cause, "sqlite_errorcode", None)) is not None:
        return code & 0xFF in AWAY_CODES
    # Without a state, the server never replied: connection refused, cut or timed out.
    state = getattr(cause, "sqlstate", None)
    return state is None or state.startswith(AWAY_STATES)


class Unavailable:
    """Middleware that returns 503 instead of 500 if a view could not reach the database.

    For some time after such an error, requests first ask the health check. Otherwise each request
    would hold a thread until the connection pool gives up, and the health check would have to wait
    for a free thread.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.careful_until = 0.0

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on, unless the database is still known to be unavailable."""
        is_careful = time.monotonic() < self.careful_until and request.path_info not in ALWAYS
        if is_careful and not pulse.reaches_database():
            return unavailable(request)
        if request.path_info in ALWAYS:
            return self.get_response(request)
        with watch.over():
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Respond to connection errors; leave all other errors to Django."""
        if not is_away(error):
            return None
        self.careful_until = time.monotonic() + CAREFUL_SECONDS
        log.warning("the database did not answer", exc_info=error)
        return unavailable(request)


def error_500(request: HttpRequest) -> HttpResponse:
    """Return 503 or 500 as a last resort, even for errors outside views."""
    error = sys.exc_info()[1]
    return unavailable(request) if is_away(error) else server_error(request)


def unavailable(request: HttpRequest) -> HttpResponse:
    """Report, without using the database, that nothing was stored and a retry is possible."""
    headers = {"Retry-After": str(RETRY_SECONDS)}
    if wants_json(request):
        detail = _(
            "The site cannot store anything right now. Your entry will be sent again "
            "automatically."
        )
        data = {"error": "unavailable", "detail": detail}
        return JsonResponse(data, status=503, headers=headers)
    page = Path(settings.BASE_DIR, "templates", "503.html").read_text(encoding="utf-8")
    return HttpResponse(page, status=503, headers=headers)
