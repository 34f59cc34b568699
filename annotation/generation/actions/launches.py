"""Launches of several runs, with the same questions under each combination of settings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from annotation.answers.models import FILTERS, LABELS
from annotation.generation.models import GenerationLaunch, GenerationRun
from cqa_site.judging.chat import digest
from cqa_site.judging.endpoints import CostEstimate
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.actions import runs
from cqa_site.runs.actions.runs import RunPlan, RunRefused
from cqa_site.runs.models import Budget, Run
from cqa_site.runs.planning import estimate_run, seeded_places
from .prompts import NAMED, WITH_ARGUMENTS, chosen_questions, draw

# Six models under four scenarios are 24 runs; nobody would inspect more than this many.
MOST_RUNS = 96
UNDER_WAY = (*Run.ACTIVE, Run.State.DRAFT)


@dataclass(frozen=True, slots=True)
class Matrix:
    """The distinct plans of a launch.

    Parameters
    ----------
    folded
        Number of combinations with the same requests as another combination, for example because
        they differ only in filters and the scenario has no arguments.
    cap_micro
        Maximum amount that all plans together may spend; None for no cap.
    """

    plans: tuple[RunPlan, ...]
    folded: int = 0
    cap_micro: int | None = None
    name: str = ""

    def sha256(self, study: Study) -> str:
        """Return a hash that is equal for equal launches."""
        hashes = sorted(runs.draft(plan, study).spec_hash for plan in self.plans)
        return digest({"runs": hashes})


def matrix_of(
    study: Study, plans: Sequence[RunPlan], *, cap_micro: int | None, name: str = ""
) -> Matrix:
    """Merge combinations with the same requests, and draw one random sample for all of them.

    The cap applies to all runs together, so single runs have no cap.
    """
    known: dict[str, RunPlan] = {}
    for plan in _over_the_same_questions(study, plans):
        bare = replace(plan, cap_micro=None) if len(plans) > 1 else plan
        known.setdefault(runs.draft(bare, study).spec_hash, bare)
    return Matrix(tuple(known.values()), len(plans) - len(known), cap_micro, name)


@dataclass(frozen=True, slots=True)
class MatrixEstimate:
    """Estimated cost of a launch; ``empty`` is the number of runs without requests."""

    total: CostEstimate
    is_sampled: bool
    empty: int


def estimate_matrix(study: Study, matrix: Matrix) -> MatrixEstimate:
    """Estimate every run and add up the results; nothing is stored."""
    estimate_runs = [estimate_run(runs.draft(plan, study)) for plan in matrix.plans]
    sums = [
        sum(values)
        for values in zip(*(astuple(estimate) for estimate, _scaled in estimate_runs), strict=True)
    ]
    return MatrixEstimate(
        CostEstimate(*sums),
        any(scaled for _one, scaled in estimate_runs),
        sum(not estimate.requests for estimate, _scaled in estimate_runs),
    )


@transaction.atomic
def start_launch(*, study: Study, actor: User, matrix: Matrix) -> GenerationLaunch:
    """Start one run per combination; if the same launch is already active, return it instead.

    Combinations with no questions to ask are left out and reported. Raises RunRefused if no
    combination is left.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    key = matrix.sha256(study)
    going = study.generation_launches.filter(sha256=key, generations__run__state__in=UNDER_WAY)
    if same := going.order_by("-number").first():
        return same
    last = study.generation_launches.aggregate(last=Max("number"))["last"] or 0
    launch = GenerationLaunch.objects.create(
        study=study,
        number=last + 1,
        name=matrix.name,
        sha256=key,
        budget=Budget.objects.create(study=study, cap_micro=matrix.cap_micro),
        created_by=actor,
    )
    launch.recipe = _start_all(launch, actor, matrix)
    launch.save(update_fields=["recipe"])
    record(study=study, actor=actor, verb="generation_launched", subject=str(launch.number))
    return launch


def _start_all(launch: GenerationLaunch, actor: User, matrix: Matrix) -> dict[str, Any]:
    """Start the runs; return the combinations that started no new run, with reasons."""
    joined, refused, started = [], [], 0
    for plan in matrix.plans:
        try:
            run = runs.start_run(
                study=launch.study, actor=actor, plan=plan, together=launch.budget
            )
        except RunRefused as reason:
            refused.append(f"{plan.endpoint.name} · {plan.prompt}: {reason}")
            continue
        if run.budget.parent_id == launch.budget_id:
            GenerationRun.objects.filter(run=run).update(launch=launch)
            started += 1
        else:
            # The same run was started separately and is in progress.
            joined.append(run.number)
    if not started:
        raise RunRefused(refused[0] if refused else "All of these runs are already in progress.")
    return {"folded": matrix.folded, "joined": joined, "refused": refused}


def steer(*, launch: GenerationLaunch, actor: User, move: str) -> tuple[int, int]:
    """Start, pause, resume or cancel runs; return the counts of successes and refusals."""
    done = refused = 0
    for run in runs_of_launch(launch):
        if run.state not in MOVES[move][1]:
            continue
        try:
            MOVES[move][0](run=run, actor=actor)
            done += 1
        except RunRefused:
            refused += 1
    return done, refused


def set_launch_cap(*, launch: GenerationLaunch, actor: User, cap_micro: int | None) -> None:
    """Change the spending cap of all runs of a launch together."""
    Budget.objects.filter(pk=launch.budget_id).update(cap_micro=cap_micro)
    record(
        study=launch.study,
        actor=actor,
        verb="generation_launch_cap",
        subject=str(launch.number),
        cap=cap_micro,
    )


def runs_of_launch(launch: GenerationLaunch) -> QuerySet[Run]:
    """Return the runs that a launch started, in the order of their combinations."""
    rows = Run.objects.filter(generation__launch=launch).order_by("number")
    return rows.select_related(
        "study", "endpoint", "prompt", "budget", "generation__system", "generation__condition"
    )


MOVES = {
    "go": (runs.go_on, {Run.State.CHECKED, Run.State.DRAFT}),
    "pause": (runs.pause_run, {*Run.WORKING}),
    "resume": (runs.resume_run, {Run.State.PAUSED}),
    "cancel": (runs.cancel_run, {*Run.ACTIVE, Run.State.DRAFT}),
}


def _over_the_same_questions(study: Study, plans: Sequence[RunPlan]) -> Iterable[RunPlan]:
    """Return the plans with a shared random sample of questions that every plan can use."""
    if len(plans) < 2 or plans[0].target["questions"] != "sample":
        return plans
    first = plans[0]
    everything = chosen_questions(study, {**first.target, "questions": "all"}, first.seed)
    able = {question.pk for question in everything}
    for target in _distinct_filters(plans):
        drawn = draw(study, everything, target, first.seed)
        able &= {selection.question.pk for selection in drawn if selection.arguments}
    pool = [question for question in everything if question.pk in able]
    places = seeded_places(len(pool), first.target["sample"], first.seed)
    named = [str(pool[place].public_id) for place in places]
    fixed = {"questions": NAMED, "named": sorted(named), "sample": 0}
    return [replace(plan, target=plan.target | fixed) for plan in plans]


def _distinct_filters(plans: Sequence[RunPlan]) -> Iterable[Mapping[str, Any]]:
    """Return one target for each selection of arguments used by the plans."""
    targets = [plan.target for plan in plans if plan.prompt.kind in WITH_ARGUMENTS]
    names = (*FILTERS, LABELS)
    return {tuple(target.get(name) for name in names): target for target in targets}.values()
