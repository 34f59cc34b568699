"""Endpoints for counting rounds, count sheets and counting runs."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from argsum.counting.forms import CountingRoundForm, CountingRunForm
from argsum.counting.models import CountingItem, CountingRound, CountSheet
from argsum.counting.reports import SHOWN_STATES, CountSheetQuery, shown_sheets
from cqa_site.api.base import FormInput, ReadSerializer, StudyViews, public_id
from cqa_site.people.models import Study, User
from cqa_site.rounds.api import (
    ItemSerializer,
    PersonSerializer,
    QualificationInput,
    RoundApi,
    RoundSerializer,
    round_views,
)
from cqa_site.runs.api.bodies import Given, PlanInput, Start, as_typed, key_of
from cqa_site.runs.forms.plan import RunPlanForm


class CountingRunInput(PlanInput):
    """A counting run with a language model, by default for all sets.

    The prompt defines what the model counts. By default it replies ten times for each set, at
    temperature 1.
    """

    form = CountingRunForm
    kind = serializers.ChoiceField(["counting"])


def _counting(study: Study, actor: User, data: Given) -> RunPlanForm:
    if wanted := data.pop("dataset", None):
        data["dataset"] = key_of(study.argument_datasets, wanted)
    data = as_typed(CountingRunForm, study, data)
    return CountingRunForm(data, study=study, actor=actor)


COUNTING = Start(CountingRunInput, _counting)


class CountingRoundInput(FormInput):
    """Sets and settings of the round; omitted fields keep their default or current value."""

    form = CountingRoundForm


class CountingRoundSerializer(RoundSerializer):
    """A round with its recipe and its progress: ``done`` of ``wanted`` sheets."""

    form = CountingRoundForm
    found = serializers.IntegerField(source="recipe.found", allow_null=True, default=None)
    sets = serializers.IntegerField(source="size")

    class Meta:
        model = CountingRound
        fields = [*RoundSerializer.Meta.fields, "found", "sets"]


class CountingItemSerializer(ItemSerializer):
    """One set of a round; ``id`` is the id of the set."""

    id = public_id("summary_set")
    cell = public_id("summary_set.cell")
    system = serializers.CharField(source="summary_set.system")
    setting = serializers.CharField(source="summary_set.setting")

    class Meta:
        model = CountingItem
        fields = ["id", *ItemSerializer.Meta.fields, "cell", "system", "setting"]


class CounterSerializer(PersonSerializer):
    """Progress of one person in a round; ``id`` is the id of the rater."""

    unsure = serializers.IntegerField(source="figures.unsure", read_only=True)
    coverage = serializers.FloatField(source="figures.coverage", read_only=True, allow_null=True)
    redundancy = serializers.FloatField(
        source="figures.redundancy", read_only=True, allow_null=True
    )


class CountSheetSerializer(ReadSerializer):
    """One sheet; null means that a count or share is missing, not that it is 0."""

    set = public_id("summary_set")
    cell = public_id("summary_set.cell")
    system = serializers.CharField(source="summary_set.system")
    setting = serializers.CharField(source="summary_set.setting")
    rater = public_id("rater")
    counting_round = public_id("round", allow_null=True, default=None)
    marks = serializers.JSONField()

    class Meta:
        model = CountSheet
        fields = [
            "id", "set", "cell", "system", "setting", "rater", "counting_round", "source",
            "position", "replicate", "state", "is_extra", "is_example", "known", "references",
            "summaries", "covered", "covered_is_typed", "covered_is_unsure", "unique",
            "unique_is_typed", "unique_is_unsure", "coverage", "redundancy", "marks", "comment",
            "submitted_at",
        ]  # fmt: skip


ROUNDS = round_views(
    RoundApi(
        plan=CountingRoundInput,
        decision=QualificationInput,
        shown=CountingRoundSerializer,
        item=CountingItemSerializer,
        person=CounterSerializer,
    ),
    "counting_id",
)


class CountSheetFilter(filters.FilterSet):
    counting_round = filters.UUIDFilter(field_name="round__public_id")
    rater = filters.UUIDFilter(field_name="rater__public_id")
    set = filters.UUIDFilter(field_name="summary_set__public_id")
    dataset = filters.UUIDFilter(field_name="summary_set__cell__dataset__public_id")
    state = filters.ChoiceFilter(choices=[(choice.value, choice.label) for choice in SHOWN_STATES])
    source = filters.CharFilter(max_length=255)


class CountSheetViews(StudyViews):
    """Submitted and void sheets; drafts do not count yet."""

    serializer_class = CountSheetSerializer
    filterset_class = CountSheetFilter

    def rows(self) -> QuerySet[Any]:
        """Return the rows in order of creation."""
        return shown_sheets(self.study, CountSheetQuery())
