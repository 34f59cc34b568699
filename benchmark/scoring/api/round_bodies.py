"""Bodies about scoring rounds: what is sent and what comes back."""

from rest_framework import serializers

from benchmark.scoring.forms.scoring import LONGEST_NOTE, RoundForm
from benchmark.scoring.models.rounds import ScoringItem, ScoringRound
from cqa_site.api.form_bodies import FormInput
from cqa_site.api.inputs import Input
from cqa_site.api.serializers import public_id
from cqa_site.rounds.api.bodies import ItemSerializer, PersonSerializer, RoundSerializer


class ScoringRoundInput(FormInput):
    """Which answers are scored how; what is left out keeps its default, or its value."""

    form = RoundForm
    # Without one, the study's.
    rubric = serializers.UUIDField(required=False)


class ExampleInput(Input):
    """The key of an example; points of null take the example out of the round."""

    answer = serializers.UUIDField()
    points = serializers.DictField(child=serializers.IntegerField(), allow_null=True)
    notes = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST_NOTE), required=False
    )


class ScoringRoundSerializer(RoundSerializer):
    """How a round was drawn, and how far it is: ``done`` of ``wanted`` sheets."""

    form = RoundForm
    other_conditions = serializers.IntegerField(
        source="recipe.other_conditions", default=0, read_only=True
    )
    found = serializers.IntegerField(source="recipe.found", read_only=True)
    answers = serializers.IntegerField(source="size", read_only=True)

    class Meta:
        model = ScoringRound
        fields = [*RoundSerializer.Meta.fields, "other_conditions", "found", "answers"]


class ScoringItemSerializer(ItemSerializer):
    """One answer of a round; examples have a key and want no sheets."""

    id = public_id("answer")

    class Meta:
        model = ScoringItem
        fields = ["id", *ItemSerializer.Meta.fields, "probability", "key_points", "key_notes"]


class ScorerSerializer(PersonSerializer):
    """What one person has done in a round; ``id`` is the rater's."""

    unable = serializers.IntegerField(source="figures.unable", read_only=True)
    mean = serializers.FloatField(source="figures.mean", read_only=True, allow_null=True)
    score = serializers.FloatField(source="place.score", read_only=True, allow_null=True)
    is_passed = serializers.BooleanField(source="place.is_passed", read_only=True)
