"""Bodies about counting rounds and count sheets: what is sent and what comes back."""

from rest_framework import serializers

from argsum.counting.forms.rounds import RoundForm
from argsum.counting.models import CountingItem, CountingRound, CountSheet
from cqa_site.api.form_bodies import FormInput
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.rounds.api.bodies import ItemSerializer, PersonSerializer, RoundSerializer


class CountingRoundInput(FormInput):
    """Which sets are judged how; what is left out keeps its default, or its value."""

    form = RoundForm


class CountingRoundSerializer(RoundSerializer):
    """How a round was drawn, and how far it is: ``done`` of ``wanted`` sheets."""

    form = RoundForm
    found = serializers.IntegerField(
        source="recipe.found", allow_null=True, default=None, read_only=True
    )
    sets = serializers.IntegerField(source="size", read_only=True)

    class Meta:
        model = CountingRound
        fields = [*RoundSerializer.Meta.fields, "found", "sets"]


class CountingItemSerializer(ItemSerializer):
    """One set of a round; ``id`` is the set's."""

    id = public_id("summary_set")
    cell = public_id("summary_set.cell")
    system = serializers.CharField(source="summary_set.system", read_only=True)
    setting = serializers.CharField(source="summary_set.setting", read_only=True)

    class Meta:
        model = CountingItem
        fields = ["id", *ItemSerializer.Meta.fields, "cell", "system", "setting"]


class CounterSerializer(PersonSerializer):
    """What one person has done in a round; ``id`` is the rater's."""

    unsure = serializers.IntegerField(source="figures.unsure", read_only=True)
    coverage = serializers.FloatField(source="figures.coverage", read_only=True, allow_null=True)
    redundancy = serializers.FloatField(
        source="figures.redundancy", read_only=True, allow_null=True
    )


class CountSheetSerializer(ReadSerializer):
    """One sheet; a count or share of null is missing, never 0."""

    set = public_id("summary_set")
    cell = public_id("summary_set.cell")
    system = serializers.CharField(source="summary_set.system", read_only=True)
    setting = serializers.CharField(source="summary_set.setting", read_only=True)
    rater = public_id("rater")
    counting_round = public_id("round", allow_null=True, default=None)
    marks = serializers.JSONField(read_only=True)

    class Meta:
        model = CountSheet
        fields = [
            "id",
            "set",
            "cell",
            "system",
            "setting",
            "rater",
            "counting_round",
            "source",
            "position",
            "replicate",
            "state",
            "is_extra",
            "references",
            "summaries",
            "covered",
            "covered_is_typed",
            "covered_is_unsure",
            "unique",
            "unique_is_typed",
            "unique_is_unsure",
            "coverage",
            "redundancy",
            "marks",
            "comment",
            "submitted_at",
        ]
