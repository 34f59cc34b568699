"""One reader for the query of every address, of pages and of the API.

Whatever a view reads from an address has passed here: text that databases store and screens
show, of a sensible length. What a value may mean is up to the view; ``chosen`` is for those that
know a list of values.
"""

import re
import uuid
from collections.abc import Callable, Collection

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from .rest.problems import MEDIA_TYPE, body

LONGEST_NAME, LONGEST_VALUE = 100, 2_000
MOST_VALUES = 500
# NUL and lone surrogates, which databases refuse; other control characters but tab and newlines,
# which nobody types into an address.
UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class StrictQuery:
    """Refuse a query with parts that nothing behind could store or look up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 400 with the names that are wrong, or pass the request on."""
        errors = wrong_parameters(request)
        if not errors:
            return self.get_response(request)
        if request.path_info.startswith("/api/"):
            return JsonResponse(body(400, errors), status=400, content_type=MEDIA_TYPE)
        return render(request, "400.html", {"names": list(errors)}, status=400)


def wrong_parameters(request: HttpRequest) -> dict[str, list[str]]:
    """What is wrong with the query, by parameter."""
    found: dict[str, list[str]] = {}
    count = 0
    for name, values in request.GET.lists():
        count += len(values)
        for text, longest in ((name, LONGEST_NAME), *((each, LONGEST_VALUE) for each in values)):
            if len(text) > longest:
                found[_shown(name)] = [_("At most %s characters.") % longest]
            elif UNSTORABLE.search(text):
                found[_shown(name)] = [_("There is a character in it that no text has.")]
    if count > MOST_VALUES:
        found["query"] = [_("At most %s values.") % MOST_VALUES]
    return found


def chosen(request: HttpRequest, name: str, known: Collection[str]) -> str:
    """The value of a parameter if it is a known one, else an empty text: everything."""
    value = request.GET.get(name, "")
    return value if value in known else ""


def whole_number(text: str | None) -> int | None:
    """The number from 0 on that a text is, small enough for every column; None for any other."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 9
    return int(text or 0) if is_number else None


def id_from(text: str | None) -> uuid.UUID | None:
    """The id that a text is; None for any other text."""
    try:
        return uuid.UUID(text or "")
    except ValueError:
        return None


def _shown(name: str) -> str:
    return UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", name[:LONGEST_NAME])
