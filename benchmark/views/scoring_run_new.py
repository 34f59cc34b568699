"""Starting a run of the scoring judge."""

from collections import Counter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from annotation.forms.planning import PlanForm
from annotation.views.run_start import estimate, start_page
from benchmark.actions.judge_targets import (
    count_held_out,
    count_learned,
    count_other_conditions,
)
from benchmark.actions.scoring_judge import ScoringKind
from benchmark.forms.scoring_runs import ScoringRunForm
from benchmark.reports.scoring_calls import CANARY, PLAIN, SWAP, Asked
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study
from cqa_site.runs.actions.runs import draft


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def scoring_run_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Choose which answers are scored by what; start it."""
    form = ScoringRunForm(request.POST or None, study=study, actor=request.user)
    context = {
        "section": "scores",
        "has_answers": study.answers.exists(),
        "has_examples": bool(form.offered),
    }
    return start_page(request, study, form, "benchmark/scoring_run_new.html", context, look)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
@require_POST
def scoring_run_estimate(request: HttpRequest, study: Study) -> HttpResponse:
    """Return the fragment with what the run, as the form stands now, would take."""
    form = ScoringRunForm(request.POST, study=study, actor=request.user)
    context = {"study": study, "form": form} | (look(study, form) if form.is_valid() else {})
    return render(request, "benchmark/_scoring_run_estimate.html", context)


def look(study: Study, form: PlanForm) -> dict[str, Any]:
    """What the run would take, and what its requests are."""
    found = estimate(study, form)
    run = draft(form.plan, study)
    asked = [Asked(*subject.ids) for subject in ScoringKind().subjects(run)]
    parts = Counter(each.probe for each in asked)
    replicates = run.spec["replicates"]
    return found | {
        "judged": len({each.answer for each in asked if each.probe == PLAIN}),
        "plain_requests": parts[PLAIN] * replicates,
        "canary_requests": parts[CANARY] * replicates,
        "swap_requests": parts[SWAP] * replicates,
        "held_out": count_held_out(study, run.spec["target"]),
        "other_conditions": count_other_conditions(study, run.spec["target"]),
        "learned": count_learned(study, run.spec["target"]),
    }


urlpatterns = [
    path("scores/judges/new/", scoring_run_new, name="scoring_run_new"),
    path("scores/judges/estimate/", scoring_run_estimate, name="scoring_run_estimate"),
]
