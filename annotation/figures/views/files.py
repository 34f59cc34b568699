"""What a figure is made of and goes away as: its votes, its table, its chart."""

import uuid
from dataclasses import replace

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _

from annotation.figures.models import Snapshot
from annotation.figures.reports.kept import Figures
from annotation.figures.reports.snapshots import snapshot_votes
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import figure_file
from cqa_site.results.files import table_file
from cqa_site.stats.as_json import from_json

from .figures import cards, snapshot_or_404

PER_PAGE = 50


@study_page(*RESEARCHERS)
def snapshot_figure(
    request: StudyRequest,
    study: Study,
    campaign_id: uuid.UUID,
    number: int,
    figure: str,
    format: str,
) -> HttpResponse:
    """Send one figure's table or chart."""
    snapshot = snapshot_or_404(study, campaign_id, number)
    figures = from_json(Figures, snapshot.figures)
    return figure_file(request, cards(study, snapshot, figures), figure, format)


@study_page(*RESEARCHERS)
def units_page(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """List the votes behind one figure, from the snapshot's own table."""
    from annotation.figures.reports.units import (
        NoSuchFigure,
        page_rows,
        recomputed,
        unit_rows,
        units,
    )

    snapshot = snapshot_or_404(study, campaign_id, number, with_votes=True)
    figure = request.GET.get("figure", "votes")
    try:
        rows = units(snapshot_votes(snapshot), figure)
    except NoSuchFigure:
        raise Http404 from None
    if request.GET.get("format") == "csv":
        table = replace(unit_rows(rows), name=f"votes-snapshot-{number}")
        return table_file(table, "csv")
    page = Paginator(range(len(rows)), PER_PAGE).get_page(request.GET.get("page"))
    start = page.start_index() - 1 if len(rows) else 0
    choices = _unit_choices(snapshot)
    context = {
        "study": study,
        "campaign": snapshot.campaign,
        "snapshot": snapshot,
        "figure": figure,
        "choices": choices,
        "is_other": figure not in dict(choices),
        "page": page,
        "rows": page_rows(rows.iloc[start : start + PER_PAGE]),
        "n_items": rows["item_id"].nunique(),
        "n_raters": rows["rater_id"].nunique(),
        "estimate": recomputed(rows, figure),
    }
    return render(request, "annotation/figures/units.html", context)


def _unit_choices(snapshot: Snapshot) -> list[tuple[str, str]]:
    labels = from_json(Figures, snapshot.figures).values
    return [
        ("votes", _("Counted votes")),
        ("rows", _("Every row of the snapshot")),
        ("alpha", _("Agreement, all items")),
        ("alpha-ordinary", _("Agreement, ordinary items")),
        *((f"label:{value}", _("Votes with label %d") % value) for value in labels),
        *((f"majority:{value}", _("Items with majority label %d") % value) for value in labels),
        ("time", _("Votes with a time")),
    ]


BASE = "label-rounds/<uuid:campaign_id>/snapshots/<int:number>"
urlpatterns = [
    path(f"{BASE}/units/", units_page, name="units"),
    path(f"{BASE}/<slug:figure>.<str:format>", snapshot_figure, name="snapshot_figure"),
]
