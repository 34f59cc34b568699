"""How far an editing round is, and whose versions a reader may see under which name."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from annotation.models import (
    DraftConflict,
    EditingRound,
    EditingTask,
    Revision,
    RoundComment,
)
from cqa_site.people.models import Study, User

SUBMITTED = Q(submitted_at__isnull=False)
BEGUN = Q(draft_version__gt=0)


@dataclass(frozen=True)
class ExpertProgress:
    """What one expert has done in a round."""

    editor: User
    number: int
    calibration: int
    calibration_submitted: int
    individual: int
    individual_submitted: int
    begun: int
    revisions: int
    active_seconds: int
    last_saved_at: datetime | None

    @property
    def name(self) -> str:
        """How other experts know this one."""
        return expert_name(self.number)

    @property
    def active_minutes(self) -> int:
        """Time at work, rounded."""
        return round(self.active_seconds / 60)

    @property
    def submitted(self) -> int:
        """Answers with at least one revision."""
        return self.calibration_submitted + self.individual_submitted

    @property
    def answers(self) -> int:
        """Answers on the desk."""
        return self.calibration + self.individual


def expert_name(number: int) -> str:
    """A name for other experts that says nothing about the person."""
    return _("Expert %d") % number


def expert_numbers(editing_round: EditingRound) -> dict[int, int]:
    """Key of each editor of the round → number from 1 on, always the same."""
    editors = editing_round.tasks.order_by("editor").values_list("editor", flat=True).distinct()
    return {editor: number for number, editor in enumerate(editors, 1)}


def progress_of(editing_round: EditingRound) -> list[ExpertProgress]:
    """One row per expert, in the order of their numbers: three queries however many tasks."""
    rows = (
        editing_round.tasks.order_by("editor")
        .values("editor")
        .annotate(
            calibration=Count("pk", filter=Q(is_calibration=True)),
            calibration_submitted=Count("pk", filter=SUBMITTED & Q(is_calibration=True)),
            individual=Count("pk", filter=Q(is_calibration=False)),
            individual_submitted=Count("pk", filter=SUBMITTED & Q(is_calibration=False)),
            begun=Count("pk", filter=BEGUN & ~SUBMITTED),
            active_seconds=Sum("active_seconds"),
            last_saved_at=Max("draft_saved_at"),
        )
    )
    found = list(rows)
    people = User.objects.in_bulk([row["editor"] for row in found])
    revisions = dict(
        Revision.objects.filter(task__editing_round=editing_round)
        .order_by()
        .values_list("task__editor")
        .annotate(Count("pk"))
    )
    return [
        ExpertProgress(
            **row | {"editor": people[row["editor"]]},
            number=number,
            revisions=revisions.get(row["editor"], 0),
        )
        for number, row in enumerate(found, 1)
    ]


def rounds_with_counts(study: Study) -> QuerySet[EditingRound]:
    """Rounds of a study, newest first, each with its tasks, submitted tasks and experts."""
    return study.editing_rounds.annotate(
        answers=Count("tasks__answer", distinct=True),
        tasks_all=Count("tasks", distinct=True),
        tasks_done=Count("tasks", filter=Q(tasks__submitted_at__isnull=False), distinct=True),
        experts=Count("tasks__editor", distinct=True),
    ).order_by("-created_at", "-pk")


def calibration_answers(editing_round: EditingRound) -> QuerySet[EditingTask]:
    """One task for each calibration answer, with how many experts submitted it and comments."""
    same = EditingTask.objects.filter(
        editing_round=editing_round, answer=OuterRef("answer"), is_calibration=True
    )
    first = same.order_by("pk").values("pk")[:1]
    submitted = same.filter(SUBMITTED).order_by().values("answer").annotate(n=Count("pk"))
    comments = (
        RoundComment.objects.filter(editing_round=editing_round, answer=OuterRef("answer"))
        .order_by()
        .values("answer")
        .annotate(n=Count("pk"))
    )
    return (
        editing_round.tasks.filter(is_calibration=True, pk=Subquery(first))
        .select_related("answer__question__comparison")
        .annotate(submitted=Coalesce(Subquery(submitted.values("n")), 0))
        .annotate(comments=Coalesce(Subquery(comments.values("n")), 0))
        .order_by("answer__question__comparison__object1", "answer__question", "answer")
    )


def tasks_with_revisions(editing_round: EditingRound) -> QuerySet[EditingTask]:
    """Every task of the round with its number of revisions, for the researchers' table."""
    revisions = (
        Revision.objects.filter(task=OuterRef("pk"))
        .order_by()
        .values("task")
        .annotate(n=Count("pk"))
    )
    return (
        editing_round.tasks.select_related("editor", "answer__question__comparison")
        .defer("draft", "answer__text")
        .annotate(revision_count=Coalesce(Subquery(revisions.values("n")), 0))
        .order_by("editor", "position")
    )


def desk_of(user: User, study: Study) -> QuerySet[EditingTask]:
    """The person's own tasks of rounds that were opened, running rounds first."""
    waiting = DraftConflict.objects.filter(task=OuterRef("pk"), settled_at__isnull=True)
    return (
        EditingTask.objects.filter(editor=user, editing_round__study=study)
        .exclude(editing_round__state=EditingRound.State.DRAFT)
        .select_related("editing_round", "answer__question__comparison")
        .defer("draft", "answer__text")
        .annotate(has_conflict=Exists(waiting))
        .order_by(
            "-editing_round__state", "-editing_round__opened_at", "editing_round_id", "position"
        )
    )


def waiting_on_desk(user: User, study: Study) -> int:
    """How many answers of open rounds the person has not submitted, or has changed since."""
    return EditingTask.objects.filter(
        editor=user,
        state=EditingTask.State.OPEN,
        editing_round__study=study,
        editing_round__state=EditingRound.State.OPEN,
    ).count()
