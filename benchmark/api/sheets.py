"""Score sheets of a study, whatever they came from."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from annotation.api.access import StudyViews
from annotation.api.serializers.base import ReadSerializer, public_id
from annotation.models import Rater
from benchmark.models import ScoreSheet

SHOWN = (ScoreSheet.State.SUBMITTED, ScoreSheet.State.UNSCORED, ScoreSheet.State.VOID)


class SheetSerializer(ReadSerializer):
    """One sheet; ``points`` has no criterion that could not be judged, and that is never a 0."""

    answer = public_id("answer")
    rubric = public_id("rubric")
    rater = public_id("rater")
    rater_kind = serializers.ChoiceField(source="rater.kind", choices=Rater.Kind.choices)
    scoring_round = public_id("scoring_round", allow_null=True, default=None)
    run = public_id("run", allow_null=True, default=None)

    class Meta:
        model = ScoreSheet
        fields = [
            "id",
            "answer",
            "rubric",
            "rater",
            "rater_kind",
            "scoring_round",
            "run",
            "source",
            "position",
            "replicate",
            "state",
            "reason",
            "total",
            "maximum",
            "points",
            "unable",
            "notes",
            "comment",
            "off_scale",
            "is_consolidated",
            "is_extra",
            "is_example",
            "submitted_at",
        ]


class SheetFilter(filters.FilterSet):
    """Sheets by rubric, rater, answer and outcome."""

    rubric = filters.UUIDFilter(field_name="rubric__public_id")
    rater = filters.UUIDFilter(field_name="rater__public_id")
    rater_kind = filters.ChoiceFilter(field_name="rater__kind", choices=Rater.Kind.choices)
    answer = filters.UUIDFilter(field_name="answer__public_id")
    state = filters.ChoiceFilter(choices=[(each.value, each.label) for each in SHOWN])
    source = filters.CharFilter(max_length=255)


class ScoreSheetViews(StudyViews):
    """Submitted, unscored and void sheets; drafts are nobody's points yet."""

    queryset = ScoreSheet.objects.none()
    serializer_class = SheetSerializer
    filterset_class = SheetFilter

    def rows(self) -> QuerySet[Any]:
        """In the order in which they were made."""
        related = ("answer", "rubric", "rater", "scoring_round", "run")
        return (
            self.study.score_sheets.filter(state__in=SHOWN)
            .select_related(*related)
            .defer("answer__text", "rubric__content")
            .order_by("pk")
        )
