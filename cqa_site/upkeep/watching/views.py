"""The metrics page for Prometheus."""

import ipaddress
import secrets
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from .requests import counted

if TYPE_CHECKING:
    from prometheus_client import Metric

    from .figures import Scrape

# Headers that reveal a proxy, through which every request seems to come from this machine.
PROXIED = (
    "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via",
    "X-Real-IP", "CF-Connecting-IP", "True-Client-IP",
)  # fmt: skip


@csrf_exempt
def metrics(request: HttpRequest) -> HttpResponse:
    """Return counts and figures in Prometheus's text format, or 404 without permission."""
    if request.method not in ("GET", "HEAD") or not may_read(request):
        raise Http404
    from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

    return HttpResponse(generate_latest(MetricsCollector()), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class MetricsCollector:
    """Collector of the request counts, then of the computed figures."""

    def collect(self) -> "Iterator[Metric]":
        yield from counted().collect()
        yield from _scrape().collect()


def may_read(request: HttpRequest) -> bool:
    """Return whether the request has the token.

    If no token is set, only requests from this machine are allowed; in production, none are.
    """
    if token := settings.METRICS_TOKEN:
        header = request.headers.get("Authorization", "")
        return secrets.compare_digest(header.encode(), f"Bearer {token}".encode())
    if settings.PRODUCTION or any(name in request.headers for name in PROXIED):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


@cache
def _scrape() -> "Scrape":
    from .figures import Scrape

    return Scrape()
