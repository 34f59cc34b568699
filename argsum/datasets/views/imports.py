"""What a file with arguments asks before it is looked at: the dataset it goes into."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from argsum.datasets.forms import DatasetNameForm
from argsum.datasets.imports.entries import dataset_name
from argsum.datasets.imports.formats import READERS
from cqa_site.files import actions as importing
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study


@study_page(*RESEARCHERS)
def import_arguments(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Ask for the name of the dataset, then look at the file."""
    file = get_object_or_404(study.import_files, public_id=file_id, kind__in=list(READERS))
    initial = {"dataset": dataset_name(file.options, file.name)}
    form = DatasetNameForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        options = file.options | form.cleaned_data
        try:
            importing.choose_mapping(import_file=file, options=options, actor=request.user)
        except importing.NotInThisState:
            messages.error(request, _("This file is being worked on or was imported already."))
        return redirect("import_file", study.public_id, file.public_id)
    names = study.argument_datasets.values_list("name", flat=True)[:20]
    context = {
        "study": study,
        "section": "imports",
        "file": file,
        "form": form,
        "names": list(names),
    }
    status = 422 if form.errors else 200
    return render(request, "argsum/datasets/import_arguments.html", context, status=status)


urlpatterns = [
    path("imports/<uuid:file_id>/arguments/", import_arguments, name="import_arguments")
]
