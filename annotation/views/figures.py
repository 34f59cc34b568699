"""The agreement dashboard of a campaign: figures, their tables, charts and votes."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _

from annotation.actions.snapshots import latest_job, request_snapshot
from annotation.models import Campaign, Snapshot
from annotation.reports.figure_charts import CHARTS, chart_alt, chart_spec
from annotation.reports.figure_tables import TABLES, figure_table
from annotation.reports.snapshots import marker, snapshot_votes
from annotation.reports.units import NoSuchFigure, page_rows, recomputed, unit_rows, units
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.runs.models import Job
from cqa_site.web import charts
from cqa_site.web.tables import TableData

PER_PAGE = 50
REST = timedelta(seconds=15)
REST_AFTER_FAILURE = timedelta(minutes=5)
BODIES = {
    "progress": "annotation/_figure_progress.html",
    "agreement": "annotation/_figure_agreement.html",
    "confusion": "annotation/_figure_confusion.html",
    "pairs": "annotation/_figure_pairs.html",
    "hardest": "annotation/_figure_hardest.html",
    "annotators": "annotation/_figure_annotators.html",
}
PLAIN = "annotation/_figure_plain.html"
UNITS = {"progress": "rows", "agreement": "alpha", "confusion": "alpha", "pairs": "alpha"}
UNITS |= {"per-label": "alpha", "hardest": "alpha", "annotators": "rows", "time": "time"}
FORMS = {
    "csv": ("text/csv; charset=utf-8", TableData.to_csv),
    "tex": ("application/x-tex; charset=utf-8", TableData.to_latex),
    "md": ("text/markdown; charset=utf-8", TableData.to_markdown),
}


@dataclass(frozen=True)
class Card:
    """One figure as the page shows it."""

    slug: str
    title: str
    recipe: str
    body: str
    units: str
    table: TableData
    alt: str | None


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
def figures(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Show the stored figures; newer ones are computed in the background."""
    campaign = _campaign(study, campaign_id)
    shown = _current(campaign, request)
    return render(request, "annotation/figures.html", _context(study, campaign, shown))


@study_page(*RESEARCHERS)
def figures_fragment(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the dashboard's content if it differs from what the page has seen."""
    campaign = _campaign(study, campaign_id)
    shown = _current(campaign, request)
    seen = request.GET.get("seen", "")
    if seen == shown.version and shown.is_polling:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    response = render(request, "annotation/_figures.html", _context(study, campaign, shown))
    if seen.startswith("none") and shown.snapshot:
        response["HX-Refresh"] = "true"
    return response


@study_page(*RESEARCHERS)
def figure_table_file(
    request: HttpRequest,
    study: Study,
    campaign_id: uuid.UUID,
    number: int,
    figure: str,
    format: str,
) -> HttpResponse:
    """Send one figure as CSV, LaTeX or Markdown."""
    snapshot = snapshot_or_404(study, campaign_id, number)
    if figure not in TABLES or format not in FORMS:
        raise Http404
    table = figure_table(snapshot, figure)
    content_type, write = FORMS[format]
    response = HttpResponse(write(table), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{table.name}.{format}"'
    return response


@study_page(*RESEARCHERS)
def chart(
    request: HttpRequest,
    study: Study,
    campaign_id: uuid.UUID,
    number: int,
    name: str,
    format: str,
) -> HttpResponse:
    """Draw one chart; the address names the figures' version, so browsers may keep it."""
    snapshot = snapshot_or_404(study, campaign_id, number)
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "wide")
    is_known = name in CHARTS and format in charts.CONTENT_TYPES
    if not is_known or theme not in charts.THEMES or size not in charts.WIDTHS:
        raise Http404
    tag = f'"{version_of(snapshot)}-{charts.VERSION}-{name}-{theme}-{size}-{format}"'
    response = get_conditional_response(request, etag=tag)
    if response is None:
        spec = chart_spec(snapshot.figures, name, size)
        content = charts.picture(spec, format=format, theme=theme)
        response = HttpResponse(content, content_type=charts.CONTENT_TYPES[format])
        response["ETag"] = tag
    is_exact = request.GET.get("v") == version_of(snapshot)
    keep = "private, max-age=31536000, immutable" if is_exact else "private, no-cache"
    response["Cache-Control"] = keep
    response["Content-Disposition"] = f'inline; filename="{name}-snapshot-{number}.{format}"'
    return response


@study_page(*RESEARCHERS)
def units_page(
    request: HttpRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """List the votes behind one figure, from the snapshot's own table."""
    snapshot = snapshot_or_404(study, campaign_id, number, with_votes=True)
    figure = request.GET.get("figure", "votes")
    try:
        rows = units(snapshot_votes(snapshot), figure)
    except NoSuchFigure:
        raise Http404 from None
    if request.GET.get("format") == "csv":
        return _units_file(snapshot, unit_rows(rows))
    page = Paginator(range(len(rows)), PER_PAGE).get_page(request.GET.get("page"))
    start = page.start_index() - 1 if len(rows) else 0
    choices = _unit_choices(snapshot)
    context = {
        "study": study,
        "section": "campaigns",
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
    return render(request, "annotation/units.html", context)


def snapshot_or_404(
    study: Study, campaign_id: uuid.UUID, number: int, *, with_votes: bool = False
) -> Snapshot:
    """One snapshot of the study that has figures; without its votes unless asked for."""
    snapshots = Snapshot.objects.select_related("campaign__guideline", "frozen_by")
    if not with_votes:
        snapshots = snapshots.defer("votes")
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


def cards(snapshot: Snapshot) -> list[Card]:
    """Every figure of a snapshot in the order of the page."""
    return [
        Card(
            slug=slug,
            title=entry.title,
            recipe=entry.recipe,
            body=BODIES.get(slug, PLAIN),
            units=UNITS.get(slug, "votes"),
            table=figure_table(snapshot, slug),
            alt=chart_alt(snapshot.figures, slug) if slug in CHARTS else None,
        )
        for slug, entry in TABLES.items()
    ]


def figure_context(study: Study, snapshot: Snapshot) -> dict:
    """What the figures' templates need, beside the page's own context."""
    hardest = [row["item"] for row in snapshot.figures["hardest"]]
    arguments = snapshot.campaign.items.filter(external_id__in=hardest)
    return {
        "study": study,
        "section": "campaigns",
        "campaign": snapshot.campaign,
        "snapshot": snapshot,
        "figures": snapshot.figures,
        "version": version_of(snapshot),
        "cards": cards(snapshot),
        "arguments": dict(arguments.values_list("external_id", "argument__public_id")),
    }


def _campaign(study: Study, campaign_id: uuid.UUID) -> Campaign:
    return get_object_or_404(study.campaigns.select_related("guideline"), public_id=campaign_id)


def _current(campaign: Campaign, request: HttpRequest) -> Shown:
    """The newest snapshot; asks for a new one when votes moved on and the last had its rest."""
    snapshot = campaign.snapshots.defer("votes").first()
    if snapshot is not None:
        snapshot.campaign = campaign
    is_stale = snapshot is None or snapshot.marker != marker(campaign)
    job = latest_job(campaign) if is_stale else None
    if is_stale and _is_due(job):
        job = request_snapshot(campaign=campaign, actor=request.user)
    is_open = campaign.state == Campaign.State.OPEN
    is_failed = job is not None and job.state == Job.State.FAILED
    return Shown(snapshot, job, is_stale, is_polling=(is_open or is_stale) and not is_failed)


def _is_due(job: Job | None) -> bool:
    if job is None:
        return True
    rest = REST_AFTER_FAILURE if job.state == Job.State.FAILED else REST
    return not job.is_active and job.finished_at < timezone.now() - rest


def _context(study: Study, campaign: Campaign, shown: Shown) -> dict:
    context = {"study": study, "section": "campaigns", "campaign": campaign, "shown": shown}
    if shown.job is not None and shown.job.is_active:
        context["worker_alive"] = is_worker_alive()
    if shown.snapshot is not None:
        context |= figure_context(study, shown.snapshot)
    return context


def _unit_choices(snapshot: Snapshot) -> list[tuple[str, str]]:
    labels = snapshot.figures["values"]
    return [
        ("votes", _("Counted votes")),
        ("rows", _("Every row of the snapshot")),
        ("alpha", _("Agreement, all items")),
        ("alpha-ordinary", _("Agreement, ordinary items")),
        *((f"label:{value}", _("Votes with label %d") % value) for value in labels),
        *((f"majority:{value}", _("Items with majority label %d") % value) for value in labels),
        ("time", _("Votes with a time")),
    ]


def _units_file(snapshot: Snapshot, table: TableData) -> HttpResponse:
    response = HttpResponse(table.to_csv(), content_type="text/csv; charset=utf-8")
    name = f"votes-snapshot-{snapshot.number}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


BASE = "campaigns/<uuid:campaign_id>"
urlpatterns = [
    path(f"{BASE}/figures/", figures, name="figures"),
    path(f"{BASE}/figures/fragment/", figures_fragment, name="figures_fragment"),
    path(f"{BASE}/snapshots/<int:number>/units/", units_page, name="units"),
    path(
        f"{BASE}/snapshots/<int:number>/charts/<slug:name>.<str:format>",
        chart,
        name="chart",
    ),
    path(
        f"{BASE}/snapshots/<int:number>/<slug:figure>.<str:format>",
        figure_table_file,
        name="figure_table",
    ),
]
