"""What a form whose drafts are kept is answered: JSON for its script, or a page without it."""

from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from cqa_site.web.replies import wants_json

WHOLE = "return=representation"


def see_other(address: str) -> HttpResponse:
    """Go there with a GET."""
    return HttpResponse(status=303, headers={"Location": address})


def errors_of(form: BaseForm) -> str:
    """Everything that is wrong, in one line."""
    return " ".join(str(text) for errors in form.errors.values() for text in errors)


def submitted_reply(request: HttpRequest, address: str) -> HttpResponse:
    """The sheet is in; go on at the address."""
    return JsonResponse({"page": address}) if wants_json(request) else see_other(address)


def wants_page(request: HttpRequest) -> bool:
    """Whether a script can show the page that comes next without asking for it (RFC 7240)."""
    return request.headers.get("Prefer") == WHOLE


def brought(page: HttpResponse, address: str) -> HttpResponse:
    """The page that comes next, whose address is another one than was asked (RFC 9110, 8.7)."""
    page["Content-Location"], page["Preference-Applied"] = address, WHOLE
    return page


def closed_reply(request: HttpRequest, address: str) -> HttpResponse:
    """The round ended meanwhile; what differed is kept."""
    detail = _("The round is closed. What you entered is kept.")
    if wants_json(request):
        return JsonResponse({"error": "closed", "detail": detail}, status=409)
    messages.error(request, detail)
    return see_other(address)


def conflict_reply(
    request: HttpRequest, address: str, template: str, context: dict[str, Any]
) -> HttpResponse:
    """Both contents side by side; nothing was overwritten."""
    if not wants_json(request):
        return see_other(address)
    html = render_to_string(template, context, request)
    return JsonResponse({"error": "conflict", "conflict": html}, status=409)


def not_valid_json(
    detail: str, missing: list[str] | None, stored: dict[str, Any] | None = None
) -> JsonResponse:
    """What is missing or wrong; ``stored`` says that the draft was kept nevertheless."""
    body = {"error": "not_valid", "detail": detail, "missing": missing or []}
    return JsonResponse(body | (stored or {}), status=422)
