"""The coherence judge: starting a run, the page of one, and the verdicts behind a share."""

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Avg, Count, IntegerField
from django.db.models.functions import Cast
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from annotation.actions.coherence_judge import KIND
from annotation.actions.coherence_texts import count_other_conditions, without_figures
from annotation.forms.faithfulness import CoherenceForm
from annotation.models import Answer
from annotation.reports.coherence_rows import Wanted, shown, verdicts_of, verdicts_table
from annotation.reports.conditions import ALL, names_of, used_conditions
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.context import run_context
from cqa_site.runs.views.start import estimate, start_page

from .chart_files import table_file

PER_PAGE = 50


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def coherence_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Choose whose citations are judged by what; start it."""
    form = CoherenceForm(request.POST or None, study=study, actor=request.user)
    context = {"section": "answers", "without_figures": without_figures(study)}
    return start_page(request, study, form, "annotation/coherence_new.html", context, _look)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
@require_POST
def coherence_estimate(request: StudyRequest, study: Study) -> HttpResponse:
    """Return the fragment with what the run, as the form stands now, would take."""
    form = CoherenceForm(request.POST, study=study, actor=request.user)
    context = {"study": study, "form": form} | (_look(study, form) if form.is_valid() else {})
    return render(request, "annotation/_coherence_estimate.html", context)


def _look(study: Study, form: CoherenceForm) -> dict[str, Any]:
    """What the run would take, and which texts it leaves out for their condition."""
    elsewhere = count_other_conditions(study, form.target)
    return estimate(study, form) | {"other_conditions": elsewhere}


@study_page(*RESEARCHERS)
def coherence_verdicts(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """List the verdicts of a run with segment and argument; all of them as a file."""
    run = get_object_or_404(study.runs.filter(kind=KIND), public_id=run_id)
    wanted = Wanted.from_query(request.GET)
    rows = verdicts_of(run, wanted)
    if request.GET.get("format") == "csv":
        return table_file(verdicts_table(run, rows), "csv")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "section": "answers",
        "run": run,
        "wanted": wanted,
        "page": page,
        "rows": shown(list(page)),
        "systems": study.systems.all(),
        "scenarios": Answer.Scenario.choices,
        "conditions": used_conditions(study),
    }
    return render(request, "annotation/coherence_verdicts.html", context)


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """One run: where it is, what it may do, what it was asked, what it said."""
    target = run.spec["target"]
    systems = study.systems.filter(public_id__in=target["systems"])
    context = run_context(study, run) | {
        "section": "answers",
        "systems": systems,
        "scenarios": [Answer.Scenario(number).label for number in target["scenarios"]],
        "conditions": names_of(study, target.get("conditions", [])),
        "is_mixed": ALL in target.get("conditions", [ALL]),
        "said": _said(run),
    }
    return render(request, "annotation/coherence_run.html", context)


def _said(run: Run) -> dict[str, Any]:
    """Counts of verdicts, and both shares: of citations, and of an answer on average."""
    texts = run.coherence_verdicts.exclude(is_coherent=None).values("answer", "revision")
    of_texts = texts.order_by().annotate(share=Avg(Cast("is_coherent", IntegerField())))
    counts = dict(
        run.coherence_verdicts.order_by().values_list("is_coherent").annotate(Count("pk"))
    )
    yes, no = counts.get(True, 0), counts.get(False, 0)
    return {
        "yes": yes,
        "no": no,
        "none": counts.get(None, 0),
        "share": yes / (yes + no) if yes + no else None,
        "of_texts": of_texts.aggregate(mean=Avg("share"), n=Count("share")),
    }


urlpatterns = [
    path("coherence/new/", coherence_new, name="coherence_new"),
    path("coherence/estimate/", coherence_estimate, name="coherence_estimate"),
    path("coherence/runs/<uuid:run_id>/verdicts/", coherence_verdicts, name="coherence_verdicts"),
]
