"""Groups of comments beside each other, and key points over time."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse

from argsum.analysis.models import Analysis, FoundPoint
from argsum.analysis.reports import groups, trends
from argsum.analysis.reports.counted import Column, Counted, counted, digest, is_counted, state_of
from argsum.analysis.reports.trends import OverTime, PointTrend
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.results.finding import Finding

from .analyses import ONE, analysis_or_404

# Key points of a page; all of them with twenty groups stay below 200 kB.
PER_PAGE = 20
# Key points that are offered for the chart.
OFFERED = 40


@study_page(*RESEARCHERS)
def analysis_groups(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Compare what groups of comments say, by one of their columns."""
    analysis = finished_or_404(study, analysis_id)
    context: dict[str, Any] = {"study": study, "analysis": analysis, "here": "groups"}
    if not _is_ready(request, analysis):
        return render(
            request, "argsum/analysis/comparing/groups.html", context | {"is_waiting": True}
        )
    found = counted(analysis)
    column = groups.chosen_column(found, request.GET.get("attribute", ""))
    context |= {"counts": found, "column": column, "barred": _barred(found)}
    if column is not None:
        context |= _groups_context(request, analysis, found, column)
    return render(request, "argsum/analysis/comparing/groups.html", context)


@study_page(*RESEARCHERS)
def analysis_groups_figure(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the table or the chart of a column."""
    analysis = finished_or_404(study, analysis_id)
    found = counted(analysis)
    column = groups.chosen_column(found, request.GET.get("attribute", ""))
    if column is None:
        return figure_file(request, [], figure, format)
    shown = groups.compared(analysis, column, found.points)
    card = groups.groups_figure(shown, groups_files(analysis, column), [])
    return figure_file(request, [card], figure, format)


@study_page(*RESEARCHERS)
def analysis_trends(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Show how often key points are mentioned over time."""
    analysis = finished_or_404(study, analysis_id)
    context: dict[str, Any] = {"study": study, "analysis": analysis, "here": "trends"}
    if not _is_ready(request, analysis):
        return render(
            request, "argsum/analysis/comparing/trends.html", context | {"is_waiting": True}
        )
    shown = _shown_trends(request, analysis)
    context["found"] = shown.found
    if shown.found is not None:
        context |= {
            "finding": trends.trends_finding(shown.found),
            "cards": trends.trends_figures(shown.found, shown.chosen, shown.files),
            "periods": [(each, trends.WORDS[each]) for each in shown.found.choices],
            "offered": shown.offered,
            "chosen": {row.point.pk for row in shown.chosen},
        }
    return render(request, "argsum/analysis/comparing/trends.html", context)


@study_page(*RESEARCHERS)
def analysis_trends_figure(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send a table, or the chart of the chosen key points."""
    shown = _shown_trends(request, finished_or_404(study, analysis_id))
    cards: list[Figure] = []
    if shown.found is not None:
        cards = trends.trends_figures(shown.found, shown.chosen, shown.files)
    return figure_file(request, cards, figure, format)


def finished_or_404(study: Study, analysis_id: uuid.UUID) -> Analysis:
    """An analysis of the study that has key points."""
    found = analysis_or_404(study, analysis_id)
    if found.state != Analysis.State.DONE:
        raise Http404
    return found


def groups_files(analysis: Analysis, column: Column) -> Files:
    """Where the figures of a column go away."""
    query = urlencode({"attribute": column.name})
    return _files("analysis_groups_figure", analysis, query)


@dataclass(frozen=True)
class ShownTrends:
    """What an address asks for: key points in the chart, and those that may be chosen."""

    found: OverTime | None
    chosen: Sequence[PointTrend]
    offered: Sequence[PointTrend]
    files: Files


def _shown_trends(request: StudyRequest, analysis: Analysis) -> ShownTrends:
    """Up to six key points: those that are named, or else the most frequent."""
    found = trends.over_time(analysis, counted(analysis), request.GET.get("period", ""))
    rows = found.rows if found else []
    wanted = set(request.GET.getlist("point"))
    named = [row for row in rows if str(row.point.public_id) in wanted]
    chosen = (named or rows)[: trends.CHARTED]
    offered = [row for at, row in enumerate(rows) if at < OFFERED or row in chosen]
    query = [("period", found.period)] if found else []
    query += [("point", str(row.point.public_id)) for row in chosen if named]
    files = _files("analysis_trends_figure", analysis, urlencode(query))
    return ShownTrends(found, chosen, offered, files)


def _is_ready(request: StudyRequest, analysis: Analysis) -> bool:
    """Whether the counts are there, or this request shall wait for them."""
    return is_counted(analysis) or request.GET.get("counting") == "now"


def _groups_context(
    request: StudyRequest, analysis: Analysis, found: Counted, column: Column
) -> dict[str, Any]:
    shown = groups.compared(analysis, column, found.points)
    page = Paginator(shown.rows, PER_PAGE).get_page(request.GET.get("page"))
    part = replace(shown, rows=list(page.object_list))
    rows = groups.cells_of(part, partial(point_address, analysis))
    finding: Finding | None = groups.groups_finding(shown)
    return {
        "found": shown,
        "finding": finding,
        "page": page,
        "card": groups.groups_figure(shown, groups_files(analysis, column), rows),
    }


def point_address(analysis: Analysis, point: FoundPoint, column: str, value: str) -> str:
    """The page of a key point with a group's comments; with all where it has no such filter."""
    ids = [analysis.study.public_id, analysis.public_id, point.public_id]
    address = reverse("found_point", args=ids)
    known = dict(analysis.facets.get("attributes", {}).get(column, []))
    return (
        f"{address}?{urlencode({'group': json.dumps([column, value])})}"
        if value in known
        else address
    )


def _barred(found: Counted) -> list[tuple[str, str]]:
    return [(each.name, groups.why_barred(each)) for each in found.barred]


def _files(view: str, analysis: Analysis, query: str) -> Files:
    return Files(
        view=view,
        ids=(analysis.study.public_id, analysis.public_id),
        query=query,
        version=digest(analysis.pk, state_of(analysis), query),
    )


FIGURE = "<slug:figure>.<str:format>"
urlpatterns = [
    path(f"{ONE}/groups/", analysis_groups, name="analysis_groups"),
    path(f"{ONE}/groups/{FIGURE}", analysis_groups_figure, name="analysis_groups_figure"),
    path(f"{ONE}/time/", analysis_trends, name="analysis_trends"),
    path(f"{ONE}/time/{FIGURE}", analysis_trends_figure, name="analysis_trends_figure"),
]
