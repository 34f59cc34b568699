"""Pages about faithfulness by system and condition, and about the coherence judge."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Avg, Count, IntegerField
from django.db.models.functions import Cast
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.answers.forms import label_choices
from annotation.answers.models import ALL, Answer, names_of, used_conditions
from annotation.faithfulness.actions import figures as actions
from annotation.faithfulness.actions.coherence import (
    KIND,
    count_other_conditions,
    has_citations,
    without_figures,
)
from annotation.faithfulness.actions.texts import embedding_of, freshness
from annotation.faithfulness.forms import CoherenceForm, FiguresForm
from annotation.faithfulness.reports.edited import faithfulness_finding
from annotation.faithfulness.reports.faithfulness import (
    FaithfulnessSelection,
    GroupFigures,
    chosen_run,
    counted_runs,
    groups_of,
    judge_runs,
    state_of,
    version_of,
)
from annotation.faithfulness.reports.tables import (
    CHART_TITLES,
    CHARTS,
    INTERVALS,
    MODES,
    chart_alt,
    chart_rows,
    chart_spec,
    chart_table,
    faithfulness_table,
    measures_of,
    skipped_in_words,
    text_of_group,
)
from annotation.faithfulness.reports.texts import (
    VerdictSelection,
    shown,
    verdicts_of,
    verdicts_table,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file, table_file
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.runs.models import Run
from cqa_site.runs.progress import with_planning
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import PER_PAGE, RunPages, RunScope, run_urls

# Faithfulness of a study's answers by system and condition, computed in the background

RUNS = 10


@dataclass(frozen=True)
class FaithfulnessPageState:
    """Groups to show on the page, and the run whose verdicts count."""

    study: Study
    choice: FaithfulnessSelection
    runs: list[Run]
    run: Run | None
    state: str
    groups: list[GroupFigures]

    @classmethod
    def from_request(cls, request: StudyRequest, study: Study) -> Self:
        """Read the URL query, and compute the figures or take them from the cache."""
        choice = FaithfulnessSelection.from_query(request.GET, study)
        runs = list(judge_runs(study))
        run = chosen_run(runs, choice)
        # Read before the figures, so that a concurrent change makes the page stale but never
        # wrong.
        state = state_of(study, choice.labels)
        return cls(study, choice, runs, run, state, groups_of(study, choice, run, state))

    def figures(self) -> list[Figure]:
        """Return the table of all measures, and the charts that have data."""
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
            recipe=f"{_('Each figure links to the texts behind it.')} {INTERVALS}",
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
            title=CHART_TITLES[name],
            recipe=INTERVALS,
            table=chart_table(self.groups, name),
            alt=chart_alt(self.groups, name),
            draw=partial(chart_spec, self.groups, name),
            files=files,
        )


@study_page(*RESEARCHERS)
def faithfulness(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the stored figures, and the number of texts without current figures."""
    job, state = actions.latest_job(study), FaithfulnessPageState.from_request(request, study)
    measures, *charts = state.figures()
    context = {
        "study": study,
        "choice": state.choice,
        # For links that set a condition themselves.
        "rows_query": replace(state.choice, condition="").query,
        "modes": MODES,
        "measures": measures_of(state.choice.mode, state.groups),
        "label_choices": label_choices(study),
        "conditions": used_conditions(study),
        "groups": measures.data,
        "finding": faithfulness_finding(state.groups),
        "card": measures,
        "charts": charts,
        "runs": state.runs,
        "run": state.run,
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
    """Send the table of all measures or a chart."""
    figures = FaithfulnessPageState.from_request(request, study).figures()
    return figure_file(request, figures, figure, format)


@study_page(*RESEARCHERS, only="POST")
def faithfulness_compute(request: StudyRequest, study: Study) -> HttpResponse:
    """Update the figures in the background."""
    form = FiguresForm(request.POST)
    if form.is_valid():
        embedding = form.cleaned_data["embedding"]
        actions.request_figures(study=study, embedding=embedding, actor=request.user)
    else:
        messages.error(request, _("Choose one of the available embedding models."))
    return redirect("faithfulness", study.public_id)


@study_page(*RESEARCHERS, only="POST")
def faithfulness_cancel(request: StudyRequest, study: Study) -> HttpResponse:
    """Stop the computation; stored figures remain."""
    if actions.cancel_figures(study=study, actor=request.user):
        messages.success(request, _("Stopped. Results computed so far are kept."))
    else:
        messages.error(request, _("Nothing is being computed."))
    return redirect("faithfulness", study.public_id)


def _shown(group: GroupFigures, measures: Iterable[str]) -> dict[str, Any]:
    """Return a group with its names, and with its measures in column order."""
    return {
        **vars(group),
        "texts": text_of_group(group),
        "cells": [(name, group.measures[name]) for name in measures],
        "left_out": skipped_in_words(group.skipped),
        "unscored": sum(group.verdicts.unscored.values()),
    }


faithfulness_urls = [
    path("faithfulness/", faithfulness, name="faithfulness"),
    path("faithfulness/compute/", faithfulness_compute, name="faithfulness_compute"),
    path("faithfulness/cancel/", faithfulness_cancel, name="faithfulness_cancel"),
    path(
        "faithfulness/<slug:figure>.<str:format>", faithfulness_figure, name="faithfulness_figure"
    ),
]


def _taken(study: Study, form: RunPlanForm, requests: int) -> RunScope:
    """Return the scope: one request per citation, except in texts under other conditions."""
    n = count_other_conditions(study, form.target)
    words = ngettext(
        "%(n)s text is left out because its answer was written under another condition.",
        "%(n)s texts are left out because their answers were written under other conditions.",
        n,
    )
    notes = [words % {"n": f"{n:,}"}] if n else []
    return RunScope([(lazy("Requests (citations × verdicts per citation)"), requests)], notes)


def _left_out(study: Study) -> str:
    """State the number of answers that no run can judge yet; empty if there are none."""
    n = without_figures(study)
    words = ngettext(
        "%(n)s answer is left out because its citations are not known yet.",
        "%(n)s answers are left out because their citations are not known yet.",
        n,
    )
    return words % {"n": f"{n:,}"} if n else ""


PAGES = RunPages(
    kind=KIND,
    name="coherence",
    form=CoherenceForm,
    heading=lazy("Scope"),
    rows=(("texts",), ("systems",), ("sample",)),
    has_things=has_citations,
    left_out=_left_out,
    taken=_taken,
    about=lazy(
        "Language models judge citations. The Faithfulness page shows the resulting shares."
    ),
    new=lazy("Judge coherence"),
    lead=lazy(
        "For each citation, a model decides whether the citing segment follows from the cited "
        "argument and favours the same object."
    ),
    nothing=lazy(
        "A judge needs texts that cite an argument and whose figures have been computed."
    ),
    starts=(("faithfulness", lazy("Update the figures first")),),
)


@study_page(*RESEARCHERS)
def coherence_verdicts(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """List a run's verdicts with segment and argument, or send all of them as a file."""
    run = get_object_or_404(study.runs.filter(kind=KIND), public_id=run_id)
    wanted = VerdictSelection.from_query(request.GET)
    rows = verdicts_of(run, wanted)
    if request.GET.get("format") == "csv":
        return table_file(verdicts_table(run, rows), "csv")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "run": run,
        "wanted": wanted,
        "page": page,
        "rows": shown(list(page)),
        "systems": study.systems.all(),
        "scenarios": Answer.Scenario.choices,
        "conditions": used_conditions(study),
    }
    return render(request, "annotation/faithfulness/coherence_verdicts.html", context)


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show one run: state, available actions, settings and results."""
    target = run.spec["target"]
    systems = study.systems.filter(public_id__in=target["systems"])
    context = run_context(study, run) | {
        "systems": systems,
        "scenarios": [Answer.Scenario(number).label for number in target["scenarios"]],
        "conditions": names_of(study, target.get("conditions", [])),
        "is_mixed": ALL in target.get("conditions", [ALL]),
        "said": _said(run),
    }
    return render(request, "annotation/faithfulness/coherence_run.html", context)


def _said(run: Run) -> dict[str, Any]:
    """Return the verdict counts, and the coherent share over citations and over answers."""
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


coherence_urls = [
    *run_urls(PAGES, "coherence/"),
    path("coherence/runs/<uuid:run_id>/verdicts/", coherence_verdicts, name="coherence_verdicts"),
]
