"""Faithfulness of a study's answers: figures by system and condition, made in the background."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

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
from annotation.faithfulness.reports.charts import (
    CHARTS,
    TITLES,
    chart_alt,
    chart_rows,
    chart_spec,
    chart_table,
)
from annotation.faithfulness.reports.faithfulness import GroupFigures
from annotation.faithfulness.reports.finding import faithfulness_finding
from annotation.faithfulness.reports.tables import (
    INTERVALS,
    MODES,
    faithfulness_table,
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
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.runs.models import Run
from cqa_site.runs.progress import with_planning

RUNS = 10


@dataclass(frozen=True)
class Shown:
    """What the address asks for: the groups of one state, and whose verdicts they count."""

    study: Study
    choice: Choice
    runs: list[Run]
    run: Run | None
    state: str
    groups: list[GroupFigures]

    @classmethod
    def from_request(cls, request: StudyRequest, study: Study) -> Self:
        """Read the address; the figures are computed or those kept from an earlier time."""
        choice = Choice.from_query(request.GET, study)
        runs = list(judge_runs(study))
        run = chosen_run(runs, choice)
        # Read before the figures: one that comes in between makes the page stale, never wrong.
        state = state_of(study, choice.labels)
        return cls(study, choice, runs, run, state, groups_of(study, choice, run, state))

    def figures(self) -> list[Figure]:
        """The table of all measures, and the charts that have something to draw."""
        files = Files(
            view="faithfulness_figure",
            ids=(self.study.public_id,),
            query=self.choice.query,
            version=version_of(self.state, self.choice, self.run),
        )
        names = measures_of(self.choice.mode, self.groups)
        measures = Figure(
            slug="measures",
            title=_("By system and condition"),
            recipe=f"{_('A figure leads to the texts behind it.')} {INTERVALS}",
            table=faithfulness_table(self.study, self.groups, self.choice, self.state),
            body="annotation/faithfulness/_measures.html",
            data=[_shown(group, names) for group in self.groups],
            files=files,
        )
        return [measures, *(self._chart(name, files) for name in CHARTS if self._has(name))]

    def _has(self, name: str) -> bool:
        return bool(chart_rows(self.groups, name))

    def _chart(self, name: str, files: Files) -> Figure:
        return Figure(
            slug=name,
            title=TITLES[name],
            recipe=INTERVALS,
            table=chart_table(self.groups, name),
            alt=chart_alt(self.groups, name),
            draw=partial(chart_spec, self.groups, name),
            files=files,
        )


@study_page(*RESEARCHERS)
def faithfulness(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the stored figures, and how many texts wait for theirs."""
    job, shown = actions.latest_job(study), Shown.from_request(request, study)
    measures, *charts = shown.figures()
    context = {
        "study": study,
        "choice": shown.choice,
        # For links that name a condition of their own.
        "rows_query": replace(shown.choice, condition="").query,
        "modes": MODES,
        "measures": measures_of(shown.choice.mode, shown.groups),
        "label_choices": label_choices(study),
        "conditions": used_conditions(study),
        "groups": measures.data,
        "finding": faithfulness_finding(shown.groups),
        "card": measures,
        "charts": charts,
        "runs": shown.runs,
        "run": shown.run,
        "coherence_runs": with_planning(counted_runs(study)[:RUNS]),
        "job": job,
        "worker_alive": is_worker_alive() if job and job.is_active else None,
        "freshness": freshness(study),
        "form": FiguresForm(initial={"embedding": embedding_of(study)}),
    }
    return render(request, "annotation/faithfulness/faithfulness.html", context)


@study_page(*RESEARCHERS)
def faithfulness_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send the table of all measures, or one chart."""
    figures = Shown.from_request(request, study).figures()
    return figure_file(request, figures, figure, format)


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


def _shown(group: GroupFigures, measures: Iterable[str]) -> dict[str, Any]:
    """A group with its names, and its measures in the order of the columns."""
    return {
        **vars(group),
        "texts": text_of_group(group),
        "cells": [(name, group.measures[name]) for name in measures],
        "left_out": skipped_in_words(group.skipped),
        "unscored": sum(group.verdicts.unscored.values()),
    }


urlpatterns = [
    path("faithfulness/", faithfulness, name="faithfulness"),
    path("faithfulness/compute/", faithfulness_compute, name="faithfulness_compute"),
    path("faithfulness/cancel/", faithfulness_cancel, name="faithfulness_cancel"),
    path(
        "faithfulness/<slug:figure>.<str:format>", faithfulness_figure, name="faithfulness_figure"
    ),
]
