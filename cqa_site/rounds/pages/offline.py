"""What lets a reload without a connection show the last work page: a worker of the browser.

The worker keeps one page, with a header that says whose session it belongs to, and shows it only
while a cookie of that browser says the same. The cookie ends with the browser's session, and the
server takes it back with the first answer that belongs to anybody else: at signing out, and
however somebody signs in.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.crypto import salted_hmac
from django.views.decorators.http import require_safe

# The worker keeps answers with this header, and no others.
SESSION = "X-Work-Page"


def kept_offline(response: HttpResponse, request: HttpRequest) -> HttpResponse:
    """Mark a work page as one that this browser session may show without a connection."""
    response.headers[SESSION] = mark = _mark(request)
    response.set_cookie(
        settings.WORK_COOKIE_NAME,
        mark,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=False,  # the worker compares it
        samesite="Lax",
    )
    return response


def _mark(request: HttpRequest) -> str:
    """A name of the session of somebody signed in that says nothing; empty for others."""
    if "_auth_user_id" not in request.session:
        return ""
    return salted_hmac("work page", request.session.session_key or "").hexdigest()[:32]


class ForgetWork:
    """Takes the cookie back as soon as the browser's session is another one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Look only at browsers that have the cookie, and not where the page itself sets it."""
        response = self.get_response(request)
        known, name = request.COOKIES.get(settings.WORK_COOKIE_NAME), settings.WORK_COOKIE_NAME
        if known is not None and name not in response.cookies and known != _mark(request):
            response.delete_cookie(name, samesite="Lax")
        return response


@require_safe
def work_worker(request: HttpRequest) -> HttpResponse:
    """The worker's script, at the root of the site, because it may serve no page above its own."""
    names = {"header": SESSION, "cookie": settings.WORK_COOKIE_NAME}
    reply = render(request, "rounds/work_pages/worker.js", names, content_type="text/javascript")
    reply.headers["Cache-Control"] = "no-cache"
    return reply


urlpatterns = [path("work-worker.js", work_worker, name="work_worker")]
