"""Making scoring rounds: draw the answers, choose examples, open, close, open again."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Answer, System
from benchmark.methods.scoring_draw import draw_answers, draw_overlap
from benchmark.models import RubricVersion, ScoringItem, ScoringRound, ScoringSlot
from cqa_site.people.access import record
from cqa_site.people.models import Study, User

CHUNK = 2_000
# A rater's order is made of all answers that are left; more would make serving slow.
MOST_ANSWERS = 10_000
WITH, WITHOUT = "with", "without"


class RoundNotReady(Exception):
    """The round cannot do that now; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that decides which answers are scored, and how."""

    name: str
    rubric: RubricVersion
    seed: int
    instructions: str = ""
    systems: tuple[System, ...] = ()
    scenarios: tuple[int, ...] = ()
    aspect: str = ""
    choice: int | None = None
    leave_out_used: bool = False
    # None takes every answer that matches.
    size: int | None = None
    is_balanced: bool = True
    overlap_share: float = 0.2
    overlap_raters: int = 2
    repeat_share: float = 0.0
    shows_hints: bool = True
    pass_mark: float = 0.7
    lease_minutes: int = 120

    def recipe(self, found: int) -> dict[str, Any]:
        """What the round keeps of it: public ids and numbers."""
        return {
            "systems": [str(each.public_id) for each in self.systems],
            "system_names": [each.name for each in self.systems],
            "scenarios": list(self.scenarios),
            "aspect": self.aspect,
            "choice": self.choice,
            "leave_out_used": self.leave_out_used,
            "size": self.size,
            "is_balanced": self.is_balanced,
            "found": found,
        }


SETTINGS = (
    "name",
    "rubric",
    "seed",
    "instructions",
    "overlap_share",
    "overlap_raters",
    "repeat_share",
    "shows_hints",
    "pass_mark",
    "lease_minutes",
)


@transaction.atomic
def plan_round(
    *, study: Study, plan: Plan, actor: User, scoring_round: ScoringRound | None = None
) -> ScoringRound:
    """Make a draft round with its answers, or draw a draft's answers again; examples stay.

    Raises RoundNotReady if no answer matches, or too many would be taken.
    """
    planned = _locked(scoring_round, ScoringRound.State.DRAFT) if scoring_round else None
    planned = planned or ScoringRound(study=study, created_by=actor)
    answers = matching_answers(study=study, plan=plan, scoring_round=scoring_round)
    rows = answers.order_by("pk").values_list("pk", "system", "scenario")
    strata = {pk: (system, scenario) if plan.is_balanced else 0 for pk, system, scenario in rows}
    drawn = draw_answers(strata, plan.size, seed=plan.seed)
    if not drawn:
        raise RoundNotReady(_("No answer matches."))
    if len(drawn) > MOST_ANSWERS:
        raise RoundNotReady(
            _("%(found)d answers match; a round takes %(most)d at most. Draw a sample.")
            % {"found": len(drawn), "most": MOST_ANSWERS}
        )
    for name in SETTINGS:
        setattr(planned, name, getattr(plan, name))
    planned.recipe = plan.recipe(len(strata))
    planned.save()
    planned.items.filter(key_points__isnull=True).delete()
    start = planned.items.aggregate(last=Max("position"))["last"] or 0
    ScoringItem.objects.bulk_create(
        (
            ScoringItem(
                scoring_round=planned, answer_id=pk, position=position, probability=probability
            )
            for position, (pk, probability) in enumerate(drawn.items(), start + 1)
        ),
        batch_size=CHUNK,
    )
    return planned


def matching_answers(
    *, study: Study, plan: Plan, scoring_round: ScoringRound | None = None
) -> QuerySet[Answer]:
    """Answers a round may take: those that the plan asks for, without the round's examples."""
    answers = study.answers.all()
    if plan.systems:
        answers = answers.filter(system__in=plan.systems)
    if plan.scenarios:
        answers = answers.filter(scenario__in=plan.scenarios)
    if plan.choice is not None:
        answers = answers.filter(choice=plan.choice)
    if plan.aspect == WITH:
        answers = answers.exclude(question__aspect="")
    if plan.aspect == WITHOUT:
        answers = answers.filter(question__aspect="")
    used = ScoringItem.objects.filter(answer=OuterRef("pk"), scoring_round__study=study)
    if scoring_round is not None:
        answers = answers.filter(
            ~Exists(used.filter(scoring_round=scoring_round, key_points__isnull=False))
        )
        used = used.exclude(scoring_round=scoring_round)
    return answers.filter(~Exists(used)) if plan.leave_out_used else answers


def plan_of(scoring_round: ScoringRound) -> dict[str, Any]:
    """A round's plan as the form shows it; systems that are gone are left out."""
    recipe = scoring_round.recipe
    wanted = [uuid.UUID(each) for each in recipe.get("systems", [])]
    return {name: getattr(scoring_round, name) for name in SETTINGS} | {
        "systems": scoring_round.study.systems.filter(public_id__in=wanted),
        **{name: recipe.get(name) for name in ("scenarios", "aspect", "choice", "size")},
        "leave_out_used": recipe.get("leave_out_used", False),
        "is_balanced": recipe.get("is_balanced", True),
    }


@transaction.atomic
def set_example(
    *,
    scoring_round: ScoringRound,
    answer: Answer,
    points: dict[str, float] | None,
    notes: dict[str, str] | None = None,
) -> None:
    """Make an answer an example of a draft's qualification, with its key; None takes it out.

    An answer that was drawn for scoring becomes an example and is no longer scored.
    """
    stored = _locked(scoring_round, ScoringRound.State.DRAFT)
    if points is None:
        stored.items.filter(answer=answer, key_points__isnull=False).delete()
        return
    if stored.rubric.rubric.total(points) is None:
        raise RoundNotReady(_("An example needs points for every criterion."))
    key = {"key_points": points, "key_notes": notes or {}, "probability": None}
    if stored.items.filter(answer=answer).update(**key):
        return
    last = stored.items.aggregate(last=Max("position"))["last"] or 0
    ScoringItem.objects.create(scoring_round=stored, answer=answer, position=last + 1, **key)


@transaction.atomic
def open_round(*, scoring_round: ScoringRound, actor: User) -> None:
    """Make the slots and start serving."""
    stored = _locked(scoring_round, ScoringRound.State.DRAFT)
    items = list(stored.items.filter(key_points__isnull=True).values_list("pk", "position"))
    if not items:
        raise RoundNotReady(_("The round holds no answers to score."))
    _check_examples(stored)
    common = draw_overlap([pk for pk, _position in items], stored.overlap_share, seed=stored.seed)
    slots = (
        ScoringSlot(scoring_round=stored, item_id=pk, number=number)
        for pk, _position in items
        for number in range(1, (stored.overlap_raters if pk in common else 1) + 1)
    )
    ScoringSlot.objects.bulk_create(slots, batch_size=CHUNK)
    stored.opened_at = timezone.now()
    _move(stored, ScoringRound.State.OPEN, actor)


@transaction.atomic
def close_round(*, scoring_round: ScoringRound, actor: User) -> None:
    """Stop serving; what was submitted counts, drafts stay where they are."""
    stored = _locked(scoring_round, ScoringRound.State.OPEN)
    stored.closed_at = timezone.now()
    _move(stored, ScoringRound.State.CLOSED, actor)


@transaction.atomic
def reopen_round(*, scoring_round: ScoringRound, actor: User) -> None:
    """Let people go on."""
    stored = _locked(scoring_round, ScoringRound.State.CLOSED)
    stored.closed_at = None
    _move(stored, ScoringRound.State.OPEN, actor)


@transaction.atomic
def delete_round(*, scoring_round: ScoringRound, actor: User) -> None:
    """Remove a draft; nobody has worked on it yet."""
    stored = _locked(scoring_round, ScoringRound.State.DRAFT)
    record(study=stored.study, actor=actor, verb="scoring_round_deleted", subject=stored.name)
    stored.delete()


def _check_examples(stored: ScoringRound) -> None:
    """Every key must fit the rubric, which may have been changed since."""
    keys = set(stored.rubric.rubric.keys)
    for item in stored.items.filter(key_points__isnull=False):
        if set(item.key_points) != keys:
            raise RoundNotReady(
                _("The key of example %d does not fit the rubric; set it again.") % item.position
            )


def _locked(scoring_round: ScoringRound, state: str) -> ScoringRound:
    """The round as stored, in that state until this transaction ends; raises RoundNotReady."""
    rows = ScoringRound.objects.select_for_update(of=("self",)).select_related("study", "rubric")
    stored = rows.get(pk=scoring_round.pk)
    if stored.state != state:
        raise RoundNotReady(
            _("The round is %s; that is not possible now.") % stored.get_state_display()
        )
    return stored


def _move(stored: ScoringRound, state: str, actor: User) -> None:
    before, stored.state = stored.state, state
    stored.save(update_fields=["state", "opened_at", "closed_at"])
    record(
        study=stored.study,
        actor=actor,
        verb=f"scoring_round_{state}",
        subject=stored.name,
        before=before,
    )
