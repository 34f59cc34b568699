"""Numbered snapshots: list, one of them for good, freezing, what moved between two."""

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.actions.snapshots import SnapshotNotReady, freeze_snapshot
from annotation.models import Campaign, Snapshot
from annotation.reports.snapshot_compare import compare
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study
from cqa_site.web.tables import TableData

from .figures import figure_context, snapshot_or_404

PER_PAGE = 25
LONGEST_NOTE = 300


@study_page(*RESEARCHERS)
def snapshots(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the snapshots of a campaign; with ``a`` and ``b``, compare two of them."""
    campaign = get_object_or_404(study.campaigns, public_id=campaign_id)
    rows = campaign.snapshots.filter(computed_at__isnull=False).select_related("frozen_by")
    page = Paginator(rows.defer("votes"), PER_PAGE).get_page(request.GET.get("page"))
    for snapshot in page:
        snapshot.alpha = snapshot.figures["agreement"]["all"][0]
    context = {
        "study": study,
        "section": "campaigns",
        "campaign": campaign,
        "page": page,
        "compared": _compared(campaign, request.GET.get("a"), request.GET.get("b")),
        "a": request.GET.get("a", ""),
        "b": request.GET.get("b", ""),
    }
    return render(request, "annotation/snapshots.html", context)


@study_page(*RESEARCHERS)
def snapshot(
    request: HttpRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """One snapshot under its permanent address."""
    context = figure_context(study, snapshot_or_404(study, campaign_id, number))
    return render(request, "annotation/snapshot.html", context)


@study_page(*RESEARCHERS)
@require_POST
def snapshot_freeze(
    request: HttpRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """Freeze the live snapshot for good."""
    campaign = get_object_or_404(study.campaigns, public_id=campaign_id)
    note = request.POST.get("note", "").strip()[:LONGEST_NOTE]
    try:
        freeze_snapshot(campaign=campaign, number=number, note=note, actor=request.user)
    except SnapshotNotReady as reason:
        messages.error(request, str(reason))
        return redirect("snapshots", study.public_id, campaign.public_id)
    messages.success(request, _("Snapshot #%d is frozen. Its address will not change.") % number)
    return redirect("snapshot", study.public_id, campaign.public_id, number)


def _compared(campaign: Campaign, a: str | None, b: str | None) -> TableData | None:
    if not a and not b:
        return None
    known: QuerySet[Snapshot] = campaign.snapshots.filter(computed_at__isnull=False)
    try:
        pair = {row.number: row for row in known.defer("votes").filter(number__in=[a, b])}
        return compare(*sorted((pair[int(a)], pair[int(b)]), key=lambda row: row.number))
    except (TypeError, ValueError, KeyError):
        raise Http404 from None


BASE = "campaigns/<uuid:campaign_id>/snapshots"
urlpatterns = [
    path(f"{BASE}/", snapshots, name="snapshots"),
    path(f"{BASE}/<int:number>/", snapshot, name="snapshot"),
    path(f"{BASE}/<int:number>/freeze/", snapshot_freeze, name="snapshot_freeze"),
]
