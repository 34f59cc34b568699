"""The first page after signing in, the health check and the design page."""

from django.contrib.auth.decorators import login_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from cqa_site.people.access import memberships_of


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """List the person's studies; with just one, go straight to it."""
    memberships = list(memberships_of(request.user).order_by("study__name"))
    if len(memberships) == 1 and not request.user.is_superuser:
        return redirect("study", study_id=memberships[0].study.public_id)
    return render(request, "home.html", {"memberships": memberships})


def health(request: HttpRequest) -> JsonResponse:
    """Say that the web process answers and reaches its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


def design(request: HttpRequest) -> HttpResponse:
    """Show every component of the design system once (debug mode only)."""
    return render(request, "design.html")
