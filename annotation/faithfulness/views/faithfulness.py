"""Faithfulness of a study's answers: figures by system and condition, made in the background."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.answers.forms.labels import label_choices
from annotation.answers.reports.conditions import used_conditions
from annotation.faithfulness.actions import faithfulness as actions
from annotation.faithfulness.actions.texts import embedding_of, freshness
from annotation.faithfulness.forms import FiguresForm
from annotation.faithfulness.reports.charts import CHARTS, chart_alt, chart_rows
from annotation.faithfulness.reports.tables import (
    MEASURES,
    MODES,
    measures_of,
    skipped_in_words,
    text_of_group,
)
from annotation.faithfulness.reports.versions import (
    Choice,
    chosen_run,
    counted_runs,
    groups_of,
    judge_runs,
    state_of,
    version_of,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.jobs import is_worker_alive

RUNS = 10


@study_page(*RESEARCHERS)
def faithfulness(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the stored figures, and how many texts wait for theirs."""
    choice, job = Choice.from_query(request.GET, study), actions.latest_job(study)
    runs = list(judge_runs(study))
    run = chosen_run(runs, choice)
    # Read before the figures: one that comes in between makes the page stale, never wrong.
    state = state_of(study, choice.labels)
    groups = groups_of(study, choice, run, state)
    context = {
        "study": study,
        "section": "answers",
        "choice": choice,
        # For links that name a condition of their own.
        "rows_query": replace(choice, condition="").query,
        "version": version_of(state, choice, run),
        "modes": MODES,
        "measures": measures_of(choice.mode),
        "label_choices": label_choices(study),
        "conditions": used_conditions(study),
        "groups": [_shown(group) for group in groups],
        "charts": _charts(groups),
        "runs": runs,
        "run": run,
        "coherence_runs": counted_runs(study)[:RUNS],
        "job": job,
        "worker_alive": is_worker_alive() if job and job.is_active else None,
        "freshness": freshness(study),
        "form": FiguresForm(initial={"embedding": embedding_of(study)}),
    }
    return render(request, "annotation/faithfulness/faithfulness.html", context)


@study_page(*RESEARCHERS)
@require_POST
def faithfulness_compute(request: StudyRequest, study: Study) -> HttpResponse:
    """Bring the figures up to date in the background."""
    form = FiguresForm(request.POST)
    if form.is_valid():
        embedding = form.cleaned_data["embedding"]
        actions.request_figures(study=study, embedding=embedding, actor=request.user)
    else:
        messages.error(request, _("Choose one of the embedding models on offer."))
    return redirect("faithfulness", study.public_id)


@study_page(*RESEARCHERS)
@require_POST
def faithfulness_cancel(request: StudyRequest, study: Study) -> HttpResponse:
    """Stop the computation; what it has stored stays."""
    if actions.cancel_figures(study=study, actor=request.user):
        messages.success(request, _("Stopped. What was computed so far is kept."))
    else:
        messages.error(request, _("Nothing is being computed."))
    return redirect("faithfulness", study.public_id)


def _shown(group: dict[str, Any]) -> dict[str, Any]:
    """A group with its names, and its measures in the order of the columns."""
    return group | {
        "texts": text_of_group(group),
        "cells": [(name, group["measures"][name]) for name in MEASURES],
        "left_out": skipped_in_words(group["skipped"]),
        "unscored": sum(group["verdicts"]["unscored"].values()),
    }


def _charts(groups: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Name and text of each chart that has something to draw."""
    return [(name, chart_alt(groups, name)) for name in CHARTS if chart_rows(groups, name)]


urlpatterns = [
    path("faithfulness/", faithfulness, name="faithfulness"),
    path("faithfulness/compute/", faithfulness_compute, name="faithfulness_compute"),
    path("faithfulness/cancel/", faithfulness_cancel, name="faithfulness_cancel"),
]
