"""Making editing rounds: draw the split, open, close, open again."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.methods.editing_split import Split, TooFewAnswers, split_answers
from annotation.models import Answer, EditingRound, EditingTask, System
from cqa_site.people.access import memberships_of, record
from cqa_site.people.models import Membership, Role, Study, User

from .faithfulness import request_figures
from .faithfulness_texts import embedding_of

CHUNK = 1_000
# What another round holds and this one leaves alone.
LEAVE_QUESTIONS, LEAVE_ANSWERS, LEAVE_NOTHING = "questions", "answers", "nothing"
LEAVE = [
    (LEAVE_QUESTIONS, gettext_lazy("questions that another round holds")),
    (LEAVE_ANSWERS, gettext_lazy("answers that another round holds")),
    (LEAVE_NOTHING, gettext_lazy("nothing")),
]


class RoundNotReady(Exception):
    """The round cannot do that now; the message says why."""


@dataclass(frozen=True)
class Plan:
    """Everything that decides who edits what."""

    name: str
    seed: int
    experts: tuple[User, ...]
    calibration: int
    individual: int
    instructions: str = ""
    system: System | None = None
    scenario: int | None = None
    choice: int | None = None
    leave: str = LEAVE_QUESTIONS

    def recipe(self, found: int) -> dict[str, Any]:
        """As it is kept with the round; ``found`` is how many answers matched."""
        return {
            "experts": [str(user.public_id) for user in self.experts],
            "calibration": self.calibration,
            "individual": self.individual,
            "system": str(self.system.public_id) if self.system else None,
            "scenario": self.scenario,
            "choice": self.choice,
            "leave": self.leave,
            "found": found,
        }


@transaction.atomic
def plan_round(
    *, study: Study, plan: Plan, actor: User, editing_round: EditingRound | None = None
) -> EditingRound:
    """Make a draft round with its split, or draw a draft's split again.

    Raises RoundNotReady if there are too few answers or the round is no draft.
    """
    planned = _locked_draft(editing_round) if editing_round else EditingRound(study=study)
    answers = matching_answers(study=study, plan=plan, editing_round=editing_round)
    pairs = list(answers.order_by("pk").values_list("pk", "question_id"))
    split = _split(plan, pairs)
    planned.name, planned.seed = plan.name, plan.seed
    planned.instructions = plan.instructions
    planned.recipe = plan.recipe(len(pairs))
    planned.created_by = planned.created_by or actor
    planned.save()
    planned.tasks.all().delete()
    EditingTask.objects.bulk_create(_tasks(planned, plan, split), batch_size=CHUNK)
    return planned


def matching_answers(
    *, study: Study, plan: Plan, editing_round: EditingRound | None = None
) -> QuerySet[Answer]:
    """Answers a round may take, without those that other rounds hold."""
    answers = study.answers.all()
    if plan.system:
        answers = answers.filter(system=plan.system)
    if plan.scenario is not None:
        answers = answers.filter(scenario=plan.scenario)
    if plan.choice is not None:
        answers = answers.filter(choice=plan.choice)
    held = EditingTask.objects.filter(editing_round__study=study)
    if editing_round is not None:
        held = held.exclude(editing_round=editing_round)
    if plan.leave == LEAVE_ANSWERS:
        answers = answers.exclude(pk__in=held.values("answer"))
    if plan.leave == LEAVE_QUESTIONS:
        answers = answers.exclude(question__in=held.values("answer__question"))
    return answers


@transaction.atomic
def open_round(*, editing_round: EditingRound, actor: User) -> None:
    """Put the tasks on the experts' desks."""
    stored = EditingRound.objects.select_for_update().get(pk=editing_round.pk)
    _require(stored, EditingRound.State.DRAFT)
    if not stored.tasks.exists():
        raise RoundNotReady(_("The round holds no answers."))
    missing = [expert for expert in _editors(stored) if not _is_expert(expert, stored.study)]
    if missing:
        names = ", ".join(str(each) for each in missing)
        raise RoundNotReady(_("No longer an expert of this study: %s.") % names)
    stored.opened_at = timezone.now()
    _move(stored, EditingRound.State.OPEN, actor)


@transaction.atomic
def close_round(*, editing_round: EditingRound, actor: User) -> None:
    """End the editing; experts see each other's versions of the calibration answers.

    How much these agree is computed in the background, so that it is there to be looked at.
    """
    rows = EditingRound.objects.select_for_update(of=("self",)).select_related("study")
    stored = rows.get(pk=editing_round.pk)
    _require(stored, EditingRound.State.OPEN)
    stored.closed_at = timezone.now()
    stored.first_closed_at = stored.first_closed_at or stored.closed_at
    _move(stored, EditingRound.State.CLOSED, actor)
    request_figures(study=stored.study, embedding=embedding_of(stored.study))


@transaction.atomic
def reopen_round(*, editing_round: EditingRound, actor: User) -> None:
    """Let experts go on; what others wrote is hidden from them again."""
    stored = EditingRound.objects.select_for_update().get(pk=editing_round.pk)
    _require(stored, EditingRound.State.CLOSED)
    stored.closed_at = None
    _move(stored, EditingRound.State.OPEN, actor)


def experts_of(study: Study) -> QuerySet[Membership]:
    """Memberships of the people who can be given answers, in the order they joined."""
    active = Membership.objects.filter(study=study, role=Role.EXPERT, is_active=True)
    return active.filter(user__is_active=True).select_related("user").order_by("pk")


def plan_of(editing_round: EditingRound) -> dict[str, Any]:
    """A round's plan with rows in place of ids; what is gone meanwhile is left out."""
    recipe = editing_round.recipe
    study = editing_round.study
    people = {str(each.user.public_id): each.user for each in experts_of(study)}
    system = recipe.get("system")
    return {
        "name": editing_round.name,
        "seed": editing_round.seed,
        "instructions": editing_round.instructions,
        "experts": [people[key] for key in recipe.get("experts", []) if key in people],
        "system": study.systems.filter(public_id=uuid.UUID(system)).first() if system else None,
        **{key: recipe.get(key) for key in ("calibration", "individual", "scenario", "choice")},
        "leave": recipe.get("leave", LEAVE_QUESTIONS),
    }


def _split(plan: Plan, pairs: list[tuple[int, int]]) -> Split:
    try:
        return split_answers(
            pairs,
            experts=len(plan.experts),
            calibration=plan.calibration,
            individual=plan.individual,
            seed=plan.seed,
        )
    except TooFewAnswers as error:
        raise RoundNotReady(
            _("The sets need %(needed)d answers, and %(found)d match.")
            % {"needed": error.needed, "found": error.found}
        ) from error


def _tasks(planned: EditingRound, plan: Plan, split: Split) -> list[EditingTask]:
    common = set(split.calibration)
    return [
        EditingTask(
            editing_round=planned,
            editor=expert,
            answer_id=answer,
            is_calibration=answer in common,
            position=position,
        )
        for place, expert in enumerate(plan.experts)
        for position, answer in enumerate(split.desk(place, plan.seed), 1)
    ]


def _editors(editing_round: EditingRound) -> QuerySet[User]:
    return User.objects.filter(pk__in=editing_round.tasks.values("editor"))


def _is_expert(user: User, study: Study) -> bool:
    return memberships_of(user).filter(study=study, role=Role.EXPERT).exists()


def _locked_draft(editing_round: EditingRound) -> EditingRound:
    """The round as stored; it cannot be opened before this transaction ends."""
    stored = EditingRound.objects.select_for_update().get(pk=editing_round.pk)
    _require(stored, EditingRound.State.DRAFT)
    return stored


def _require(editing_round: EditingRound, state: str) -> None:
    if editing_round.state != state:
        raise RoundNotReady(
            _("The round is %s; that is not possible now.") % editing_round.get_state_display()
        )


def _move(editing_round: EditingRound, state: str, actor: User) -> None:
    before, editing_round.state = editing_round.state, state
    editing_round.save(update_fields=["state", "opened_at", "closed_at", "first_closed_at"])
    record(
        study=editing_round.study,
        actor=actor,
        verb=f"editing_round_{state}",
        subject=editing_round.name,
        before=before,
    )
