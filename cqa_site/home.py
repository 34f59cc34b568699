"""The first page after signing in, the health check and the design page."""

from django import forms
from django.contrib.auth.decorators import login_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from cqa_site.people.access import memberships_of


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """List the person's studies; with just one, go straight to it."""
    memberships = list(memberships_of(request.user).order_by("study__name"))
    may_open = request.user.is_staff or request.user.is_superuser
    if len(memberships) == 1 and not may_open:
        return redirect("study", study_id=memberships[0].study.public_id)
    return render(request, "home.html", {"memberships": memberships, "may_open_studies": may_open})


def health(request: HttpRequest) -> JsonResponse:
    """Say that the web process answers and reaches its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


def design(request: HttpRequest) -> HttpResponse:
    """Show every component of the design system once (debug mode only)."""
    return render(request, "design.html", {"form": DesignForm({"name": ""})})


class DesignForm(forms.Form):
    """One field of each kind, with an error to look at."""

    name = forms.CharField(label="Name", help_text="Shown to every member of the study.")
    address = forms.EmailField(label="E-mail", initial="reader@example.org", required=False)
    role = forms.ChoiceField(
        label="Role", choices=[("annotator", "Annotator"), ("expert", "Expert")], required=False
    )
    text = forms.CharField(label="Text", widget=forms.Textarea(attrs={"rows": 3}), required=False)
    file = forms.FileField(label="File", required=False)
    blind = forms.BooleanField(label="Hide the source from annotators", required=False)
