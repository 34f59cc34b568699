"""Score sheets of a study, whatever they came from."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.api.views import StudyViews
from cqa_site.people.models import Rater
from cqa_site.web.rest.strict_filters import TrueFalseFilter

SHOWN = (ScoreSheet.State.SUBMITTED, ScoreSheet.State.UNSCORED, ScoreSheet.State.VOID)


class SheetSerializer(ReadSerializer):
    """One sheet; ``points`` has no criterion that could not be judged, and that is never a 0."""

    answer = public_id("answer")
    condition = serializers.UUIDField(source="answer.condition.public_id", read_only=True)
    condition_name = serializers.CharField(source="answer.condition.name", read_only=True)
    rubric = public_id("rubric")
    rater = public_id("rater")
    rater_kind = serializers.ChoiceField(source="rater.kind", choices=Rater.Kind.choices)
    scoring_round = public_id("round", allow_null=True, default=None)
    run = public_id("run", allow_null=True, default=None)

    class Meta:
        model = ScoreSheet
        fields = [
            "id",
            "answer",
            "condition",
            "condition_name",
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
            "given",
            "is_consolidated",
            "is_extra",
            "is_example",
            "submitted_at",
        ]


class SheetFilter(filters.FilterSet):
    """Sheets by rubric, rater, answer, condition and outcome."""

    rubric = filters.UUIDFilter(field_name="rubric__public_id")
    rater = filters.UUIDFilter(field_name="rater__public_id")
    rater_kind = filters.ChoiceFilter(field_name="rater__kind", choices=Rater.Kind.choices)
    answer = filters.UUIDFilter(field_name="answer__public_id")
    condition = filters.UUIDFilter(field_name="answer__condition__public_id")
    is_plain = TrueFalseFilter(field_name="answer__condition__is_plain")
    state = filters.ChoiceFilter(choices=[(each.value, each.label) for each in SHOWN])
    source = filters.CharFilter(max_length=255)


class ScoreSheetViews(StudyViews):
    """Submitted, unscored and void sheets; drafts are nobody's points yet."""

    queryset = ScoreSheet.objects.none()
    serializer_class = SheetSerializer
    filterset_class = SheetFilter

    def rows(self) -> QuerySet[Any]:
        """In the order in which they were made."""
        related = ("answer__condition", "rubric", "rater", "round", "run")
        return (
            self.study.score_sheets.filter(state__in=SHOWN)
            .select_related(*related)
            .defer("answer__text", "rubric__content")
            .order_by("pk")
        )
