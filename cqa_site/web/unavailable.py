"""What the site answers while its database is away: 503, and when to come again.

Every view is covered by one middleware and one handler, the API by its own error document. Only
errors of the connection and of the server's room count; a wrong statement stays a 500.
"""

import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.defaults import server_error

from .health import pulse
from .replies import wants_json

log = logging.getLogger(__name__)
RETRY_SECONDS = 5
CAREFUL_SECONDS = 15.0
# What says how the site is goes on to answer.
ALWAYS = ("/healthz", "/metrics")
# Connection, rollback by the server, resources, shutdown, input and output, lock not granted.
AWAY_STATES = ("08", "25P", "40", "53", "55P03", "57", "58")
# Busy, locked, no memory, read only, input and output, full, cannot open, protocol.
AWAY_CODES = {5, 6, 7, 8, 10, 13, 14, 15}


def is_away(error: BaseException | None) -> bool:
    """Whether an error says that the database cannot be reached or cannot store just now."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    cause = error.__cause__ or error
    if isinstance(error, InterfaceError):
        return "connection" in str(cause)
    if (code := getattr(cause, "sqlite_errorcode", None)) is not None:
        return code & 0xFF in AWAY_CODES
    # Without a state the server never spoke: refused, cut, timed out.
    state = getattr(cause, "sqlstate", None)
    return state is None or state.startswith(AWAY_STATES)


class Unavailable:
    """Answer 503 instead of 500 where a view met a database that is away.

    For a while after that, requests ask the health check first: each would otherwise hold a
    thread until the connection pool gives up, and the health check would wait for one.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.careful_until = 0.0

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on, unless the database is known to be still away."""
        is_careful = time.monotonic() < self.careful_until and request.path_info not in ALWAYS
        if is_careful and not pulse.reaches_database():
            return unavailable(request)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Take errors of the connection; leave every other to Django."""
        if not is_away(error):
            return None
        self.careful_until = time.monotonic() + CAREFUL_SECONDS
        log.warning("the database did not answer", exc_info=error)
        return unavailable(request)


def error_500(request: HttpRequest) -> HttpResponse:
    """The last resort, also for what happened outside of views: 503 or 500."""
    error = sys.exc_info()[1]
    return unavailable(request) if is_away(error) else server_error(request)


def unavailable(request: HttpRequest) -> HttpResponse:
    """Say without the database that nothing was stored and the same may be sent again."""
    headers = {"Retry-After": str(RETRY_SECONDS)}
    if wants_json(request):
        detail = _("The site cannot store anything just now. It is sent again by itself.")
        data = {"error": "unavailable", "detail": detail}
        return JsonResponse(data, status=503, headers=headers)
    page = Path(settings.BASE_DIR, "templates", "503.html").read_text(encoding="utf-8")
    return HttpResponse(page, status=503, headers=headers)
