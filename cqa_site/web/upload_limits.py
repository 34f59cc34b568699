"""Uploads too large to be taken: noticed before their body is read."""

from django.conf import settings
from django.http import HttpRequest

FORM_SLACK = 1024 * 1024
MOST_DRAINED = 4 * 64 * 1024 * 1024


def is_too_large(request: HttpRequest) -> bool:
    """Whether the size alone refuses the body; it is read away then, for the answer to show."""
    if int(request.META.get("CONTENT_LENGTH") or 0) <= settings.MAX_UPLOAD_BYTES + FORM_SLACK:
        return False
    _drain(request)
    return True


def _drain(request: HttpRequest) -> None:
    """Read the body away, within bounds, so that the browser shows the answer."""
    left = MOST_DRAINED
    while left > 0 and (piece := request.read(65_536)):
        left -= len(piece)
