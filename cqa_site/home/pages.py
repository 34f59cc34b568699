"""Home page, design page, and the counts and search of a study's menu."""

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.cache import patch_cache_control

from cqa_site.people.access import (
    RESEARCHERS,
    PersonRequest,
    StudyRequest,
    may_open_studies,
    memberships_of,
    study_page,
)
from cqa_site.people.models import Role, Study
from cqa_site.rounds.progress import waiting_for
from cqa_site.web.navigation import entries, find

# First page after signing in, and design page.

# Maximum number of studies that are searched for a person's pending work, and of rounds for each.
LOOKED_AT, MOST_SHOWN = 12, 3


@login_required
def home(request: PersonRequest) -> HttpResponse:
    """List the person's studies and the pending work in each; redirect if there is only one."""
    every = list(memberships_of(request.user).order_by("study__name"))
    memberships = [member for member in every if not member.study.is_archived]
    if len(memberships) == 1 and "all" not in request.GET:
        return redirect("study", study_id=memberships[0].study.public_id)
    for membership in memberships[:LOOKED_AT]:
        if not membership.is_researcher:
            left = [waiting for waiting in waiting_for(membership) if not waiting.is_done]
            vars(membership).update(waiting=left[:MOST_SHOWN])
    context = {
        "memberships": memberships,
        "archived": [member for member in every if member.study.is_archived],
        "may_open_studies": may_open_studies(request.user),
    }
    return render(request, "home.html", context)


# Possible ratings of a finding; see `cqa_site.results.boards`.
MARKS = ("", "good", "warn", "bad")


def design(request: HttpRequest) -> HttpResponse:
    """Show every component of the design system once (debug mode only)."""
    return render(request, "design.html", {"form": DesignForm({"name": ""}), "marks": MARKS})


class DesignForm(forms.Form):
    name = forms.CharField(label="Name", help_text="Shown to every member of the study.")
    address = forms.EmailField(label="E-mail", initial="reader@example.org", required=False)
    role = forms.ChoiceField(
        label="Role", choices=[("annotator", "Annotator"), ("expert", "Expert")], required=False
    )
    text = forms.CharField(label="Text", widget=forms.Textarea(attrs={"rows": 3}), required=False)
    file = forms.FileField(label="File", required=False)
    blind = forms.BooleanField(label="Hide the source from annotators", required=False)


# Maximum age of counts, in seconds, when a person moves between pages.
FRESH_SECONDS = 15
LONGEST = 100


@study_page(*RESEARCHERS, Role.EXPERT, only="GET")
def waiting(request: StudyRequest, study: Study) -> HttpResponse:
    """Count pending items for each menu entry that shows a count."""
    counts = {
        entry.page: entry.waits(study)
        for entry in entries()
        if entry.waits and request.membership.role in entry.roles
    }
    reply = JsonResponse({"waiting": counts})
    patch_cache_control(reply, private=True, max_age=FRESH_SECONDS)
    return reply


@study_page(*RESEARCHERS, Role.EXPERT, only="GET")
def search(request: StudyRequest, study: Study) -> HttpResponse:
    """Find names in the study that contain the search words; return a few results of each kind."""
    words = request.GET.get("q", "")[:LONGEST].split()
    results = find(study, request.membership.role, words) if words else []
    return JsonResponse({"found": results})


urlpatterns = [
    path("waiting/", waiting, name="study_waiting"),
    path("search/", search, name="study_search"),
]
