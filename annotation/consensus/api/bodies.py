"""What the interface shows of votes, final labels and decisions."""

from rest_framework import serializers

from annotation.consensus.models import Adjudication, Adoption, FinalLabel
from annotation.consensus.reports import FINAL_PATHS
from annotation.labelling.api.bodies import SentenceSerializer
from annotation.labelling.models.campaigns import Campaign
from annotation.labelling.models.votes import Assignment
from cqa_site.api.serializers import ReadSerializer, public_id


class ConsensusSerializer(ReadSerializer):
    """How votes become a label, and the ids of rounds whose labels overrule them."""

    id = None
    overridden_by: serializers.SlugRelatedField = serializers.SlugRelatedField(
        slug_field="public_id", many=True, read_only=True
    )

    class Meta:
        model = Campaign
        fields = ["aggregator", "overridden_by"]


class VoteSerializer(ReadSerializer):
    """One item served to one rater, and the answer."""

    item_id = serializers.CharField(source="item.external_id", read_only=True)
    argument = public_id("item.argument")
    control_label = serializers.IntegerField(
        source="item.control_label", read_only=True, allow_null=True
    )
    rater = public_id("rater")
    is_counted = serializers.BooleanField(read_only=True)

    class Meta:
        model = Assignment
        fields = [
            "id",
            "item_id",
            "argument",
            "control_label",
            "rater",
            "state",
            "label",
            "is_counted",
            "is_extra",
            "skip_reason",
            "is_flagged",
            "comment",
            "block",
            "position",
            "answered_at",
            "active_ms",
        ]


class FinalLabelSerializer(SentenceSerializer):
    """The label of one argument and where it came from."""

    class Meta:
        model = FinalLabel
        fields = [
            *SentenceSerializer.Meta.fields,
            *(path for path in FINAL_PATHS if "__" not in path),
            "methods_differ",
        ]
        read_only_fields = fields


class AdjudicationSerializer(SentenceSerializer):
    """An expert's word on one argument; superseded ones stay."""

    rater = public_id("rater")

    class Meta:
        model = Adjudication
        fields = [
            *SentenceSerializer.Meta.fields,
            "rater",
            "label",
            "comment",
            "source",
            "created_at",
            "superseded_at",
            "is_undone",
        ]
        read_only_fields = fields


class AdoptionSerializer(ReadSerializer):
    """Labels of one rater in another round that decide here."""

    label_round = public_id("source")
    label_round_name = serializers.CharField(source="source.name", read_only=True)
    rater = public_id("rater")
    rater_name = serializers.CharField(source="rater.described", read_only=True)

    class Meta:
        model = Adoption
        fields = [
            "id",
            "label_round",
            "label_round_name",
            "rater",
            "rater_name",
            "only_tied",
            "created_at",
            "withdrawn_at",
        ]
        read_only_fields = fields


class LabelChangeSerializer(serializers.Serializer):
    """How many sentences have a label now, and would have it then."""

    label = serializers.IntegerField()  # type: ignore[assignment]  # a field of this name
    now = serializers.IntegerField()
    then = serializers.IntegerField()


class AdoptionPreviewSerializer(serializers.Serializer):
    """What adopting would change."""

    labelled = serializers.IntegerField(help_text="Sentences here that the rater labelled.")
    decided = serializers.IntegerField(help_text="Sentences decided by adopted labels then only.")
    changed = serializers.IntegerField(help_text="Sentences with another final label then.")
    counts = LabelChangeSerializer(many=True)


class PreferredLabelsSerializer(serializers.Serializer):
    """The round whose final labels the study uses; null for each sentence's newest."""

    label_round = serializers.UUIDField(allow_null=True)
    name = serializers.CharField(allow_null=True)
