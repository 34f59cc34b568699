"""Examples shown to a judge with their points, and what they forbid to be judged.

An example comes from a person's complete sheet or from a key of a qualification. A judge that was
shown an answer's points must not be asked about that answer: its agreement with people would be
memory. The same holds for the same text under another name, and by default for every answer to
the same question.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotation.answers.models.answers import Answer
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.rounds import ScoringItem
from benchmark.scoring.models.sheets import ScoreSheet
from benchmark.scoring.reports.scored_by_people import people_sheets
from cqa_site.people.models import Study
from cqa_site.runs.actions.runs import RunRefused

OFFERED = 200


class Contaminated(RunRefused):
    """An answer would be judged that the judge was shown, or one too close to it."""


@dataclass(frozen=True, slots=True)
class Example:
    """An answer with the points it got.

    ``key`` says where they come from: ``sheet:<public id>`` of a person's sheet, or
    ``item:<round>:<answer>`` of a round's scored example.
    """

    key: str
    answer: Answer
    points: Mapping[str, float]
    notes: Mapping[str, str]
    total: float

    @property
    def spec(self) -> dict[str, Any]:
        """As a run's spec keeps it: later sheets do not change the run."""
        return {
            "key": self.key,
            "answer": str(self.answer.public_id),
            "points": dict(self.points),
            "notes": dict(self.notes),
        }


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a run must not judge because of its examples."""

    answers: frozenset[int] = frozenset()
    texts: frozenset[str] = frozenset()
    questions: frozenset[int] = frozenset()

    def holds(self, answer: Answer) -> bool:
        """Whether an answer is one of them."""
        return (
            answer.pk in self.answers
            or answer.text_sha256 in self.texts
            or answer.question_id in self.questions
        )

    def matching(self) -> Q:
        """The same as a condition on answers."""
        return (
            Q(pk__in=self.answers) | Q(text_sha256__in=self.texts) | Q(question__in=self.questions)
        )


def candidates(rubric: RubricVersion) -> list[Example]:
    """What may be shown as an example: keys of qualifications first, then the newest sheets."""
    items = ScoringItem.objects.filter(round__rubric=rubric, key_points__isnull=False)
    items = items.select_related("round").order_by("pk")
    # Half points of a consensus are no example of whole ones.
    sheets = people_sheets(rubric).filter(total__isnull=False, is_consolidated=False)
    found = [_of_item(each) for each in _with_answers(items)]
    found += [_of_sheet(each) for each in _with_answers(sheets.order_by("-submitted_at", "-pk"))]
    return [each for each in found if _is_complete(each, rubric.rubric)][:OFFERED]


def draw_examples(offered: Sequence[Example], shots: int, seed: int) -> list[Example]:
    """Examples about different questions, drawn with a seed; fewer than asked if there are few."""
    order = sorted(offered, key=lambda each: each.key)
    random.Random(seed).shuffle(order)  # noqa: S311 - a reproducible choice
    found: dict[int, Example] = {}
    for each in order:
        found.setdefault(each.answer.question_id, each)
    return list(found.values())[:shots]


def example_answers(study: Study, target: Mapping[str, Any]) -> list[Answer]:
    """The answers shown as examples, in the order of the target."""
    wanted = [each["answer"] for each in target["examples"]]
    if not wanted:
        return []
    rows = study.answers.filter(public_id__in=wanted).select_related("question__comparison")
    found = {str(answer.public_id): answer for answer in rows}
    return [found[public_id] for public_id in wanted]


def held_out(examples: Sequence[Answer], target: Mapping[str, Any]) -> HeldOut:
    """What the examples of a run forbid to be judged."""
    same_question = examples if target["holds_out_questions"] else []
    return HeldOut(
        frozenset(answer.pk for answer in examples),
        frozenset(answer.text_sha256 for answer in examples),
        frozenset(answer.question_id for answer in same_question),
    )


def refuse_contamination(answers: Sequence[Answer], held: HeldOut) -> None:
    """Raise `Contaminated` if one of the answers is held out."""
    found = [answer for answer in answers if held.holds(answer)]
    if found:
        raise Contaminated(
            f"{len(found)} of the answers cannot be judged: they are shown to the judge as "
            "examples, have the same text as one, or answer the same question."
        )


def _with_answers(rows: QuerySet) -> QuerySet:
    return rows.select_related("answer__question__comparison", "answer__system")[:OFFERED]


def _of_item(item: ScoringItem) -> Example:
    points = item.key_points or {}
    key = f"item:{item.round.public_id}:{item.answer.public_id}"
    return Example(key, item.answer, points, item.key_notes or {}, sum(points.values()))


def _of_sheet(sheet: ScoreSheet) -> Example:
    key = f"sheet:{sheet.public_id}"
    return Example(key, sheet.answer, sheet.points, sheet.notes or {}, sheet.total or 0.0)


def _is_complete(example: Example, rubric: Rubric) -> bool:
    """Whether every criterion has whole points on its scale."""
    return set(example.points) == set(rubric.keys) and all(
        float(example.points[each.key]) in range(each.maximum + 1) for each in rubric.criteria
    )
