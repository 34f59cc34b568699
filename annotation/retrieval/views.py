"""Pages for corpora and the CAM service, and for finding arguments with either."""

import re
import uuid
from collections.abc import Iterable

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from annotation.corpus.methods.sentences import split_sentence
from annotation.corpus.models import Argument, Comparison
from annotation.retrieval.actions import arguments as retrieval_actions, corpora as actions
from annotation.retrieval.actions.arguments import MOST_HITS, AddedArguments, search, sentences_of
from annotation.retrieval.forms import (
    CamForm,
    ComparisonForm,
    CorpusColumnsForm,
    CorpusForm,
    SearchForm,
    ServiceForm,
    ready_corpora,
)
from annotation.retrieval.models import CamRequest, Corpus
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.tabular.cells import text_key
from cqa_site.web.uploads import TooLarge, is_too_large

PER_PAGE = 50


@study_page(*RESEARCHERS)
def corpora(request: StudyRequest, study: Study) -> HttpResponse:
    """List the corpora, with the upload form and the address of the CAM service."""
    return _list_page(request, study)


@csrf_exempt  # checked in _upload after the size, because reading the token reads the body
@study_page(*RESEARCHERS, only="POST")
def corpus_upload(request: StudyRequest, study: Study) -> HttpResponse:
    """Upload a file of sentences, unless it is too large."""
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
    address = retrieval_actions.address_of(study)
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
    """Return the study's corpora except deleted ones."""
    return study.corpora.filter(deleted_at__isnull=True)


@study_page(*RESEARCHERS)
def corpus(request: StudyRequest, study: Study, corpus_id: uuid.UUID) -> HttpResponse:
    """Show the result of the file's check, or the loaded corpus."""
    return _corpus_page(request, study, _found(study, corpus_id))


def _found(study: Study, corpus_id: uuid.UUID) -> Corpus:
    rows = corpora_of(study).select_related("study", "job", "created_by")
    return get_object_or_404(rows, public_id=corpus_id)


def _corpus_page(
    request: StudyRequest, study: Study, row: Corpus, form: CorpusColumnsForm | None = None
) -> HttpResponse:
    read = {"text": row.found.get("text", ""), "url": row.found.get("url", "")}
    chosen = read | {name: value for name, value in row.options.items() if value}
    columns = row.found.get("columns", [])
    context = {
        "study": study,
        "corpus": row,
        "form": form or CorpusColumnsForm(columns=columns, initial=chosen),
        "is_stranded": actions.is_stranded(row),
        "counts": _counts(row.found),
    }
    return render(
        request, "annotation/retrieval/corpus_file.html", context, status=422 if form else 200
    )


def _counts(counts: dict) -> list[tuple[str, int]]:
    """Return the counts of the file's check, without zeros."""
    names = {
        "rows": _("Rows"),
        "sentences": _("Different sentences"),
        "addresses": _("… with an address"),
        "repeated": _("Repeated in the file"),
        "blank": _("Blank rows"),
        "too_long": _("Longer than 2,000 characters, left out"),
        "not_text": _("Neither text nor a number, left out"),
    }
    return [(label, counts[name]) for name, label in names.items() if counts.get(name)]


@study_page(*RESEARCHERS, only="POST")
def corpus_check(request: StudyRequest, study: Study, corpus_id: uuid.UUID) -> HttpResponse:
    """Check the file again with the chosen columns."""
    row = _found(study, corpus_id)
    form = CorpusColumnsForm(request.POST, columns=row.found.get("columns", []))
    if not form.is_valid():
        return _corpus_page(request, study, row, form)
    try:
        actions.request_check(corpus=row, options=form.cleaned_data, actor=request.user)
    except actions.CorpusBusy as reason:
        messages.error(request, str(reason))
    return redirect("corpus", study.public_id, row.public_id)


@study_page(*RESEARCHERS, only="POST")
def corpus_load(request: StudyRequest, study: Study, corpus_id: uuid.UUID) -> HttpResponse:
    """Load the sentences in the background."""
    row = _found(study, corpus_id)
    try:
        actions.request_load(corpus=row, actor=request.user)
    except actions.CorpusBusy as reason:
        messages.error(request, str(reason))
    return redirect("corpus", study.public_id, row.public_id)


@study_page(*RESEARCHERS, only="POST")
def corpus_delete(request: StudyRequest, study: Study, corpus_id: uuid.UUID) -> HttpResponse:
    """Delete a corpus; arguments added from it are kept."""
    row = _found(study, corpus_id)
    try:
        actions.request_deletion(corpus=row, actor=request.user)
    except actions.CorpusBusy as reason:
        messages.error(request, str(reason))
    else:
        messages.success(
            request, _("“%s” was deleted. Arguments added from it are kept.") % row.name
        )
    return redirect("corpora", study.public_id)


@study_page(*RESEARCHERS, only="POST")
def cam_service(request: StudyRequest, study: Study) -> HttpResponse:
    """Store the address of the study's CAM service."""
    form = ServiceForm(request.POST)
    if not form.is_valid():
        return _list_page(request, study, 422, service_form=form)
    retrieval_actions.set_service(study=study, actor=request.user, **form.cleaned_data)
    messages.success(request, _("The address of the CAM service was changed."))
    return redirect("corpora", study.public_id)


corpus_urls = [
    path("corpora/", corpora, name="corpora"),
    path("corpora/upload/", corpus_upload, name="corpus_upload"),
    path("corpora/cam/", cam_service, name="cam_service"),
    path("corpora/<uuid:corpus_id>/", corpus, name="corpus"),
    path("corpora/<uuid:corpus_id>/check/", corpus_check, name="corpus_check"),
    path("corpora/<uuid:corpus_id>/load/", corpus_load, name="corpus_load"),
    path("corpora/<uuid:corpus_id>/delete/", corpus_delete, name="corpus_delete"),
]

KEY = re.compile(r"[0-9a-f]{64}")


@study_page(*RESEARCHERS)
def find_start(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the form to choose a comparison or enter two objects."""
    form = ComparisonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        comparison = retrieval_actions.make_comparison(
            study=study, actor=request.user, **form.cleaned_data
        )
        return redirect("find_arguments", study.public_id, comparison.public_id)
    wanted = request.GET.get("q", "")[:300]
    rows = study.comparisons.filter(Q(object1__icontains=wanted) | Q(object2__icontains=wanted))
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    _count_arguments(page.object_list)
    context = {"study": study, "form": form, "page": page, "wanted": wanted}
    status = 422 if form.errors else 200
    return render(request, "annotation/retrieval/arguments_start.html", context, status=status)


def _count_arguments(rows: Iterable[Comparison]) -> None:
    """Set ``found`` for each comparison on the page, with one query."""
    counted = Argument.objects.filter(comparison__in=rows).order_by().values("comparison")
    counts = dict(counted.annotate(n=Count("pk")).values_list("comparison", "n"))
    for row in rows:
        vars(row).update(found=counts.get(row.pk, 0))


@study_page(*RESEARCHERS)
def find_arguments(request: StudyRequest, study: Study, comparison_id: uuid.UUID) -> HttpResponse:
    """Search the corpora for sentences that name both objects."""
    comparison = comparison_or_404(study, comparison_id)
    form = SearchForm(request.GET, study=study, comparison=comparison)
    hits = search(form.corpora(), form.query, form.cleaned_data["most"]) if form.is_valid() else []
    known = retrieval_actions.known_keys(comparison, [hit.key for hit in hits])
    rows = [
        {"hit": hit, "parts": parts_of(hit.text, comparison), "is_known": hit.key in known}
        for hit in hits
    ]
    context = {
        "study": study,
        "comparison": comparison,
        "form": form,
        "rows": rows,
        "fresh": len(hits) - len(known),
        "has_corpora": ready_corpora(study).exists(),
        "argument_count": comparison.arguments.count(),
    }
    return render(
        request, "annotation/retrieval/arguments.html", context, status=422 if form.errors else 200
    )


def parts_of(text: str, comparison: Comparison) -> list:
    return split_sentence(text, comparison.object1, comparison.object2)


def comparison_or_404(study: Study, comparison_id: uuid.UUID) -> Comparison:
    rows = study.comparisons.select_related("study")
    return get_object_or_404(rows, public_id=comparison_id)


@study_page(*RESEARCHERS, only="POST")
def find_take(request: StudyRequest, study: Study, comparison_id: uuid.UUID) -> HttpResponse:
    """Add the chosen sentences as arguments."""
    comparison = comparison_or_404(study, comparison_id)
    keys = [key for key in chosen(request) if KEY.fullmatch(key)]
    arguments = retrieval_actions.take_corpus_sentences(
        comparison=comparison,
        sentences=sentences_of(ready_corpora(study), keys),
        actor=request.user,
    )
    tell(request, arguments)
    address = reverse("find_arguments", args=[study.public_id, comparison.public_id])
    return redirect(f"{address}?{request.GET.urlencode()}")


def chosen(request: StudyRequest) -> list[str]:
    """Return the values of the ticked boxes, or of all sentences shown."""
    return request.POST.getlist("all" if "everything" in request.POST else "chosen")[:MOST_HITS]


def tell(request: StudyRequest, arguments: AddedArguments) -> None:
    if not arguments.new and not arguments.same:
        messages.error(request, _("Choose at least one sentence."))
        return
    message = ngettext("%s new argument.", "%s new arguments.", arguments.new) % arguments.new
    if arguments.same:
        message += " " + _("Already in the study: %s.") % arguments.same
    messages.success(request, message)


FIND_PATH = "comparisons/<uuid:comparison_id>/find/"
find_urls = [
    path("find/", find_start, name="find_start"),
    path(FIND_PATH, find_arguments, name="find_arguments"),
    path(FIND_PATH + "take/", find_take, name="find_take"),
]

# Arguments from a CAM service: requests, and selection from the replies

MOST_REQUESTS = 20


@study_page(*RESEARCHERS)
def find_cam(request: StudyRequest, study: Study, comparison_id: uuid.UUID) -> HttpResponse:
    """Send a request to the CAM service, and list earlier requests."""
    comparison = comparison_or_404(study, comparison_id)
    form = CamForm(request.POST or None, initial={"aspects": request.GET.get("aspect", "")})
    if request.method == "POST" and form.is_valid():
        try:
            query = retrieval_actions.ask(
                comparison=comparison, actor=request.user, **form.cleaned_data
            )
        except retrieval_actions.NoService as reason:
            form.add_error(None, str(reason))
        else:
            return redirect("cam_request", study.public_id, comparison.public_id, query.public_id)
    context = {
        "study": study,
        "comparison": comparison,
        "form": form,
        "address": retrieval_actions.address_of(study),
        "requests": comparison.cam_requests.select_related("job", "created_by")[:MOST_REQUESTS],
        "argument_count": comparison.arguments.count(),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/retrieval/arguments_cam.html", context, status=status)


@study_page(*RESEARCHERS)
def cam_request(
    request: StudyRequest, study: Study, comparison_id: uuid.UUID, request_id: uuid.UUID
) -> HttpResponse:
    """Show the reply of the CAM service, or the progress of the request."""
    query = _request(study, comparison_id, request_id)
    sentences = query.found or []
    known = retrieval_actions.known_keys(
        query.comparison, [text_key(sentence["text"]) for sentence in sentences]
    )
    rows = [
        {
            "place": place,
            "sentence": sentence,
            "parts": parts_of(sentence["text"], query.comparison),
            "is_known": text_key(sentence["text"]) in known,
        }
        for place, sentence in enumerate(sentences, start=1)
    ]
    context = {
        "study": study,
        "comparison": query.comparison,
        "asked": query,
        "rows": rows,
        "fresh": len(sentences) - len(known),
        "argument_count": query.comparison.arguments.count(),
    }
    return render(request, "annotation/retrieval/arguments_reply.html", context)


def _request(study: Study, comparison_id: uuid.UUID, request_id: uuid.UUID) -> CamRequest:
    rows = study.cam_requests.select_related("comparison__study", "job", "created_by")
    return get_object_or_404(rows, comparison__public_id=comparison_id, public_id=request_id)


@study_page(*RESEARCHERS, only="POST")
def cam_take(
    request: StudyRequest, study: Study, comparison_id: uuid.UUID, request_id: uuid.UUID
) -> HttpResponse:
    """Add the chosen sentences in a reply as arguments."""
    query = _request(study, comparison_id, request_id)
    places = [int(place) for place in chosen(request) if re.fullmatch("[0-9]{1,4}", place)]
    arguments = retrieval_actions.take_cam_sentences(
        asked=query, places=places, actor=request.user
    )
    tell(request, arguments)
    return redirect("cam_request", study.public_id, comparison_id, request_id)


CAM_PATH = "comparisons/<uuid:comparison_id>/find/cam/"
cam_urls = [
    path(CAM_PATH, find_cam, name="find_cam"),
    path(CAM_PATH + "<uuid:request_id>/", cam_request, name="cam_request"),
    path(CAM_PATH + "<uuid:request_id>/take/", cam_take, name="cam_take"),
]
