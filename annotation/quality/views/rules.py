"""Pages about all annotators in a round: exclusion by a threshold, and drift."""

import uuid
from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext_lazy, ngettext

from annotation.labelling.models import Exclusion, LabelRound
from annotation.labelling.views.rounds import label_round_or_404
from annotation.quality import actions
from annotation.quality.forms import BelowForm, ReasonForm
from annotation.quality.reports.controls import (
    RECIPE,
    curve_alt,
    curve_chart,
    curve_table,
    exclusion_curve,
    preview_exclusion,
    quality_of,
)
from annotation.quality.reports.quality import chart_of_round, state_of
from cqa_site.controls.drift import drift_figure, drift_power
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file

CURVE_TITLES = {
    "figures": gettext_lazy("Agreement, coverage and ties by threshold"),
    "labels": gettext_lazy("Labels by threshold"),
}
DRIFT = "drift"


@study_page(*RESEARCHERS)
def quality_exclude_low(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Show the effect of excluding all annotators below an accuracy; exclude them on POST."""
    label_round = label_round_or_404(study, label_round_id)
    defaults = {"below": label_round.min_control_accuracy, "rule": Exclusion.Rule.ACCURACY}
    POST = request.POST if request.method == "POST" else request.GET
    form = BelowForm(defaults | {name: POST[name] for name in defaults if name in POST})
    reason = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and reason.is_valid():
        return _exclude(request, label_round, {**form.cleaned_data, **reason.cleaned_data})
    state = state_of(label_round)
    asked_for = {**form.cleaned_data, "state": state} if form.is_valid() else None
    rows = label_round.exclusions.select_related("made_by")
    context = {
        "study": study,
        "round": label_round,
        "form": form,
        "reason": reason,
        "preview": asked_for and preview_exclusion(label_round, **asked_for),
        "values": label_round.guideline.values,
        "cards": _curve_figures(label_round),
        "exclusions": rows.annotate(still_out=Count("places"))[:20],
    }
    has_errors = bool(form.errors) or (request.method == "POST" and bool(reason.errors))
    return render(
        request, "annotation/quality/exclusion.html", context, status=422 if has_errors else 200
    )


def _exclude(request: StudyRequest, label_round: LabelRound, data: dict[str, Any]) -> HttpResponse:
    exclusion = actions.exclude_below(label_round=label_round, **data, actor=request.user)
    count = exclusion.places.count() if exclusion else 0
    text = ngettext("%d annotator excluded.", "%d annotators excluded.", count) % count
    messages.success(request, text)
    return redirect("quality_exclude_low", label_round.study.public_id, label_round.public_id)


@study_page(*RESEARCHERS, only="POST")
def exclusion_undo(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, exclusion_id: uuid.UUID
) -> HttpResponse:
    """Reinstate all annotators excluded by one action."""
    label_round = label_round_or_404(study, label_round_id)
    row = get_object_or_404(label_round.exclusions.all(), public_id=exclusion_id)
    count = actions.undo_exclusion(exclusion=row, actor=request.user)
    if count is not None:
        text = (
            ngettext("%d annotator is counted again.", "%d annotators are counted again.", count)
            % count
        )
        messages.success(request, text)
    return redirect("quality_exclude_low", study.public_id, label_round.public_id)


@study_page(*RESEARCHERS)
def quality_drift(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Show the control accuracy of all annotators over time."""
    label_round = label_round_or_404(study, label_round_id)
    figure = _drift_figure(label_round)
    context = {
        "study": study,
        "round": label_round,
        "card": figure,
        "power": drift_power(chart_of_round(label_round)),
    }
    return render(request, "annotation/quality/drift.html", context)


@study_page(*RESEARCHERS)
def quality_figure(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send a figure about all annotators as a chart or table."""
    label_round = label_round_or_404(study, label_round_id)
    cards = [_drift_figure(label_round)] if figure == DRIFT else _curve_figures(label_round)
    return figure_file(request, cards, figure, format)


def _files(label_round: LabelRound) -> Files:
    ids = (label_round.study.public_id, label_round.public_id)
    return Files(view="quality_figure", ids=ids, version=state_of(label_round))


def _drift_figure(label_round: LabelRound) -> Figure:
    people = quality_of(label_round)[0]
    return drift_figure(chart_of_round(label_round), people, label_round.name, _files(label_round))


def _curve_figures(label_round: LabelRound) -> list[Figure]:
    files = _files(label_round)
    rows = exclusion_curve(label_round, state=files.version)
    return [
        Figure(
            slug=slug,
            title=title,
            recipe=RECIPE,
            table=curve_table(label_round, rows, slug),
            alt=f"{title}. {curve_alt(rows)}",
            draw=partial(curve_chart, label_round, rows, slug),
            files=files,
            is_wide=True,
        )
        for slug, title in CURVE_TITLES.items()
    ]


BASE = "label-rounds/<uuid:label_round_id>/quality"
urlpatterns = [
    path(f"{BASE}/drift/", quality_drift, name="quality_drift"),
    path(f"{BASE}/exclude-low/", quality_exclude_low, name="quality_exclude_low"),
    path(f"{BASE}/exclude-low/<uuid:exclusion_id>/undo/", exclusion_undo, name="exclusion_undo"),
    path(f"{BASE}/<slug:figure>.<str:format>", quality_figure, name="quality_figure"),
]
