"""What a file of stored scores asks before it is looked at."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from argsum.imports.actions.entries import system_of
from argsum.imports.forms import StoredScoresForm
from cqa_site.files import actions as importing
from cqa_site.files.models import ImportFile
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study


@study_page(*RESEARCHERS)
def import_summary_scores(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Ask which dataset the file is about, then look at it."""
    files = study.import_files.filter(kind=ImportFile.Kind.METRIC_SCORES)
    file = get_object_or_404(files, public_id=file_id)
    initial = {
        "dataset": file.options.get("dataset"),
        "system": system_of(file.options, file.name),
        "order": file.options.get("order"),
    }
    form = StoredScoresForm(request.POST or None, study=study, initial=initial)
    if request.method == "POST" and form.is_valid():
        options = file.options | form.options
        try:
            importing.choose_mapping(import_file=file, options=options, actor=request.user)
        except importing.NotInThisState:
            messages.error(request, _("This file is being worked on or was imported already."))
        return redirect("import_file", study.public_id, file.public_id)
    context = {
        "study": study,
        "section": "imports",
        "file": file,
        "form": form,
        "has_datasets": study.argument_datasets.exists(),
    }
    status = 422 if form.errors else 200
    return render(request, "argsum/imports/summary_scores.html", context, status=status)


urlpatterns = [
    path(
        "imports/<uuid:file_id>/summary-scores/",
        import_summary_scores,
        name="import_summary_scores",
    )
]
