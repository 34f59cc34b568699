"""The first page after signing in, the pages about papers, and the design page."""

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from cqa_site.people.access import PersonRequest, may_open_studies, memberships_of


@login_required
def home(request: PersonRequest) -> HttpResponse:
    """List the person's studies; with just one, go straight to it unless asked for all."""
    memberships = list(memberships_of(request.user).order_by("study__name"))
    if len(memberships) == 1 and "all" not in request.GET:
        return redirect("study", study_id=memberships[0].study.public_id)
    context = {"memberships": memberships, "may_open_studies": may_open_studies(request.user)}
    return render(request, "home.html", context)


# How good a finding can be; see `cqa_site.results.finding`.
MARKS = ("", "good", "warn", "bad")


def design(request: HttpRequest) -> HttpResponse:
    """Show every component of the design system once (debug mode only)."""
    return render(request, "design.html", {"form": DesignForm({"name": ""}), "marks": MARKS})


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
