"""Votes, raters, final labels, decisions."""

from rest_framework import serializers

from annotation.models import Adjudication, Assignment, FinalLabel, Rater
from annotation.reports.export_columns import FINAL_PATHS

from .base import ReadSerializer, SentenceSerializer, public_id


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


class RaterSerializer(ReadSerializer):
    """A rater in one campaign, under a pseudonym."""

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
        ]
        read_only_fields = fields
