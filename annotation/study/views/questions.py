"""Comparisons and arguments of a study, and everything said about one of them."""

import uuid

from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.consensus.models import Adjudication, FinalLabel
from annotation.corpus.methods.highlight import split_sentence
from annotation.corpus.models.questions import Argument
from annotation.labelling.models.campaigns import Item
from annotation.labelling.models.votes import Assignment
from annotation.study.forms import ArgumentSearchForm
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
MOST_VOTES = 500


@study_page(*RESEARCHERS)
def arguments(request: StudyRequest, study: Study) -> HttpResponse:
    """Search the arguments of the study."""
    form = ArgumentSearchForm(request.GET or None, study=study)
    found = _search(study, form).select_related("comparison")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    _add_votes(list(page))
    context = {
        "study": study,
        "form": form if form.is_bound else ArgumentSearchForm(study=study),
        "page": page,
        "comparisons": study.comparisons.count(),
        "is_filtered": form.is_bound and any(form.data.get(name) for name in ("q", "comparison")),
    }
    return render(request, "annotation/study/arguments.html", context)


def _search(study: Study, form: ArgumentSearchForm) -> QuerySet[Argument]:
    found = study.arguments.order_by("comparison", "pk")
    if not form.is_bound or not form.is_valid():
        return found
    if form.cleaned_data["q"]:
        found = found.filter(text__icontains=form.cleaned_data["q"])
    if form.cleaned_data["comparison"]:
        found = found.filter(comparison=form.cleaned_data["comparison"])
    return found


def _add_votes(rows: list[Argument]) -> None:
    """Give each argument of the page ``votes`` and ``campaigns``, in one query for all."""
    counts = (
        Item.objects.filter(argument__in=rows)
        .order_by()
        .values("argument")
        .annotate(
            campaigns=Count("campaign", distinct=True),
            votes=Count("assignments", filter=Q(assignments__state=Assignment.State.ANSWERED)),
        )
        .values_list("argument", "campaigns", "votes")
    )
    found = {argument: (campaigns, votes) for argument, campaigns, votes in counts}
    for row in rows:
        campaigns, votes = found.get(row.pk, (0, 0))
        vars(row).update(campaigns=campaigns, votes=votes)


@study_page(*RESEARCHERS)
def argument(request: StudyRequest, study: Study, argument_id: uuid.UUID) -> HttpResponse:
    """One sentence with every vote, decision and final label about it."""
    row = get_object_or_404(
        study.arguments.select_related("comparison", "origin__added_by"), public_id=argument_id
    )
    votes = (
        Assignment.objects.filter(item__argument=row)
        .exclude(state=Assignment.State.SERVED)
        .select_related("campaign", "rater", "item")
        .order_by("campaign__created_at", "item", "pk")
    )
    decisions = Adjudication.objects.filter(argument=row).select_related("campaign", "rater")
    labels = FinalLabel.objects.filter(argument=row).select_related("campaign")
    context = {
        "study": study,
        "argument": row,
        "parts": split_sentence(row.text, row.comparison.object1, row.comparison.object2),
        "items": row.items.select_related("campaign").order_by("campaign__created_at", "pk"),
        "votes": votes[:MOST_VOTES],
        "vote_count": votes.count(),
        "decisions": decisions,
        "labels": labels,
    }
    return render(request, "annotation/study/argument.html", context)


urlpatterns = [
    path("arguments/", arguments, name="arguments"),
    path("arguments/<uuid:argument_id>/", argument, name="argument"),
]
