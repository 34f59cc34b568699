"""Pages of a key point and of the edit history."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_POST, require_safe

from argsum.analysis.actions.edits import (
    EditRefused,
    move_statements,
    rename_point,
    set_state,
    split_point,
    undo_change,
)
from argsum.analysis.actions.jobs import ask_to_split
from argsum.analysis.actions.themes import move_to_theme
from argsum.analysis.forms import (
    MOVE,
    NOWHERE,
    RENAME,
    SPLIT,
    SPLIT_ALL,
    TO_THEME,
    NarrowForm,
    PointForm,
)
from argsum.analysis.models import Analysis, FoundPoint, PointChange
from argsum.analysis.reports.analyses import (
    StatementSearch,
    changes_of,
    theme_names,
    writer_in_words,
)
from argsum.analysis.reports.history import name_changes
from argsum.analysis.reports.points import (
    COMMENTS_SHOWN,
    choices_of,
    comments_saying,
    overview_of,
    statement_keys,
    statement_page,
    statement_rows,
)
from argsum.analysis.reports.voices import both_in_words
from argsum.datasets.models import CellArgument
from cqa_site.people.access import StudyRequest
from cqa_site.web.rest.queries import id_from
from .analyses import (
    ONE,
    analysis_or_404,
    analysis_page,
    answer,
    first_error,
    moved_in_words,
    named_points,
    refusal_of,
    state_context,
)


@analysis_page
@require_safe
def found_point(request: StudyRequest, analysis: Analysis, point_id: uuid.UUID) -> HttpResponse:
    """Show a key point with its statements, best first."""
    return _shown(request, analysis, _point(analysis, point_id))


@analysis_page
@require_safe
def analysis_rest(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """Show the statements that fit no key point."""
    return _shown(request, analysis, None)


@analysis_page
@require_POST
def found_point_edit(
    request: StudyRequest, analysis: Analysis, point_id: uuid.UUID
) -> HttpResponse:
    """Rename, hide or split a key point, or move its statements."""
    return _edited(request, analysis, _point(analysis, point_id))


@analysis_page
@require_POST
def analysis_rest_edit(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """Move statements that fit no key point, or make a key point from them."""
    return _edited(request, analysis, None)


@analysis_page
@require_safe
def analysis_said(
    request: StudyRequest, analysis: Analysis, statement_id: uuid.UUID
) -> HttpResponse:
    """Return the fragment with the comments that contain a statement."""
    own = CellArgument.objects.filter(cell=analysis.cell_id)
    statement = get_object_or_404(own, public_id=statement_id)
    narrow = NarrowForm(request.GET, analysis=analysis).narrowing()
    context = {"comments": comments_saying(statement, narrow), "most": COMMENTS_SHOWN}
    return render(request, "argsum/analysis/_said.html", context)


def _shown(
    request: StudyRequest,
    analysis: Analysis,
    point: FoundPoint | None,
    *,
    status: int = 200,
    **feedback: Any,
) -> HttpResponse:
    context = state_context(analysis)
    context |= {"point": point, "here": "" if point else "rest"} | feedback
    context |= _statements_context(request, analysis, point)
    template = "_statements.html" if request.htmx else "point.html"
    return render(request, f"argsum/analysis/{template}", context, status=status)


def _statements_context(
    request: StudyRequest, analysis: Analysis, point: FoundPoint | None
) -> dict[str, Any]:
    form = NarrowForm(request.GET, analysis=analysis)
    narrow = form.narrowing()
    known = point.statements if point else overview_of(analysis).rest
    page, placements = statement_page(
        analysis, point, narrow, known=known, number=request.GET.get("page")
    )
    sid, aid = analysis.study.public_id, analysis.public_id
    ids = [sid, aid, point.public_id] if point else [sid, aid]
    return {
        "form": form,
        "narrow": narrow,
        "page": page,
        "rows": statement_rows(placements, narrow),
        "known": known,
        "writer": writer_in_words(point) if point else "",
        "mentions": both_in_words(analysis, point) if point else "",
        "theme_names": theme_names(analysis) if point else [],
        "choices": [choice for choice in choices_of(analysis) if choice != point],
        "came_from": point.public_id if point else "rest",
        "here_url": reverse("found_point" if point else "analysis_rest", args=ids),
        "edit_url": reverse("found_point_edit" if point else "analysis_rest_edit", args=ids),
    }


def _edited(request: StudyRequest, analysis: Analysis, point: FoundPoint | None) -> HttpResponse:
    form = PointForm(request.POST)
    try:
        if not form.is_valid():
            raise EditRefused(first_error(form))
        message, change = _edit(request, analysis, point, form.cleaned_data)
    except EditRefused as reason:
        feedback = refusal_of(request, reason, "statement")
        return answer_of_point(request, analysis, point, **feedback)
    response = answer_of_point(request, analysis, point, said=message, change=change)
    if request.htmx and form.cleaned_data["verb"] == SPLIT_ALL:
        # The whole page shows the progress.
        response["HX-Refresh"] = "true"
    return response


def answer_of_point(
    request: StudyRequest, analysis: Analysis, point: FoundPoint | None, **feedback: Any
) -> HttpResponse:
    """Return the page of a key point, or of unmatched statements, with the result of an edit.

    After a refusal, it contains the person's input.
    """
    if request.htmx or feedback.get("problem"):
        if point is not None:
            point.refresh_from_db()
        fresh = analysis_or_404(analysis.study, analysis.public_id)
        return _shown(
            request, fresh, point, status=422 if feedback.get("problem") else 200, **feedback
        )
    messages.success(request, feedback.get("said") or _("The edit was undone."))
    return redirect(_point_address(request, analysis, point))


def _edit(
    request: StudyRequest, analysis: Analysis, point: FoundPoint | None, data: dict[str, Any]
) -> tuple[str, PointChange | None]:
    """Perform an edit or queue a job for it. Return a message, and the edit if it is done."""
    verb = data["verb"]
    usual: dict[str, Any] = {"analysis": analysis, "actor": request.user, "seen": data["seen"]}
    if verb in (MOVE, SPLIT):
        keys = _chosen(request, analysis, point, every=data["every"])
        usual |= {"point": point, "statements": keys}
        if verb == MOVE:
            change = move_statements(**usual, to=_target(analysis, data["to"]))
            sentence = ngettext("%s statement was moved.", "%s statements were moved.", len(keys))
            return sentence % f"{len(keys):,}", change
        change = split_point(**usual, text=data["text"])
        return _("“%s” is now a separate key point.") % data["text"], change
    if point is None:
        raise EditRefused(_("This analysis does not have that key point."))
    if verb == RENAME:
        change = rename_point(**usual, point=point, text=data["text"])
        return _("The key point was renamed."), change
    if verb == TO_THEME:
        change = move_to_theme(**usual, points=[point], theme=data["to_theme"])
        return moved_in_words(1, change), change
    if verb == SPLIT_ALL:
        ask_to_split(**usual, point=point)
        return _("Looking for separate parts. The progress is shown on the analysis page."), None
    change = set_state(**usual, points=[point], verb=verb)
    return str(change.get_verb_display()), change


def _target(analysis: Analysis, wanted: str) -> FoundPoint | None:
    if wanted == NOWHERE:
        return None
    if not wanted:
        raise EditRefused(_("Choose where to move the statements."))
    return named_points(analysis, [wanted])[0]


def _chosen(
    request: StudyRequest, analysis: Analysis, point: FoundPoint | None, *, every: bool
) -> list[int]:
    """Return the chosen statements, or all that match the page's filters."""
    if every:
        narrow: StatementSearch = NarrowForm(request.GET, analysis=analysis).narrowing()
        return statement_keys(analysis, point, narrow)
    wanted = [id_from(text) for text in request.POST.getlist("statement")]
    own = CellArgument.objects.filter(cell=analysis.cell_id, public_id__in=filter(None, wanted))
    keys = list(own.order_by("pk").values_list("pk", flat=True))
    if len(keys) != len(set(wanted)):
        raise EditRefused(_("This analysis does not have that statement."))
    return keys


def _point_address(request: StudyRequest, analysis: Analysis, point: FoundPoint | None) -> str:
    ids = [analysis.study.public_id, analysis.public_id, *([point.public_id] if point else [])]
    address = reverse("found_point" if point else "analysis_rest", args=ids)
    return f"{address}?{request.GET.urlencode()}".rstrip("?")


def _point(analysis: Analysis, point_id: uuid.UUID) -> FoundPoint:
    rows = analysis.points.select_related("merged_into", "writer__prompt")
    return get_object_or_404(rows, public_id=point_id)


POINT = f"{ONE}/points/<uuid:point_id>"
urlpatterns = [
    path(f"{ONE}/rest/", analysis_rest, name="analysis_rest"),
    path(f"{ONE}/rest/edit/", analysis_rest_edit, name="analysis_rest_edit"),
    path(f"{ONE}/statements/<uuid:statement_id>/", analysis_said, name="analysis_said"),
    path(f"{POINT}/", found_point, name="found_point"),
    path(f"{POINT}/edit/", found_point_edit, name="found_point_edit"),
]

PER_PAGE = 50
# Names of pages with an undo button. The page of a key point is named by its public id.
POINTS, REST = "points", "rest"


@analysis_page
@require_safe
def analysis_history(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """List the edits, newest first."""
    page = Paginator(changes_of(analysis), PER_PAGE).get_page(request.GET.get("page"))
    names = name_changes(list(page))
    rows = [(change, names.get(change.pk, [])) for change in page]
    context = {
        "study": analysis.study,
        "analysis": analysis,
        "page": page,
        "rows": rows,
        "sign_offs": analysis.sign_offs.select_related("actor").defer("points")[:PER_PAGE],
        "here": "history",
    }
    return render(request, "argsum/analysis/history.html", context)


@analysis_page
@require_POST
def analysis_undo(request: StudyRequest, analysis: Analysis, revision: int) -> HttpResponse:
    """Undo an edit, and return the updated page from which the request came."""
    change = get_object_or_404(analysis.changes, revision=revision)
    try:
        undo_change(analysis=analysis, actor=request.user, change=change)
    except EditRefused as reason:
        return _history_response(request, analysis, problem=str(reason))
    return _history_response(request, analysis, is_undone=True)


def _history_response(request: StudyRequest, analysis: Analysis, **feedback: Any) -> HttpResponse:
    came_from = request.POST.get("from", "")
    if came_from == POINTS:
        return answer(request, analysis, **feedback)
    wanted = id_from(came_from)
    point = analysis.points.filter(public_id=wanted).first() if wanted else None
    if point or came_from == REST:
        return answer_of_point(request, analysis, point, **feedback)
    if problem := feedback.get("problem"):
        messages.error(request, problem)
    else:
        messages.success(request, _("The edit was undone."))
    return redirect("analysis_history", analysis.study.public_id, analysis.public_id)


urlpatterns += [
    path(f"{ONE}/history/", analysis_history, name="analysis_history"),
    path(f"{ONE}/history/<int:revision>/undo/", analysis_undo, name="analysis_undo"),
]
