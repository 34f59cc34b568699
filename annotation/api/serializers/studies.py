"""The person behind a token, studies and what they hold."""

from rest_framework import serializers

from annotation.models import Argument, ArgumentOrigin, Comparison, Guideline
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.people.models import ApiToken, Membership, Study, User
from cqa_site.runs.models import Job


class TokenSerializer(ReadSerializer):
    """The token of this very request, without its secret."""

    class Meta:
        model = ApiToken
        fields = ["id", "name", "scope", "last_four", "created_at", "expires_at"]


class MeSerializer(ReadSerializer):
    """The person behind the token."""

    token = TokenSerializer(read_only=True)

    class Meta:
        model = User
        fields = ["id", "email", "name", "token"]


class StudyNameSerializer(serializers.ModelSerializer):
    """What every member may know of a study."""

    id = public_id("study")
    name = serializers.CharField(source="study.name", read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "role"]
        read_only_fields = fields


class StudySerializer(ReadSerializer):
    """A study as its researchers see it."""

    class Meta:
        model = Study
        fields = ["id", "name", "description", "is_demo", "created_at"]


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


class JobSerializer(ReadSerializer):
    """One piece of background work."""

    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "state",
            "done",
            "total",
            "note",
            "error",
            "created_at",
            "finished_at",
        ]
