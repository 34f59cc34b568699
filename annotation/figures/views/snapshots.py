"""Numbered snapshots: list, one of them for good, freezing, what moved between two."""

import uuid

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.figures.actions import CAMPAIGNS
from annotation.figures.models import Snapshot
from annotation.figures.reports.kept import Figures
from annotation.figures.reports.snapshot_compare import compare
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.pages import SnapshotFace, freezing_urls
from cqa_site.stats.as_json import from_json
from cqa_site.web.strict_query import whole_number
from cqa_site.web.tables import TableData

from .figures import figure_context, snapshot_or_404

PER_PAGE = 25


@study_page(*RESEARCHERS)
def snapshots(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the snapshots of a campaign; with ``a`` and ``b``, compare two of them."""
    campaign = _owner(study, campaign_id)
    rows = campaign.snapshots.filter(computed_at__isnull=False).select_related("frozen_by")
    page = Paginator(rows.defer("rows"), PER_PAGE).get_page(request.GET.get("page"))
    for snapshot in page:
        figures = from_json(Figures, snapshot.figures)
        vars(snapshot).update(alpha=figures.agreement["all"][0])
    context = {
        "study": study,
        "campaign": campaign,
        "page": page,
        "compared": _compared(campaign, request.GET.get("a"), request.GET.get("b")),
        "a": request.GET.get("a", ""),
        "b": request.GET.get("b", ""),
    }
    return render(request, "annotation/figures/snapshots.html", context)


@study_page(*RESEARCHERS)
def snapshot(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """One snapshot under its permanent address."""
    context = figure_context(study, snapshot_or_404(study, campaign_id, number))
    return render(request, "annotation/figures/snapshot.html", context)


def _compared(campaign: Campaign, a: str | None, b: str | None) -> TableData | None:
    if not a and not b:
        return None
    known: QuerySet[Snapshot] = campaign.snapshots.filter(computed_at__isnull=False)
    numbers = sorted(whole_number(each) or 0 for each in (a, b))
    pair = {row.number: row for row in known.defer("rows").filter(number__in=numbers)}
    if not pair.keys() >= set(numbers):
        raise Http404
    return compare(*(pair[number] for number in numbers))


def _owner(study: Study, campaign_id: uuid.UUID) -> Campaign:
    return get_object_or_404(campaigns_of(study), public_id=campaign_id)


BASE = "label-rounds/<uuid:campaign_id>/snapshots"
FACE = SnapshotFace(
    CAMPAIGNS, f"{BASE}/<int:number>", "snapshot", "snapshots", _owner, is_publishable=False
)
urlpatterns = [
    path(f"{BASE}/", snapshots, name="snapshots"),
    path(f"{BASE}/<int:number>/", snapshot, name="snapshot"),
    *freezing_urls(FACE),
]
