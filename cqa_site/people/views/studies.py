"""Opening a study and naming it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from cqa_site.people.access import (
    PersonRequest,
    StudyRequest,
    may_open_studies,
    study_page,
)
from cqa_site.people.actions.studies import change_study, create_study
from cqa_site.people.forms import StudyForm
from cqa_site.people.models import Role, Study


@login_required
def study_new(request: PersonRequest) -> HttpResponse:
    """Open a study, for those who may on this site."""
    if not may_open_studies(request.user):
        raise PermissionDenied
    form = StudyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        study = create_study(actor=request.user, **form.cleaned_data)
        return redirect("study", study_id=study.public_id)
    status = 422 if form.errors else 200
    return render(request, "people/study_new.html", {"form": form}, status=status)


@study_page(Role.ADMIN)
def study_settings(request: StudyRequest, study: Study) -> HttpResponse:
    """Change name and description."""
    shown = Study.objects.get(pk=study.pk)  # the form writes into it before it is valid
    form = StudyForm(request.POST or None, instance=shown)
    if request.method == "POST" and form.is_valid():
        change_study(study=study, actor=request.user, **form.cleaned_data)
        messages.success(request, _("Study changed."))
        return redirect("study_settings", study_id=study.public_id)
    context = {"study": study, "form": form}
    status = 422 if form.errors else 200
    return render(request, "people/study_settings.html", context, status=status)
