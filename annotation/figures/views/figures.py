"""The agreement dashboard of a campaign: stored figures, renewed in the background."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.figures.actions import latest_job, request_snapshot
from annotation.figures.models import Snapshot
from annotation.figures.reports.charts import CHARTS
from annotation.figures.reports.finding import figures_finding
from annotation.figures.reports.kept import Figures
from annotation.figures.reports.snapshots import marker
from annotation.figures.reports.tables import TABLES, figure_table, n_used
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.runs.models import Job
from cqa_site.stats.as_json import from_json
from cqa_site.web.charts.chart import chart_of

# On SQLite reading the votes keeps writers waiting, so large campaigns rest longer:
# a second for every thousand votes.
REST = timedelta(seconds=15)
REST_PER_VOTE = timedelta(milliseconds=1)
REST_AFTER_FAILURE = timedelta(minutes=5)
BODIES = {
    "progress": "annotation/figures/_progress.html",
    "agreement": "annotation/figures/_agreement.html",
    "confusion": "annotation/figures/_confusion.html",
    "pairs": "annotation/figures/_pairs.html",
    "hardest": "annotation/figures/_hardest.html",
    "annotators": "annotation/figures/_annotators.html",
}
WIDE = ("progress", "agreement", "pairs", "hardest", "annotators")
PLAIN = "annotation/figures/_plain.html"
UNITS = {"progress": "rows", "agreement": "alpha", "confusion": "alpha", "pairs": "alpha"}
UNITS |= {"per-label": "alpha", "hardest": "alpha", "annotators": "rows", "time": "time"}


@dataclass(frozen=True)
class Shown:
    """What a dashboard shows now: the newest snapshot, and whether newer figures come."""

    snapshot: Snapshot | None
    job: Job | None
    is_stale: bool
    is_polling: bool

    @property
    def version(self) -> str:
        """Changes whenever the fragment would look different."""
        digest = version_of(self.snapshot) if self.snapshot else "none"
        frozen = "-frozen" if self.snapshot and self.snapshot.is_frozen else ""
        return f"{digest}{frozen}-{'stale' if self.is_stale else 'fresh'}{self.is_failed or ''}"

    @property
    def is_failed(self) -> bool:
        """Whether the figures cannot be computed, and why is in ``job.error``."""
        return self.is_stale and self.job is not None and self.job.state == Job.State.FAILED


@study_page(*RESEARCHERS)
def figures(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Show the stored figures; newer ones are computed in the background."""
    campaign = _campaign(study, campaign_id)
    shown = _current(campaign, request)
    return render(request, "annotation/figures/figures.html", _context(study, campaign, shown))


@study_page(*RESEARCHERS)
def figures_fragment(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the dashboard's content if it differs from what the page has seen."""
    campaign = _campaign(study, campaign_id)
    shown = _current(campaign, request)
    seen = request.GET.get("seen", "")
    if seen == shown.version and shown.is_polling:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    response = render(
        request, "annotation/figures/_figures.html", _context(study, campaign, shown)
    )
    if seen.startswith("none") and shown.snapshot:
        response["HX-Refresh"] = "true"
    return response


def snapshot_or_404(
    study: Study, campaign_id: uuid.UUID, number: int, *, with_votes: bool = False
) -> Snapshot:
    """One snapshot of the study that has figures; without its votes unless asked for."""
    snapshots = Snapshot.objects.select_related("campaign__guideline", "frozen_by")
    if not with_votes:
        snapshots = snapshots.defer("rows")
    return get_object_or_404(
        snapshots,
        campaign__study=study,
        campaign__public_id=campaign_id,
        number=number,
        computed_at__isnull=False,
    )


def version_of(snapshot: Snapshot) -> str:
    """Short name of exactly these figures."""
    return snapshot.recipe["figures_sha256"][:12]


def cards(study: Study, snapshot: Snapshot, figures: Figures) -> list[Figure]:
    """Every figure of a snapshot in the order of the page."""
    place = (study.public_id, snapshot.campaign.public_id, snapshot.number)
    files = Files(view="snapshot_figure", ids=place, version=version_of(snapshot))
    units = reverse("units", args=place)
    return [
        Figure(
            slug=slug,
            anchor=slug,
            title=entry.title,
            recipe=entry.recipe,
            body=BODIES.get(slug, PLAIN),
            rows=(_("Show the votes used"), f"{units}?figure={UNITS.get(slug, 'votes')}"),
            table=figure_table(snapshot, figures, slug),
            files=files,
            is_wide=slug in WIDE,
            **chart_of(CHARTS, slug, figures),
        )
        for slug, entry in TABLES.items()
    ]


def figure_context(study: Study, snapshot: Snapshot) -> dict:
    """What the figures' templates need, beside the page's own context."""
    figures = from_json(Figures, snapshot.figures)
    hardest = [row.item for row in figures.hardest]
    arguments = snapshot.campaign.items.filter(external_id__in=hardest)
    return {
        "study": study,
        "campaign": snapshot.campaign,
        "snapshot": snapshot,
        "figures": figures,
        "beside": [(each, n_used(each)) for each in figures.agreement["all"][3:]],
        "finding": figures_finding(figures, snapshot.campaign.guideline),
        "cards": cards(study, snapshot, figures),
        "arguments": dict(arguments.values_list("external_id", "argument__public_id")),
    }


def _campaign(study: Study, campaign_id: uuid.UUID) -> Campaign:
    return get_object_or_404(
        campaigns_of(study).select_related("guideline"), public_id=campaign_id
    )


def _current(campaign: Campaign, request: StudyRequest) -> Shown:
    """The newest snapshot; asks for a new one when votes moved on and the last had its rest."""
    snapshot = campaign.snapshots.defer("rows").first()
    if snapshot is not None:
        snapshot.campaign = campaign
    is_stale = snapshot is None or snapshot.marker != marker(campaign)
    job = latest_job(campaign) if is_stale else None
    if is_stale and _is_due(job, snapshot):
        job = request_snapshot(campaign=campaign, actor=request.user)
    is_open = campaign.state == Campaign.State.OPEN
    is_failed = job is not None and job.state == Job.State.FAILED
    return Shown(snapshot, job, is_stale, is_polling=(is_open or is_stale) and not is_failed)


def _is_due(job: Job | None, snapshot: Snapshot | None) -> bool:
    if job is None:
        return True
    votes = from_json(Figures, snapshot.figures).progress.votes if snapshot else 0
    rest = max(REST, votes * REST_PER_VOTE)
    if job.state == Job.State.FAILED:
        rest = REST_AFTER_FAILURE
    ended = job.finished_at
    return not job.is_active and ended is not None and ended < timezone.now() - rest


def _context(study: Study, campaign: Campaign, shown: Shown) -> dict:
    context = {"study": study, "campaign": campaign, "shown": shown}
    if shown.job is not None and shown.job.is_active:
        context["worker_alive"] = is_worker_alive()
    if shown.snapshot is not None:
        context |= figure_context(study, shown.snapshot)
    return context


BASE = "label-rounds/<uuid:campaign_id>"
urlpatterns = [
    path(f"{BASE}/figures/", figures, name="figures"),
    path(f"{BASE}/figures/fragment/", figures_fragment, name="figures_fragment"),
]
