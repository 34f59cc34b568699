"""Pages that list, start and control analyses, and the page of one analysis."""

import uuid
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_POST, require_safe

from argsum.analysis.actions.analyses import (
    AnalysisRefused,
    analyse_dataset,
    cancel_analysis,
    delete_analysis,
    is_at_work,
    resume_analysis,
    start_analysis,
    writing_now,
)
from argsum.analysis.actions.edits import (
    EditRefused,
    add_point,
    merge_points,
    set_state,
    take_proposed,
)
from argsum.analysis.actions.jobs import new_comments, new_statements, place_new_comments
from argsum.analysis.actions.point_writing import writable_points
from argsum.analysis.actions.themes import merge_themes, move_to_theme, rename_theme
from argsum.analysis.forms import (
    ADD,
    MERGE,
    MERGE_THEMES,
    RENAME_THEME,
    REPLACE,
    TAKE_ALL,
    TO_THEME,
    AnalysisForm,
    NarrowForm,
    PointsForm,
)
from argsum.analysis.models import Analysis, FoundPoint, PointChange
from argsum.analysis.reports.analyses import (
    StatementSearch,
    analyses_of,
    changes_of,
    encoder_of,
    foreign_language,
    listed,
    theme_names,
    writing_of,
)
from argsum.analysis.reports.extensions import blinding_rounds
from argsum.analysis.reports.history import sign_off_in_words, sign_off_of
from argsum.analysis.reports.mentions import NarrowedCounts, PointCounts, narrowed_counts
from argsum.analysis.reports.points import narrowed_points, overview_of, point_rows, points_of
from argsum.analysis.reports.themes import themes_of
from argsum.datasets.models import Cell
from cqa_site.people.access import EXPERTS, RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.web.rest.queries import chosen, id_from


def analysis_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Decorate ``view(request, analysis, …)`` for experts and researchers of the study.

    Experts who can answer an open audit of the analysis see a page explaining why they must wait.
    """

    @study_page(*EXPERTS)
    @wraps(view)
    def page(
        request: StudyRequest, study: Study, analysis_id: uuid.UUID, **ids: Any
    ) -> HttpResponse:
        analysis = analysis_or_404(study, analysis_id)
        is_open = request.membership.is_researcher
        rounds = [] if is_open else blinding_rounds(analysis, request.user)
        if not rounds:
            return view(request, analysis, **ids)
        can_leave = not any(round_.has_answers for round_ in rounds)
        context = {"study": study, "analysis": analysis, "rounds": rounds, "can_leave": can_leave}
        response = render(request, "argsum/analysis/blind.html", context, status=409)
        # Otherwise the fragment would appear inside a page that is now closed.
        response["HX-Refresh"] = "true"
        return response

    return page


PER_PAGE = 50


@study_page(*EXPERTS, only="GET")
def analyses(request: StudyRequest, study: Study) -> HttpResponse:
    """List the analyses of one dataset or of all datasets, newest first."""
    state = chosen(request, "state", Analysis.State.values)
    rows = listed(analyses_of(study))
    if state:
        rows = rows.filter(state=state)
    wanted = id_from(request.GET.get("dataset"))
    if wanted:
        rows = rows.filter(cell__dataset__public_id=wanted)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "state": state,
        "states": Analysis.State.choices,
        "dataset": study.argument_datasets.filter(public_id=wanted).first() if wanted else None,
        "has_dataset": study.argument_datasets.exists(),
        "is_active": any(analysis.is_active for analysis in page),
    }
    template = (
        "argsum/analysis/_analyses.html" if request.htmx else "argsum/analysis/analyses.html"
    )
    return render(request, template, context)


@study_page(*RESEARCHERS)
def analysis_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Choose the topic of an analysis and start it."""
    own = Cell.objects.filter(dataset__study=study)
    begun = own.filter(public_id__in=[id_from(request.GET.get("cell"))]).first()
    form = AnalysisForm(request.POST or None, study=study, initial={"cell": begun})
    context = {"study": study, "form": form, "has_dataset": own.exists()}
    if request.method == "POST" and form.is_valid():
        try:
            analysis = start_analysis(study=study, actor=request.user, **form.cleaned_data)
        except AnalysisRefused as reason:
            form.add_error(None, str(reason))
        else:
            return redirect("analysis", study.public_id, analysis.public_id)
    status = 422 if request.method == "POST" else 200
    return render(request, "argsum/analysis/analysis_new.html", context, status=status)


@study_page(*RESEARCHERS, only="POST")
def analysis_dataset(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponse:
    """Start an analysis for each topic of a dataset, with default settings."""
    argument_dataset = get_object_or_404(study.argument_datasets, public_id=dataset_id)
    try:
        analyses = analyse_dataset(study=study, actor=request.user, dataset=argument_dataset)
    except AnalysisRefused as reason:
        messages.error(request, str(reason))
        return redirect("dataset", study.public_id, argument_dataset.public_id)
    if len(analyses) == 1:
        return redirect("analysis", study.public_id, analyses[0].public_id)
    sentence = ngettext(
        "%d analysis is in progress.", "%d analyses are in progress.", len(analyses)
    )
    messages.success(request, sentence % len(analyses))
    response = redirect("analyses", study.public_id)
    response["Location"] += f"?dataset={argument_dataset.public_id}"
    return response


@analysis_page
@require_safe
def analysis_state(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """Return the progress fragment, which polls only while a computation is running."""
    context = state_context(analysis)
    response = render(request, "argsum/analysis/_analysis_state.html", context)
    if not context["is_polling"]:
        response["HX-Refresh"] = "true"
    return response


def steering(action: Callable[..., object]) -> Callable[..., HttpResponseBase]:
    """Return the view that cancels an analysis, restarts it, or places new comments."""

    @study_page(*RESEARCHERS, only="POST")
    def steer(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
        analysis = analysis_or_404(study, analysis_id)
        try:
            action(analysis=analysis, actor=request.user)
        except AnalysisRefused as reason:
            messages.error(request, str(reason))
        return redirect("analysis", study.public_id, analysis.public_id)

    return steer


@study_page(*RESEARCHERS, only="POST")
def analysis_delete(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Delete an analysis with its edits."""
    analysis = analysis_or_404(study, analysis_id)
    try:
        delete_analysis(analysis=analysis, actor=request.user)
    except AnalysisRefused as reason:
        messages.error(request, str(reason))
        return redirect("analysis", study.public_id, analysis.public_id)
    messages.success(request, _("“%s” was deleted.") % analysis.name)
    return redirect("analyses", study.public_id)


def analysis_or_404(study: Study, analysis_id: uuid.UUID) -> Analysis:
    """Return an analysis of the study, with the related rows for its pages."""
    analysis: Analysis = get_object_or_404(analyses_of(study), public_id=analysis_id)
    return analysis


def state_context(analysis: Analysis) -> dict[str, Any]:
    """Return the context for the progress of an analysis."""
    at_work = is_at_work(analysis)
    is_lost = analysis.is_active and not at_work
    job = analysis.job
    return {
        "study": analysis.study,
        "analysis": analysis,
        "is_polling": at_work,
        "is_lost": is_lost,
        "can_resume": is_lost
        or analysis.state in (Analysis.State.FAILED, Analysis.State.CANCELLED),
        # Error of a later request, such as placing new comments.
        "later_error": job.error if job and analysis.state == Analysis.State.DONE else "",
        "worker_alive": is_worker_alive() if at_work else None,
    }


BASE = "key-points/analyses"
ONE = f"{BASE}/<uuid:analysis_id>"
urlpatterns = [
    path(f"{BASE}/", analyses, name="analyses"),
    path(f"{BASE}/new/", analysis_new, name="analysis_new"),
    path(
        "key-points/datasets/<uuid:dataset_id>/analyse/", analysis_dataset, name="analysis_dataset"
    ),
    path(f"{ONE}/state/", analysis_state, name="analysis_state"),
    path(f"{ONE}/cancel/", steering(cancel_analysis), name="analysis_cancel"),
    path(f"{ONE}/resume/", steering(resume_analysis), name="analysis_resume"),
    path(f"{ONE}/place/", steering(place_new_comments), name="analysis_place"),
    path(f"{ONE}/delete/", analysis_delete, name="analysis_delete"),
]

State = FoundPoint.State
POINTS_PER_PAGE, THEMES_PER_PAGE = 30, 20
# Maximum number of hidden and of proposed key points on the page; more follow after decisions.
BESIDE = 30


@analysis_page
@require_safe
def analysis(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """Show the key points of an analysis, sorted by number of comments, or its progress."""
    context = state_context(analysis) | {"here": "points"}
    if analysis.state == Analysis.State.DONE:
        context |= _points_context(request, analysis)
        if not request.htmx:
            context |= {
                **_writing(analysis, is_at_work=context["is_polling"]),
                "language": foreign_language(analysis),
                "encoder": encoder_of(analysis),
                "new_comments": new_comments(analysis),
                "new_statements": new_statements(analysis),
            }
    template = "argsum/analysis/_points.html" if request.htmx else "argsum/analysis/analysis.html"
    return render(request, template, context)


@analysis_page
@require_POST
def analysis_edit(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """Edit several key points at once, and return the updated list."""
    form = PointsForm(request.POST)
    try:
        if not form.is_valid():
            raise EditRefused(first_error(form))
        message, change = _edit(request, analysis, form.cleaned_data)
    except EditRefused as reason:
        return answer(request, analysis, **refusal_of(request, reason, "point", "theme"))
    return answer(request, analysis, said=message, change=change)


def _writing(analysis: Analysis, *, is_at_work: bool) -> dict[str, Any]:
    """Return past and active language-model runs, and whether new ones can start now."""
    active = writing_now(analysis)
    is_free = active is None and not is_at_work
    coding, signed = analysis.coding, sign_off_of(analysis)
    return {
        "active_run": active,
        "writing": writing_of(analysis.writing) if analysis.writing else None,
        # The result of a run is known when its job has ended.
        "coding": coding if is_free else None,
        "coding_holds": analysis.changes.filter(run=coding, undone_by=None).exists(),
        "can_code": is_free,
        "can_write": is_free and writable_points(analysis).exists(),
        "signed": signed,
        "signed_words": sign_off_in_words(signed),
    }


def answer(request: StudyRequest, analysis: Analysis, **feedback: Any) -> HttpResponse:
    """Return the list of key points with the result of an edit or, without htmx, a redirect."""
    study = analysis.study
    problem = feedback.get("problem", "")
    if request.htmx:
        fresh = analysis_or_404(study, analysis.public_id)
        context = {"study": study, "analysis": fresh, "here": "points"} | feedback
        context |= _points_context(request, fresh)
        status = 422 if problem else 200
        return render(request, "argsum/analysis/_points.html", context, status=status)
    if problem:
        messages.error(request, problem)
    else:
        messages.success(request, _("Done."))
    address = reverse("analysis", args=[study.public_id, analysis.public_id])
    return redirect(f"{address}?{request.GET.urlencode()}".rstrip("?"))


def refusal_of(request: StudyRequest, reason: EditRefused, *names: str) -> dict[str, Any]:
    """Return why an edit was refused, and the person's text and choices.

    ``names`` are the fields of the choices.
    """
    return {
        "problem": str(reason),
        "typed": request.POST.get("text", ""),
        "verb": request.POST.get("verb", ""),
        "chosen": {value for name in names for value in request.POST.getlist(name)},
    }


def first_error(form: Any) -> str:
    """Return the first error of a form on one line."""
    return next(str(texts[0]) for texts in form.errors.values())


def named_points(analysis: Analysis, wanted: Sequence[str]) -> list[FoundPoint]:
    """Return key points of an analysis by public id; raises EditRefused if any is missing."""
    keys = {key for text in wanted if (key := id_from(text))}
    points = list(analysis.points.filter(public_id__in=keys))
    if len(points) != len(set(wanted)):
        raise EditRefused(_("This analysis does not have that key point."))
    return points


def _edit(
    request: StudyRequest, analysis: Analysis, data: dict[str, Any]
) -> tuple[str, PointChange]:
    """Perform an edit, and return a message (empty if the verb says enough) and the edit."""
    verb = data["verb"]
    usual: dict[str, Any] = {"analysis": analysis, "actor": request.user}
    if verb == ADD:
        return "", add_point(**usual, text=data["text"])
    usual["seen"] = data["seen"]
    if verb in (TAKE_ALL, REPLACE):
        return "", take_proposed(**usual, hides_found=verb == REPLACE)
    if verb in (RENAME_THEME, MERGE_THEMES):
        return _edit_themes(request.POST.getlist("theme"), verb, data["name"], usual)
    usual["points"] = named_points(analysis, request.POST.getlist("point"))
    if verb == TO_THEME:
        change = move_to_theme(**usual, theme=data["to_theme"])
        return moved_in_words(len(usual["points"]), change), change
    if verb == MERGE:
        into = named_points(analysis, [str(data["into"])])[0] if data["into"] else None
        change = merge_points(**usual, into=into, text=data["text"])
        return _("Merged: %s") % (data["text"].strip() or change.point), change
    return "", set_state(**usual, verb=verb)


def _edit_themes(
    themes: Sequence[str], verb: str, name: str, usual: dict[str, Any]
) -> tuple[str, PointChange]:
    if verb == MERGE_THEMES:
        change = merge_themes(**usual, themes=themes, name=name)
        return _("The themes were merged into “%s”.") % theme_after(change), change
    if len(themes) != 1:
        raise EditRefused(_("Choose one theme to rename."))
    change = rename_theme(**usual, theme=themes[0], name=name)
    return _("The theme was renamed to “%s”.") % theme_after(change), change


def theme_after(change: PointChange) -> str:
    """Return the theme into which an edit of themes has put key points."""
    return str(next(iter(change.after["points"].values()))["theme"])


def moved_in_words(number: int, change: PointChange) -> str:
    """Return a message that says where key points were moved."""
    theme = theme_after(change)
    if not theme:
        sentence = ngettext(
            "%d key point now has no theme.", "%d key points now have no theme.", number
        )
        return sentence % number
    sentence = ngettext(
        "%(n)d key point is now in “%(theme)s”.",
        "%(n)d key points are now in “%(theme)s”.",
        number,
    )
    return sentence % {"n": number, "theme": theme}


def _points_context(request: StudyRequest, analysis: Analysis) -> dict[str, Any]:
    """Return themes or key points with their counts under the filters."""
    themes = theme_names(analysis)
    form = NarrowForm(request.GET, analysis=analysis, themes=themes)
    narrow = form.narrowing()
    counts = narrowed_counts(analysis, narrow) if narrow.is_on else None
    total = counts.total if counts else getattr(analysis, narrow.unit)
    overview = overview_of(analysis)
    proposed = list(points_of(analysis, State.PROPOSED)[:BESIDE]) if overview.proposed else []
    hidden = list(points_of(analysis, State.HIDDEN)[:BESIDE]) if overview.hidden else []
    plain = StatementSearch(unit=narrow.unit)
    usual: dict[str, Any] = {"total": getattr(analysis, narrow.unit), "narrow": plain}
    lists = _listed_themes if form.lists_themes else _listed_points
    return {
        "form": form,
        "narrow": narrow,
        "came_from": "points",
        "overview": overview,
        **lists(request, analysis, form, narrow, counts, total),
        "total": total,
        "rest": counts.points.get(None, PointCounts()).statements if counts else overview.rest,
        "proposed": point_rows(analysis, proposed, **usual) if proposed else [],
        "hidden": hidden,
        "theme_names": themes,
        "last_change": changes_of(analysis).first() if analysis.revision else None,
    }


def _listed_themes(
    request: StudyRequest,
    analysis: Analysis,
    _form: NarrowForm,
    narrow: StatementSearch,
    counts: NarrowedCounts | None,
    total: int,
) -> dict[str, Any]:
    """Return the themes, and open those whose key points were just chosen."""
    opened: set[str] = set()
    if chosen_points := [key for text in request.POST.getlist("point") if (key := id_from(text))]:
        rows = analysis.points.filter(public_id__in=chosen_points)
        opened = set(rows.values_list("theme", flat=True))
    themes = themes_of(analysis, narrow, counts, total, opened=frozenset(opened))
    page = Paginator(themes.themes, THEMES_PER_PAGE).get_page(request.GET.get("page"))
    number = sum(theme.number for theme in themes.themes)
    return {"themes": themes, "page": page, "rows": [], "number": number}


def _listed_points(
    request: StudyRequest,
    analysis: Analysis,
    form: NarrowForm,
    narrow: StatementSearch,
    counts: NarrowedCounts | None,
    total: int,
) -> dict[str, Any]:
    """Return one page of key points, limited to one theme if requested."""
    theme = form.cleaned_data.get("theme", "")
    rows: Any = points_of(analysis, State.SHOWN, narrow.unit)
    if theme:
        rows = rows.filter(theme=theme)
    if counts:
        rows = narrowed_points(rows, counts, narrow.unit)
    page = Paginator(rows, POINTS_PER_PAGE).get_page(request.GET.get("page"))
    usual: dict[str, Any] = {"narrow": narrow, "counts": counts, "total": total}
    rows = point_rows(analysis, list(page), **usual)
    return {"page": page, "rows": rows, "theme": theme, "number": page.paginator.count}


urlpatterns += [
    path(f"{ONE}/", analysis, name="analysis"),
    path(f"{ONE}/edit/", analysis_edit, name="analysis_edit"),
]
