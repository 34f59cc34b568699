"""Answers that a scoring run judges: their selection, examples and requests."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Length

from annotation.answers.models import ALL, Answer, is_learned, under, without_superseded
from benchmark.judges.methods.canaries import (
    CANARY,
    PLAIN,
    SWAP,
    ScoringCallKey,
    canary_count,
    places_of_canaries,
)
from benchmark.rubrics.methods.rubric import Rubric, rubric_from_dict, rubric_sha256
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models import ScoreSheet, ScoringItem
from benchmark.scoring.reports.sheets import people_sheets
from cqa_site.people.models import Study
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.runs.kinds import Subject
from cqa_site.runs.planning import seeded_places

# Examples shown to a judge with their points, and the answers excluded by them
#
# An example comes from a person's complete sheet or from the key of a qualification. A judge that
# was shown an answer's points must not score that answer, because it could repeat the points from
# memory. The same applies to the same text under another name and, by default, to every answer to
# the same question.

OFFERED = 200


class ContaminatedTargetError(RunRefused):
    """Raised if an answer to be judged is an example shown to the judge, or too similar to one."""


@dataclass(frozen=True, slots=True)
class ScoredExample:
    """An answer with its points.

    ``key`` is the source of the points: ``sheet:<public id>`` for a person's sheet, or
    ``item:<round>:<answer>`` for a round's scored example.
    """

    key: str
    answer: Answer
    points: Mapping[str, float]
    notes: Mapping[str, str]
    total: float

    @property
    def spec(self) -> dict[str, Any]:
        """The example in the format of a run's spec. Later sheets do not change the run."""
        return {
            "key": self.key,
            "answer": str(self.answer.public_id),
            "points": dict(self.points),
            "notes": dict(self.notes),
        }


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Answers, texts and questions that a run must not judge because of its examples."""

    answers: frozenset[int] = frozenset()
    texts: frozenset[str] = frozenset()
    questions: frozenset[int] = frozenset()

    def holds(self, answer: Answer) -> bool:
        return (
            answer.pk in self.answers
            or answer.text_sha256 in self.texts
            or answer.question_id in self.questions
        )

    def matching(self) -> Q:
        """Return a query condition that matches the held-out answers."""
        return (
            Q(pk__in=self.answers) | Q(text_sha256__in=self.texts) | Q(question__in=self.questions)
        )


def candidates(rubric: RubricVersion) -> list[ScoredExample]:
    """Return possible examples: scored examples of rounds first, then the newest sheets."""
    items = ScoringItem.objects.filter(round__rubric=rubric, key_points__isnull=False)
    items = items.select_related("round").order_by("pk")
    # Consolidated sheets may have half points, but a judge gives whole points.
    sheets = people_sheets(rubric).filter(total__isnull=False, is_consolidated=False)
    examples = [_of_item(answer) for answer in _with_answers(items)]
    examples += [
        _of_sheet(answer) for answer in _with_answers(sheets.order_by("-submitted_at", "-pk"))
    ]
    return [example for example in examples if _is_complete(example, rubric.rubric)][:OFFERED]


def draw_examples(offered: Sequence[ScoredExample], shots: int, seed: int) -> list[ScoredExample]:
    """Draw seeded examples about different questions, fewer than requested if too few exist."""
    order = sorted(offered, key=lambda example: example.key)
    random.Random(seed).shuffle(order)  # noqa: S311 - a reproducible choice
    examples: dict[int, ScoredExample] = {}
    for candidate in order:
        examples.setdefault(candidate.answer.question_id, candidate)
    return list(examples.values())[:shots]


def example_answers(study: Study, target: Mapping[str, Any]) -> list[Answer]:
    """Return the answers shown as examples, in the order of the target."""
    wanted = [example["answer"] for example in target["examples"]]
    if not wanted:
        return []
    rows = study.answers.filter(public_id__in=wanted).select_related("question__comparison")
    answers = {str(answer.public_id): answer for answer in rows}
    return [answers[public_id] for public_id in wanted]


def held_out(examples: Sequence[Answer], target: Mapping[str, Any]) -> HeldOut:
    """Return the answers, texts and questions that the examples of a run exclude."""
    same_question = examples if target["holds_out_questions"] else []
    return HeldOut(
        frozenset(answer.pk for answer in examples),
        frozenset(answer.text_sha256 for answer in examples),
        frozenset(answer.question_id for answer in same_question),
    )


def refuse_contamination(answers: Sequence[Answer], held: HeldOut) -> None:
    """Raise `ContaminatedTargetError` if one of the answers is held out."""
    matches = [answer for answer in answers if held.holds(answer)]
    if matches:
        raise ContaminatedTargetError(
            f"{len(matches)} of the answers cannot be judged: they are shown to the judge as "
            "examples, have the same text as an example, or answer an example's question."
        )


def _with_answers(rows: QuerySet) -> QuerySet:
    return rows.select_related("answer__question__comparison", "answer__system")[:OFFERED]


def _of_item(item: ScoringItem) -> ScoredExample:
    points = item.key_points or {}
    key = f"item:{item.round.public_id}:{item.answer.public_id}"
    return ScoredExample(key, item.answer, points, item.key_notes or {}, sum(points.values()))


def _of_sheet(sheet: ScoreSheet) -> ScoredExample:
    key = f"sheet:{sheet.public_id}"
    return ScoredExample(key, sheet.answer, sheet.points, sheet.notes or {}, sheet.total or 0.0)


def _is_complete(example: ScoredExample, rubric: Rubric) -> bool:
    """Whether every criterion has whole points on its scale."""
    return set(example.points) == set(rubric.keys) and all(
        float(example.points[criterion.key]) in range(criterion.maximum + 1)
        for criterion in rubric.criteria
    )


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
    """Return the target of a scoring run, in the format stored in its spec.

    Parameters
    ----------
    rubric
        Rubric whose content is copied, so that replies can be read without the database.
    choice
        ``all``, ``scored``, ``round``, ``answers`` or ``sample``: all answers, those scored by
        people with this rubric, those in a round, the given answers, or a seeded sample.
    systems, scenarios
        Public ids and numbers that narrow the choice; empty for all.
    conditions
        Public ids or `ALL`. If empty, only plain answers are chosen, except that ``round`` and
        ``answers`` include answers under any condition.
    scoring_round, answers
        Public ids, for the choices that need them.
    sample
        Size of the sample.
    examples
        Answers shown with their points; see `ScoredExample.spec`.
    holds_out_questions
        Whether other answers to an example's question are also left out.
    reasons
        Whether the judge gives a reason before each number.
    canaries
        Number of canaries; 0 uses the default of `canary_count`.
    swap
        Number of answers repeated with the objects of the question swapped.
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
        "examples": [dict(example) for example in examples],
        "holds_out_questions": holds_out_questions,
        "reasons": reasons,
        "canaries": canaries,
        "swap": swap,
    }


def rubric_of(target: Mapping[str, Any]) -> Rubric:
    """Return the rubric of a target."""
    return _rubric(json.dumps(target["content"], sort_keys=True))


@lru_cache(maxsize=32)
def _rubric(text: str) -> Rubric:
    return rubric_from_dict(json.loads(text))


def chosen_answers(study: Study, target: Mapping[str, Any]) -> QuerySet[Answer]:
    """Return the answers that a target selects, including held-out answers.

    Blank answers and answers about comparisons that their system was trained on are left out.
    """
    return _named(study, target).filter(~is_learned())


def count_learned(study: Study, target: Mapping[str, Any]) -> int:
    """Count the selected answers about comparisons that their own system was trained on."""
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
            round__study=study, round__public_id=target["round"], key_points__isnull=True
        )
        rows = rows.filter(pk__in=items.values("answer"))
    elif target["choice"] == "scored":
        rubric = study.rubric_versions.get(public_id=target["rubric"])
        rows = rows.filter(pk__in=people_sheets(rubric).values("answer"))
    return rows.order_by("question", "system", "scenario", "choice", "pk")


def _under(rows: QuerySet[Answer], target: Mapping[str, Any]) -> QuerySet[Answer]:
    """Return the rows under the target's conditions, or all rows if it has no conditions."""
    chosen = target.get("conditions", [ALL])
    is_named = target["choice"] in ("answers", "round")
    if not is_named:
        rows = without_superseded(rows)
    return rows if is_named and not chosen else under(rows, chosen)


def count_other_conditions(study: Study, target: Mapping[str, Any]) -> int:
    """Count the selected answers left out because of their condition."""
    mixed = {**target, "conditions": [ALL]}
    return chosen_answers(study, mixed).count() - chosen_answers(study, target).count()


def judged_answers(study: Study, target: Mapping[str, Any], seed: int) -> list[int]:
    """Return the primary keys of the answers that a run judges, in the order of the requests.

    Held-out answers are left out. If the answers were given by id, held-out answers raise
    `ContaminatedTargetError` instead.
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
    """Count the selected answers left out because of the examples."""
    held = held_out(example_answers(study, target), target)
    return chosen_answers(study, target).filter(held.matching()).count()


def is_the_text_of(rubric: RubricVersion, target: Mapping[str, Any]) -> bool:
    """Whether a target contains the exact text of a stored rubric version."""
    return rubric_sha256(rubric_of(target)) == target["rubric_sha256"] == rubric.sha256


# Canaries use answers from a sample, so that planning reads few lengths.
LOOKED_AT = 500


def subjects_of(study: Study, target: Mapping[str, Any], seed: int, groups: int) -> list[Subject]:
    """Return all subjects of a run: canaries with their plain answers, other answers, swaps.

    ``groups`` is 0 if one reply covers the whole sheet; otherwise, it is the number of groups.
    """
    keys = judged_answers(study, target, seed)
    canaries = _canaries(study, target, seed, keys, groups)
    bases = dict.fromkeys(canary.answer for canary in canaries)
    parts = range(1, groups + 1) if groups else (0,)
    call_keys = [ScoringCallKey(pk, PLAIN, 1, part) for pk in bases for part in parts]
    call_keys += canaries
    call_keys += [
        ScoringCallKey(pk, PLAIN, 0, part) for pk in keys if pk not in bases for part in parts
    ]
    swapped = _swapped(study, target, seed, keys)
    call_keys += [ScoringCallKey(pk, SWAP, 0, part) for pk in swapped for part in parts]
    return [Subject(key.name, tuple(key)) for key in call_keys]


def _canaries(
    study: Study, target: Mapping[str, Any], seed: int, keys: Sequence[int], groups: int
) -> list[ScoringCallKey]:
    """Return canaries for some of the judged answers.

    In group-by-group runs, they cover only the group with the most points.
    """
    count = canary_count(len(keys), target["canaries"])
    if not count:
        return []
    looked_at = [keys[place] for place in seeded_places(len(keys), LOOKED_AT, seed)]
    rows = Answer.objects.filter(study=study, pk__in=looked_at).annotate(n=Length("text"))
    lengths = dict(rows.order_by().values_list("pk", "n"))
    places = places_of_canaries([lengths[pk] for pk in looked_at], count)
    part = _weightiest(rubric_of(target)) if groups else 0
    return [ScoringCallKey(looked_at[place], CANARY, variant, part) for variant, place in places]


def _weightiest(rubric: Rubric) -> int:
    """Return the number of the group with the highest maximum, counting from 1."""
    maxima = [group.maximum for group in rubric.groups]
    return maxima.index(max(maxima)) + 1


def _swapped(study: Study, target: Mapping[str, Any], seed: int, keys: Sequence[int]) -> list[int]:
    """Return the answers to repeat with swapped objects.

    Questions with their own wording cannot be swapped.
    """
    if not target["swap"]:
        return []
    own = Answer.objects.filter(study=study).exclude(question__wording="")
    worded = set(own.values_list("pk", flat=True))
    usable = [pk for pk in keys if pk not in worded]
    return [usable[place] for place in seeded_places(len(usable), target["swap"], seed)]
