"""Control pairs of a round: pairs with a known verdict, which look like any other.

A verdict is known because the two answers differ widely in points, or because a researcher says
so. It tells how well somebody looks; such pairs rank no system, for they were chosen by how
different their answers are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Avg
from django.utils.translation import gettext as _

from benchmark.preferences.methods.answer_pairs import Candidate
from benchmark.preferences.methods.verdicts import FIRST, SECOND
from benchmark.preferences.reports import rubric_of
from benchmark.scoring.reports.scored_by_people import PEOPLE
from benchmark.scoring.reports.sheet_rows import counted_sheets
from cqa_site.people.models import Study
from cqa_site.rounds.kind import RoundNotReady

if TYPE_CHECKING:
    from benchmark.preferences.methods.control_pairs import KnownPair

# The lower key first → which of the two is better.
Known = dict[tuple[int, int], str]


def controls_of(
    study: Study,
    candidates: Sequence[Candidate],
    *,
    size: int,
    gap: float,
    given: Iterable[tuple[UUID, UUID]],
    taken: Collection[frozenset[int | str]],
    seed: int,
) -> Known:
    """The control pairs of a plan: those given, and drawn ones up to ``size``.

    Parameters
    ----------
    study, seed
        Whose answers; of the draw.
    candidates
        The answers of the plan; answers meet where their question is the same.
    size, gap
        How many in all; drawn are pairs whose mean points differ by ``gap`` or more.
    given
        Public ids, the better answer first.
    taken
        Pairs that are no controls, because they are asked about elsewhere.

    Raises
    ------
    RoundNotReady
        A given pair is none of the plan's, or too few pairs differ by so much.
    """
    from benchmark.preferences.methods.control_pairs import draw_controls

    found = _given(study, candidates, given)
    known = [
        each
        for each in _by_points(study, candidates, gap)
        if frozenset((each.first, each.second)) not in taken
        and _key(each.first, each.second) not in found
    ]
    left = size - len(found)
    if left > len(known):
        raise RoundNotReady(
            _("%(wanted)d control pairs are wanted, but only %(n)d differ by %(gap)g points.")
            % {"wanted": size, "n": len(found) + len(known), "gap": gap}
        )
    drawn = {(each.left, each.right) for each in draw_controls(known, max(left, 0), seed=seed)}
    better = {(each.first, each.second) for each in known}
    for left_key, right_key in drawn:
        pair = (left_key, right_key)
        winner, loser = pair if pair in better else pair[::-1]
        found |= _verdict(int(winner), int(loser))
    return found


def _key(one: int | str, other: int | str) -> tuple[int, int]:
    first, second = sorted((int(one), int(other)))
    return first, second


def _verdict(better: int, worse: int) -> Known:
    return {_key(better, worse): FIRST if better < worse else SECOND}


def _given(
    study: Study, candidates: Sequence[Candidate], given: Iterable[tuple[UUID, UUID]]
) -> Known:
    wanted = list(given)
    keys = dict(
        study.answers.filter(public_id__in={each for pair in wanted for each in pair}).values_list(
            "public_id", "pk"
        )
    )
    about = {each.answer: each for each in candidates}
    found: Known = {}
    for better, worse in wanted:
        two = [about.get(keys.get(each, 0)) for each in (better, worse)]
        if not _can_meet(two):
            raise RoundNotReady(
                _(
                    "%(one)s and %(other)s are no answers of two systems to one question under "
                    "one scenario and condition of this plan."
                )
                % {"one": better, "other": worse}
            )
        found |= _verdict(keys[better], keys[worse])
    return found


def _can_meet(two: Sequence[Candidate | None]) -> bool:
    one, other = two
    return (
        one is not None
        and other is not None
        and one.question == other.question
        and one.system != other.system
    )


def _by_points(study: Study, candidates: Sequence[Candidate], gap: float) -> list[KnownPair]:
    """Pairs of answers whose points differ by ``gap`` or more, the better one first."""
    from benchmark.preferences.methods.control_pairs import KnownPair

    points = _points(study)
    by_question: dict[int | str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        if each.answer in points:
            by_question[each.question].append(each)
    found = []
    for question, answers in by_question.items():
        ordered = sorted(answers, key=lambda each: -points[each.answer])
        for better, worse in combinations(ordered, 2):
            is_wide = points[better.answer] - points[worse.answer] >= gap
            if is_wide and better.system != worse.system:
                found.append(
                    KnownPair(
                        question=question,
                        first=better.answer,
                        second=worse.answer,
                        outcome=FIRST,
                    )
                )
    return found


def _points(study: Study) -> Mapping[int | str, float]:
    """Answer → its mean total; people's where they scored any, else judges'."""
    rubric = rubric_of(study)
    if rubric is None:
        return {}
    sheets = counted_sheets(rubric).filter(total__isnull=False).order_by()
    by_people = sheets.filter(rater__kind__in=PEOPLE)
    rows = by_people if by_people.exists() else sheets
    return dict(rows.values_list("answer").annotate(Avg("total")))
