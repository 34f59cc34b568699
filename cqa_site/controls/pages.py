"""Pages for hidden control items: known answers, each person's record, and drift."""

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _, ngettext

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.rounds.access import trial_context
from cqa_site.rounds.controls import (
    CHANGEABLE,
    control_offers,
    is_undrawn,
    require_same,
    set_control,
    set_tolerance,
    take_offers,
)
from cqa_site.rounds.examples import OFFERED, known_text
from cqa_site.rounds.kind import OfferedAnswer, RoundNotReady, SheetKind, kind_of, round_head
from cqa_site.rounds.pages.rounds import PAGES
from cqa_site.rounds.rules.pages import ruled_round
from .drift import drift_figure, drift_power
from .forms import KnownForm, ToleranceForm
from .reports import ControlReport, control_report

BASE = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/controls/"


def offering_round(study: Study, any_round_id: uuid.UUID) -> Any:
    """Return a round of the study if its kind has hidden control items; raises Http404."""
    round_ = ruled_round(study, any_round_id)
    if not kind_of(round_).takes_controls:
        raise Http404
    return round_


def controlled_round(study: Study, any_round_id: uuid.UUID) -> Any:
    """Return a round of sheets with control items; label rounds have their own control pages."""
    round_ = offering_round(study, any_round_id)
    if not isinstance(kind_of(round_), SheetKind):
        raise Http404
    return round_


@study_page(*RESEARCHERS)
def round_controls(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Show control items, offers and each person's record; a POST stores the tolerance."""
    round_ = offering_round(study, any_round_id)
    if not isinstance(kind_of(round_), SheetKind):
        return render(request, "rounds/controls/controls.html", page_context(round_))
    form = ToleranceForm(request.POST or None, round_=round_)
    if request.method == "POST" and form.is_valid():
        tolerance = form.cleaned_data["tolerance"]
        set_tolerance(round_=round_, tolerance=tolerance, actor=request.user)
        messages.success(request, _("Tolerance saved."))
        return _back(round_)
    report = control_report(round_)
    context = page_context(round_) | {
        "form": form,
        "report": report,
        "card": _figure(round_, report),
        "power": drift_power(report.chart),
    }
    return render(request, "rounds/controls/controls.html", context, status=_status(form))


@study_page(*RESEARCHERS)
def round_control(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, position: int
) -> HttpResponse:
    """Set the known answer to an item, or make it an ordinary item again."""
    round_ = controlled_round(study, any_round_id)
    kind: Any = kind_of(round_)
    items = kind.Item._default_manager.filter(round=round_.pk, key_points__isnull=True)
    item = get_object_or_404(items.select_related(*kind.item_needed), position=position)
    form = KnownForm(request.POST or None, round_=round_, item=item)
    about: Any = {"is_set": item.known is not None, "is_undrawn": is_undrawn(kind, item)}
    return known_page(request, round_, form, partial(set_control, item=item), **about, item=item)


def known_page(
    request: StudyRequest,
    round_: Any,
    form: KnownForm,
    store: Callable[..., object],
    *,
    item: Any,
    back: str = "round_controls",
    **about: bool,
) -> HttpResponse:
    """Show the form for an item's known answer; a POST stores or removes the answer."""
    is_removal = "remove" in request.POST
    if request.method == "POST" and (is_removal or form.is_valid()):
        values = {"known": None} if is_removal else form.values
        try:
            require_same(item, request.POST)
            store(round_=round_, actor=request.user, **values)
        except RoundNotReady as reason:
            messages.error(request, str(reason))
        return redirect(back, round_.study.public_id, round_.public_id)
    context = page_context(round_) | trial_context(round_, item) | about
    context |= {"form": form, "back": back}
    return render(request, "rounds/controls/known.html", context, status=_status(form))


@study_page(*RESEARCHERS, only="POST")
def round_control_take(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID
) -> HttpResponse:
    """Create control items from one known answer, or from all known answers from one origin."""
    round_ = offering_round(study, any_round_id)
    which: Any = {"source": request.POST.get("id"), "is_settled": "settled" in request.POST}
    try:
        n = take_offers(round_=round_, actor=request.user, **which)
    except (LookupError, RoundNotReady) as reason:
        messages.error(request, str(reason))
    else:
        added = ngettext("%d control item added.", "%d control items added.", n)
        messages.success(request, added % n)
    return _back(round_)


@study_page(*RESEARCHERS)
def round_controls_figure(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Return all curves as a chart or a table."""
    round_ = controlled_round(study, any_round_id)
    return figure_file(request, [_figure(round_, control_report(round_))], figure, format)


@dataclass(frozen=True)
class OfferList:
    """Usable known answers from one origin, with the reasons why others cannot be used."""

    is_settled: bool
    n_free: int
    # The first offers, each with its answer in words.
    rows: list[tuple[OfferedAnswer, str]]
    left_out: list[tuple[str, int]]


def offer_lists(round_: Any) -> list[OfferList]:
    """Return the non-empty lists of settled disputes and of agreed answers from other rounds."""
    kind, lists = kind_of(round_), []
    offers = control_offers(round_) if round_.state in CHANGEABLE else []
    for is_settled in (True, False):
        own = [offer for offer in offers if offer.is_settled == is_settled]
        free = [offer for offer in own if not offer.reason]
        reasons = Counter(str(offer.reason) for offer in own if offer.reason)
        rows = [(offer, known_text(kind, round_, offer.known)) for offer in free[:OFFERED]]
        lists += [OfferList(is_settled, len(free), rows, reasons.most_common())] if own else []
    return lists


def _figure(round_: Any, report: ControlReport) -> Figure:
    ids = (round_.study.public_id, round_.public_id)
    files = Files(view="round_controls_figure", ids=ids, version=report.state)
    return drift_figure(report.chart, report.people, round_.name, files)


def page_context(round_: Any) -> dict[str, Any]:
    """Return the template context for a page about a round's known answers."""
    return round_head(round_) | {
        "pages": PAGES[kind_of(round_).name],
        "is_changeable": round_.state in CHANGEABLE,
        "offers": SimpleLazyObject(lambda: offer_lists(round_)),
    }


def _status(form: Any) -> int:
    return 422 if form.errors else 200


def _back(round_: Any) -> HttpResponse:
    return redirect("round_controls", round_.study.public_id, round_.public_id)


urlpatterns = [
    path(BASE, round_controls, name="round_controls"),
    path(f"{BASE}<int:position>/", round_control, name="round_control"),
    path(f"{BASE}agreed/", round_control_take, name="round_control_take"),
    path(
        f"{BASE}<slug:figure>.<slug:format>", round_controls_figure, name="round_controls_figure"
    ),
]
