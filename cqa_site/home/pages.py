"""The first page after signing in, the pages about papers, and the design page."""

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from cqa_site.people.access import PersonRequest, may_open_studies, memberships_of

# Files of docs/papers without their ending.
PAPER_NOTES = {
    "deviations": _("Differences"),
    "relevance": _("Relevance"),
    "compqa": _("CompQA"),
    "argsum": _("Argument summarization"),
}


@login_required
def home(request: PersonRequest) -> HttpResponse:
    """List the person's studies; with just one, go straight to it unless asked for all."""
    memberships = list(memberships_of(request.user).order_by("study__name"))
    if len(memberships) == 1 and "all" not in request.GET:
        return redirect("study", study_id=memberships[0].study.public_id)
    context = {"memberships": memberships, "may_open_studies": may_open_studies(request.user)}
    return render(request, "home.html", context)


@login_required
def paper_notes(request: HttpRequest, paper: str) -> HttpResponse:
    """A page of `docs/papers`: what reproduces, and where paper, release and we differ.

    The addresses end as the files' names do, so that links from one to the other work here, too.
    """
    path = settings.BASE_DIR / "docs" / "papers" / f"{paper}.md"
    if paper not in PAPER_NOTES or not path.is_file():
        raise Http404
    title, _line, body = path.read_text(encoding="utf-8").partition("\n")
    chosen = {"title": title.removeprefix("# "), "body": body, "paper": paper}
    return render(request, "paper_notes.html", chosen | {"papers": PAPER_NOTES})


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
