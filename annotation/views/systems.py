"""Systems of a study: how much each has written, and what it is called here."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from annotation.actions.questions import AlreadyThere, change_system
from annotation.forms.questions import SystemForm
from annotation.models import Answer, System
from annotation.reports.answers import systems_with_counts
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study


@study_page(*RESEARCHERS)
def systems(request: HttpRequest, study: Study) -> HttpResponse:
    """List the systems with their numbers of answers by scenario."""
    rows = list(systems_with_counts(study))
    for row in rows:
        row.by_scenario = [getattr(row, f"answers_{one}") for one in Answer.Scenario.values]
    context = {
        "study": study,
        "section": "answers",
        "systems": rows,
        "scenarios": Answer.Scenario.labels,
    }
    return render(request, "annotation/systems.html", context)


@study_page(*RESEARCHERS)
def system(request: HttpRequest, study: Study, system_id: uuid.UUID) -> HttpResponse:
    """Correct the name and the kind of a system."""
    row: System = get_object_or_404(study.systems.select_related("study"), public_id=system_id)
    form = SystemForm(request.POST or None, initial={"name": row.name, "kind": row.kind})
    if request.method == "POST" and form.is_valid():
        try:
            change_system(system=row, actor=request.user, **form.cleaned_data)
        except AlreadyThere:
            form.add_error("name", _("Another system of the study has this name."))
        else:
            messages.success(request, _("“%s” was changed.") % row.name)
            return redirect("systems", study.public_id)
    context = {"study": study, "section": "answers", "system": row, "form": form}
    status = 422 if form.errors else 200
    return render(request, "annotation/system.html", context, status=status)


urlpatterns = [
    path("systems/", systems, name="systems"),
    path("systems/<uuid:system_id>/", system, name="system"),
]
