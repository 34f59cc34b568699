"""People's count sheets of a study, from rounds and from files."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters

from argsum.counting.models import CountSheet
from argsum.counting.reports.sheets import SHOWN, Asked, shown_sheets
from cqa_site.api.views import StudyViews

from .bodies import CountSheetSerializer


class CountSheetFilter(filters.FilterSet):
    """Sheets by round, rater, set, dataset, file and outcome."""

    counting_round = filters.UUIDFilter(field_name="round__public_id")
    rater = filters.UUIDFilter(field_name="rater__public_id")
    set = filters.UUIDFilter(field_name="summary_set__public_id")
    dataset = filters.UUIDFilter(field_name="summary_set__cell__dataset__public_id")
    state = filters.ChoiceFilter(choices=[(each.value, each.label) for each in SHOWN])
    source = filters.CharFilter(max_length=255)


class CountSheetViews(StudyViews):
    """Submitted and void sheets; drafts are nobody's counts yet."""

    queryset = CountSheet.objects.none()
    serializer_class = CountSheetSerializer
    filterset_class = CountSheetFilter

    def rows(self) -> QuerySet[Any]:
        """In the order in which they were made."""
        return shown_sheets(self.study, Asked())
