"""Answers of crowd participants that met an error of the server.

The database may be what is away, so the browser carries the note: a signed cookie that only the
server can write, and only for the browser it was written for.
"""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve

from cqa_site.people.models import hash_secret

from .place_cookie import browser_secret, set_private_cookie
from .work import answer_pages

LIFETIME = timedelta(days=1)


class NoteLostAnswers:
    """Leave a note with the browser of a participant whose answer could not be stored."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Look at what an answer met."""
        response = self.get_response(request)
        if response.status_code >= 500 and request.method == "POST" and _is_answer(request):
            secret = browser_secret(request)
            if secret:
                name = settings.LOST_ANSWER_COOKIE_NAME
                set_private_cookie(response, name, hash_secret(secret), LIFETIME)
        return response


def lost_answer(request: HttpRequest) -> bool:
    """Whether an answer of this browser met an error of the server today."""
    note = request.get_signed_cookie(settings.LOST_ANSWER_COOKIE_NAME, "", max_age=LIFETIME)
    secret = browser_secret(request)
    return bool(secret) and note == hash_secret(secret)


def _is_answer(request: HttpRequest) -> bool:
    try:
        return resolve(request.path_info).url_name in answer_pages()
    except Resolver404:
        return False
