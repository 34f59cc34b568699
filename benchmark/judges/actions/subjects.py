"""The requests of a scoring run: every answer, and some once more with something changed."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models.functions import Length

from annotation.answers.models.answers import Answer
from annotation.corpus.methods.seeded_sample import seeded_places
from benchmark.judges.methods.canaries import canary_count, places_of_canaries
from benchmark.judges.reports.calls import CANARY, PLAIN, SWAP, Asked
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.people.models import Study
from cqa_site.runs.kinds import Subject

from .targets import judged_answers, rubric_of

# Canaries are built on answers of a sample, so that planning reads few lengths.
LOOKED_AT = 500


def subjects_of(study: Study, target: Mapping[str, Any], seed: int, groups: int) -> list[Subject]:
    """Everything a run asks: canaries with the answers they are built on, the rest, the swaps.

    ``groups`` is 0 where one reply holds the whole sheet, else the number of groups.
    """
    keys = judged_answers(study, target, seed)
    canaries = _canaries(study, target, seed, keys, groups)
    bases = dict.fromkeys(each.answer for each in canaries)
    parts = range(1, groups + 1) if groups else (0,)
    asked = [Asked(pk, PLAIN, 1, part) for pk in bases for part in parts]
    asked += canaries
    asked += [Asked(pk, PLAIN, 0, part) for pk in keys if pk not in bases for part in parts]
    swapped = _swapped(study, target, seed, keys)
    asked += [Asked(pk, SWAP, 0, part) for pk in swapped for part in parts]
    return [Subject(each.name, tuple(each)) for each in asked]


def _canaries(
    study: Study, target: Mapping[str, Any], seed: int, keys: Sequence[int], groups: int
) -> list[Asked]:
    """Attacks built on some of the judged answers; group by group only the weightiest is asked."""
    count = canary_count(len(keys), target["canaries"])
    if not count:
        return []
    looked_at = [keys[place] for place in seeded_places(len(keys), LOOKED_AT, seed)]
    rows = Answer.objects.filter(study=study, pk__in=looked_at).annotate(n=Length("text"))
    lengths = dict(rows.order_by().values_list("pk", "n"))
    places = places_of_canaries([lengths[pk] for pk in looked_at], count)
    part = _weightiest(rubric_of(target)) if groups else 0
    return [Asked(looked_at[place], CANARY, variant, part) for variant, place in places]


def _weightiest(rubric: Rubric) -> int:
    """The group with the highest maximum, counted from 1."""
    maxima = [each.maximum for each in rubric.groups]
    return maxima.index(max(maxima)) + 1


def _swapped(study: Study, target: Mapping[str, Any], seed: int, keys: Sequence[int]) -> list[int]:
    """Answers asked about with swapped objects; a question's own wording cannot be turned."""
    if not target["swap"]:
        return []
    own = Answer.objects.filter(study=study).exclude(question__wording="")
    worded = set(own.values_list("pk", flat=True))
    usable = [pk for pk in keys if pk not in worded]
    return [usable[place] for place in seeded_places(len(usable), target["swap"], seed)]
