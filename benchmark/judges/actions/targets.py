"""Which answers a scoring run judges, and by which rubric."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet

from annotation.answers.models.answers import Answer
from annotation.answers.reports.conditions import ALL, under, without_superseded
from annotation.answers.reports.learned import is_learned
from annotation.corpus.methods.seeded_sample import seeded_places
from benchmark.rubrics.methods.as_json import rubric_from_dict, rubric_sha256
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.rounds import ScoringItem
from benchmark.scoring.reports.scored_by_people import people_sheets
from cqa_site.people.models import Study

from .examples import example_answers, held_out, refuse_contamination

SWAPPED = 10
MOST_NAMED = 1_000


def target_of(
    rubric: RubricVersion,
    *,
    choice: str = "all",
    systems: Iterable[str] = (),
    scenarios: Iterable[int] = (),
    conditions: Iterable[str] = (),
    scoring_round: str = "",
    answers: Iterable[str] = (),
    sample: int = 0,
    examples: Sequence[Mapping[str, Any]] = (),
    holds_out_questions: bool = True,
    reasons: bool = True,
    canaries: int = 0,
    swap: int = SWAPPED,
) -> dict[str, Any]:
    """What a scoring run judges by what, as its spec keeps it.

    Parameters
    ----------
    rubric
        Its content is copied, so that reading a reply needs no database.
    choice
        ``all``, ``scored``, ``round``, ``answers`` or ``sample``: all answers, those that people
        scored by this rubric, those of a round, those named, or a seeded sample.
    systems, scenarios
        Public ids and numbers that narrow the choice; without any, all of them.
    conditions
        Public ids or `ALL`; without any the plain ones, except where answers are named or those
        of a round.
    scoring_round, answers
        Public ids, for the choices that need them.
    sample
        Size of the sample.
    examples
        See `Example.spec`; the answers shown with their points.
    holds_out_questions
        Whether other answers to an example's question are left out, too.
    reasons
        Whether the judge gives a reason before each number.
    canaries
        How many; 0 leaves it to `canary_count`.
    swap
        How many answers are asked about again with the objects of the question swapped.
    """
    return {
        "rubric": str(rubric.public_id),
        "rubric_sha256": rubric.sha256,
        "content": rubric.content,
        "choice": choice,
        "systems": sorted(map(str, systems)),
        "scenarios": sorted(scenarios),
        "conditions": sorted(conditions),
        "round": str(scoring_round),
        "answers": sorted(map(str, answers)),
        "sample": sample,
        "examples": [dict(each) for each in examples],
        "holds_out_questions": holds_out_questions,
        "reasons": reasons,
        "canaries": canaries,
        "swap": swap,
    }


def rubric_of(target: Mapping[str, Any]) -> Rubric:
    """The rubric of a target as the methods take it."""
    return _rubric(json.dumps(target["content"], sort_keys=True))


@lru_cache(maxsize=32)
def _rubric(text: str) -> Rubric:
    return rubric_from_dict(json.loads(text))


def chosen_answers(study: Study, target: Mapping[str, Any]) -> QuerySet[Answer]:
    """The answers that a target names, before any is held out.

    Blank ones are never judged, nor answers to what their system's model was trained on.
    """
    return _named(study, target).filter(~is_learned())


def count_learned(study: Study, target: Mapping[str, Any]) -> int:
    """How many answers of the choice their own system was trained on."""
    return _named(study, target).filter(is_learned()).count()


def _named(study: Study, target: Mapping[str, Any]) -> QuerySet[Answer]:
    rows = study.answers.exclude(text__regex=r"^\s*$")
    if target["systems"]:
        rows = rows.filter(system__public_id__in=target["systems"])
    if target["scenarios"]:
        rows = rows.filter(scenario__in=target["scenarios"])
    rows = _under(rows, target)
    if target["choice"] == "answers":
        rows = rows.filter(public_id__in=target["answers"])
    elif target["choice"] == "round":
        items = ScoringItem.objects.filter(
            round__study=study,
            round__public_id=target["round"],
            key_points__isnull=True,
        )
        rows = rows.filter(pk__in=items.values("answer"))
    elif target["choice"] == "scored":
        rubric = study.rubric_versions.get(public_id=target["rubric"])
        rows = rows.filter(pk__in=people_sheets(rubric).values("answer"))
    return rows.order_by("question", "system", "scenario", "choice", "pk")


def _under(rows: QuerySet[Answer], target: Mapping[str, Any]) -> QuerySet[Answer]:
    """Rows under the conditions of a target; one that was made before there were any has all."""
    chosen = target.get("conditions", [ALL])
    is_named = target["choice"] in ("answers", "round")
    if not is_named:
        rows = without_superseded(rows)
    return rows if is_named and not chosen else under(rows, chosen)


def count_other_conditions(study: Study, target: Mapping[str, Any]) -> int:
    """How many answers of the choice are left out because of the condition they are under."""
    mixed = {**target, "conditions": [ALL]}
    return chosen_answers(study, mixed).count() - chosen_answers(study, target).count()


def judged_answers(study: Study, target: Mapping[str, Any], seed: int) -> list[int]:
    """Primary keys of the answers a run judges, in the order in which they are asked.

    Answers that the examples forbid are left out of a choice; where they are named one by one,
    `Contaminated` is raised instead.
    """
    rows = chosen_answers(study, target)
    held = held_out(example_answers(study, target), target)
    if target["choice"] == "answers":
        refuse_contamination(list(rows), held)
    keys = list(rows.exclude(held.matching()).values_list("pk", flat=True))
    if target["choice"] != "sample":
        return keys
    return [keys[place] for place in seeded_places(len(keys), target["sample"], seed)]


def count_held_out(study: Study, target: Mapping[str, Any]) -> int:
    """How many answers of the choice are left out because of the examples."""
    held = held_out(example_answers(study, target), target)
    return chosen_answers(study, target).filter(held.matching()).count()


def is_the_text_of(rubric: RubricVersion, target: Mapping[str, Any]) -> bool:
    """Whether a target carries the very text of a stored version."""
    return rubric_sha256(rubric_of(target)) == target["rubric_sha256"] == rubric.sha256
