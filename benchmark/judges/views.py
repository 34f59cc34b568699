"""Pages of scoring runs: the list, the form, one run, its sheets and its probes."""

import uuid
from collections import Counter
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext_lazy as lazy, ngettext

from annotation.answers.models import Answer, names_of, used_conditions
from benchmark.judges.actions.kind import KIND, ScoringKind
from benchmark.judges.actions.targets import count_held_out, count_learned, count_other_conditions
from benchmark.judges.forms import ScoringRunForm
from benchmark.judges.methods.canaries import CANARY, PLAIN, SWAP, ScoringCallKey
from benchmark.judges.reports import (
    CANARY_NAMES,
    attacks_of,
    attacks_table,
    consistency_of,
    count_sheets,
    plain_of,
    plain_totals,
    runs_of,
    sheets_of,
    sheets_table,
    swap_effect,
    swap_in_words,
    trust_in_words,
)
from benchmark.scoring.models import ProbeResult, ScoringRound, ScoringRun
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import table_file
from cqa_site.runs.actions.runs import draft
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.models import Run
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import RunColumn, RunListFilter, RunPages, RunScope, run_urls
from cqa_site.web.rest.queries import chosen, id_from


def _taken(study: Study, form: RunPlanForm, requests: int) -> RunScope:
    """Return the number of requests by purpose, and sentences about the answers left out."""
    spec = (run := draft(form.plan, study)).spec
    keys = [ScoringCallKey(*subject.ids) for subject in ScoringKind().subjects(run)]
    parts = Counter(key.probe for key in keys)
    answers = len({key.answer for key in keys if key.probe == PLAIN})
    facts = [
        (lazy("Answers"), answers),
        (lazy("Requests for sheets"), parts[PLAIN] * spec["replicates"]),
        (lazy("Attack canaries"), parts[CANARY] * spec["replicates"]),
        (lazy("With swapped objects"), parts[SWAP] * spec["replicates"]),
        (lazy("Total requests"), requests),
    ]
    return RunScope(facts, _left_out(study, spec["target"]))


def _left_out(study: Study, target: dict) -> list[str]:
    """Return one sentence for each reason why answers are left out."""
    conditions, learned, held = (
        count(study, target) for count in (count_other_conditions, count_learned, count_held_out)
    )
    notes = (
        (
            conditions,
            ngettext(
                "%(n)s answer is left out because it was written under another condition.",
                "%(n)s answers are left out because they were written under other conditions.",
                conditions,
            ),
        ),
        (
            learned,
            ngettext(
                "%(n)s answer is left out because its system was trained on the question.",
                "%(n)s answers are left out because their systems were trained on the questions.",
                learned,
            ),
        ),
        (
            held,
            ngettext(
                "%(n)s answer is left out because of the examples.",
                "%(n)s answers are left out because of the examples.",
                held,
            ),
        ),
    )
    return [words % {"n": f"{n:,}"} for n, words in notes if n]


RUN_PAGES = RunPages(
    kind=KIND,
    name="scoring",
    form=ScoringRunForm,
    heading=lazy("Scope"),
    rows=(("rubric",), ("choice",), ("scoring_round", "sample")),
    has_things=lambda study: study.answers.exists(),
    taken=_taken,
    about=lazy(
        "Language models score answers with the rubric that people use. Every run tests its "
        "judge with planted instructions."
    ),
    new=lazy("Score with a judge"),
    lead=lazy(
        "The model fills in the same score sheet as people, with the same rubric, "
        "question and aspect, without seeing who wrote the answer."
    ),
    nothing=lazy(
        "A judge scores the answers in the study. Import answers, or let a model write them."
    ),
    starts=(("imports", lazy("Import answers")), ("generation_new", lazy("Generate answers"))),
    columns=(
        RunColumn(lazy("Rubric"), "benchmark/judges/_run_rubric.html"),
        RunColumn(lazy("Canaries"), "benchmark/judges/_run_trust.html"),
    ),
    filters=(
        RunListFilter(
            "trust", lazy("Canaries"), lambda *_: ScoringRun.Trust.choices, "scoring__trust"
        ),
    ),
    related=("scoring__rubric", "scoring__rater"),
)
urlpatterns = run_urls(RUN_PAGES, "scores/judges/runs/")

PER_PAGE = 50


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show the progress, settings, scores and probe results of one run."""
    scoring = ScoringRun.objects.select_related("rubric", "rater").get(run=run)
    scoring.run = run
    target = run.spec["target"]
    probes = list(run.probe_results.order_by("pk"))
    attacks, swap = attacks_of(run, probes), swap_effect(run, probes)
    context = run_context(study, run) | {
        "scoring": scoring,
        "target": target,
        "sheets": count_sheets(run),
        "attacks": attacks,
        "trust_words": trust_in_words(scoring, attacks),
        "swap": swap,
        "swap_words": swap_in_words(swap),
        "consistency": consistency_of(run),
        "systems": study.systems.filter(public_id__in=target["systems"]),
        "scenarios": [Answer.Scenario(number).label for number in target["scenarios"]],
        "round": ScoringRound.objects.filter(
            study=study, public_id__in=[target["round"] or None]
        ).first(),
        "examples": study.answers.filter(pk__in=scoring.examples).select_related(
            "question__comparison", "system"
        ),
        "conditions": names_of(study, target.get("conditions", [])),
        "other_conditions": count_other_conditions(study, target),
        "held_out": count_held_out(study, target),
        "learned": count_learned(study, target),
    }
    return render(request, "benchmark/judges/scoring_run.html", context)


@study_page(*RESEARCHERS)
def scoring_run_sheets(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """List the sheets of a run with points by group, or send all of them as a file."""
    run = get_object_or_404(runs_of(study), public_id=run_id)
    outcome, reason = request.GET.get("outcome", ""), request.GET.get("reason", "")
    condition = id_from(request.GET.get("condition", ""))
    rows = sheets_of(run, outcome, reason, condition)
    rubric = run.scoring.rubric.rubric
    if request.GET.get("format") == "csv":
        return table_file(sheets_table(run, rows, rubric.keys), "csv")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    for sheet in page:
        totals = rubric.group_totals(sheet.points)
        groups = [totals[group.key] for group in rubric.groups]
        listed = [
            (criterion, sheet.points[criterion.key], sheet.notes.get(criterion.key, ""))
            for criterion in rubric.criteria
            if criterion.key in sheet.points
        ]
        vars(sheet).update(groups=groups, listed=listed)
    context = _part(study, run) | {
        "page": page,
        "groups": rubric.groups,
        "outcome": outcome,
        "reason": reason,
        "condition": condition,
        "conditions": used_conditions(study),
        "reasons": count_sheets(run).reasons,
    }
    return render(request, "benchmark/judges/scoring_run_sheets.html", context)


@study_page(*RESEARCHERS)
def scoring_run_probes(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """List the judge's scores for test texts and for their plain answers."""
    run = get_object_or_404(runs_of(study), public_id=run_id)
    kind = chosen(request, "probe", ProbeResult.Probe.values)
    if request.GET.get("format") == "csv":
        attacks = attacks_of(run, list(run.probe_results.order_by("pk")))
        return table_file(attacks_table(run, attacks), "csv")
    rows = run.probe_results.select_related(
        "answer__question__comparison", "answer__system", "call"
    ).order_by("probe", "name", "answer", "replicate", "pk")
    if kind:
        rows = rows.filter(probe=kind)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    plain = plain_totals(run, list(page))
    for probe in page:
        title = CANARY_NAMES.get(probe.name, "")
        vars(probe).update(plain=plain_of(probe, plain), title=title)
    context = _part(study, run) | {
        "page": page,
        "probe": kind,
        "probes": ProbeResult.Probe.choices,
    }
    return render(request, "benchmark/judges/scoring_run_probes.html", context)


def _part(study: Study, run: Run) -> dict[str, Any]:
    return {"study": study, "run": run, "scoring": run.scoring}


BASE = "scores/judges/runs"
urlpatterns += [
    path(f"{BASE}/<uuid:run_id>/sheets/", scoring_run_sheets, name="scoring_run_sheets"),
    path(f"{BASE}/<uuid:run_id>/probes/", scoring_run_probes, name="scoring_run_probes"),
]
