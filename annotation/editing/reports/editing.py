"""Who edits what in a round, and under which name a reader may know whom."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from annotation.editing.models import EditingRound, EditingSheet, KeptText, Revision, RoundComment
from cqa_site.people.models import Study, User
from cqa_site.rounds.progress import count_of

SUBMITTED = Q(submitted_at__isnull=False)


def expert_name(number: int) -> str:
    """A name for other experts that says nothing about the person."""
    return _("Expert %d") % number


def expert_numbers(editing_round: EditingRound) -> dict[Any, int]:
    """Key of each editor of the round → number from 1 on, always the same."""
    editors = editing_round.places.order_by("pk").values_list("rater__user", flat=True)
    return {editor: number for number, editor in enumerate(editors, 1)}


def calibration_answers(editing_round: EditingRound) -> QuerySet[EditingSheet]:
    """One sheet for each calibration answer, with how many experts submitted it and comments."""
    same = EditingSheet.objects.filter(
        round=editing_round, answer=OuterRef("answer"), is_calibration=True
    )
    first = same.order_by("pk").values("pk")[:1]
    comments = RoundComment.objects.filter(editing_round=editing_round, answer=OuterRef("answer"))
    return (
        editing_round.sheets.filter(is_calibration=True, pk=Subquery(first))
        .select_related("answer__question__comparison")
        .annotate(
            submitted=count_of(same.filter(SUBMITTED), "answer"),
            comments=count_of(comments, "answer"),
        )
        .order_by("answer__question__comparison__object1", "answer__question", "answer")
    )


def sheets_with_revisions(editing_round: EditingRound) -> QuerySet[EditingSheet]:
    """Every sheet of the round with its number of revisions, expert by expert."""
    revisions = Revision.objects.filter(sheet=OuterRef("pk"))
    return (
        editing_round.sheets.select_related("rater__user", "answer__question__comparison")
        .defer("submitted_text", "answer__text")
        .annotate(revision_count=count_of(revisions, "sheet"))
        .order_by("rater", "place")
    )


def desk_of(user: User, study: Study) -> QuerySet[EditingSheet]:
    """The person's own sheets of rounds that were opened, running rounds first."""
    waiting = KeptText.objects.filter(sheet=OuterRef("pk"))
    return (
        EditingSheet.objects.filter(study=study, rater__user=user)
        .exclude(round__state=EditingRound.State.DRAFT)
        .select_related("round", "answer__question__comparison")
        .defer("submitted_text", "answer__text")
        .annotate(has_kept=Exists(waiting))
        .order_by("-round__state", "-round__opened_at", "round", "place")
    )
