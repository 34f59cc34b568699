"""Pages for the relevance judge's runs: list, new run, and comparison of two runs."""

import uuid

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.debug import sensitive_post_parameters

from annotation.judges.actions.relevance_judge import KIND
from annotation.judges.forms import RunForm
from annotation.labelling.models import label_rounds_of
from annotation.labelling.views.rounds import label_round_or_404
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import (
    RunColumn,
    RunListFilter,
    RunListPages,
    estimate,
    list_view,
    start_page,
)
from cqa_site.web.rest.queries import id_from, whole_number

OFFERED_ROUNDS = 50
OTHERS = 20


def _label_rounds(study: Study, wanted: str) -> list[tuple[str, str]]:
    """Return the newest rounds, and also an older round if it is requested."""
    rows = label_rounds_of(study).only("public_id", "name", "study")
    names = {str(row.public_id): row.name for row in rows[:OFFERED_ROUNDS]}
    if wanted not in names and (key := id_from(wanted)):
        names |= {str(row.public_id): row.name for row in rows.filter(public_id=key)}
    return list(names.items())


PAGES = RunListPages(
    kind=KIND,
    has_things=lambda study: label_rounds_of(study).exists(),
    about=lazy(
        "Language models label the sentences of a round in the background. People's votes "
        "stay separate."
    ),
    lead=lazy("Choose a round and start the first run."),
    nothing=lazy("A judge labels the items of a round. Create a round first."),
    starts=(("label_rounds", lazy("Rounds")),),
    columns=(RunColumn(lazy("Round"), "annotation/judges/_run_round.html"),),
    filters=(
        RunListFilter(
            "label_round", lazy("Round"), _label_rounds, "relevance__label_round__public_id"
        ),
    ),
    related=("relevance__label_round",),
    template="annotation/judges/runs.html",
)


def judge_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    label_round = run.relevance.label_round
    others = study.runs.filter(relevance__label_round=label_round).exclude(pk=run.pk)
    context = run_context(study, run) | {
        "round": label_round,
        "others": others.select_related("prompt")[:OTHERS],
    }
    return render(request, "annotation/judges/run.html", context)


run_list_urls = [path("judges/", list_view(PAGES), name="runs")]


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def run_new(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Show the form for sentences and judge, and start the run."""
    label_round = label_round_or_404(study, label_round_id)
    form = RunForm(request.POST or None, label_round=label_round, actor=request.user)
    context = {"round": label_round, "has_things": True}
    return start_page(request, study, form, "annotation/judges/new.html", context)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS, only="POST")
def run_estimate(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Return the fragment with the estimated cost of the run in the form."""
    form = RunForm(
        request.POST, label_round=label_round_or_404(study, label_round_id), actor=request.user
    )
    context = {"study": study, "form": form} | (estimate(study, form) if form.is_valid() else {})
    return render(request, "runs/_kind_run_estimate.html", context)


BASE = "label-rounds/<uuid:label_round_id>/judges"
new_run_urls = [
    path(f"{BASE}/new/", run_new, name="run_new"),
    path(f"{BASE}/estimate/", run_estimate, name="run_estimate"),
]

OFFERED = 100


@study_page(*RESEARCHERS)
def run_compare(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Show the form to choose two runs of the round, and their agreement."""
    label_round = label_round_or_404(study, label_round_id)
    runs = study.runs.filter(relevance__label_round=label_round).exclude(state=Run.State.DRAFT)
    runs = runs.select_related("prompt", "endpoint")
    offered = list(runs[:OFFERED])
    first, second = (_chosen(runs, request.GET.get(name)) for name in ("a", "b"))
    compared = None
    if first and second and first != second:
        from annotation.judges.reports.tables import compare_runs

        compared = compare_runs(first, second)
    context = {
        "study": study,
        "round": label_round,
        "runs": offered,
        "a": first or (offered[1] if len(offered) > 1 else None),
        "b": second or (offered[0] if offered else None),
        "is_same": first is not None and first == second,
        "compared": compared,
    }
    return render(request, "annotation/judges/compare.html", context)


def _chosen(runs, number: str | None) -> Run | None:
    if not number:
        return None
    return get_object_or_404(runs, number=whole_number(number))


run_compare_urls = [
    path("label-rounds/<uuid:label_round_id>/judges/compare/", run_compare, name="run_compare")
]
