"""Pages for the agreement dashboard, the snapshots, and the votes behind a figure."""

import uuid
from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.figures.actions import LABEL_ROUNDS, latest_job, request_snapshot
from annotation.figures.models import Snapshot
from annotation.figures.reports.charts import CHARTS, figures_finding
from annotation.figures.reports.snapshots import RoundFigures, marker, snapshot_votes
from annotation.figures.reports.tables import TABLES, compare, figure_table, n_used
from annotation.labelling.models import LabelRound
from annotation.labelling.views.rounds import label_round_or_404
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file, table_file
from cqa_site.results.pages import SnapshotPages, freezing_urls
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.runs.models import Job
from cqa_site.stats.estimate import from_json
from cqa_site.web.charts.points import chart_of
from cqa_site.web.rest.queries import whole_number
from cqa_site.web.tables import TableData

# On SQLite, reading the votes makes writers wait, so large rounds are recomputed less
# often: one more second between computations for every thousand votes.
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
class DashboardState:
    """State of a dashboard: the newest snapshot, and whether newer figures are being computed."""

    snapshot: Snapshot | None
    job: Job | None
    is_stale: bool
    is_polling: bool

    @property
    def version(self) -> str:
        """Name that changes whenever the fragment's content changes."""
        digest = version_of(self.snapshot) if self.snapshot else "none"
        frozen = "-frozen" if self.snapshot and self.snapshot.is_frozen else ""
        return f"{digest}{frozen}-{'stale' if self.is_stale else 'fresh'}{self.is_failed or ''}"

    @property
    def is_failed(self) -> bool:
        """Whether computing the figures failed; ``job.error`` has the reason."""
        return self.is_stale and self.job is not None and self.job.state == Job.State.FAILED


@study_page(*RESEARCHERS)
def figures(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Show the stored figures; newer figures are computed in the background."""
    label_round = label_round_or_404(study, label_round_id)
    state = _current(label_round, request)
    return render(request, "annotation/figures/figures.html", _context(study, label_round, state))


@study_page(*RESEARCHERS)
def figures_fragment(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Return the dashboard's content if it differs from the version on the page."""
    label_round = label_round_or_404(study, label_round_id)
    state = _current(label_round, request)
    seen = request.GET.get("seen", "")
    if seen == state.version and state.is_polling:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    response = render(
        request, "annotation/figures/_figures.html", _context(study, label_round, state)
    )
    if seen.startswith("none") and state.snapshot:
        response["HX-Refresh"] = "true"
    return response


def snapshot_or_404(
    study: Study, label_round_id: uuid.UUID, number: int, *, with_votes: bool = False
) -> Snapshot:
    """Return a snapshot of the study that has figures; votes are loaded only on request."""
    snapshots = Snapshot.objects.select_related("label_round__guideline", "frozen_by")
    if not with_votes:
        snapshots = snapshots.defer("rows")
    return get_object_or_404(
        snapshots,
        label_round__study=study,
        label_round__public_id=label_round_id,
        number=number,
        computed_at__isnull=False,
    )


def version_of(snapshot: Snapshot) -> str:
    """Return a short name that identifies the figures."""
    return snapshot.recipe["figures_sha256"][:12]


def cards(study: Study, snapshot: Snapshot, figures: RoundFigures) -> list[Figure]:
    """Return every figure of a snapshot, in the order on the page."""
    place = (study.public_id, snapshot.label_round.public_id, snapshot.number)
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
    """Return the template context for the figures."""
    figures = from_json(RoundFigures, snapshot.figures)
    hardest = [row.item for row in figures.hardest]
    arguments = snapshot.label_round.items.filter(external_id__in=hardest)
    return {
        "study": study,
        "round": snapshot.label_round,
        "snapshot": snapshot,
        "figures": figures,
        "beside": [(estimate, n_used(estimate)) for estimate in figures.agreement["all"][3:]],
        "finding": figures_finding(figures, snapshot.label_round.guideline),
        "cards": cards(study, snapshot, figures),
        "arguments": dict(arguments.values_list("external_id", "argument__public_id")),
    }


def _current(label_round: LabelRound, request: StudyRequest) -> DashboardState:
    """Return the newest snapshot; request a new one if votes have changed and one is due."""
    snapshot = label_round.snapshots.defer("rows").first()
    if snapshot is not None:
        snapshot.label_round = label_round
    is_stale = snapshot is None or snapshot.marker != marker(label_round)
    job = latest_job(label_round) if is_stale else None
    if is_stale and _is_due(job, snapshot):
        job = request_snapshot(label_round=label_round, actor=request.user)
    is_open = label_round.state == LabelRound.State.OPEN
    is_failed = job is not None and job.state == Job.State.FAILED
    return DashboardState(
        snapshot, job, is_stale, is_polling=(is_open or is_stale) and not is_failed
    )


def _is_due(job: Job | None, snapshot: Snapshot | None) -> bool:
    if job is None:
        return True
    votes = from_json(RoundFigures, snapshot.figures).progress.votes if snapshot else 0
    rest = max(REST, votes * REST_PER_VOTE)
    if job.state == Job.State.FAILED:
        rest = REST_AFTER_FAILURE
    ended = job.finished_at
    return not job.is_active and ended is not None and ended < timezone.now() - rest


def _context(study: Study, label_round: LabelRound, state: DashboardState) -> dict:
    context = {"study": study, "round": label_round, "shown": state}
    if state.job is not None and state.job.is_active:
        context["worker_alive"] = is_worker_alive()
    if state.snapshot is not None:
        context |= figure_context(study, state.snapshot)
    return context


ROUND_PATH = "label-rounds/<uuid:label_round_id>"
figure_urls = [
    path(f"{ROUND_PATH}/figures/", figures, name="figures"),
    path(f"{ROUND_PATH}/figures/fragment/", figures_fragment, name="figures_fragment"),
]

# Votes behind a figure, and downloads of its table and chart

VOTES_PER_PAGE = 50


@study_page(*RESEARCHERS)
def snapshot_figure(
    request: StudyRequest,
    study: Study,
    label_round_id: uuid.UUID,
    number: int,
    figure: str,
    format: str,
) -> HttpResponse:
    """Send the table or chart of one figure."""
    snapshot = snapshot_or_404(study, label_round_id, number)
    figures = from_json(RoundFigures, snapshot.figures)
    return figure_file(request, cards(study, snapshot, figures), figure, format)


@study_page(*RESEARCHERS)
def units_page(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, number: int
) -> HttpResponse:
    """List the votes behind one figure, from the snapshot's own table."""
    from annotation.figures.reports.units import (
        NoSuchFigure,
        page_rows,
        recomputed,
        unit_rows,
        units,
    )

    snapshot = snapshot_or_404(study, label_round_id, number, with_votes=True)
    figure = request.GET.get("figure", "votes")
    try:
        rows = units(snapshot_votes(snapshot), figure)
    except NoSuchFigure:
        raise Http404 from None
    if request.GET.get("format") == "csv":
        table = replace(unit_rows(rows), name=f"votes-snapshot-{number}")
        return table_file(table, "csv")
    page = Paginator(range(len(rows)), VOTES_PER_PAGE).get_page(request.GET.get("page"))
    start = page.start_index() - 1 if len(rows) else 0
    choices = _unit_choices(snapshot)
    context = {
        "study": study,
        "round": snapshot.label_round,
        "snapshot": snapshot,
        "figure": figure,
        "choices": choices,
        "is_other": figure not in dict(choices),
        "page": page,
        "rows": page_rows(rows.iloc[start : start + VOTES_PER_PAGE]),
        "n_items": rows["item_id"].nunique(),
        "n_raters": rows["rater_id"].nunique(),
        "estimate": recomputed(rows, figure),
    }
    return render(request, "annotation/figures/units.html", context)


def _unit_choices(snapshot: Snapshot) -> list[tuple[str, str]]:
    labels = from_json(RoundFigures, snapshot.figures).values
    return [
        ("votes", _("Counted votes")),
        ("rows", _("Every row of the snapshot")),
        ("alpha", _("Agreement, all items")),
        ("alpha-ordinary", _("Agreement, ordinary items")),
        *((f"label:{value}", _("Votes with label %d") % value) for value in labels),
        *((f"majority:{value}", _("Items with majority label %d") % value) for value in labels),
        ("time", _("Votes with a recorded time")),
    ]


FIGURE_PATH = "label-rounds/<uuid:label_round_id>/snapshots/<int:number>"
file_urls = [
    path(f"{FIGURE_PATH}/units/", units_page, name="units"),
    path(f"{FIGURE_PATH}/<slug:figure>.<str:format>", snapshot_figure, name="snapshot_figure"),
]

# Numbered snapshots: list, permanent page, freezing, comparison

SNAPSHOTS_PER_PAGE = 25


@study_page(*RESEARCHERS)
def snapshots(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """List the snapshots of a round; with ``a`` and ``b``, compare two of them."""
    label_round = label_round_or_404(study, label_round_id)
    rows = label_round.snapshots.filter(computed_at__isnull=False).select_related("frozen_by")
    page = Paginator(rows.defer("rows"), SNAPSHOTS_PER_PAGE).get_page(request.GET.get("page"))
    for snapshot in page:
        figures = from_json(RoundFigures, snapshot.figures)
        vars(snapshot).update(alpha=figures.agreement["all"][0])
    context = {
        "study": study,
        "round": label_round,
        "page": page,
        "compared": _compared(label_round, request.GET.get("a"), request.GET.get("b")),
        "a": request.GET.get("a", ""),
        "b": request.GET.get("b", ""),
    }
    return render(request, "annotation/figures/snapshots.html", context)


@study_page(*RESEARCHERS)
def snapshot(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, number: int
) -> HttpResponse:
    """Show one snapshot at its permanent address."""
    context = figure_context(study, snapshot_or_404(study, label_round_id, number))
    return render(request, "annotation/figures/snapshot.html", context)


def _compared(label_round: LabelRound, a: str | None, b: str | None) -> TableData | None:
    if not a and not b:
        return None
    known: QuerySet[Snapshot] = label_round.snapshots.filter(computed_at__isnull=False)
    numbers = sorted(whole_number(text) or 0 for text in (a, b))
    pair = {row.number: row for row in known.defer("rows").filter(number__in=numbers)}
    if not pair.keys() >= set(numbers):
        raise Http404
    return compare(*(pair[number] for number in numbers))


SNAPSHOTS_PATH = "label-rounds/<uuid:label_round_id>/snapshots"
PAGES = SnapshotPages(
    LABEL_ROUNDS,
    f"{SNAPSHOTS_PATH}/<int:number>",
    "snapshot",
    "snapshots",
    label_round_or_404,
    is_publishable=False,
)
snapshot_urls = [
    path(f"{SNAPSHOTS_PATH}/", snapshots, name="snapshots"),
    path(f"{SNAPSHOTS_PATH}/<int:number>/", snapshot, name="snapshot"),
    *freezing_urls(PAGES),
]
