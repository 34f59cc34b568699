"""The rows behind figures of agreement, and one score sheet beside the others of its answer."""

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path

from annotation.answers.reports.answers import about_answer, side_by_side
from benchmark.agreement.methods.figures import Agreement
from benchmark.agreement.reports.choice import snapshot_of
from benchmark.leaderboard.reports.filters import conditions_of_rows, known_condition
from benchmark.scoring.models.sheets import ScoreSheet
from benchmark.scoring.reports.sheets import beside_sheet, sheet_or_404
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import table_file
from cqa_site.stats.as_json import from_json

PER_PAGE = 50


@study_page(*RESEARCHERS)
def score_rows(request: StudyRequest, study: Study) -> HttpResponse:
    """List answers with the points of two raters, largest difference first."""
    snapshot = snapshot_of(study, request.GET)
    context: dict[str, Any] = {"study": study, "snapshot": snapshot}
    if snapshot is None or not snapshot.agreement:
        return render(request, "benchmark/agreement/score_rows.html", context)
    from benchmark.agreement.reports import rows as report
    from benchmark.agreement.reports.tables import column_names, rater_names

    condition = known_condition(request.GET.get("condition", ""), snapshot.recipe)
    rows, rubric = bytes(snapshot.rows), snapshot.rubric.rubric
    table, grid = report.table_and_grid(rows, rubric, condition)
    wanted = report.Wanted.from_query(request.GET, grid, condition)
    found = report.behind(table, grid, wanted)
    figures = from_json(Agreement, snapshot.agreement)
    names, columns = rater_names(figures), column_names(figures)
    pair = (names.get(wanted.rater, ""), names.get(wanted.other, ""))
    if request.GET.get("format") == "csv":
        return table_file(report.rows_table(found, pair, columns[wanted.column]), "csv")
    page = Paginator(range(len(found)), PER_PAGE).get_page(request.GET.get("page"))
    start = page.start_index() - 1 if len(found) else 0
    context |= {
        "wanted": wanted,
        "names": names,
        "pair": pair,
        "columns": columns,
        "conditions": conditions_of_rows(snapshot.recipe),
        "page": page,
        "rows": report.shown_rows(found.iloc[start : start + PER_PAGE]),
    }
    return render(request, "benchmark/agreement/score_rows.html", context)


@study_page(*RESEARCHERS)
def score_sheet(request: StudyRequest, study: Study, sheet_id: uuid.UUID) -> HttpResponse:
    """Show one sheet: the answer, points with notes or reasons, and the answer's other sheets."""
    sheet: ScoreSheet = sheet_or_404(study, sheet_id)
    answer = sheet.answer
    (column,), lists = side_by_side(answer.question, [answer.pk], is_blind=False)
    context = {
        "study": study,
        "sheet": sheet,
        "answer": answer,
        "about": about_answer(answer),
        "column": column,
        "lists": lists,
        "with_labels": False,
        **beside_sheet(sheet),
    }
    return render(request, "benchmark/agreement/score_sheet.html", context)


urlpatterns = [
    path("scores/rows/", score_rows, name="score_rows"),
    path("scores/sheets/<uuid:sheet_id>/", score_sheet, name="score_sheet"),
]
