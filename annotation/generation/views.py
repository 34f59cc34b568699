"""Pages for runs in which a model writes answers, and for launches of several runs."""

import uuid
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import floatformat
from django.urls import path
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext
from django.views.decorators.debug import sensitive_post_parameters

from annotation.generation.actions.answer_runs import KIND
from annotation.generation.actions.launches import (
    MOST_RUNS,
    MOVES,
    estimate_matrix,
    runs_of_launch,
    set_launch_cap,
    start_launch,
    steer,
)
from annotation.generation.actions.prompts import (
    WITH_ARGUMENTS,
    count_learned,
    count_left_out,
    drawn_lists,
)
from annotation.generation.forms import MatrixForm
from annotation.generation.models import GenerationLaunch
from annotation.generation.reports import (
    CHOICES,
    LEFT_OUT,
    AnswersComparison,
    compare_answers,
    read_answers,
    say,
    spread_of,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.actions.runs import draft, start_run
from cqa_site.runs.forms.endpoints import CapForm
from cqa_site.runs.models import Run
from cqa_site.runs.progress import add_counts
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import RunColumn, RunListPages, list_view, start_page, to_started

RUNS_PER_PAGE = 50
OFFERED = 100

PAGES = RunListPages(
    kind=KIND,
    has_things=lambda study: study.questions.exists(),
    about=lazy(
        "Language models answer the study's questions in the background, under four scenarios, "
        "from a bare request to one with a role, a structure and arguments."
    ),
    lead=lazy("Choose questions, a scenario and a model."),
    nothing=lazy("A model answers the study's questions. Add some questions first."),
    starts=(("questions", lazy("Questions")),),
    columns=(
        RunColumn(lazy("System"), "annotation/generation/_run_system.html"),
        RunColumn(lazy("Condition"), "annotation/generation/_run_condition.html"),
    ),
    related=("generation__system", "generation__condition", "generation__launch"),
    template="annotation/generation/generations.html",
)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def generation_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the form for questions, conditions and systems, and start the run."""
    form = MatrixForm(
        request.POST or None, study=study, actor=request.user, initial=_initial(request, study)
    )
    context = {"has_things": study.questions.exists(), "label": _("Start")}
    template = "annotation/generation/new.html"
    return start_page(request, study, form, template, context, look, start_matrix)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS, only="POST")
def generation_estimate(request: StudyRequest, study: Study) -> HttpResponse:
    """Return the fragment with the estimated cost of the run in the form."""
    form = MatrixForm(request.POST, study=study, actor=request.user)
    context = {"study": study, "form": form} | (look(study, form) if form.is_valid() else {})
    return render(request, "annotation/generation/_estimate.html", context)


@study_page(*RESEARCHERS)
def generation_compare(request: StudyRequest, study: Study) -> HttpResponse:
    """Show two runs side by side: how long their answers are, and which objects they choose."""
    runs = list(runs_of(study).exclude(state=Run.State.DRAFT)[:OFFERED])
    first, second = (_chosen(runs, request.GET.get(name, "")) for name in ("a", "b"))
    picks = [("a", first), ("b", second)]
    context = {"study": study, "runs": runs, "picks": picks}
    if first and second and first != second:
        compared = compare_answers(first, second)
        page = Paginator(compared.pairs, RUNS_PER_PAGE).get_page(request.GET.get("page"))
        context |= {"a": first, "b": second, "compared": compared, "page": page}
        context["figures"] = figures_of(compared)
    return render(request, "annotation/generation/compare.html", context)


def runs_of(study: Study):
    """Return the study's runs that write answers, newest first."""
    rows = study.runs.filter(kind=KIND).select_related("prompt", *PAGES.related)
    return rows.order_by("-number")


def look(study: Study, form: MatrixForm) -> dict[str, Any]:
    """Return the total estimate of all runs, and the arguments that their filters leave out."""
    matrix = form.matrix
    estimate = estimate_matrix(study, matrix)
    context = {
        "runs": len(matrix.plans),
        "folded": matrix.folded,
        "empty": estimate.empty,
        "estimate": estimate.total,
        "cost_micro": estimate.total.cost_micro,
        "is_sampled": estimate.is_sampled,
        "passes_cap": matrix.cap_micro is not None
        and estimate.total.cost_micro > matrix.cap_micro,
        "cap_micro": matrix.cap_micro,
        "agreement": f"{matrix.sha256(study)}:{estimate.total.cost_micro}:{matrix.cap_micro}",
    }
    if len(matrix.plans) > 1:
        return context
    run = draft(matrix.plans[0], study)
    left_out = count_learned(run)
    if run.prompt.kind in WITH_ARGUMENTS:
        left_out |= count_left_out(drawn_lists(run))
    return context | {"left_out": in_words(left_out)}


def start_matrix(request: StudyRequest, study: Study, form: MatrixForm) -> HttpResponse:
    """Start one run, or several as a launch with its own page; raises RunRefused."""
    matrix = form.matrix
    if len(matrix.plans) == 1:
        (plan,) = matrix.plans
        run = start_run(
            study=study, actor=request.user, plan=replace(plan, cap_micro=matrix.cap_micro)
        )
        return to_started(request, run)
    launch = start_launch(study=study, actor=request.user, matrix=matrix)
    messages.success(request, _("The runs are being prepared."))
    return redirect("generation_launch", study.public_id, launch.public_id)


def in_words(left_out: dict[str, int]) -> list[tuple[str, int]]:
    """Return the reasons for leaving something out, with counts, as text."""
    return [(str(LEFT_OUT[name]), count) for name, count in left_out.items()]


def figures_of(compared: AnswersComparison) -> list[tuple[str, Any, Any]]:
    """Return rows, each with a title and the values of both runs."""
    pair = (compared.first, compared.second)
    base, other = pair
    rows: list[tuple[str, Any, Any]] = [
        (_("Answers"), base.answers, other.answers),
        (_("Mean words"), floatformat(base.words_mean, 0), floatformat(other.words_mean, 0)),
    ]
    if any(spread.read < spread.answers for spread in pair):
        rows.insert(1, (_("First answers, counted below"), base.read, other.read))
    for name, title in CHOICES.items():
        first, second = (spread.choices.get(name, 0) for spread in pair)
        if first or second:
            rows.append((_("Chosen: %s") % title, first, second))
    return rows


def _initial(request: StudyRequest, study: Study) -> dict[str, Any]:
    """Return initial values from the link on a comparison or question page."""
    try:
        wanted = uuid.UUID(request.GET.get("comparison", ""))
    except ValueError:
        return {}
    comparison = get_object_or_404(study.comparisons, public_id=wanted)
    return {"questions": "comparisons", "comparisons": [comparison.pk]}


def _chosen(runs: list[Run], number: str) -> Run | None:
    return next((run for run in runs if str(run.number) == number), None)


BASE = "generation"
generation_urls = [
    path(f"{BASE}/", list_view(PAGES, "generation_new"), name="generations"),
    path(f"{BASE}/new/", generation_new, name="generation_new"),
    path(f"{BASE}/estimate/", generation_estimate, name="generation_estimate"),
    path(f"{BASE}/compare/", generation_compare, name="generation_compare"),
]


@study_page(*RESEARCHERS, only="GET")
def generation_launch(request: StudyRequest, study: Study, launch_id: uuid.UUID) -> HttpResponse:
    """List the runs of a launch with their states."""
    launch = _launch(study, launch_id)
    return render(request, "annotation/generation/launch.html", _context(study, launch))


@study_page(*RESEARCHERS, only="GET")
def generation_launch_progress(
    request: StudyRequest, study: Study, launch_id: uuid.UUID
) -> HttpResponse:
    """Return the fragment that the page polls while runs are in progress."""
    context = _context(study, _launch(study, launch_id))
    return render(request, "annotation/generation/_launch.html", context)


@study_page(*RESEARCHERS, only="POST")
def generation_launch_move(
    request: StudyRequest, study: Study, launch_id: uuid.UUID, move: str
) -> HttpResponse:
    """Start, pause, resume or cancel all eligible runs."""
    launch = _launch(study, launch_id)
    done, refused = steer(launch=launch, actor=request.user, move=move)
    text = ngettext("Done for %d run.", "Done for %d runs.", done) % done
    if refused:
        text = f"{text} {_('Not possible for %d.') % refused}"
    messages.success(request, text)
    return redirect("generation_launch", study.public_id, launch.public_id)


@study_page(*RESEARCHERS, only="POST")
def generation_launch_cap(
    request: StudyRequest, study: Study, launch_id: uuid.UUID
) -> HttpResponse:
    """Change the spending cap of all runs together."""
    launch = _launch(study, launch_id)
    form = CapForm(request.POST)
    if form.is_valid():
        set_launch_cap(launch=launch, actor=request.user, cap_micro=form.cleaned_data["cap"])
        return redirect("generation_launch", study.public_id, launch.public_id)
    context = _context(study, launch) | {"form": form}
    return render(request, "annotation/generation/launch.html", context, status=422)


def _launch(study: Study, launch_id: uuid.UUID) -> GenerationLaunch:
    launches: QuerySet[GenerationLaunch] = study.generation_launches.select_related(
        "budget", "created_by"
    )
    return get_object_or_404(launches, public_id=launch_id)


def _context(study: Study, launch: GenerationLaunch) -> dict[str, Any]:
    runs = Paginator(runs_of_launch(launch), MOST_RUNS).get_page(1)
    add_counts(runs)
    states = {run.state for run in runs}
    return {
        "study": study,
        "launch": launch,
        "runs": runs,
        "ended": sum(run.ended for run in runs),
        "planned": sum(run.planned for run in runs),
        "is_active": bool(states & {*Run.WORKING, Run.State.DRAFT}),
        "moves": [(move, MOVE_NAMES[move]) for move in MOVES if states & MOVES[move][1]],
        "form": CapForm.at(launch.budget.cap_micro),
    }


MOVE_NAMES = {
    "go": lazy("Continue all waiting runs"),
    "pause": lazy("Pause all"),
    "resume": lazy("Resume all"),
    "cancel": lazy("Cancel all"),
}
PLACE = "generation/launches/<uuid:launch_id>/"
launch_urls = [
    path(PLACE, generation_launch, name="generation_launch"),
    path(f"{PLACE}progress/", generation_launch_progress, name="generation_launch_progress"),
    path(f"{PLACE}cap/", generation_launch_cap, name="generation_launch_cap"),
    *(
        path(
            f"{PLACE}{move}/",
            generation_launch_move,
            {"move": move},
            name=f"generation_launch_{move}",
        )
        for move in MOVES
    ),
]

ANSWERS_PER_PAGE = 30
OTHERS = 20


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show one run: state, available actions, settings and answers."""
    answers = run.answers.select_related("question__comparison").order_by(
        "question__comparison", "question", "choice"
    )
    rows = Paginator(answers, ANSWERS_PER_PAGE).get_page(request.GET.get("page"))
    wanted = run.spec["target"]["comparisons"]
    context = run_context(study, run) | {
        "page": rows,
        "said": [say(answer) for answer in rows],
        "comparisons": list(study.comparisons.filter(public_id__in=wanted)) if wanted else [],
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


run_figure_urls = [
    path("generation/runs/<uuid:run_id>/figures/", generation_figures, name="generation_figures")
]
