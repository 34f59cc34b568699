"""Headers every answer of the site carries."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

PERMISSIONS_POLICY = "camera=(), microphone=(), geolocation=(), payment=()"


class PrivateResponses:
    """Keep pages of signed-in people out of every cache and switch browser features off."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the headers; a view that set its own Cache-Control keeps it."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        patch_vary_headers(response, ["Cookie", "HX-Request"])
        return response
