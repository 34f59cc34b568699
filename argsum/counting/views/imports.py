"""What a file of counts asks before it is looked at: dataset and rater."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from argsum.counting.forms.imports import CountImportForm
from argsum.counting.imports.entries import dataset_of, rater_of
from cqa_site.files import actions as importing
from cqa_site.files.models import ImportFile
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

MOST_NAMES = 20


@study_page(*RESEARCHERS)
def import_counts(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Ask whose counts they are and where their sets go, then look at the file."""
    files = study.import_files.filter(kind=ImportFile.Kind.COUNT_SHEETS)
    file = get_object_or_404(files, public_id=file_id)
    names = list(study.argument_datasets.values_list("name", flat=True)[:MOST_NAMES])
    initial = {"dataset": dataset_of(file.options), "rater": rater_of(file.options, file.name)}
    if len(names) == 1 and not file.options.get("dataset"):
        initial["dataset"] = names[0]
    form = CountImportForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        options = file.options | form.cleaned_data
        try:
            importing.choose_mapping(import_file=file, options=options, actor=request.user)
        except importing.NotInThisState:
            messages.error(request, _("This file is being worked on or was imported already."))
        return redirect("import_file", study.public_id, file.public_id)
    context = {"study": study, "section": "imports", "file": file, "form": form, "names": names}
    status = 422 if form.errors else 200
    return render(request, "argsum/counting/import_counts.html", context, status=status)


urlpatterns = [path("imports/<uuid:file_id>/counts/", import_counts, name="import_counts")]
