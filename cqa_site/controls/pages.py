"""Pages of hidden control items: known answers, everybody's record, and their drift."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.rounds.access import tried_items
from cqa_site.rounds.controls import (
    CHANGEABLE,
    agreed_answers,
    is_undrawn,
    set_control,
    set_tolerance,
    take_answer,
)
from cqa_site.rounds.kind import RoundNotReady, SheetKind, kind_of
from cqa_site.rounds.pages.rounds import PAGES
from cqa_site.rounds.rules.pages import ruled_round

from .drift import drift_figure, drift_power
from .forms import KnownForm, ToleranceForm
from .reports import ControlReport, control_report, known_text

BASE = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/controls/"


def controlled_round(study: Study, any_round_id: uuid.UUID) -> Any:
    """Return a round of the study whose kind has hidden control items; raises Http404."""
    round_ = ruled_round(study, any_round_id)
    kind = kind_of(round_)
    if not (isinstance(kind, SheetKind) and kind.takes_controls):
        raise Http404
    return round_


@study_page(*RESEARCHERS)
def round_controls(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Show control items, offers and everybody's record; a POST stores the tolerance."""
    round_ = controlled_round(study, any_round_id)
    form = ToleranceForm(request.POST or None, round_=round_)
    if request.method == "POST" and form.is_valid():
        tolerance = form.cleaned_data["tolerance"]
        set_tolerance(round_=round_, tolerance=tolerance, actor=request.user)
        messages.success(request, _("Tolerance saved."))
        return _back(round_)
    report = control_report(round_)
    context = _context(round_) | {
        "form": form,
        "report": report,
        "card": _figure(round_, report),
        "power": drift_power(report.chart),
        "agreed": _offers(round_) if round_.state in CHANGEABLE else [],
    }
    return render(request, "rounds/controls/controls.html", context, status=_status(form))


@study_page(*RESEARCHERS)
def round_control(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, position: int
) -> HttpResponse:
    """Set the known answer of one item, or make it an ordinary item again."""
    round_ = controlled_round(study, any_round_id)
    kind: Any = kind_of(round_)
    items = kind.Item._default_manager.filter(round=round_.pk, key_points__isnull=True)
    item = get_object_or_404(items.select_related(*kind.item_needed), position=position)
    form = KnownForm(request.POST or None, round_=round_, known=item.known)
    is_removal = "remove" in request.POST
    if request.method == "POST" and (is_removal or form.is_valid()):
        known = None if is_removal else form.cleaned_data
        try:
            set_control(round_=round_, item=item, known=known, actor=request.user)
        except RoundNotReady as reason:
            messages.error(request, str(reason))
        return _back(round_)
    tried = [tried.pk for tried in tried_items(round_)]
    context = _context(round_) | {
        "form": form,
        "item": item,
        "is_undrawn": is_undrawn(kind, item),
        "number": tried.index(item.pk) + 1 if item.pk in tried else None,
        "trial": f"{kind.work_page}_trial",
    }
    return render(request, "rounds/controls/control.html", context, status=_status(form))


@study_page(*RESEARCHERS)
@require_POST
def round_control_take(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, sheet_id: uuid.UUID
) -> HttpResponse:
    """Make an agreed answer of a closed round the known answer of a control item."""
    round_ = controlled_round(study, any_round_id)
    try:
        take_answer(round_=round_, sheet=agreed_sheet(round_, sheet_id), actor=request.user)
    except RoundNotReady as reason:
        messages.error(request, str(reason))
    return _back(round_)


@study_page(*RESEARCHERS)
def round_controls_figure(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send everybody's curve as a chart or a table."""
    round_ = controlled_round(study, any_round_id)
    return figure_file(request, [_figure(round_, control_report(round_))], figure, format)


def agreed_sheet(round_: Any, sheet_id: uuid.UUID) -> Any:
    """Return the sheet of an agreed answer that the round can take; raises Http404."""
    for agreed in agreed_answers(round_):
        if agreed.sheet.public_id == sheet_id:
            return agreed.sheet
    raise Http404


def _offers(round_: Any) -> list[dict[str, Any]]:
    """Return agreed answers, each with an item that is not stored, for the columns of a table."""
    kind: Any = kind_of(round_)
    return [
        {
            "sheet": agreed.sheet,
            "item": kind.Item(**{kind.subject: getattr(agreed.sheet, kind.subject)}, round=round_),
            "known": known_text(kind, round_, agreed.known),
            "people": agreed.people,
        }
        for agreed in agreed_answers(round_)
    ]


def _figure(round_: Any, report: ControlReport) -> Figure:
    ids = (round_.study.public_id, round_.public_id)
    files = Files(view="round_controls_figure", ids=ids, version=report.state)
    return drift_figure(report.chart, report.people, round_.name, files)


def _context(round_: Any) -> dict[str, Any]:
    kind = kind_of(round_)
    return {
        "study": round_.study,
        "round": round_,
        "kind": kind,
        "face": PAGES[kind.name],
        "home_name": kind.rounds_page,
        "is_changeable": round_.state in CHANGEABLE,
    }


def _status(form: Any) -> int:
    return 422 if form.errors else 200


def _back(round_: Any) -> HttpResponse:
    return redirect("round_controls", round_.study.public_id, round_.public_id)


urlpatterns = [
    path(BASE, round_controls, name="round_controls"),
    path(f"{BASE}<int:position>/", round_control, name="round_control"),
    path(f"{BASE}agreed/<uuid:sheet_id>/", round_control_take, name="round_control_take"),
    path(
        f"{BASE}<slug:figure>.<slug:format>", round_controls_figure, name="round_controls_figure"
    ),
]
