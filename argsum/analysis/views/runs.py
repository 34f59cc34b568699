"""Pages for starting language-model runs for an analysis, and the page of a writing run."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.views.decorators.debug import sensitive_post_parameters

from argsum.analysis.actions.analyses import is_at_work
from argsum.analysis.actions.point_writing import ATTEMPTS, writable_points
from argsum.analysis.forms import AnalysisRunForm, PointWritingForm
from argsum.analysis.models import Analysis
from argsum.analysis.reports.analyses import analysis_of_run, writing_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import estimate, start_page
from .analyses import ONE
from .report import finished_or_404

MOST_SHOWN = 50


def start_paths(
    name: str,
    address: str,
    form_class: type[AnalysisRunForm],
    template: str,
    about: Callable[[Analysis], dict[str, Any]],
) -> list[URLPattern]:
    """Return the URLs of the page that starts a run and of the fragment with its price.

    ``about`` returns the template context. ``has_things`` returns whether any request is possible.
    """

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS)
    def new(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
        """Choose a language model, a prompt and sizes, and start the run."""
        analysis = finished_or_404(study, analysis_id)
        form = _form(form_class, request, analysis)
        context = {"analysis": analysis, **about(analysis)}
        return start_page(request, study, form, template, context)

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS, only="POST")
    def price(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
        """Return the fragment with the estimated cost of the run in the form."""
        form = _form(form_class, request, finished_or_404(study, analysis_id))
        context = {"study": study, "form": form}
        context |= estimate(study, form) if form.is_valid() else {}
        return render(request, "runs/_kind_run_estimate.html", context)

    return [
        path(f"{ONE}/{address}/", new, name=name),
        path(f"{ONE}/{address}/estimate/", price, name=f"{name}_estimate"),
    ]


def _form(
    form_class: type[AnalysisRunForm], request: StudyRequest, analysis: Analysis
) -> AnalysisRunForm:
    data = None
    if request.method == "POST":
        data = request.POST.copy()
        # The URL decides which analysis is meant, regardless of the hidden field.
        data["analysis"] = str(analysis.pk)
    return form_class(data, study=analysis.study, actor=request.user, analysis=analysis)


def _writable(analysis: Analysis) -> dict[str, Any]:
    number = writable_points(analysis).count()
    return {"number": number, "attempts": ATTEMPTS, "has_things": number > 0}


def writing_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show one run: its progress, requests, written texts and their verdicts."""
    analysis = analysis_of_run(run)
    rows = run.written_points.select_related("point").order_by("point", "attempt", "pk")
    context = run_context(study, run) | {
        "analysis": analysis,
        "target": run.spec["target"],
        "writing": writing_of(run),
        "is_checking": bool(analysis and analysis.writing_id == run.pk and is_at_work(analysis)),
        "rows": rows[:MOST_SHOWN],
    }
    return render(request, "argsum/analysis/writing/run.html", context)


urlpatterns = start_paths(
    "point_writing", "writing", PointWritingForm, "argsum/analysis/writing/new.html", _writable
)
