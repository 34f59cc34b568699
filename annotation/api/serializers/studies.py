"""Comparisons, sentences and guidelines of a study."""

from rest_framework import serializers

from annotation.models import Argument, ArgumentOrigin, Comparison, Guideline
from cqa_site.api.serializers import ReadSerializer, public_id


class ComparisonSerializer(ReadSerializer):
    """Two objects in the order given."""

    class Meta:
        model = Comparison
        fields = ["id", "object1", "object2", "created_at"]


class OriginSerializer(serializers.ModelSerializer):
    """How an argument was found; ``favours`` is the object a CAM service puts it under."""

    class Meta:
        model = ArgumentOrigin
        fields = ["kind", "source", "favours", "score", "added_at"]
        read_only_fields = fields


class ArgumentSerializer(ReadSerializer):
    """One sentence of a comparison."""

    comparison = public_id("comparison")
    object1 = serializers.CharField(source="comparison.object1", read_only=True)
    object2 = serializers.CharField(source="comparison.object2", read_only=True)
    origin = OriginSerializer(read_only=True, allow_null=True, default=None)

    class Meta:
        model = Argument
        fields = [
            "id",
            "comparison",
            "object1",
            "object2",
            "text",
            "source_url",
            "external_id",
            "origin",
            "created_at",
        ]


class LevelSerializer(serializers.Serializer):
    """One label of the scale."""

    value = serializers.IntegerField(min_value=0, max_value=9)
    name = serializers.CharField(max_length=60)
    meaning = serializers.CharField(max_length=500, allow_blank=True, default="")
    example = serializers.CharField(max_length=500, allow_blank=True, default="")


class GuidelineSerializer(ReadSerializer):
    """One version of the instructions and the label scale."""

    levels = LevelSerializer(many=True, read_only=True)

    class Meta:
        model = Guideline
        fields = ["id", "number", "title", "body", "levels", "frozen_at", "created_at"]
