"""Query parameters of lists of editing rounds, their tasks and discussions; others are refused."""

from django.db.models import QuerySet
from django_filters import rest_framework as filters

from annotation.editing.models import EditingRound, EditingSheet
from cqa_site.rounds.progress import TO_DO
from cqa_site.web.rest.strict_filters import TrueFalseFilter


class EditingRoundFilter(filters.FilterSet):
    """Editing rounds by state."""

    state = filters.ChoiceFilter(choices=EditingRound.State.choices)


class EditingTaskFilter(filters.FilterSet):
    """Tasks of one expert, about one answer, in one state, for calibration or not."""

    editor = filters.UUIDFilter(field_name="rater__user__public_id")
    answer = filters.UUIDFilter(field_name="answer__public_id")
    state = filters.ChoiceFilter(choices=EditingSheet.Progress.choices, method="in_state")
    is_calibration = TrueFalseFilter()

    def in_state(self, sheets: QuerySet, name: str, value: str) -> QuerySet:
        """A change after submitting makes a task one to do again."""
        return sheets.filter(TO_DO if value == EditingSheet.Progress.OPEN else ~TO_DO)


class RevisionFilter(filters.FilterSet):
    """Revisions of one task, expert or answer, of calibration answers or not."""

    task = filters.UUIDFilter(field_name="sheet__public_id")
    editor = filters.UUIDFilter(field_name="sheet__rater__user__public_id")
    answer = filters.UUIDFilter(field_name="sheet__answer__public_id")
    is_calibration = TrueFalseFilter(field_name="sheet__is_calibration")


class RoundCommentFilter(filters.FilterSet):
    """Comments on one answer."""

    answer = filters.UUIDFilter(field_name="answer__public_id")
