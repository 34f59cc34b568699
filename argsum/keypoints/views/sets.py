"""Key point analysis: one set with its arguments, and its files."""

import io
import uuid
from functools import partial

from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _

from argsum.keypoints.models import SummarySet
from argsum.keypoints.reports.finding import sides_finding
from argsum.keypoints.reports.key_points import (
    COLUMNS,
    PER_PAGE,
    Side,
    lines_of,
    points_table,
    prevalence_chart,
    references_with_counts,
    rows_of,
    sides_of,
    text_of,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.tabular import write_csv
from cqa_site.web.strict_query import whole_number

MOST_SETTINGS = 500
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


@study_page(*RESEARCHERS)
def summary_set(request: StudyRequest, study: Study, set_id: uuid.UUID) -> HttpResponse:
    """Show the key points of a topic by prevalence, with their arguments."""
    made = _found(study, set_id)
    least = _least(request)
    sides = sides_of(made, least)
    references = references_with_counts([side.cell for side in sides])
    shown = [side.made for side in sides]
    sheets = study.count_sheets.filter(summary_set__in=shown, state="submitted").count()
    context = {
        "study": study,
        "made": made,
        "run": made.system_run,
        "sides": [(side, references[side.cell.pk]) for side in sides],
        "finding": sides_finding(sides, sheets),
        "cards": _figures(made, sides, least),
        "least": least,
        "settings": _settings(made),
        "topics": _topics(made),
    }
    return render(request, "argsum/keypoints/summary_set.html", context)


@study_page(*RESEARCHERS)
def summary_set_arguments(request: StudyRequest, study: Study, set_id: uuid.UUID) -> HttpResponse:
    """Show the arguments of one key point, or of none, page by page."""
    made, least = _found(study, set_id), _least(request)
    side = next(each for each in sides_of(made, least) if each.made.pk == made.pk)
    number = whole_number(request.GET.get("key_point"))
    point = next((each for each in side.points if each.number == number), None)
    if number is not None and point is None:
        raise Http404
    search = request.GET.get("q", "")
    page = Paginator(side.arguments_of(number, search), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "made": made,
        "point": point,
        "least": least,
        "search": search,
        "page": page,
    }
    return render(request, "argsum/keypoints/summary_set_arguments.html", context)


@study_page(*RESEARCHERS)
def summary_set_file(
    request: StudyRequest, study: Study, set_id: uuid.UUID, format: str
) -> HttpResponse:
    """Send the key points with their arguments as CSV, JSONL or Markdown."""
    if format not in TYPES:
        raise Http404
    made = _found(study, set_id)
    sides = sides_of(made, _least(request))
    if format == "csv":
        file = io.BytesIO()
        write_csv(file, COLUMNS, rows_of(sides))
        content: bytes | str = file.getvalue()
    elif format == "jsonl":
        content = "".join(f"{line}\n" for line in lines_of(sides))
    else:
        content = text_of(sides)
    response = HttpResponse(content, content_type=TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="key-points-{made.pk}.{format}"'
    return response


@study_page(*RESEARCHERS)
def summary_set_figure(
    request: StudyRequest, study: Study, set_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send how many arguments each key point has, as a table or a chart."""
    made, least = _found(study, set_id), _least(request)
    return figure_file(request, _figures(made, sides_of(made, least), least), figure, format)


def _figures(made: SummarySet, sides: list[Side], least: float) -> list[Figure]:
    """Key points by prevalence; nothing without any."""
    if not any(side.points for side in sides):
        return []
    return [
        Figure(
            slug="prevalence",
            title=_("Chart and table"),
            recipe=_("Arguments of each key point; the table has its words."),
            table=points_table(sides),
            alt=_("Bars: arguments of each key point, by rank, for each stance"),
            draw=partial(prevalence_chart, sides),
            files=Files(
                view="summary_set_figure",
                ids=(made.study.public_id, made.public_id),
                query=f"least={least:g}",
                version=_shown_state(made, least),
            ),
        )
    ]


def _shown_state(made: SummarySet, least: float) -> str:
    """Names what a chart shows, so that browsers may keep it."""
    done = made.done_at.timestamp() if made.done_at else 0
    return f"{made.pk}-{done:.0f}-{least:g}"


def _found(study: Study, set_id: uuid.UUID) -> SummarySet:
    rows = study.summary_sets.select_related("cell__dataset", "system_run")
    found: SummarySet = get_object_or_404(rows, public_id=set_id)
    return found


def _least(request: StudyRequest) -> float:
    """The least score that was chosen, 0–1; nothing chosen is 0."""
    try:
        least = float(request.GET.get("least") or 0)
    except ValueError:
        raise BadRequest("The least score is a number from 0 to 1.") from None
    if not 0 <= least <= 1:
        raise BadRequest("The least score is a number from 0 to 1.")
    return least


def _settings(made: SummarySet) -> list[SummarySet]:
    """The settings of this cell in the same run."""
    if made.system_run is None:
        return []
    rows = made.system_run.sets.filter(cell=made.cell_id, state=SummarySet.State.DONE)
    return list(rows.only("public_id", "setting").order_by("pk")[:MOST_SETTINGS])


def _topics(made: SummarySet) -> list[SummarySet]:
    """One set of the same run and setting for each topic of the dataset."""
    rows = SummarySet.objects.filter(
        study=made.study_id,
        system_run=made.system_run_id,
        system=made.system,
        setting=made.setting,
        source=made.source,
        cell__dataset=made.cell.dataset_id,
    )
    rows = rows.select_related("cell").order_by("cell__position")
    rows = rows.only("public_id", "cell__topic", "cell__position")[:MOST_SETTINGS]
    return list({each.cell.topic: each for each in reversed(rows)}.values())[::-1]


BASE = "key-points/sets/<uuid:set_id>"
urlpatterns = [
    path(f"{BASE}/", summary_set, name="summary_set"),
    path(f"{BASE}/arguments/", summary_set_arguments, name="summary_set_arguments"),
    path(f"{BASE}/key-points.<str:format>", summary_set_file, name="summary_set_file"),
    path(f"{BASE}/<slug:figure>.<str:format>", summary_set_figure, name="summary_set_figure"),
]
