"""One key point with its statements and the comments behind them, or what fits none."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from argsum.analysis.actions.editing import (
    move_statements,
    rename_point,
    set_state,
    split_point,
)
from argsum.analysis.actions.edits import EditRefused
from argsum.analysis.actions.splitting import ask_to_split
from argsum.analysis.forms import MOVE, NOWHERE, RENAME, SPLIT, SPLIT_ALL, NarrowForm, PointForm
from argsum.analysis.models import Analysis, FoundPoint, PointChange
from argsum.analysis.reports.narrowing import Narrowing
from argsum.analysis.reports.points import choices_of, overview_of
from argsum.analysis.reports.statements import (
    COMMENTS_SHOWN,
    comments_saying,
    statement_keys,
    statement_page,
    statement_rows,
)
from argsum.analysis.reports.written import writer_in_words
from argsum.datasets.models import CellArgument
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.web.strict_query import id_from

from .analyses import ONE, analysis_or_404, state_context
from .analysis import first_error, named_points


@study_page(*RESEARCHERS)
@require_safe
def found_point(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, point_id: uuid.UUID
) -> HttpResponse:
    """Show a key point with its statements, best first."""
    found = analysis_or_404(study, analysis_id)
    return _shown(request, found, _point(found, point_id))


@study_page(*RESEARCHERS)
@require_safe
def analysis_rest(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Show the statements that fit no key point."""
    return _shown(request, analysis_or_404(study, analysis_id), None)


@study_page(*RESEARCHERS)
@require_POST
def found_point_edit(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, point_id: uuid.UUID
) -> HttpResponse:
    """Rename, hide or split a key point, or move statements behind it."""
    found = analysis_or_404(study, analysis_id)
    return _edited(request, found, _point(found, point_id))


@study_page(*RESEARCHERS)
@require_POST
def analysis_rest_edit(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID
) -> HttpResponse:
    """Move statements that fit none, or make a key point of them."""
    return _edited(request, analysis_or_404(study, analysis_id), None)


@study_page(*RESEARCHERS)
@require_safe
def analysis_said(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, statement_id: uuid.UUID
) -> HttpResponse:
    """Return the fragment with the comments that say a statement."""
    found = analysis_or_404(study, analysis_id)
    own = CellArgument.objects.filter(cell=found.cell_id)
    statement = get_object_or_404(own, public_id=statement_id)
    narrow = NarrowForm(request.GET, analysis=found).narrowing()
    context = {
        "comments": comments_saying(statement, narrow),
        "most": COMMENTS_SHOWN,
    }
    return render(request, "argsum/analysis/_said.html", context)


def _shown(
    request: StudyRequest,
    found: Analysis,
    point: FoundPoint | None,
    *,
    status: int = 200,
    **told: Any,
) -> HttpResponse:
    context = state_context(found.study, found)
    context |= {"point": point, "here": "" if point else "rest"} | told
    context |= _statements_context(request, found, point)
    if request.htmx:
        return render(request, "argsum/analysis/_statements.html", context, status=status)
    return render(request, "argsum/analysis/point.html", context, status=status)


def _statements_context(
    request: StudyRequest, found: Analysis, point: FoundPoint | None
) -> dict[str, Any]:
    form = NarrowForm(request.GET, analysis=found)
    narrow = form.narrowing()
    known = point.statements if point else overview_of(found).rest
    page, placements = statement_page(
        found, point, narrow, known=known, number=request.GET.get("page")
    )
    sid, aid = found.study.public_id, found.public_id
    ids = [sid, aid, point.public_id] if point else [sid, aid]
    return {
        "form": form,
        "narrow": narrow,
        "page": page,
        "rows": statement_rows(placements, narrow),
        "known": known,
        "writer": writer_in_words(point) if point else "",
        "choices": [each for each in choices_of(found) if point is None or each.pk != point.pk],
        "came_from": point.public_id if point else "rest",
        "here_url": reverse("found_point" if point else "analysis_rest", args=ids),
        "edit_url": reverse("found_point_edit" if point else "analysis_rest_edit", args=ids),
    }


def _edited(request: StudyRequest, found: Analysis, point: FoundPoint | None) -> HttpResponse:
    form = PointForm(request.POST)
    try:
        if not form.is_valid():
            raise EditRefused(first_error(form))
        said, change = _edit(request, found, point, form.cleaned_data)
    except EditRefused as reason:
        told = {
            "problem": str(reason),
            "typed": request.POST.get("text", ""),
            "verb": request.POST.get("verb", ""),
            "chosen": set(request.POST.getlist("statement")),
        }
        return answer_of_point(request, found, point, **told)
    response = answer_of_point(request, found, point, said=said, change=change)
    if request.htmx and form.cleaned_data["verb"] == SPLIT_ALL:
        # The whole page says how far the worker is.
        response["HX-Refresh"] = "true"
    return response


def answer_of_point(
    request: StudyRequest, found: Analysis, point: FoundPoint | None, **told: Any
) -> HttpResponse:
    """The page of a key point, or of what fits none, with what became of an edit.

    A refusal comes with what the person had typed and chosen.
    """
    if request.htmx or told.get("problem"):
        if point is not None:
            point.refresh_from_db()
        fresh = analysis_or_404(found.study, found.public_id)
        return _shown(request, fresh, point, status=422 if told.get("problem") else 200, **told)
    messages.success(request, told.get("said") or _("The edit was undone."))
    return redirect(_back(request, found, point))


def _edit(
    request: StudyRequest, found: Analysis, point: FoundPoint | None, data: dict[str, Any]
) -> tuple[str, PointChange | None]:
    """Do it; returns what to say, and the edit if it is done already."""
    verb = data["verb"]
    usual: dict[str, Any] = {"analysis": found, "actor": request.user, "seen": data["seen"]}
    if verb in (MOVE, SPLIT):
        keys = _chosen(request, found, point, every=data["every"])
        usual |= {"point": point, "statements": keys}
        if verb == MOVE:
            change = move_statements(**usual, to=_target(found, data["to"]))
            told = ngettext("%s statement was moved.", "%s statements were moved.", len(keys))
            return told % f"{len(keys):,}", change
        change = split_point(**usual, text=data["text"])
        return _("“%s” is a key point of its own now.") % data["text"], change
    if point is None:
        raise EditRefused(_("There is no such key point in this analysis."))
    if verb == RENAME:
        change = rename_point(**usual, point=point, text=data["text"])
        return _("The key point was renamed."), change
    if verb == SPLIT_ALL:
        ask_to_split(**usual, point=point)
        return _("A worker looks for parts; the page of the analysis says how far it is."), None
    change = set_state(**usual, points=[point], verb=verb)
    return str(change.get_verb_display()), change


def _target(found: Analysis, wanted: str) -> FoundPoint | None:
    if wanted == NOWHERE:
        return None
    if not wanted:
        raise EditRefused(_("Choose where they go."))
    return named_points(found, [wanted])[0]


def _chosen(
    request: StudyRequest, found: Analysis, point: FoundPoint | None, *, every: bool
) -> list[int]:
    """Statements that were ticked, or all that the page is narrowed to."""
    if every:
        narrow: Narrowing = NarrowForm(request.GET, analysis=found).narrowing()
        return statement_keys(found, point, narrow)
    wanted = [id_from(each) for each in request.POST.getlist("statement")]
    own = CellArgument.objects.filter(cell=found.cell_id)
    keys = list(own.filter(public_id__in=[each for each in wanted if each]).order_by("pk"))
    if len(keys) != len(set(wanted)):
        raise EditRefused(_("There is no such statement in this analysis."))
    return [each.pk for each in keys]


def _back(request: StudyRequest, found: Analysis, point: FoundPoint | None) -> str:
    sid, aid = found.study.public_id, found.public_id
    address = reverse("analysis_rest", args=[sid, aid])
    if point is not None:
        address = reverse("found_point", args=[sid, aid, point.public_id])
    return f"{address}?{request.GET.urlencode()}".rstrip("?")


def _point(found: Analysis, point_id: uuid.UUID) -> FoundPoint:
    rows = found.points.select_related("merged_into", "writer__prompt")
    return get_object_or_404(rows, public_id=point_id)


POINT = f"{ONE}/points/<uuid:point_id>"
urlpatterns = [
    path(f"{ONE}/rest/", analysis_rest, name="analysis_rest"),
    path(f"{ONE}/rest/edit/", analysis_rest_edit, name="analysis_rest_edit"),
    path(f"{ONE}/statements/<uuid:statement_id>/", analysis_said, name="analysis_said"),
    path(f"{POINT}/", found_point, name="found_point"),
    path(f"{POINT}/edit/", found_point_edit, name="found_point_edit"),
]
