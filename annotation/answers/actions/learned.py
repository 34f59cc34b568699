"""Saying what a system's model was trained on; it is never taken back, as training is not."""

import json
import uuid
from collections.abc import Iterable

from django.db import transaction

from annotation.answers.models.answers import System
from annotation.answers.models.learned import LearnedComparison
from cqa_site.people.access import record
from cqa_site.people.models import User

MOST_BYTES = 256 * 1024 * 1024


class NotPairs(Exception):
    """A file names no questions of the study; the message says where and why."""


def question_ids(lines: Iterable[str | bytes], name: str) -> set[uuid.UUID]:
    """Ids of the questions that a file of pairs names, as *Training data* writes it."""
    found = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.add(uuid.UUID(json.loads(line)["about"]["question"]))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            text = f"{name}, line {number}: no pair that names its question (about, question)."
            raise NotPairs(text) from problem
    if not found:
        raise NotPairs(f"{name} holds no pair.")
    return found


@transaction.atomic
def mark_learned(
    *, system: System, questions: Iterable[uuid.UUID], source: str, actor: User | None
) -> int:
    """Note that a system's model was trained on questions; return how many comparisons are new.

    All questions about the same two objects count as learned. Raises NotPairs if one of them is
    not a question of the study.
    """
    wanted = set(questions)
    rows = system.study.questions.filter(public_id__in=wanted)
    if missing := sorted(map(str, wanted - set(rows.values_list("public_id", flat=True)))):
        raise NotPairs(f"{len(missing)} questions are not of this study, first {missing[0]}.")
    known = set(system.learned.values_list("comparison_id", flat=True))
    fresh = set(rows.values_list("comparison_id", flat=True)) - known
    LearnedComparison.objects.bulk_create(
        (
            LearnedComparison(system=system, comparison_id=key, source=source[:200])
            for key in sorted(fresh)
        ),
        ignore_conflicts=True,
    )
    if fresh:
        record(
            study=system.study,
            actor=actor,
            verb="system_learned",
            subject=system.name,
            comparisons=len(fresh),
            source=source,
        )
    return len(fresh)
