"""Planning editing rounds: whose desk gets which answers."""

from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.answers.models.answers import Answer, System
from annotation.answers.reports.conditions import ALL, under
from annotation.editing.methods.split import Split, TooFewAnswers, split_answers
from annotation.editing.models import EditingItem, EditingRound, EditingSheet
from cqa_site.people.actions.raters import rater_for
from cqa_site.people.models import Membership, Rater, Role, Study, User
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.models import Place
from cqa_site.rounds.opening import locked_round

CHUNK = 1_000
# What another round holds and this one leaves alone.
LEAVE_QUESTIONS, LEAVE_ANSWERS, LEAVE_NOTHING = "questions", "answers", "nothing"
LEAVE = [
    (LEAVE_QUESTIONS, gettext_lazy("questions that another round holds")),
    (LEAVE_ANSWERS, gettext_lazy("answers that another round holds")),
    (LEAVE_NOTHING, gettext_lazy("nothing")),
]
SETTINGS = ("name", "seed", "instructions", "makes_answers")


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
    # A public id or `ALL`; empty for the plain ones.
    condition: str = ""
    choice: int | None = None
    leave: str = LEAVE_QUESTIONS
    makes_answers: bool = True

    def recipe(self, found: int, elsewhere: int) -> dict[str, Any]:
        """As it is kept with the round.

        ``found`` answers matched, and ``elsewhere`` more but for their condition.
        """
        return {
            "experts": [str(user.public_id) for user in self.experts],
            "calibration": self.calibration,
            "individual": self.individual,
            "system": str(self.system.public_id) if self.system else None,
            "scenario": self.scenario,
            "condition": self.condition,
            "choice": self.choice,
            "leave": self.leave,
            "found": found,
            "other_conditions": elsewhere,
        }


@transaction.atomic
def plan_round(
    *, study: Study, plan: Plan, actor: User, round_: EditingRound | None = None
) -> EditingRound:
    """Make a draft round with everybody's desk, or draw a draft's desks again.

    Raises RoundNotReady if there are too few answers or the round is no draft.
    """
    planned = locked_round(round_, EditingRound.State.DRAFT) if round_ else None
    planned = planned or EditingRound(study=study, created_by=actor)
    answers = matching_answers(study=study, plan=plan, round_=round_)
    pairs = list(answers.order_by("pk").values_list("pk", "question_id"))
    split = _split(plan, pairs)
    for name in SETTINGS:
        setattr(planned, name, getattr(plan, name))
    mixed = replace(plan, condition=ALL)
    matching = matching_answers(study=study, plan=mixed, round_=round_).count()
    planned.recipe = plan.recipe(len(pairs), matching - len(pairs))
    planned.save()
    _lay_out(planned, plan, split)
    return planned


def _lay_out(planned: EditingRound, plan: Plan, split: Split) -> None:
    """Make the places, items and sheets of a draft anew."""
    for rows in (planned.sheets, planned.items, planned.places):
        rows.all().delete()
    raters = _raters(planned.study, plan.experts)
    Place.objects.bulk_create(Place(round=planned, rater=rater) for rater in raters)
    sheets = _sheets(planned, raters, plan, split)
    answers = dict.fromkeys(sheet.answer_id for sheet in sheets)
    EditingItem.objects.bulk_create(
        (
            EditingItem(round=planned, answer_id=answer, position=position)
            for position, answer in enumerate(answers, 1)
        ),
        batch_size=CHUNK,
    )
    EditingSheet.objects.bulk_create(sheets, batch_size=CHUNK)


def _raters(study: Study, experts: tuple[User, ...]) -> list[Rater]:
    found = Membership.objects.filter(study=study, user__in=experts)
    members = {each.user_id: each for each in found.select_related("user", "study")}
    return [rater_for(membership=members[user.pk]) for user in experts]


def matching_answers(
    *, study: Study, plan: Plan, round_: EditingRound | None = None
) -> QuerySet[Answer]:
    """Answers a round may take, without those that other rounds hold or that are edited ones."""
    answers = under(
        study.answers.filter(revision__isnull=True), [plan.condition] if plan.condition else []
    )
    if plan.system:
        answers = answers.filter(system=plan.system)
    if plan.scenario is not None:
        answers = answers.filter(scenario=plan.scenario)
    if plan.choice is not None:
        answers = answers.filter(choice=plan.choice)
    held = EditingSheet.objects.filter(study=study)
    if round_ is not None:
        held = held.exclude(round=round_)
    if plan.leave == LEAVE_ANSWERS:
        answers = answers.exclude(pk__in=held.values("answer"))
    if plan.leave == LEAVE_QUESTIONS:
        answers = answers.exclude(question__in=held.values("answer__question"))
    return answers


def experts_of(study: Study) -> QuerySet[Membership]:
    """Memberships of the people who can be given answers, in the order they joined."""
    active = Membership.objects.filter(study=study, role=Role.EXPERT, is_active=True)
    return active.filter(user__is_active=True).select_related("user").order_by("pk")


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


def _sheets(
    planned: EditingRound, raters: list[Rater], plan: Plan, split: Split
) -> list[EditingSheet]:
    common = set(split.calibration)
    return [
        EditingSheet(
            study_id=planned.study_id,
            round=planned,
            rater=rater,
            answer_id=answer,
            is_calibration=answer in common,
            place=place,
        )
        for desk, rater in enumerate(raters)
        for place, answer in enumerate(split.desk(desk, plan.seed), 1)
    ]
