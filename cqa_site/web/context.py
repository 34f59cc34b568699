"""What every template may use."""

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    """Name of the product, whether the debug pages exist, and see ``SETTLE_MS``."""
    return {
        "site_name": "Counterpoint",
        "debug_pages": settings.DEBUG,
        "settle_ms": settings.SETTLE_MS,
    }
