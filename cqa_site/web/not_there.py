"""What code below the views says of a thing that was named and is not there; it becomes a 404."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.defaults import page_not_found


class NotThere(LookupError):
    """The thing that was named does not exist, or no longer; the message is for people."""


class NotFound:
    """Answer 404 on pages; the interface has its own, `cqa_site.web.rest.problems`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page that says so, and why."""
        if not isinstance(error, NotThere):
            return None
        vars(request).update(not_there=str(error))
        return page_not_found(request, error)
