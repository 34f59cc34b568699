"""One analysis: its key points by comments, and edits of several of them."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from argsum.analysis.actions.editing import add_point, merge_points, set_state
from argsum.analysis.actions.edits import EditRefused
from argsum.analysis.actions.placing import new_comments, new_statements
from argsum.analysis.actions.point_writing import writable_points
from argsum.analysis.actions.starting import writing_now
from argsum.analysis.forms import ADD, MERGE, NarrowForm, PointsForm
from argsum.analysis.models import Analysis, FoundPoint, PointChange
from argsum.analysis.reports.analyses import changes_of, foreign_language
from argsum.analysis.reports.narrowing import Narrowing
from argsum.analysis.reports.points import (
    comments_left,
    narrowed_counts,
    narrowed_points,
    overview_of,
    point_rows,
    points_of,
)
from argsum.analysis.reports.settings import settings_of
from argsum.analysis.reports.written import writing_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.web.strict_query import id_from

from .analyses import ONE, analysis_or_404, state_context

State = FoundPoint.State
PER_PAGE = 30
# Hidden and proposed ones that stand on the page; more come as these are decided on.
BESIDE = 30


@study_page(*RESEARCHERS)
@require_safe
def analysis(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Show the key points of an analysis by comments, or how far it is."""
    found = analysis_or_404(study, analysis_id)
    context = state_context(study, found) | {"here": "points"}
    if found.state == Analysis.State.DONE:
        context |= _points_context(request, found)
        if not request.htmx:
            context |= {
                "settings": settings_of(found),
                **_writing(found, is_at_work=context["is_polling"]),
                "language": foreign_language(found),
                "new_comments": new_comments(found),
                "new_statements": new_statements(found),
            }
    shown = "argsum/analysis/_points.html" if request.htmx else "argsum/analysis/analysis.html"
    return render(request, shown, context)


@study_page(*RESEARCHERS)
@require_POST
def analysis_edit(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Change several key points at once; the list comes back as it is then."""
    found = analysis_or_404(study, analysis_id)
    form = PointsForm(request.POST)
    try:
        if not form.is_valid():
            raise EditRefused(first_error(form))
        change = _edit(request, found, form.cleaned_data)
    except EditRefused as reason:
        told = {
            "problem": str(reason),
            "typed": request.POST.get("text", ""),
            "verb": request.POST.get("verb", ""),
            "chosen": set(request.POST.getlist("point")),
        }
        return answer(request, found, **told)
    return answer(request, found, change=change)


def _writing(found: Analysis, *, is_at_work: bool) -> dict[str, Any]:
    """What a language model wrote, and whether one can be asked now."""
    is_under_way = writing_now(found) is not None
    return {
        "writing": writing_of(found.writing) if found.writing else None,
        "writing_state": "under_way" if is_under_way else "over" if found.writing else "",
        "can_write": not (is_under_way or is_at_work) and writable_points(found).exists(),
    }


def answer(request: StudyRequest, found: Analysis, **told: Any) -> HttpResponse:
    """The list of key points with what became of an edit; without script the page of it."""
    study = found.study
    problem = told.get("problem", "")
    if request.htmx:
        fresh = analysis_or_404(study, found.public_id)
        context = {"study": study, "analysis": fresh, "here": "points"} | told
        context |= _points_context(request, fresh)
        status = 422 if problem else 200
        return render(request, "argsum/analysis/_points.html", context, status=status)
    if problem:
        messages.error(request, problem)
    else:
        messages.success(request, _("Done."))
    address = reverse("analysis", args=[study.public_id, found.public_id])
    return redirect(f"{address}?{request.GET.urlencode()}".rstrip("?"))


def first_error(form: Any) -> str:
    """What is wrong with a form, in one line."""
    return next(str(texts[0]) for texts in form.errors.values())


def named_points(found: Analysis, wanted: Sequence[str]) -> list[FoundPoint]:
    """Key points of an analysis by public id; raises EditRefused for one that is not there."""
    keys = {key for each in wanted if (key := id_from(each))}
    points = list(found.points.filter(public_id__in=keys))
    if len(points) != len(set(wanted)):
        raise EditRefused(_("There is no such key point in this analysis."))
    return points


def _edit(request: StudyRequest, found: Analysis, data: dict[str, Any]) -> PointChange:
    usual: dict[str, Any] = {"analysis": found, "actor": request.user}
    if data["verb"] == ADD:
        return add_point(**usual, text=data["text"])
    points = named_points(found, request.POST.getlist("point"))
    usual |= {"points": points, "seen": data["seen"]}
    if data["verb"] == MERGE:
        into = named_points(found, [str(data["into"])])[0] if data["into"] else None
        return merge_points(**usual, into=into, text=data["text"])
    return set_state(**usual, verb=data["verb"])


def _points_context(request: StudyRequest, found: Analysis) -> dict[str, Any]:
    """Key points with their counts; with a narrowing these are what is left."""
    form = NarrowForm(request.GET, analysis=found)
    narrow = form.narrowing()
    counts = narrowed_counts(found, narrow) if narrow.is_on else None
    total = comments_left(found, narrow)
    rows: Any = points_of(found, State.SHOWN)
    if counts is not None:
        rows = narrowed_points(found, State.SHOWN, counts)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    overview = overview_of(found)
    proposed = list(points_of(found, State.PROPOSED)[:BESIDE]) if overview.proposed else []
    hidden = list(points_of(found, State.HIDDEN)[:BESIDE]) if overview.hidden else []
    usual: dict[str, Any] = {"total": found.comments, "narrow": Narrowing()}
    return {
        "form": form,
        "narrow": narrow,
        "came_from": "points",
        "overview": overview,
        "page": page,
        "rows": point_rows(found, list(page), narrow=narrow, counts=counts, total=total),
        "total": total,
        "rest": overview.rest if counts is None else _rest(counts),
        "proposed": point_rows(found, proposed, **usual) if proposed else [],
        "hidden": hidden,
        "last_change": changes_of(found).first() if found.revision else None,
    }


def _rest(counts: Any) -> int:
    return counts[None].statements if None in counts else 0


urlpatterns = [
    path(f"{ONE}/", analysis, name="analysis"),
    path(f"{ONE}/edit/", analysis_edit, name="analysis_edit"),
]
