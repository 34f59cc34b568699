"""The cookie by which a browser shows that a crowd participant's place is its own."""

from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse

# Longer than any crowd study runs, so that people can come back to their code.
LIFETIME = timedelta(days=180)


def browser_secret(request: HttpRequest) -> str:
    """The secret of the browser; empty if it has none, or one that was not made here."""
    return request.get_signed_cookie(settings.PLACE_COOKIE_NAME, default="") or ""


def keep_browser_secret(response: HttpResponse, secret: str) -> HttpResponse:
    """Leave the secret with the browser, out of the reach of scripts."""
    set_private_cookie(response, settings.PLACE_COOKIE_NAME, secret, LIFETIME)
    return response


def set_private_cookie(response: HttpResponse, name: str, value: str, lifetime: timedelta) -> None:
    """A signed cookie that no script reads and no other site sends along with a form."""
    response.set_signed_cookie(
        name,
        value,
        max_age=lifetime,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
