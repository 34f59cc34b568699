"""What this paper's kinds tell of a request: what it is about, and the labels read from it."""

from rest_framework import serializers

from annotation.models import JudgeLabel
from cqa_site.api.serializers import public_id

from .base import SentenceSerializer


class JudgeLabelSerializer(SentenceSerializer):
    """One argument with the judge's label, or the reason why there is none."""

    call = public_id("call", allow_null=True, default=None)

    class Meta:
        model = JudgeLabel
        fields = [
            *SentenceSerializer.Meta.fields,
            "replicate",
            "label",
            "reason",
            "rationale",
            "call",
            "at",
        ]
        read_only_fields = fields


class ArgumentsOfCall(serializers.Serializer):
    """The arguments that a request judges."""

    arguments = serializers.ListField(child=serializers.UUIDField(), read_only=True, default=list)


class QuestionOfCall(serializers.Serializer):
    """The question that a request asks a model to answer."""

    question = serializers.UUIDField(read_only=True, allow_null=True, default=None)


class LabelsOfCall(serializers.Serializer):
    """The labels read from a reply."""

    labels = JudgeLabelSerializer(many=True, read_only=True, default=list)
