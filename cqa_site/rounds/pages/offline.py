"""What lets a reload without a connection show the last work page: a worker of the browser."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from cqa_site.people.models import User

# Whose page it is; the worker keeps answers with this header, and no others.
PERSON = "X-Work-Page"


def kept_offline(response: HttpResponse, user: User | Any) -> HttpResponse:
    """Mark a work page as one that the person's own browser may show without a connection."""
    response.headers[PERSON] = str(user.public_id)
    return response


@require_safe
def work_worker(request: HttpRequest) -> HttpResponse:
    """The worker's script, at the root of the site, because it may serve no page above its own."""
    reply = render(request, "rounds/work-worker.js", content_type="text/javascript")
    reply.headers["Cache-Control"] = "no-cache"
    return reply


urlpatterns = [path("work-worker.js", work_worker, name="work_worker")]
