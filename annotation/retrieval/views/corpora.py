"""Corpora of a study: the list, uploads, one file on its way; and where the CAM service is."""

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from annotation.retrieval.actions import cam as retrieval_cam
from annotation.retrieval.actions import corpora as actions
from annotation.retrieval.forms import ColumnsForm, CorpusForm, ServiceForm
from annotation.retrieval.models import Corpus
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.web.upload_limits import is_too_large
from cqa_site.web.uploads import TooLarge

PER_PAGE = 50


@study_page(*RESEARCHERS)
def corpora(request: StudyRequest, study: Study) -> HttpResponse:
    """List the corpora beside the upload form and the address of the CAM service."""
    return _list_page(request, study)


@csrf_exempt  # checked in _upload, once the size is known: reading the token reads the body
@study_page(*RESEARCHERS)
@require_POST
def corpus_upload(request: StudyRequest, study: Study) -> HttpResponse:
    """Take a file of sentences in, unless its size alone refuses it."""
    if is_too_large(request):
        return _too_large(request, study, CorpusForm({}))
    return _upload(request, study)


@csrf_protect
def _upload(request: StudyRequest, study: Study) -> HttpResponse:
    form = CorpusForm(request.POST, request.FILES)
    if not form.is_valid():
        return _list_page(request, study, 422, form=form)
    upload = form.cleaned_data["file"]
    try:
        corpus = actions.add_corpus(
            study=study,
            name=form.cleaned_data["name"],
            file_name=upload.name,
            chunks=upload.chunks(),
            actor=request.user,
        )
    except TooLarge:
        return _too_large(request, study, form)
    except actions.NameTaken as reason:
        form.add_error("name", str(reason))
        return _list_page(request, study, 422, form=form)
    return redirect("corpus", study.public_id, corpus.public_id)


def _too_large(request: StudyRequest, study: Study, form: CorpusForm) -> HttpResponse:
    form.full_clean()
    form.errors.clear()
    form.refuse_size()
    return _list_page(request, study, 413, form=form)


def _list_page(
    request: StudyRequest, study: Study, status: int = 200, **forms: CorpusForm | ServiceForm
) -> HttpResponse:
    address = retrieval_cam.address_of(study)
    rows = corpora_of(study).select_related("created_by", "job")
    context = {
        "study": study,
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "form": CorpusForm(),
        "service_form": ServiceForm(initial={"address": address}),
        "address": address,
    }
    return render(request, "annotation/retrieval/corpora.html", context | forms, status=status)


def corpora_of(study: Study) -> QuerySet[Corpus]:
    """The corpora of a study that nobody deleted."""
    return study.corpora.filter(deleted_at__isnull=True)


@study_page(*RESEARCHERS)
def corpus(request: StudyRequest, study: Study, corpus_id: uuid.UUID) -> HttpResponse:
    """Show what a look at the file found, or the loaded corpus."""
    return _corpus_page(request, study, _found(study, corpus_id))


def _found(study: Study, corpus_id: uuid.UUID) -> Corpus:
    rows = corpora_of(study).select_related("study", "job", "created_by")
    return get_object_or_404(rows, public_id=corpus_id)


def _corpus_page(
    request: StudyRequest, study: Study, row: Corpus, form: ColumnsForm | None = None
) -> HttpResponse:
    read = {"text": row.found.get("text", ""), "url": row.found.get("url", "")}
    chosen = read | {name: value for name, value in row.options.items() if value}
    columns = row.found.get("columns", [])
    context = {
        "study": study,
        "corpus": row,
        "form": form or ColumnsForm(columns=columns, initial=chosen),
        "is_stranded": actions.is_stranded(row),
        "counts": _counts(row.found),
    }
    return render(
        request, "annotation/retrieval/corpus_file.html", context, status=422 if form else 200
    )


def _counts(found: dict) -> list[tuple[str, int]]:
    """What a look at the file counted; kinds it has none of are left out."""
    names = {
        "rows": _("Rows"),
        "sentences": _("Different sentences"),
        "addresses": _("… with an address"),
        "repeated": _("Repeated in the file"),
        "blank": _("Blank rows"),
        "too_long": _("Longer than 2,000 characters, left out"),
        "not_text": _("Neither text nor a number, left out"),
    }
    return [(label, found[name]) for name, label in names.items() if found.get(name)]


@study_page(*RESEARCHERS)
@require_POST
def corpus_check(request: StudyRequest, study: Study, corpus_id: uuid.UUID) -> HttpResponse:
    """Look at the file again, with the columns that are chosen."""
    row = _found(study, corpus_id)
    form = ColumnsForm(request.POST, columns=row.found.get("columns", []))
    if not form.is_valid():
        return _corpus_page(request, study, row, form)
    try:
        actions.request_check(corpus=row, options=form.cleaned_data, actor=request.user)
    except actions.CorpusBusy as reason:
        messages.error(request, str(reason))
    return redirect("corpus", study.public_id, row.public_id)


@study_page(*RESEARCHERS)
@require_POST
def corpus_load(request: StudyRequest, study: Study, corpus_id: uuid.UUID) -> HttpResponse:
    """Load the sentences in the background."""
    row = _found(study, corpus_id)
    try:
        actions.request_load(corpus=row, actor=request.user)
    except actions.CorpusBusy as reason:
        messages.error(request, str(reason))
    return redirect("corpus", study.public_id, row.public_id)


@study_page(*RESEARCHERS)
@require_POST
def corpus_delete(request: StudyRequest, study: Study, corpus_id: uuid.UUID) -> HttpResponse:
    """Delete a corpus; arguments that were taken from it stay."""
    row = _found(study, corpus_id)
    try:
        actions.request_deletion(corpus=row, actor=request.user)
    except actions.CorpusBusy as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, _("“%s” was deleted; arguments taken from it stay.") % row.name)
    return redirect("corpora", study.public_id)


@study_page(*RESEARCHERS)
@require_POST
def cam_service(request: StudyRequest, study: Study) -> HttpResponse:
    """Keep the address of the study's CAM service."""
    form = ServiceForm(request.POST)
    if not form.is_valid():
        return _list_page(request, study, 422, service_form=form)
    retrieval_cam.set_service(study=study, actor=request.user, **form.cleaned_data)
    messages.success(request, _("The address of the CAM service was changed."))
    return redirect("corpora", study.public_id)


urlpatterns = [
    path("corpora/", corpora, name="corpora"),
    path("corpora/upload/", corpus_upload, name="corpus_upload"),
    path("corpora/cam/", cam_service, name="cam_service"),
    path("corpora/<uuid:corpus_id>/", corpus, name="corpus"),
    path("corpora/<uuid:corpus_id>/check/", corpus_check, name="corpus_check"),
    path("corpora/<uuid:corpus_id>/load/", corpus_load, name="corpus_load"),
    path("corpora/<uuid:corpus_id>/delete/", corpus_delete, name="corpus_delete"),
]
