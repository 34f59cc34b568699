"""Bodies about counting rounds and count sheets: what is sent and what comes back."""

from rest_framework import serializers

from annotation.editing.forms import LARGEST
from argsum.counting.actions.rounds import ALL, MOST_SETS, ONE
from argsum.counting.models import CountingItem, CountingRound, CountSheet
from argsum.datasets.models import Cell
from cqa_site.api.inputs import Input
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.rounds.forms.plan import LONGEST_INSTRUCTIONS
from cqa_site.rounds.qualifying import EXCLUSIONS


class CountingRoundInput(Input):
    """Which sets are judged how; what is left out keeps its default, or its value."""

    name = serializers.CharField(max_length=120)
    dataset = serializers.UUIDField(required=False, allow_null=True)
    split = serializers.ChoiceField(Cell.Split.choices, required=False, allow_blank=True)
    systems = serializers.ListField(
        child=serializers.CharField(max_length=120), max_length=500, required=False
    )
    setting = serializers.CharField(max_length=200, required=False, allow_blank=True)
    per_cell = serializers.ChoiceField([ONE, ALL], required=False)
    size = serializers.IntegerField(
        min_value=1, max_value=MOST_SETS, required=False, allow_null=True
    )
    leave_out_used = serializers.BooleanField(required=False)
    raters = serializers.IntegerField(min_value=1, max_value=20, required=False)
    repeat_share = serializers.FloatField(min_value=0, max_value=0.5, required=False)
    lease_minutes = serializers.IntegerField(min_value=5, max_value=1440, required=False)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST, required=False)
    instructions = serializers.CharField(
        max_length=LONGEST_INSTRUCTIONS, required=False, allow_blank=True
    )


class CounterInput(Input):
    """What is decided about one person of a round, and why."""

    decision = serializers.ChoiceField(list(EXCLUSIONS))
    reason = serializers.CharField(max_length=300, required=False, allow_blank=True)


class CountingRoundSerializer(ReadSerializer):
    """How a round was drawn, and how far it is: ``done`` of ``wanted`` sheets."""

    dataset = serializers.UUIDField(
        source="recipe.dataset", default=None, read_only=True, allow_null=True
    )
    split = serializers.CharField(source="recipe.split", default="", read_only=True)
    systems = serializers.ListField(
        source="recipe.systems", child=serializers.CharField(), default=list, read_only=True
    )
    setting = serializers.CharField(source="recipe.setting", default="", read_only=True)
    per_cell = serializers.CharField(source="recipe.per_cell", default="", read_only=True)
    size = serializers.IntegerField(
        source="recipe.size", default=None, read_only=True, allow_null=True
    )
    leave_out_used = serializers.BooleanField(
        source="recipe.leave_out_used", default=False, read_only=True
    )
    found = serializers.IntegerField(
        source="recipe.found", allow_null=True, default=None, read_only=True
    )
    sets = serializers.IntegerField(source="size", read_only=True)
    wanted = serializers.IntegerField(read_only=True)
    done = serializers.IntegerField(read_only=True)

    class Meta:
        model = CountingRound
        fields = [
            "id",
            "name",
            "state",
            "dataset",
            "split",
            "systems",
            "setting",
            "per_cell",
            "size",
            "leave_out_used",
            "found",
            "raters",
            "repeat_share",
            "lease_minutes",
            "seed",
            "instructions",
            "sets",
            "wanted",
            "done",
            "created_at",
            "opened_at",
            "closed_at",
        ]


class CountingItemSerializer(ReadSerializer):
    """One set of a round; ``id`` is the set's."""

    id = public_id("summary_set")
    cell = public_id("summary_set.cell")
    system = serializers.CharField(source="summary_set.system", read_only=True)
    setting = serializers.CharField(source="summary_set.setting", read_only=True)
    wanted = serializers.IntegerField(read_only=True)
    done = serializers.IntegerField(read_only=True)

    class Meta:
        model = CountingItem
        fields = ["id", "position", "cell", "system", "setting", "wanted", "done"]


class CounterSerializer(serializers.Serializer):
    """What one person has done in a round; ``id`` is the rater's."""

    id = serializers.UUIDField(source="rater.public_id", read_only=True)
    name = serializers.CharField(source="rater.pseudonym", read_only=True)
    sheets = serializers.IntegerField(read_only=True)
    repeats = serializers.IntegerField(read_only=True)
    extras = serializers.IntegerField(read_only=True)
    begun = serializers.IntegerField(read_only=True)
    unsure = serializers.IntegerField(source="figures.unsure", read_only=True)
    coverage = serializers.FloatField(source="figures.coverage", read_only=True, allow_null=True)
    redundancy = serializers.FloatField(
        source="figures.redundancy", read_only=True, allow_null=True
    )
    minutes = serializers.IntegerField(read_only=True)
    last_at = serializers.DateTimeField(read_only=True, allow_null=True)
    excluded_at = serializers.DateTimeField(
        source="place.excluded_at", read_only=True, allow_null=True
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
