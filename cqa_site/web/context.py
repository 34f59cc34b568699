"""What every template may use."""

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    """Name of the product and whether the debug pages exist."""
    return {"site_name": "Counterpoint", "debug_pages": settings.DEBUG}
