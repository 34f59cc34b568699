"""Files of the site as downloads, never as pages."""

from pathlib import Path
from typing import TypeVar

from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase

Sent = TypeVar("Sent", bound=HttpResponseBase)


def attachment(path: Path, *, name: str, content_type: str) -> FileResponse:
    """Stream a file to be saved under ``name`` (RFC 6266); no browser runs or guesses it."""
    return guarded(
        FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type=content_type)
    )


def guarded(response: Sent) -> Sent:
    """A response that no browser runs or guesses."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


def as_file(content: str | bytes, *, name: str, content_type: str) -> HttpResponse:
    """What was made for this request, to be saved under ``name``."""
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
