"""The discussion of calibration answers: blind until the round closes."""

from django.utils.translation import gettext as _

from annotation.answers.models.answers import Answer
from annotation.editing.models import EditingRound, RoundComment
from cqa_site.people.models import User


class NotDiscussed(Exception):
    """Only calibration answers of an opened round are discussed."""


def add_comment(
    *, editing_round: EditingRound, answer: Answer, author: User, text: str
) -> RoundComment:
    """Add a word to the discussion of one calibration answer."""
    is_shared = editing_round.sheets.filter(answer=answer, is_calibration=True).exists()
    if not is_shared or editing_round.state == EditingRound.State.DRAFT:
        raise NotDiscussed(_("Only calibration answers of an opened round are discussed."))
    return RoundComment.objects.create(
        editing_round=editing_round, answer=answer, author=author, text=text
    )
