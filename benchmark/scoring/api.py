"""Scoring rounds and score sheets in the REST API."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from benchmark.scoring.forms import ScoringRoundForm
from benchmark.scoring.models import ScoreSheet, ScoringItem, ScoringRound
from cqa_site.api.base import FormInput, ReadSerializer, StudyViews, public_id
from cqa_site.people.models import Rater
from cqa_site.rounds.api import (
    ItemSerializer,
    PersonSerializer,
    QualificationInput,
    RoundApi,
    RoundSerializer,
    round_views,
)
from cqa_site.web.rest.queries import TrueFalseFilter


class ScoringRoundInput(FormInput):
    """Answers and settings of a round; omitted fields keep their default or current value."""

    form = ScoringRoundForm
    # If omitted, the study's default rubric.
    rubric = serializers.UUIDField(required=False)


class ScoringRoundSerializer(RoundSerializer):
    """Recipe and progress of a round: ``done`` of ``wanted`` sheets."""

    form = ScoringRoundForm
    other_conditions = serializers.IntegerField(source="recipe.other_conditions", default=0)
    found = serializers.IntegerField(source="recipe.found")
    answers = serializers.IntegerField(source="size")

    class Meta:
        model = ScoringRound
        fields = [*RoundSerializer.Meta.fields, "other_conditions", "found", "answers"]


class ScoringItemSerializer(ItemSerializer):
    """One answer in a round; examples have a key and need no sheets."""

    id = public_id("answer")

    class Meta:
        model = ScoringItem
        fields = ["id", *ItemSerializer.Meta.fields, "probability"]


class ScorerSerializer(PersonSerializer):
    """Progress of one person in a round; ``id`` is the id of the rater."""

    unable = serializers.IntegerField(source="figures.unable", read_only=True)
    mean = serializers.FloatField(source="figures.mean", read_only=True, allow_null=True)


ROUNDS = round_views(
    RoundApi(
        plan=ScoringRoundInput,
        decision=QualificationInput,
        shown=ScoringRoundSerializer,
        item=ScoringItemSerializer,
        person=ScorerSerializer,
        related=("rubric",),
    ),
    "round_id",
)


SHOWN_STATES = (ScoreSheet.State.SUBMITTED, ScoreSheet.State.UNSCORED, ScoreSheet.State.VOID)


class SheetSerializer(ReadSerializer):
    """One sheet; ``points`` omits criteria that could not be judged; they do not count as 0."""

    answer = public_id("answer")
    condition = serializers.UUIDField(source="answer.condition.public_id")
    condition_name = serializers.CharField(source="answer.condition.name")
    rubric = public_id("rubric")
    rater = public_id("rater")
    rater_kind = serializers.ChoiceField(source="rater.kind", choices=Rater.Kind.choices)
    scoring_round = public_id("round", allow_null=True, default=None)
    run = public_id("run", allow_null=True, default=None)

    class Meta:
        model = ScoreSheet
        fields = [
            "id", "answer", "condition", "condition_name", "rubric", "rater", "rater_kind",
            "scoring_round", "run", "source", "position", "replicate", "state", "reason", "total",
            "maximum", "points", "unable", "notes", "comment", "off_scale", "given",
            "is_consolidated", "is_extra", "known", "is_example", "submitted_at",
        ]  # fmt: skip


class SheetFilter(filters.FilterSet):
    rubric = filters.UUIDFilter(field_name="rubric__public_id")
    rater = filters.UUIDFilter(field_name="rater__public_id")
    rater_kind = filters.ChoiceFilter(field_name="rater__kind", choices=Rater.Kind.choices)
    answer = filters.UUIDFilter(field_name="answer__public_id")
    condition = filters.UUIDFilter(field_name="answer__condition__public_id")
    is_plain = TrueFalseFilter(field_name="answer__condition__is_plain")
    state = filters.ChoiceFilter(choices=[(choice.value, choice.label) for choice in SHOWN_STATES])
    source = filters.CharFilter(max_length=255)


class ScoreSheetViews(StudyViews):
    """Submitted, unscored and void sheets, without drafts."""

    serializer_class = SheetSerializer
    filterset_class = SheetFilter

    def rows(self) -> QuerySet[Any]:
        """Return the rows in creation order."""
        related = ("answer__condition", "rubric", "rater", "round", "run")
        return (
            self.study.score_sheets.filter(state__in=SHOWN_STATES)
            .select_related(*related)
            .defer("answer__text", "rubric__content")
            .order_by("pk")
        )
