"""The leaderboard of systems, by cell and with its files."""

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.datasets.models import Cell
from argsum.leaderboard.methods.system_board import FIGURES, SELECTIONS, SystemRow
from argsum.leaderboard.reports.board import SummaryBoard, summary_board
from argsum.leaderboard.reports.charts import BOARD_CHARTS, MOST
from argsum.leaderboard.reports.choice import STEPS, board_choice
from argsum.leaderboard.reports.finding import board_finding, why_no_interval
from argsum.leaderboard.reports.printed import printed_board, printed_cells
from argsum.leaderboard.reports.tables import (
    FIGURE_NAMES,
    SELECTION_NAMES,
    board_method,
    board_table,
    cells_table,
    source_name,
    unfinished_notes,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.boards import NOTHING, Board, BoardCell, BoardColumn, BoardRow, figure_cell
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.results.files import TABLES
from cqa_site.stats.estimate import Estimate
from cqa_site.web.charts.chart import chart_of


@study_page(*RESEARCHERS)
def key_points(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the systems of a dataset, best first; a change of the form brings the board alone."""
    choice = board_choice(study, request.GET.dict())
    found = summary_board(choice)
    systems, _cells, *charts = _figures(study, found)
    is_part = request.headers.get("HX-Request") and not request.headers.get("HX-Boosted")
    context = {
        "study": study,
        "is_part": is_part,
        "choice": choice,
        "board": found,
        "splits": [(split, Cell.Split(split).label) for split in choice.splits],
        "selections": [(name, SELECTION_NAMES[name]) for name in SELECTIONS],
        "coverage_sources": [(each, source_name(each)) for each in choice.coverage_sources],
        "redundancy_sources": [(each, source_name(each)) for each in choice.redundancy_sources],
        "step": 1 / STEPS,
        "finding": board_finding(found),
        "card": systems,
        "charts": [each for each in charts if each.alt],
        "unfinished": unfinished_notes(found),
    }
    page = "argsum/leaderboard/_board.html" if is_part else "argsum/leaderboard/key_points.html"
    return render(request, page, context)


# What the glossary says of a column.
WORDS = {"weighted": "weighted score", "coverage": "coverage", "redundancy": "redundancy"}


def _board(study: Study, found: SummaryBoard) -> Board:
    columns = [
        BoardColumn(name, str(FIGURE_NAMES[name]), word=WORDS.get(name, "")) for name in FIGURES
    ]
    rows = [
        BoardRow(
            name=row.system,
            badge=_("oracle") if row.selection == "oracle" else "",
            about="; ".join([_about(row), *_without_interval(row)]),
            cells=[
                _cell(row.figures[name], len(found.cells), _zeros(row, name)) for name in FIGURES
            ],
            behind=_behind(study, row, found),
        )
        for row in found.rows
    ]
    return Board(
        columns=columns, rows=rows, is_ranked=False, behind="argsum/leaderboard/_board_cells.html"
    )


def _about(row: SystemRow) -> str:
    """Which setting stands for a system, and how it was found."""
    said = {"n": row.settings, "by": FIGURE_NAMES.get(row.criterion, "")}
    if row.selection == "oracle":
        return _("best of %(n)d settings per cell by %(by)s") % said
    how = f"{row.setting or NOTHING} · {SELECTION_NAMES[row.selection]}"
    if row.criterion:
        return f"{how} ({_('of %(n)d by %(by)s') % said})"
    return f"{how} ({_('of %(n)d') % said})" if row.settings > 1 else how


def _without_interval(row: SystemRow) -> list[str]:
    """Why figures that have a value have no interval, each reason once."""
    names: dict[str, list[str]] = {}
    for name in FIGURES:
        names.setdefault(why_no_interval(row.figures[name]), []).append(str(FIGURE_NAMES[name]))
    text = _("no interval of %s: %s")
    return [text % (", ".join(own), reason) for reason, own in names.items() if reason]


def _zeros(row: SystemRow, name: str) -> float | None:
    """The index with 0 for cells in which too little is clustered, where there are some."""
    over = row.excluding
    return over.with_zeros if name == "excluding" and over.n < over.cells else None


def _cell(one: Estimate, n_cells: int, with_zeros: float | None) -> BoardCell:
    said = {"n": one.n_values, "all": n_cells}
    notes = [_("no interval")] if why_no_interval(one) else []
    if one.n_values < n_cells:
        notes.append(_("%(n)d of %(all)d cells") % said)
    if with_zeros is not None:
        notes.append(_("%.3f with 0 for others") % with_zeros)
    return figure_cell(one.value, one.low, one.high, decimals=3, notes=notes)


def _behind(study: Study, row: SystemRow, found: SummaryBoard) -> dict[str, Any]:
    """The cells behind a row, and those without a set of its setting."""
    return {
        "cells": [
            {
                "cell": cell,
                "set": row.chosen[str(cell.pk)],
                "url": _set_url(study, found.public_ids[row.chosen[str(cell.pk)].key]),
                "values": [
                    (
                        row.by_cell[str(cell.pk)][name],
                        row.clustering_setting(str(cell.pk), name),
                    )
                    for name in FIGURES
                ],
            }
            for cell in found.cells
            if str(cell.pk) in row.by_cell
        ],
        "without": [cell for cell in found.cells if str(cell.pk) not in row.by_cell],
    }


def _set_url(study: Study, set_id: str) -> str:
    """The page of a set; empty where this site has none."""
    try:
        return reverse("summary_set", args=[study.public_id, set_id])
    except NoReverseMatch:
        return ""


@study_page(*RESEARCHERS)
def key_points_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send systems or cells, everything as CSV, for print as LaTeX or Markdown; or a chart."""
    found = summary_board(board_choice(study, request.GET.dict()))
    return figure_file(request, _figures(study, found), figure, format)


def _figures(study: Study, found: SummaryBoard) -> list[Figure]:
    """The systems, their cells, and the charts."""
    files = Files(
        view="key_points_figure",
        ids=(study.public_id,),
        query=found.choice.query,
        version=found.digest,
    )
    n = len(found.cells)
    cells = Figure(
        slug="cells",
        title=_("Systems by cell"),
        table=cells_table(found),
        printed=partial(printed_cells, found),
        files=files,
    )
    systems = Figure(
        slug="systems",
        title=_("Systems"),
        about=f"{found.choice.dataset} · {ngettext('%d cell', '%d cells', n) % n}",
        recipe=board_method(found),
        table=board_table(found),
        printed=partial(printed_board, found),
        body="argsum/leaderboard/_systems.html",
        data=_board(study, found),
        files=files,
        more=cells.links_as({end: _("%s by cell") % words for end, words in TABLES.items()}),
    )
    return [systems, cells, *(_chart(name, found, files) for name in BOARD_CHARTS)]


def _chart(name: str, found: SummaryBoard, files: Files) -> Figure:
    chart = BOARD_CHARTS[name]
    drawn = _("The first %d systems of the table are drawn.") % MOST
    return Figure(
        slug=name,
        anchor=f"chart-{name}",
        title=chart.title,
        recipe=f"{chart.recipe} {drawn}" if len(found.rows) > MOST else chart.recipe,
        table=chart.table(found, f"key-points-{name}"),
        files=files,
        **chart_of({name: chart.chart}, name, found),
    )


BASE = "key-points"
urlpatterns = [
    path(f"{BASE}/", key_points, name="key_points"),
    path(
        f"{BASE}/leaderboard/<slug:figure>.<str:format>",
        key_points_figure,
        name="key_points_figure",
    ),
]
