"""Plan editing rounds, discuss calibration answers, and make answers from revisions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _, gettext_lazy

from annotation.answers.models import (
    ALL,
    FILTERS,
    LABELS,
    WORDING,
    Answer,
    Condition,
    System,
    deviations,
    under,
)
from annotation.editing.methods import EditAssignment, TooFewAnswers, split_answers
from annotation.editing.models import (
    EditingItem,
    EditingRound,
    EditingSheet,
    Revision,
    RoundComment,
)
from annotation.editing.reports import newest_revisions
from annotation.generation.actions.answer_runs import condition
from cqa_site.people.access import record
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Membership, Rater, Role, Study, User
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import locked_round
from cqa_site.rounds.models import Place

CHUNK = 1_000
# Questions or answers in other rounds that the new round leaves out.
LEAVE_QUESTIONS, LEAVE_ANSWERS, LEAVE_NOTHING = "questions", "answers", "nothing"
LEAVE = [
    (LEAVE_QUESTIONS, gettext_lazy("questions in another round")),
    (LEAVE_ANSWERS, gettext_lazy("answers in another round")),
    (LEAVE_NOTHING, gettext_lazy("nothing")),
]
SETTINGS = ("name", "seed", "instructions", "makes_answers")


@dataclass(frozen=True)
class EditingPlan:
    """All settings that determine who edits which answers."""

    name: str
    seed: int
    experts: tuple[User, ...]
    calibration: int
    individual: int
    instructions: str = ""
    system: System | None = None
    scenario: int | None = None
    # A public id or `ALL`; empty for plain conditions.
    condition: str = ""
    choice: int | None = None
    leave: str = LEAVE_QUESTIONS
    makes_answers: bool = True

    def recipe(self, n_answers: int, elsewhere: int) -> dict[str, Any]:
        """Return the plan as stored with the round.

        ``n_answers`` is the number of matching answers; ``elsewhere`` is the number of further
        answers that differ only in their condition.
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
            "found": n_answers,
            "other_conditions": elsewhere,
        }


@transaction.atomic
def plan_round(
    *, study: Study, plan: EditingPlan, actor: User, round_: EditingRound | None = None
) -> EditingRound:
    """Create a draft round with a desk for each expert, or redraw the desks of a draft.

    Raises RoundNotReady if there are too few answers or the round is not a draft.
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


def _lay_out(planned: EditingRound, plan: EditingPlan, split: EditAssignment) -> None:
    """Recreate the enrolments, items and sheets of a draft."""
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
    memberships = Membership.objects.filter(study=study, user__in=experts)
    members = {
        membership.user_id: membership
        for membership in memberships.select_related("user", "study")
    }
    return [rater_for(membership=members[user.pk]) for user in experts]


def matching_answers(
    *, study: Study, plan: EditingPlan, round_: EditingRound | None = None
) -> QuerySet[Answer]:
    """Return answers available to a round, except experts' answers and those in other rounds."""
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
    """Return memberships of people who can be assigned answers, in the order they joined."""
    active = Membership.objects.filter(study=study, role=Role.EXPERT, is_active=True)
    return active.filter(user__is_active=True).select_related("user").order_by("pk")


def _split(plan: EditingPlan, pairs: list[tuple[int, int]]) -> EditAssignment:
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
            _("The round needs %(needed)d answers, but %(found)d match.")
            % {"needed": error.needed, "found": error.found}
        ) from error


def _sheets(
    planned: EditingRound, raters: list[Rater], plan: EditingPlan, split: EditAssignment
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


class NotDiscussed(Exception):
    """Only calibration answers of an open round can be discussed."""


def add_comment(
    *, editing_round: EditingRound, answer: Answer, author: User, text: str
) -> RoundComment:
    """Add a comment to the discussion of one calibration answer."""
    is_shared = editing_round.sheets.filter(answer=answer, is_calibration=True).exists()
    if not is_shared or editing_round.state == EditingRound.State.DRAFT:
        raise NotDiscussed(_("Only calibration answers from an opened round can be discussed."))
    return RoundComment.objects.create(
        editing_round=editing_round, answer=answer, author=author, text=text
    )


# Answers from submitted texts, so that experts' texts can be scored
#
# An answer is never changed. A newer revision becomes an additional answer, and the score sheets
# of the older answer remain unchanged. New rounds and runs use the newest answer.


def waiting_revisions(editing_round: EditingRound) -> QuerySet[Revision]:
    """Return each sheet's newest submitted revision that is not yet an answer."""
    newest = newest_revisions(editing_round.study).filter(sheet__round=editing_round)
    return newest.filter(scored_as__isnull=True)


@transaction.atomic
def make_expert_answers(*, editing_round: EditingRound, actor: User) -> int:
    """Make answers from the latest submissions in a round; return the number of new answers.

    A repeated call does not create duplicates. The arguments are those of the machine answer, so
    that citations keep their meaning.
    """
    # The lock separates double clicks, and two rounds that would use the same answer numbers.
    study = Study.objects.select_for_update().get(pk=editing_round.study_id)
    rows = waiting_revisions(editing_round).select_related(
        "sheet__answer__condition", "sheet__answer__question"
    )
    revisions = list(rows)
    if not revisions:
        return 0
    system = experts_system(study)
    answers = _answers(study, system, revisions)
    Answer.objects.bulk_create(answers)
    record(
        study=study,
        actor=actor,
        verb="expert_answers_made",
        subject=editing_round.name,
        answers=len(answers),
    )
    return len(answers)


def experts_system(study: Study) -> System:
    """Return the system for answers by the study's experts, whatever its current name."""
    ours = study.systems.filter(answers__revision__isnull=False).order_by("pk").first()
    return ours or _new_system(study)


def _new_system(study: Study) -> System:
    """Create a system with a plain name, or with a number if the name is taken."""
    name = _("Experts")
    names = set(study.systems.filter(name__startswith=name).values_list("name", flat=True))
    numbered = (f"{name} · {number}" for number in range(2, len(names) + 3))
    free = next(candidate for candidate in (name, *numbered) if candidate not in names)
    return System.objects.create(study=study, name=free, kind=System.Kind.HUMAN)


def _answers(study: Study, system: System, revisions: Iterable[Revision]) -> list[Answer]:
    last = _last_choices(system)
    conditions: dict[int, Condition] = {}
    answers = []
    for revision in revisions:
        before = revision.sheet.answer
        if before.condition_id not in conditions:
            conditions[before.condition_id] = edited_condition(study, before.condition)
        under = conditions[before.condition_id]
        place = (before.question_id, under.pk)
        last[place] = last.get(place, 0) + 1
        answers.append(_answer(system, under, last[place], revision))
    return answers


def _last_choices(system: System) -> dict[tuple[int, int], int]:
    """Map (question, condition) to the highest choice number of the system's answers."""
    rows = system.answers.order_by().values_list("question", "condition")
    return {(question, under): last for question, under, last in rows.annotate(Max("choice"))}


def edited_condition(study: Study, before: Condition) -> Condition:
    """Return the condition of an edited text, with the answer's deviations but no prompt."""
    special = deviations(before.filters, before.wording)
    return condition(
        study,
        scenario=Answer.Scenario.NONE,
        filters={name: value for name, value in special.items() if name in (*FILTERS, LABELS)},
        wording={name: value for name, value in special.items() if name in WORDING},
    )


def _answer(system: System, under: Condition, choice: int, revision: Revision) -> Answer:
    before = revision.sheet.answer
    return Answer(
        study_id=system.study_id,
        question_id=before.question_id,
        system=system,
        condition=under,
        scenario=under.scenario,
        choice=choice,
        argument_list_id=before.argument_list_id,
        text=revision.text,
        text_sha256=revision.text_sha256,
        revision=revision,
    )
