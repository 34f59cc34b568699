"""Guideline versions: read, compare, write a new one."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path

from annotation.labelling.actions.guidelines import default_draft, save_version
from annotation.labelling.forms.campaigns import GuidelineForm
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study


@study_page(*RESEARCHERS)
def guidelines(request: StudyRequest, study: Study) -> HttpResponse:
    """List the versions with the campaigns that use them."""
    context = {
        "study": study,
        "guidelines": study.guidelines.prefetch_related("campaigns"),
    }
    return render(request, "annotation/labelling/guidelines.html", context)


@study_page(*RESEARCHERS)
def guideline(request: StudyRequest, study: Study, number: int) -> HttpResponse:
    """Show one version as annotators see it."""
    version = get_object_or_404(study.guidelines, number=number)
    context = {"study": study, "guideline": version}
    return render(request, "annotation/labelling/guideline.html", context)


@study_page(*RESEARCHERS)
def guideline_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Write the next version, starting from the newest."""
    newest = default_draft(study)
    form = GuidelineForm(
        request.POST or None,
        levels=newest.levels,
        initial={"title": newest.title, "body": newest.body},
    )
    if request.method == "POST" and form.is_valid():
        version = save_version(
            study=study,
            title=form.cleaned_data["title"],
            body=form.cleaned_data["body"],
            levels=form.cleaned_data["levels"],
            actor=request.user,
        )
        return redirect("guideline", study.public_id, version.number)
    context = {"study": study, "form": form, "newest": newest}
    status = 422 if form.errors else 200
    return render(request, "annotation/labelling/guideline_form.html", context, status=status)


urlpatterns = [
    path("guidelines/", guidelines, name="guidelines"),
    path("guidelines/new/", guideline_new, name="guideline_new"),
    path("guidelines/<int:number>/", guideline, name="guideline"),
]
