"""The page of a run that writes answers: what was asked, and the answers that came."""

import uuid

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.corpus.models.questions import Comparison
from annotation.generation.actions.kind import KIND
from annotation.generation.reports.answers import CHOICES, read_answers, say, spread_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.context import run_context

from .generation import in_words, runs_of

PER_PAGE = 30
OTHERS = 20


def page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """One run: where it is, what it may do, what it was asked, what it wrote."""
    answers = run.answers.select_related("question__comparison").order_by(
        "question__comparison", "question", "choice"
    )
    rows = Paginator(answers, PER_PAGE).get_page(request.GET.get("page"))
    context = run_context(study, run) | {
        "page": rows,
        "said": [say(answer) for answer in rows],
        "comparisons": _comparisons(study, run),
        "left_out": in_words(run.generation.left_out),
        "others": runs_of(study).exclude(pk=run.pk).exclude(state=Run.State.DRAFT)[:OTHERS],
    }
    return render(request, "annotation/generation/run.html", context)


@study_page(*RESEARCHERS)
def generation_figures(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Return the fragment with lengths and choices of a run's answers."""
    run = get_object_or_404(study.runs.filter(kind=KIND), public_id=run_id)
    spread = spread_of(run, read_answers(run))
    shares = [(CHOICES[name], count) for name, count in spread.choices.items()]
    context = {"study": study, "run": run, "spread": spread, "choices": shares}
    return render(request, "annotation/generation/_figures.html", context)


def _comparisons(study: Study, run: Run) -> list[Comparison]:
    """Those a run was limited to; none if it was not."""
    wanted = run.spec["target"]["comparisons"]
    return list(study.comparisons.filter(public_id__in=wanted)) if wanted else []


urlpatterns = [
    path("generation/runs/<uuid:run_id>/figures/", generation_figures, name="generation_figures"),
]
