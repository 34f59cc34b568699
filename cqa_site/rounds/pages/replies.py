"""Responses and URLs of the work page, and its copy for offline reloads."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from cqa_site.web.pages import Middleware, wants_json
from ..kind import kind_of, sheet_kind_of
from ..progress import TaskProgress

WHOLE = "return=representation"


def is_unread(request: HttpRequest, rows: QuerySet[Any], field: str) -> bool:
    """Whether a form without JavaScript was sent before it could be read, e.g. by a double click.

    ``field`` is the field with the time at which the item was served; scripts use their own clock
    (settled.js).
    """
    since = Now() - timedelta(milliseconds=settings.SETTLE_MS)
    return not wants_json(request) and rows.filter(**{f"{field}__gt": since}).exists()


def unread_notice() -> str:
    """Return the message for an answer that was rejected because it came too fast."""
    return _("Too fast: this item had just appeared. Press again.")


def see_other(address: str) -> HttpResponse:
    return HttpResponse(status=303, headers={"Location": address})


def to_steps(round_: Any) -> HttpResponse:
    return redirect("round_steps", round_.study.public_id, round_.public_id)


def errors_of(form: BaseForm) -> str:
    return " ".join(str(text) for errors in form.errors.values() for text in errors)


def submitted_reply(request: HttpRequest, address: str) -> HttpResponse:
    """Confirm the submission and redirect to the next page."""
    return JsonResponse({"page": address}) if wants_json(request) else see_other(address)


def wants_page(request: HttpRequest) -> bool:
    """Whether a script can show the next page without another request (RFC 7240)."""
    return request.headers.get("Prefer") == WHOLE


def brought(page: HttpResponse, address: str) -> HttpResponse:
    """Mark a page as belonging to a URL other than the requested URL (RFC 9110, 8.7)."""
    page["Content-Location"], page["Preference-Applied"] = address, WHOLE
    return page


def closed_reply(request: HttpRequest, address: str) -> HttpResponse:
    """Report that the round is closed; unsaved content was set aside."""
    detail = _("The round is closed. Your entries are kept.")
    if wants_json(request):
        return JsonResponse({"error": "closed", "detail": detail}, status=409)
    messages.error(request, detail)
    return see_other(address)


def conflict_reply(
    request: HttpRequest, address: str, template: str, context: dict[str, Any]
) -> HttpResponse:
    """Return both versions of the content side by side; nothing was overwritten."""
    if not wants_json(request):
        return see_other(address)
    html = render_to_string(template, context, request)
    return JsonResponse({"error": "conflict", "conflict": html}, status=409)


def not_valid_json(
    detail: str, missing: list[str] | None, stored: dict[str, Any] | None = None
) -> JsonResponse:
    """Return the missing and invalid parts; ``stored`` means that the draft was stored anyway."""
    body = {"error": "not_valid", "detail": detail, "missing": missing or []}
    return JsonResponse(body | (stored or {}), status=422)


# URLs on the page of a sheet, in real work and in a trial.


@dataclass(frozen=True)
class Trial:
    """A trial page, which stores nothing: its item number and the number of items."""

    number: int
    all: int
    # The URLs of the round, and of the previous and next item.
    round: str
    before: str = ""
    after: str = ""

    @property
    def far(self) -> TaskProgress:
        """Progress as if the viewer had done all earlier items."""
        return TaskProgress(self.number - 1, self.all - self.number + 1)


@dataclass(frozen=True)
class Ways:
    """URLs of a sheet and its related pages."""

    form: str
    save: str
    submit: str
    own: str
    work: str
    trial: Trial | None = None


def ways_of(sheet: Any) -> Ways:
    ways: Ways | None = getattr(sheet, "ways", None)
    return ways or _usual(sheet)


def _usual(sheet: Any) -> Ways:
    kind, study = sheet_kind_of(sheet), sheet.round.study.public_id
    name, mine, around = kind.work_page, [study, sheet.public_id], [study, sheet.round.public_id]
    return Ways(
        form=reverse(kind.sheet_page, args=mine),
        save=reverse(f"{name}_save", args=mine),
        submit=reverse(f"{name}_submit", args=mine),
        own=reverse(f"{name}_own", args=around),
        work=reverse(name, args=around),
    )


def trial_of(round_: Any, number: int, count: int) -> Trial:
    kind, study = kind_of(round_), round_.study.public_id
    address = reverse(kind.audit.round, args=[study, round_.public_id])

    def of(number: int) -> str:
        is_there = 1 <= number <= count
        ids = [study, round_.public_id, number]
        return reverse(f"{kind.work_page}_trial", args=ids) if is_there else ""

    return Trial(number, count, address, before=of(number - 1), after=of(number + 1))


def trial_ways(round_: Any, number: int, count: int) -> Ways:
    """Return the URLs of a trial page, which stores nothing."""
    name, ids = sheet_kind_of(round_).work_page, [round_.study.public_id, round_.public_id, number]
    trial = trial_of(round_, number, count)
    return Ways(
        form=reverse(f"{name}_trial", args=ids),
        save=reverse(f"{name}_trial_save", args=ids),
        submit=reverse(f"{name}_trial_submit", args=ids),
        own=trial.round,
        work=trial.after or trial.round,
        trial=trial,
    )


# Offline copy of the last work page, shown by a service worker on reloads without a connection.
#
# The worker stores one page, whose header identifies the session, and shows it only while a cookie
# in the browser has the same value. The cookie ends with the browser's session. The server deletes
# it with the first response outside that session, after a person signs out or in.

# The worker stores only responses with this header.
SESSION = "X-Work-Page"


def kept_offline(response: HttpResponse, request: HttpRequest) -> HttpResponse:
    """Allow this browser session to show a work page offline."""
    response.headers[SESSION] = mark = _mark(request)
    response.set_cookie(
        settings.WORK_COOKIE_NAME,
        mark,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=False,  # the worker reads it
        samesite="Lax",
    )
    return response


def _mark(request: HttpRequest) -> str:
    """Return an opaque identifier of the user's session; empty for anonymous users."""
    if "_auth_user_id" not in request.session:
        return ""
    return salted_hmac("work page", request.session.session_key or "").hexdigest()[:32]


class ForgetWork(Middleware):
    """Middleware that deletes the cookie for offline work pages once the session has changed."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Delete an outdated cookie, unless the page itself sets a new value."""
        response = self.get_response(request)
        known, name = request.COOKIES.get(settings.WORK_COOKIE_NAME), settings.WORK_COOKIE_NAME
        if known is not None and name not in response.cookies and known != _mark(request):
            response.delete_cookie(name, samesite="Lax")
        return response


@require_safe
def work_worker(request: HttpRequest) -> HttpResponse:
    """Serve the worker's script at the site root, so the worker can serve pages at any path."""
    names = {"header": SESSION, "cookie": settings.WORK_COOKIE_NAME}
    reply = render(request, "rounds/work_pages/worker.js", names, content_type="text/javascript")
    reply.headers["Cache-Control"] = "no-cache"
    return reply


urlpatterns = [path("work-worker.js", work_worker, name="work_worker")]
