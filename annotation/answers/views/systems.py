"""Systems of a study: how much each has written, and what it is called here."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.answers.actions.learned import MOST_BYTES, NotPairs, mark_learned, question_ids
from annotation.answers.actions.questions import AlreadyThere, change_system
from annotation.answers.forms.questions import SystemForm
from annotation.answers.models.answers import System
from annotation.answers.reports.answers import counts_by_condition, systems_with_counts
from annotation.answers.reports.conditions import used_conditions
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

SHOWN = 200


@study_page(*RESEARCHERS)
def systems(request: StudyRequest, study: Study) -> HttpResponse:
    """List the systems with their numbers of answers by condition."""
    rows, counts = list(systems_with_counts(study)), counts_by_condition(study)
    conditions = list(used_conditions(study))
    for row in rows:
        by_condition = [counts.get((row.pk, one.pk), 0) for one in conditions]
        vars(row).update(by_condition=by_condition)
    context = {
        "study": study,
        "systems": rows,
        "conditions": conditions,
    }
    return render(request, "annotation/answers/systems.html", context)


@study_page(*RESEARCHERS)
def system(request: StudyRequest, study: Study, system_id: uuid.UUID) -> HttpResponse:
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
    learned = row.learned.select_related("comparison").order_by("comparison", "pk")
    context = {
        "study": study,
        "system": row,
        "form": form,
        "learned": learned[:SHOWN],
        "learned_count": learned.count(),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/answers/system.html", context, status=status)


@study_page(*RESEARCHERS)
@require_POST
def system_learned(request: StudyRequest, study: Study, system_id: uuid.UUID) -> HttpResponse:
    """Take a file of pairs that the system's model was trained on."""
    row: System = get_object_or_404(study.systems.select_related("study"), public_id=system_id)
    file = request.FILES.get("pairs")
    try:
        if file is None:
            raise NotPairs(_("Choose the file of pairs."))
        if (file.size or 0) > MOST_BYTES:
            raise NotPairs(_("The file is too large."))
        name = str(file.name)
        new = mark_learned(
            system=row, questions=question_ids(file, name), source=name, actor=request.user
        )
    except NotPairs as reason:
        messages.error(request, str(reason))
    else:
        text = ngettext(
            "%d pair of objects more is no test of it.",
            "%d pairs of objects more are no test of it.",
            new,
        )
        messages.success(request, text % new)
    return redirect("system", study.public_id, row.public_id)


urlpatterns = [
    path("systems/", systems, name="systems"),
    path("systems/<uuid:system_id>/", system, name="system"),
    path("systems/<uuid:system_id>/learned/", system_learned, name="system_learned"),
]
