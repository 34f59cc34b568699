"""Runs in which a language model counts: their list, starting one, and the page of one."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from annotation.forms.planning import PlanForm
from annotation.views.run_context import add_counts, run_context
from annotation.views.run_start import estimate, start_page
from argsum.actions.counting_judge import KIND, clipped_and_unparsable, dimension_of
from argsum.actions.metric_making import Choice, scorable_sets
from argsum.forms.counting_runs import CountingRunForm
from argsum.models import CountingRun, CountReply, MetricScore
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run

PER_PAGE = 50


@study_page(*RESEARCHERS)
def counting_runs(request: HttpRequest, study: Study) -> HttpResponse:
    """List the runs that count, newest first."""
    state = request.GET.get("state", "")
    rows = study.runs.filter(kind=KIND).select_related(
        "prompt", "endpoint", "budget", "created_by", "counting__rater"
    )
    if state in Run.State.values:
        rows = rows.filter(state=state)
    page = Paginator(rows.order_by("-pk"), PER_PAGE).get_page(request.GET.get("page"))
    add_counts(page)
    context = {
        "study": study,
        "section": "key_points",
        "page": page,
        "state": state,
        "states": Run.State.choices,
        "has_sets": scorable_sets(study, Choice()).exists(),
        "has_endpoint": study.endpoints.filter(is_archived=False).exists(),
    }
    return render(request, "argsum/counting_runs.html", context)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def counting_run_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Choose which sets are counted by what; start it."""
    form = CountingRunForm(request.POST or None, study=study, actor=request.user)
    context = {
        "section": "key_points",
        "has_sets": scorable_sets(study, Choice()).exists(),
    }
    return start_page(request, study, form, "argsum/counting_run_new.html", context, look)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
@require_POST
def counting_run_estimate(request: HttpRequest, study: Study) -> HttpResponse:
    """Return the fragment with what the run, as the form stands now, would take."""
    form = CountingRunForm(request.POST, study=study, actor=request.user)
    context = {"study": study, "form": form} | (look(study, form) if form.is_valid() else {})
    return render(request, "argsum/_counting_run_estimate.html", context)


def look(study: Study, form: PlanForm) -> dict[str, Any]:
    """What the run would take, and how many sets it is about."""
    found = estimate(study, form)
    requests = found["estimate"].requests
    return found | {"sets": requests // max(1, form.cleaned_data["replicates"])}


def run_page(request: HttpRequest, study: Study, run: Run) -> HttpResponse:
    """One run: where it is, what it was asked, what it counted."""
    target = run.spec["target"]
    scores = run.metric_scores.select_related("summary_set__cell").order_by("summary_set__cell")
    rows = scores.defer(
        *(f"summary_set__{name}" for name in ("arguments", "clusters", "assigned", "scores"))
    )
    page = Paginator(rows.order_by("pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = run_context(study, run) | {
        "counting": CountingRun.objects.select_related("rater").get(run=run),
        "target": target,
        "dataset": study.argument_datasets.filter(public_id=target["dataset"] or None).first(),
        "is_coverage": dimension_of(run) == CountReply.Dimension.COVERAGE,
        "totals": clipped_and_unparsable(run),
        "reasons": _reasons(run),
        "counts": _counts(run),
        "mean": _mean(run),
        "page": page,
    }
    return render(request, "argsum/counting_run.html", context)


def _counts(run: Run) -> list[tuple[float, int]]:
    rows = run.count_replies.filter(count__isnull=False).order_by("count")
    return list(rows.values_list("count").annotate(n=Count("pk")))


def _reasons(run: Run) -> dict[str, int]:
    rows = run.count_replies.exclude(reason="").order_by("reason")
    return dict(rows.values_list("reason").annotate(n=Count("pk")))


def _mean(run: Run) -> tuple[float | None, int]:
    """Mean over sets with a score, and how many these are."""
    values = [
        value
        for value in MetricScore.objects.filter(run=run).values_list("value", flat=True)
        if value is not None
    ]
    return (sum(values) / len(values) if values else None), len(values)


BASE = "key-points/judges"
urlpatterns = [
    path(f"{BASE}/", counting_runs, name="counting_runs"),
    path(f"{BASE}/new/", counting_run_new, name="counting_run_new"),
    path(f"{BASE}/estimate/", counting_run_estimate, name="counting_run_estimate"),
]
