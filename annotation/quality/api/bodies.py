"""What the interface shows of annotators, control items and exclusions."""

from rest_framework import serializers

from annotation.labelling.models.campaigns import Exclusion
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.people.models import Rater


class RaterSerializer(ReadSerializer):
    """A rater in one round, under a pseudonym."""

    pseudonym = serializers.CharField(read_only=True)
    votes = serializers.IntegerField(read_only=True)
    control_votes = serializers.IntegerField(read_only=True)
    control_correct = serializers.IntegerField(read_only=True)
    is_excluded = serializers.BooleanField(read_only=True)
    exclusion_reason = serializers.CharField(read_only=True)

    class Meta:
        model = Rater
        fields = [
            "id",
            "pseudonym",
            "kind",
            "votes",
            "control_votes",
            "control_correct",
            "is_excluded",
            "exclusion_reason",
        ]


class AnnotatorSerializer(serializers.Serializer):
    """One line of the quality table; the interval is the exact 95 % one (Clopper–Pearson)."""

    id = public_id("rater")
    pseudonym = serializers.CharField(source="rater.pseudonym")
    kind = serializers.ChoiceField(Rater.Kind.choices, source="rater.kind")
    votes = serializers.IntegerField()
    extras = serializers.IntegerField()
    control_votes = serializers.IntegerField(source="controls.n")
    control_correct = serializers.IntegerField(source="controls.right")
    control_accuracy = serializers.FloatField(source="controls.accuracy", allow_null=True)
    control_interval = serializers.ListField(
        child=serializers.FloatField(), source="controls.interval", allow_null=True
    )
    is_low = serializers.BooleanField(help_text="The whole interval is below the mark.")
    agreement = serializers.FloatField(allow_null=True, help_text="With the other raters.")
    median_seconds = serializers.FloatField(allow_null=True)
    is_hasty = serializers.BooleanField()
    is_one_value = serializers.BooleanField()
    is_stopped = serializers.BooleanField()
    is_excluded = serializers.BooleanField()
    exclusion_reason = serializers.CharField(source="place.exclusion_reason", default="")


class OwnLabelsSerializer(serializers.Serializer):
    """How often one label was given by one annotator, and among all counted votes."""

    label = serializers.IntegerField()  # type: ignore[assignment]  # a field of this name
    own = serializers.IntegerField(source="first")
    everybody = serializers.IntegerField(source="second")


class TimesSerializer(serializers.Serializer):
    """How many labels took that many active seconds."""

    seconds = serializers.CharField()
    count = serializers.IntegerField()


class AnnotatorDetailSerializer(serializers.Serializer):
    """One annotator beside everybody."""

    annotator = AnnotatorSerializer()
    labels = OwnLabelsSerializer(many=True)
    times = TimesSerializer(many=True)


class ControlSerializer(serializers.Serializer):
    """A control item; contested if the majority of the crowd or of experts says otherwise."""

    item_id = serializers.CharField(source="item.external_id")
    argument = public_id("item.argument")
    object1 = serializers.CharField(source="item.argument.comparison.object1")
    object2 = serializers.CharField(source="item.argument.comparison.object2")
    text = serializers.CharField(source="item.argument.text")
    control_label = serializers.IntegerField(source="item.control_label")
    imported_control_label = serializers.IntegerField(
        source="item.imported_control_label", allow_null=True
    )
    is_retired = serializers.BooleanField(source="item.is_retired")
    votes = serializers.IntegerField()
    right = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    crowd_label = serializers.IntegerField(allow_null=True)
    expert_label = serializers.IntegerField(allow_null=True)
    experts = serializers.IntegerField()
    is_contested = serializers.BooleanField()


class ControlLabelsSerializer(serializers.Serializer):
    """How often one label was given by the crowd and by experts."""

    label = serializers.IntegerField()  # type: ignore[assignment]  # a field of this name
    crowd = serializers.IntegerField(source="first")
    experts = serializers.IntegerField(source="second")


class ControlDetailSerializer(serializers.Serializer):
    """The control items on one argument, and how its labels are spread."""

    controls = ControlSerializer(many=True)
    labels = ControlLabelsSerializer(many=True)
    excluded_votes = serializers.IntegerField(source="excluded")


class ExcludedSerializer(serializers.Serializer):
    """How many annotators were excluded, and the action that undoes it; null if nobody was."""

    excluded = serializers.IntegerField()
    id = serializers.UUIDField(allow_null=True)


class ExclusionSerializer(ReadSerializer):
    """Everybody below a control accuracy left out at once."""

    still_excluded = serializers.IntegerField(read_only=True)

    class Meta:
        model = Exclusion
        fields = ["id", "below", "rule", "reason", "still_excluded", "made_at", "undone_at"]
        read_only_fields = fields


class RemainingSerializer(serializers.Serializer):
    """The votes on ordinary items that remain; ``labels`` counts items by majority label."""

    raters = serializers.IntegerField()
    votes = serializers.IntegerField()
    without = serializers.IntegerField(help_text="Ordinary items without a vote.")
    ties = serializers.IntegerField()
    alpha = serializers.FloatField(allow_null=True, help_text="Krippendorff's, ordinal.")
    pairable = serializers.IntegerField(help_text="Items with two votes or more, behind alpha.")
    labels = serializers.ListField(child=serializers.IntegerField())


class CurvePointSerializer(RemainingSerializer):
    """What remains at one threshold."""

    below = serializers.FloatField()


class ExclusionPreviewSerializer(serializers.Serializer):
    """What excluding would leave."""

    excluded = serializers.IntegerField()
    now = RemainingSerializer()
    then = RemainingSerializer()
    curve = CurvePointSerializer(many=True)
