"""Judges beside people: how far each one agrees, and the rows behind every figure."""

import uuid
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import active_job, keep_current
from annotation.judges.reports.charts import CHARTS
from annotation.judges.reports.finding import judges_finding
from annotation.judges.reports.found import Figures
from annotation.judges.reports.kept import figures_of
from annotation.judges.reports.tables import TABLES, judge_table
from annotation.judges.reports.versions import Choice, state_of
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.results.files import table_file
from cqa_site.runs.models import Run
from cqa_site.web.charts.chart import chart_of

PER_PAGE = 50
SHORT = 6
BODIES = {
    "judges": "annotation/judges/_table.html",
    "confusion": "annotation/judges/_confusion.html",
    "replacement": "annotation/judges/_replacement.html",
    "hardest": "annotation/judges/_hardest.html",
}
WIDE = ("judges", "prompts", "hardest")
PLAIN = "annotation/judges/_plain.html"


@study_page(*RESEARCHERS)
def judges(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Show every judge of a campaign beside its people."""
    campaign = campaign_or_404(study, campaign_id)
    keep_current(campaign, request.user)
    context = _context(study, campaign, Choice.from_query(request.GET))
    return render(request, "annotation/judges/judges.html", context)


@study_page(*RESEARCHERS)
def judges_fragment(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the figures if they differ from what the page has seen."""
    campaign = campaign_or_404(study, campaign_id)
    is_polling = _is_polling(campaign)
    if is_polling and request.GET.get("seen") == state_of(campaign):
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    context = _context(study, campaign, Choice.from_query(request.GET))
    return render(request, "annotation/judges/_judges.html", context)


@study_page(*RESEARCHERS)
def judges_card(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the short table for the agreement dashboard."""
    campaign = campaign_or_404(study, campaign_id)
    figures = figures_of(campaign, Choice(), state_of(campaign))
    context = {"study": study, "campaign": campaign, "figures": figures, "shown": SHORT}
    return render(request, "annotation/judges/_short.html", context)


@study_page(*RESEARCHERS)
def judge_rows(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the arguments behind a figure with votes, final label and every judge's label."""
    from annotation.judges.reports.rows import Cell, labelled, rows_table, shown_rows

    campaign = campaign_or_404(study, campaign_id)
    choice = Choice.from_query(request.GET)
    cell = Cell(
        judge=choice.judge,
        final=_label(request.GET.get("final")),
        label=_label(request.GET.get("label")),
        is_common=choice.is_common,
    )
    found = labelled(campaign, cell)
    if request.GET.get("format") == "csv":
        return table_file(replace(rows_table(campaign, found), name="judges-rows"), "csv")
    page = Paginator(range(len(found.table)), PER_PAGE).get_page(request.GET.get("page"))
    start = page.start_index() - 1 if len(found.table) else 0
    context = {
        "study": study,
        "campaign": campaign,
        "cell": cell,
        "judges": found.judges,
        "page": page,
        "rows": shown_rows(found, start, PER_PAGE),
    }
    return render(request, "annotation/judges/rows.html", context)


def campaign_or_404(study: Study, campaign_id: uuid.UUID) -> Campaign:
    """One campaign of the study with its label scale."""
    campaigns = campaigns_of(study).select_related("guideline")
    return get_object_or_404(campaigns, public_id=campaign_id)


def _label(text: str | None) -> int | None:
    """A label from an address; anything else narrows nothing."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) == 1 else None


def _is_polling(campaign: Campaign) -> bool:
    is_judging = campaign.judge_runs.filter(run__state__in=Run.WORKING).exists()
    return is_judging or active_job(campaign) is not None


def _context(study: Study, campaign: Campaign, choice: Choice) -> dict[str, Any]:
    # Read before the labels: one that comes in between makes the page stale, never wrong.
    state = state_of(campaign)
    figures = figures_of(campaign, choice, state)
    return {
        "study": study,
        "campaign": campaign,
        "choice": choice,
        "state": state,
        "is_polling": _is_polling(campaign),
        "figures": figures,
        "finding": judges_finding(figures),
        "chosen": figures.named(figures.chosen),
        "other": figures.named(figures.other),
        "cards": _cards(campaign, choice, figures, state) if figures.judges else [],
        "trained": campaign.trained_judges.defer("model").first(),
    }


def _cards(campaign: Campaign, choice: Choice, figures: Figures, state: str) -> list[Figure]:
    place = (campaign.study.public_id, campaign.public_id)
    files = Files(view="judges_figure", ids=place, query=choice.query, version=state)
    rows, one = f"{reverse('judge_rows', args=place)}?", f"judge={figures.chosen}"
    common = "&common=1" if choice.is_common else ""
    chosen = figures.named(figures.chosen)
    return [
        Figure(
            slug=slug,
            anchor=f"judges-{slug}",
            title=entry.title,
            about=chosen.name if chosen and entry.is_about_one else "",
            recipe=entry.recipe,
            body=BODIES.get(slug, PLAIN),
            rows=(_("Show the arguments"), rows + (one if entry.is_about_one else "") + common),
            table=judge_table(campaign, figures, slug, state),
            files=files,
            is_wide=slug in WIDE,
            **chart_of(CHARTS, slug, figures),
        )
        for slug, entry in TABLES.items()
    ]


@study_page(*RESEARCHERS)
def judges_figure(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send one figure's table or chart."""
    campaign = campaign_or_404(study, campaign_id)
    state, choice = state_of(campaign), Choice.from_query(request.GET)
    cards = _cards(campaign, choice, figures_of(campaign, choice, state), state)
    return figure_file(request, cards, figure, format)


BASE = "label-rounds/<uuid:campaign_id>/judges"
urlpatterns = [
    path(f"{BASE}/", judges, name="judges"),
    path(f"{BASE}/fragment/", judges_fragment, name="judges_fragment"),
    path(f"{BASE}/card/", judges_card, name="judges_card"),
    path(f"{BASE}/rows/", judge_rows, name="judge_rows"),
    path(f"{BASE}/<slug:figure>.<str:format>", judges_figure, name="judges_figure"),
]
