"""Parts of every page: headers, errors, downloads, choices, glossary, context."""

import re
from collections.abc import Callable, ItemsView
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import IO, Any, TypeVar

from django.conf import settings
from django.forms import BaseForm, ChoiceField, ModelChoiceField
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.text import slugify
from django.views.debug import SafeExceptionReporterFilter
from django.views.defaults import page_not_found


class NotThere(LookupError):
    """The named object does not exist, or no longer exists; the message is for people."""


class Middleware:
    """Base class for middleware around every page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response


class NotFound(Middleware):
    """Middleware that returns 404 for pages; the API has `queries.problem`."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the page that reports the missing object and the reason."""
        if not isinstance(error, NotThere):
            return None
        vars(request).update(not_there=str(error))
        return page_not_found(request, error)


class NoValues(SafeExceptionReporterFilter):
    """A filter that keeps variables and form fields out of error pages.

    Django hides only values marked as sensitive, and only without DEBUG. An API key passes through
    frames of forms and libraries that cannot be marked, and error pages get copied into issues.
    """

    def is_active(self, request: HttpRequest | None) -> bool:
        """Hide marked values, even with DEBUG."""
        return True

    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> ItemsView[str, Any]:
        none: dict[str, Any] = {}
        return none.items()

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, str]:
        """Return the names of the submitted fields, without their values."""
        return dict.fromkeys(getattr(request, "POST", ()), self.cleansed_substitute)


# Common properties of all responses: headers, and a connection that stays open.

PERMISSIONS_POLICY = "camera=(), microphone=(), geolocation=(), payment=()"

MOST_READ, PIECE = 1024 * 1024, 64 * 1024


class UnreadBodies(Middleware):
    """Middleware that reads the unread rest of a body, or closes the connection after the reply.

    The web server silently drops a connection with an unread body, and the next request on it is
    lost.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Respond, with ``Connection: close`` if more than 1 MiB was left unread."""
        response = self.get_response(request)
        # Other servers would wait for bytes that never arrive; Django's own server reads bodies
        # itself.
        if request.META.get("wsgi.input_terminated") and not _read_rest(
            request.META["wsgi.input"]
        ):
            response.headers["Connection"] = "close"
        return response


def _read_rest(body: IO[bytes]) -> bool:
    """Read the rest of the body; return whether it ends within the limit."""
    return any(not body.read(PIECE) for _piece in range(MOST_READ // PIECE + 1))


class PrivateResponses(Middleware):
    """Middleware that keeps private pages out of caches and turns off browser features."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the headers, but keep a Cache-Control header set by the view."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        patch_vary_headers(response, ["Cookie", "HX-Request"])
        return response


def wants_json(request: HttpRequest) -> bool:
    """Return whether a script made the request; a form sent without a script expects a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


Sent = TypeVar("Sent", bound=HttpResponseBase)


def attachment(path: Path, *, name: str, content_type: str) -> FileResponse:
    """Stream a file for download (RFC 6266); browsers neither run it nor guess its type."""
    return guarded(
        FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type=content_type)
    )


def guarded(response: Sent) -> Sent:
    """Keep browsers from running the response or guessing its type."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


def as_file(content: str | bytes, *, name: str, content_type: str) -> HttpResponse:
    """Return content as a downloadable file called ``name``."""
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def offer(form: BaseForm, **offered: Any) -> None:
    """Set the choices of fields to rows, or to pairs of a value and its label."""
    for name, among in offered.items():
        match form.fields[name]:
            case ModelChoiceField() as field:
                field.queryset = among
            case ChoiceField() as field:
                field.choices = among
            case _:
                raise TypeError(f"{name} is not a choice field")


# The glossary: terms with their meanings in `docs/glossary.md`.
#
# A term is looked up by its name there, or by one of several names in a row (*run, call,
# attempt*).

ROW = re.compile(r"^\| (?!term \|)(.+?) \| (.+) \|$", re.M)
# Markdown syntax that is removed from plain text.
MARKS = re.compile(r"[*`]")


@dataclass(frozen=True)
class TermMeaning:
    """A glossary row: its term or terms, their meaning, and the row's anchor on the page."""

    words: str
    text: str
    anchor: str


@cache
def glossary() -> dict[str, TermMeaning]:
    """Return every term with its meaning, read once per process."""
    text = (settings.BASE_DIR / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [
        TermMeaning(head, MARKS.sub("", meaning), slugify(head))
        for head, meaning in ROW.findall(text)
    ]
    return {word: row for row in rows for word in {row.words, *row.words.split(", ")}}


def site(request: HttpRequest) -> dict[str, object]:
    """Return the product name and ``SETTLE_MS``."""
    return {"site_name": "Counterpoint", "settle_ms": settings.SETTLE_MS}
