"""A scoring run: its page, its sheets and its probes."""

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.answers.models.answers import Answer
from annotation.answers.reports.conditions import names_of, used_conditions
from benchmark.judges.actions.targets import count_held_out, count_learned, count_other_conditions
from benchmark.judges.reports.calls import CANARY_NAMES
from benchmark.judges.reports.runs import (
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
from benchmark.scoring.models.rounds import ScoringRound
from benchmark.scoring.models.runs import ProbeResult, ScoringRun
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import table_file
from cqa_site.runs.models import Run
from cqa_site.runs.views.context import run_context
from cqa_site.web.strict_query import chosen, id_from

PER_PAGE = 50


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """One run: where it is, what it was asked, what it said, and what its probes showed."""
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
    """List the sheets of a run with points by group; all of them as a file."""
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
            (each, sheet.points[each.key], sheet.notes.get(each.key, ""))
            for each in rubric.criteria
            if each.key in sheet.points
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
    """List what the judge said to texts that test it, beside the plain answer."""
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
urlpatterns = [
    path(f"{BASE}/<uuid:run_id>/sheets/", scoring_run_sheets, name="scoring_run_sheets"),
    path(f"{BASE}/<uuid:run_id>/probes/", scoring_run_probes, name="scoring_run_probes"),
]
