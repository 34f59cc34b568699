"""Preference rounds: selection of pairs, and control pairs with known verdicts."""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.db.models import Avg, Count, F, Max, QuerySet
from django.utils.translation import gettext as _

from annotation.answers.models import Answer, System, names_of, under, without_superseded
from benchmark.preferences.kind import PreferenceContent
from benchmark.preferences.methods.pairs import FIRST, SECOND, Candidate
from benchmark.preferences.models import Pair, PreferenceItem, PreferenceRound
from benchmark.preferences.reports import known_strengths, rubric_of
from benchmark.scoring.reports.sheets import PEOPLE, counted_sheets
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Role, Study, User
from cqa_site.rounds.drafts import DraftSubmission, submit_sheet
from cqa_site.rounds.examples import examples_of
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import locked_round, open_round
from cqa_site.rounds.queue import CHUNK, next_sheet

if TYPE_CHECKING:
    from benchmark.preferences.methods.pair_planning import KnownPair, PairPlan


# Control pairs of a round: pairs with a known verdict that look like any other pair.
#
# A verdict is known because the two answers differ widely in points, or because a researcher gave
# it. Control pairs show how carefully a rater works. They do not affect the ranking, because they
# were chosen by how much their answers differ.

# Keys of two answers, the lower first → which of the two is better.
KnownVerdicts = dict[tuple[int, int], str]


def controls_of(
    study: Study,
    candidates: Sequence[Candidate],
    *,
    size: int,
    gap: float,
    given: Iterable[tuple[UUID, UUID]],
    taken: Collection[frozenset[int | str]],
    seed: int,
) -> KnownVerdicts:
    """Return the control pairs of a plan: all given pairs, plus drawn pairs up to ``size``.

    Parameters
    ----------
    study, seed
        Study of the answers; seed of the draw.
    candidates
        Answers in the plan; two answers can be paired if their ``question`` is the same.
    size, gap
        Total number of control pairs; minimum difference in mean points for drawn pairs.
    given
        Public ids of the two answers, the better one first.
    taken
        Pairs that cannot be controls because they are used elsewhere.

    Raises
    ------
    RoundNotReady
        If a given pair is not possible in the plan, or too few pairs differ by ``gap``.
    """
    from benchmark.preferences.methods.pair_planning import draw_controls

    controls = _given_controls(study, candidates, given)
    known = [
        point
        for point in _by_points(study, candidates, gap)
        if frozenset((point.first, point.second)) not in taken
        and _key(point.first, point.second) not in controls
    ]
    left = size - len(controls)
    if left > len(known):
        raise RoundNotReady(
            _("%(wanted)d control pairs were requested, but only %(n)d differ by %(gap)g points.")
            % {"wanted": size, "n": len(controls) + len(known), "gap": gap}
        )
    drawn = {
        (control.left, control.right) for control in draw_controls(known, max(left, 0), seed=seed)
    }
    better = {(known_pair.first, known_pair.second) for known_pair in known}
    for left_key, right_key in drawn:
        pair = (left_key, right_key)
        winner, loser = pair if pair in better else pair[::-1]
        controls |= _verdict(int(winner), int(loser))
    return controls


def _key(answer: int | str, other: int | str) -> tuple[int, int]:
    first, second = sorted((int(answer), int(other)))
    return first, second


def _verdict(better: int, worse: int) -> KnownVerdicts:
    return {_key(better, worse): FIRST if better < worse else SECOND}


def _given_controls(
    study: Study, candidates: Sequence[Candidate], pairs: Iterable[tuple[UUID, UUID]]
) -> KnownVerdicts:
    wanted = list(pairs)
    keys = dict(
        study.answers.filter(
            public_id__in={public_id for pair in wanted for public_id in pair}
        ).values_list("public_id", "pk")
    )
    about = {candidate.answer: candidate for candidate in candidates}
    controls: KnownVerdicts = {}
    for better, worse in wanted:
        two = [about.get(keys.get(public_id, 0)) for public_id in (better, worse)]
        if not _can_meet(two):
            raise RoundNotReady(
                _(
                    "%(one)s and %(other)s cannot be compared: they must be answers by two "
                    "systems to the same question, under the same scenario and condition in this "
                    "round."
                )
                % {"one": better, "other": worse}
            )
        controls |= _verdict(keys[better], keys[worse])
    return controls


def _can_meet(two: Sequence[Candidate | None]) -> bool:
    candidate, other = two
    return (
        candidate is not None
        and other is not None
        and candidate.question == other.question
        and candidate.system != other.system
    )


def _by_points(study: Study, candidates: Sequence[Candidate], gap: float) -> list[KnownPair]:
    """Return pairs of answers whose points differ by at least ``gap``, the better one first."""
    from benchmark.preferences.methods.pair_planning import KnownPair

    points = _points(study)
    by_question: dict[int | str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.answer in points:
            by_question[candidate.question].append(candidate)
    pairs = []
    for question, answers in by_question.items():
        ordered = sorted(answers, key=lambda answer: -points[answer.answer])
        for better, worse in combinations(ordered, 2):
            is_wide = points[better.answer] - points[worse.answer] >= gap
            if is_wide and better.system != worse.system:
                pairs.append(
                    KnownPair(
                        question=question, first=better.answer, second=worse.answer, outcome=FIRST
                    )
                )
    return pairs


def _points(study: Study) -> Mapping[int | str, float]:
    """Map each answer to its mean total from people, or from judges if no person scored any."""
    rubric = rubric_of(study)
    if rubric is None:
        return {}
    sheets = counted_sheets(rubric).filter(total__isnull=False).order_by()
    by_people = sheets.filter(rater__kind__in=PEOPLE)
    rows = by_people if by_people.exists() else sheets
    return dict(rows.values_list("answer").annotate(Avg("total")))


# Each rater's order includes all remaining pairs, so more pairs would slow down serving.
MOST_PAIRS = 5_000
SETTINGS = (
    "name", "seed", "instructions", "raters", "asks_reason", "repeat_share", "lease_minutes",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PreferencePlan:
    """All settings that decide which pairs are compared, and how."""

    name: str
    seed: int
    size: int
    instructions: str = ""
    # None means all.
    systems: tuple[System, ...] = ()
    scenarios: tuple[int, ...] = ()
    # Public ids or `ALL`; empty for plain conditions only.
    conditions: tuple[str, ...] = ()
    # Whether to pair answers across different scenarios and conditions.
    is_mixed: bool = False
    leave_out_used: bool = True
    raters: int = 2
    asks_reason: bool = True
    repeat_share: float = 0.0
    lease_minutes: int = 120
    # Share of control pairs; their verdict is known because points differ by at least the gap.
    control_share: float = 0.0
    control_gap: float = 5.0
    # Public ids of answers, the better one first; these pairs are always controls.
    controls: tuple[tuple[uuid.UUID, uuid.UUID], ...] = ()

    @property
    def n_controls(self) -> int:
        """Number of control pairs."""
        return max(round(self.control_share * self.size), len(self.controls))

    def recipe(self, study: Study, candidates: int, drawn: PairPlan) -> dict[str, Any]:
        """Return the recipe stored in the round: public ids and numbers."""
        return {
            "systems": [str(system.public_id) for system in self.systems],
            "system_names": [system.name for system in self.systems],
            "scenarios": list(self.scenarios),
            "conditions": list(self.conditions),
            "condition_names": names_of(study, self.conditions),
            "size": self.size,
            "is_mixed": self.is_mixed,
            "leave_out_used": self.leave_out_used,
            "control_share": self.control_share,
            "control_gap": self.control_gap,
            "controls": [[str(public_id) for public_id in pair] for pair in self.controls],
            "answers": candidates,
            "fewer_because": drawn.reason or "",
        }


@transaction.atomic
def plan_round(
    *, study: Study, plan: PreferencePlan, actor: User, round_: PreferenceRound | None = None
) -> PreferenceRound:
    """Create a draft round with its pairs, or redraw the pairs of a draft.

    Raise RoundNotReady if no plan links all systems, or if there are too few controls.
    """
    from benchmark.preferences.methods.pair_planning import PlanError, plan_pairs

    planned = locked_round(round_, PreferenceRound.State.DRAFT) if round_ else None
    planned = planned or PreferenceRound(study=study, created_by=actor)
    candidates = _candidates(study, plan)
    past_pairs = _asked(study, planned) if plan.leave_out_used else set()
    pairs = examples_of(planned).values_list("pair__first", "pair__second")
    examples = {frozenset(pair) for pair in pairs}
    past_pairs |= examples
    try:
        drawn = plan_pairs(
            candidates,
            plan.size - plan.n_controls,
            seed=plan.seed,
            asked=past_pairs | {frozenset(key) for key in _given_keys(study, plan)},
            strengths=known_strengths(study),
        )
    except PlanError as reason:
        raise RoundNotReady(str(reason)) from reason
    if not drawn.pairs:
        raise RoundNotReady(_("All pairs are already in other rounds."))
    ordinary = _two_keys(drawn)
    controls = controls_of(
        study,
        candidates,
        size=plan.n_controls,
        gap=plan.control_gap,
        given=plan.controls,
        taken=past_pairs | {frozenset(pair) for pair in ordinary},
        seed=plan.seed,
    )
    if examples & {frozenset(pair) for pair in controls}:
        raise RoundNotReady(
            _("One of your control pairs is an example in this round. Remove the example first.")
        )
    for name in SETTINGS:
        setattr(planned, name, getattr(plan, name))
    planned.recipe = plan.recipe(study, len(candidates), drawn)
    planned.save()
    planned.items.filter(key_points__isnull=True).delete()
    planned.items.update(is_drawn=False)
    PreferenceItem.objects.bulk_create(_items(planned, ordinary, controls), batch_size=CHUNK)
    return planned


def _items(
    planned: PreferenceRound, ordinary: list[tuple[int, int]], controls: KnownVerdicts
) -> list[PreferenceItem]:
    """Return one row per pair, with controls at random positions."""
    wanted = [*ordinary, *controls]
    if controls:
        random.Random(planned.seed).shuffle(wanted)  # noqa: S311  an order, not a secret
    keys = _stored(planned.study, wanted)
    known = {pair: {"verdict": verdict} for pair, verdict in controls.items()}
    last = planned.items.aggregate(last=Max("position"))["last"] or 0
    return [
        PreferenceItem(round=planned, pair_id=keys[pair], position=position, known=known.get(pair))
        for position, pair in enumerate(wanted, last + 1)
    ]


def _answers(study: Study, plan: PreferencePlan) -> QuerySet[Answer]:
    answers = under(without_superseded(study.answers.all()), plan.conditions)
    if plan.systems:
        answers = answers.filter(system__in=plan.systems)
    if plan.scenarios:
        answers = answers.filter(scenario__in=plan.scenarios)
    return answers.order_by("pk")


def _candidates(study: Study, plan: PreferencePlan) -> list[Candidate]:
    """Return candidates.

    The answers of a pair share the question and, unless mixed, the scenario and condition.
    """
    same = ("question",) if plan.is_mixed else ("question", "scenario", "condition")
    rows = _answers(study, plan).values_list("pk", "system__name", *same)
    return [
        Candidate(answer=pk, question="-".join(map(str, written)), system=system)
        for pk, system, *written in rows
    ]


def free_pairs(
    *, study: Study, plan: PreferencePlan, round_: PreferenceRound | None = None
) -> int:
    """Count, in the database, the pairs of answers by two systems that a plan can choose from."""
    same = ("question",) if plan.is_mixed else ("question", "scenario", "condition")
    answers = _answers(study, plan).order_by()
    of_all = answers.values(*same).annotate(n=Count("pk")).values_list("n", flat=True)
    of_one = answers.values(*same, "system").annotate(n=Count("pk")).values_list("n", flat=True)
    free = sum(map(_pairs_of, of_all)) - sum(map(_pairs_of, of_one))
    if not plan.leave_out_used:
        return free
    chosen = answers.values("pk")
    items = PreferenceItem.objects.filter(round__study=study, pair__first__in=chosen)
    past_items = items.filter(pair__second__in=chosen).exclude(round=round_ and round_.pk)
    if not plan.is_mixed:
        past_items = past_items.filter(pair__first__scenario=F("pair__second__scenario"))
    return max(0, free - past_items.aggregate(n=Count("pair", distinct=True))["n"])


def _pairs_of(n: int) -> int:
    return n * (n - 1) // 2


def _asked(study: Study, planned: PreferenceRound) -> set[frozenset[int | str]]:
    """Return the pairs that are in other rounds."""
    items = PreferenceItem.objects.filter(round__study=study).exclude(round=planned.pk)
    return {frozenset(pair) for pair in items.values_list("pair__first", "pair__second")}


def _given_keys(study: Study, plan: PreferencePlan) -> list[tuple[int, ...]]:
    """Return the keys of the answers in the plan's given control pairs."""
    wanted = {public_id for pair in plan.controls for public_id in pair}
    keys = dict(study.answers.filter(public_id__in=wanted).values_list("public_id", "pk"))
    return [tuple(keys.get(public_id, 0) for public_id in pair) for pair in plan.controls]


def _two_keys(drawn: PairPlan) -> list[tuple[int, int]]:
    """Return the answer keys of each pair, the lower one first."""
    pairs = (sorted((int(pair.left), int(pair.right))) for pair in drawn.pairs)
    return [(first, second) for first, second in pairs]


def _stored(study: Study, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Map two answers to the key of their pair, and create missing pairs."""
    questions = dict(
        Answer.objects.filter(pk__in={first for first, _second in wanted}).values_list(
            "pk", "question"
        )
    )
    rows = (
        Pair(study=study, question_id=questions[first], first_id=first, second_id=second)
        for first, second in wanted
    )
    Pair.objects.bulk_create(rows, batch_size=CHUNK, ignore_conflicts=True)
    firsts = Pair.objects.filter(study=study, first__in=questions)
    return {
        (first, second): pk for pk, first, second in firsts.values_list("pk", "first", "second")
    }


def add_demo_round(*, study: Study, users: Mapping[str, User]) -> None:
    """Open a round with the demo's answers, some of them already compared by two people."""
    actor = users[Role.RESEARCHER]
    plan = PreferencePlan(
        name=_("Compare answers (demo)"),
        seed=8,
        size=12,
        control_share=0.17,
        control_gap=3,
        instructions=_(
            "Which answer would help you more with the decision? Length alone does not "
            "make an answer better. All answers in this round are invented."
        ),
    )
    demo_round = plan_round(study=study, plan=plan, actor=actor)
    open_round(round_=demo_round, actor=actor)
    demo_round.refresh_from_db()
    _compare_some(demo_round, users[Role.EXPERT], 12)
    _compare_some(demo_round, users[Role.ANNOTATOR], 5)


def _compare_some(round_: PreferenceRound, user: User, pairs: int) -> None:
    """Submit invented verdicts: every fifth pair is a tie; otherwise the longer text wins."""
    rater = rater_for(membership=user.memberships.get(study=round_.study))
    for _turn in range(pairs):
        sheet = next_sheet(round_=round_, rater=rater).sheet
        if sheet is None:
            return
        is_longer = len(sheet.pair.first.text) > len(sheet.pair.second.text)
        verdict = "tie" if sheet.pair.pk % 5 == 0 else "first" if is_longer else "second"
        sent = DraftSubmission(PreferenceContent(verdict), sheet.version)
        submit_sheet(sheet=sheet, sent=sent, key=f"demo-{sheet.pk}")
