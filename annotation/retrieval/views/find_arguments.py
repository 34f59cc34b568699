"""Finding arguments for a comparison: in the study's corpora, or by its CAM service."""

import re
import uuid
from collections.abc import Iterable

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.corpus.methods.highlight import split_sentence
from annotation.corpus.models.questions import Argument, Comparison
from annotation.retrieval.actions import taking as retrieval_taking
from annotation.retrieval.actions.search import MOST, search, sentences_of
from annotation.retrieval.actions.taking import Taken
from annotation.retrieval.forms import ComparisonForm, SearchForm, ready_corpora
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
KEY = re.compile(r"[0-9a-f]{64}")


@study_page(*RESEARCHERS)
def find_start(request: StudyRequest, study: Study) -> HttpResponse:
    """Choose a comparison, or name two objects."""
    form = ComparisonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = retrieval_taking.make_comparison(
            study=study, actor=request.user, **form.cleaned_data
        )
        return redirect("find_arguments", study.public_id, made.public_id)
    wanted = request.GET.get("q", "")[:300]
    rows = study.comparisons.filter(Q(object1__icontains=wanted) | Q(object2__icontains=wanted))
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    _count_arguments(page.object_list)
    context = {
        "study": study,
        "form": form,
        "page": page,
        "wanted": wanted,
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/retrieval/arguments_start.html", context, status=status)


def _count_arguments(rows: Iterable[Comparison]) -> None:
    """Give each comparison of the page ``found``, in one query for all."""
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
    known = retrieval_taking.known_keys(comparison, [hit.key for hit in hits])
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


@study_page(*RESEARCHERS)
@require_POST
def find_take(request: StudyRequest, study: Study, comparison_id: uuid.UUID) -> HttpResponse:
    """Make arguments of the chosen sentences."""
    comparison = comparison_or_404(study, comparison_id)
    keys = [key for key in chosen(request) if KEY.fullmatch(key)]
    taken = retrieval_taking.take_corpus_sentences(
        comparison=comparison,
        sentences=sentences_of(ready_corpora(study), keys),
        actor=request.user,
    )
    tell(request, taken)
    address = reverse("find_arguments", args=[study.public_id, comparison.public_id])
    return redirect(f"{address}?{request.GET.urlencode()}")


def chosen(request: StudyRequest) -> list[str]:
    """What the ticked boxes stand for, or every sentence shown."""
    return request.POST.getlist("all" if "everything" in request.POST else "chosen")[:MOST]


def tell(request: StudyRequest, taken: Taken) -> None:
    if not taken.new and not taken.same:
        messages.error(request, _("Choose at least one sentence."))
        return
    said = ngettext("%s new argument.", "%s new arguments.", taken.new) % taken.new
    if taken.same:
        said += " " + _("Here before: %s.") % taken.same
    messages.success(request, said)


C = "comparisons/<uuid:comparison_id>/find/"
urlpatterns = [
    path("find/", find_start, name="find_start"),
    path(C, find_arguments, name="find_arguments"),
    path(C + "take/", find_take, name="find_take"),
]
