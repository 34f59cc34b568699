"""Requests of a run, what came back, and the labels read from it: evidence, never changed."""

from rest_framework import serializers

from annotation.models import JudgeLabel
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.runs.api.bodies import MessageSerializer
from cqa_site.runs.models import Attempt, Call, Reply

from .base import SentenceSerializer


class CallSerializer(ReadSerializer):
    """One request of a run, with the arguments that it judges or the question it answers."""

    arguments = serializers.ListField(child=serializers.UUIDField(), read_only=True)
    question = serializers.UUIDField(read_only=True, allow_null=True)

    class Meta:
        model = Call
        fields = [
            "id",
            "position",
            "replicate",
            "arguments",
            "question",
            "is_canary",
            "state",
            "reason",
            "tries",
            "format_tries",
            "throttles",
            "losses",
            "token_limit",
            "tokens_estimated",
            "finished_at",
        ]


class ReplySerializer(ReadSerializer):
    """What the endpoint said, without the whole body."""

    class Meta:
        model = Reply
        fields = [
            "id",
            "text",
            "finish_reason",
            "refusal",
            "model",
            "fingerprint",
            "request_id",
            "tokens_in",
            "tokens_out",
            "tokens_cached",
            "milliseconds",
            "at",
        ]


class WholeReplySerializer(ReplySerializer):
    """What the endpoint said, verbatim."""

    class Meta:
        model = Reply
        fields = [*ReplySerializer.Meta.fields, "body"]


class AttemptSerializer(serializers.ModelSerializer):
    """One time a request left; ``unusable`` says why its reply gave no value.

    ``amendment`` is the number of corrections of the run's parameters before it.
    """

    number = serializers.IntegerField(source="fence", read_only=True)
    reply = WholeReplySerializer(read_only=True, allow_null=True)

    class Meta:
        model = Attempt
        fields = [
            "number",
            "amendment",
            "outcome",
            "failure",
            "unusable",
            "status",
            "message",
            "cost_micro",
            "milliseconds",
            "opened_at",
            "closed_at",
            "reply",
        ]
        read_only_fields = fields


class CallReplySerializer(serializers.ModelSerializer):
    """One reply of a run beside the request it answers."""

    call = public_id("call")
    replicate = serializers.IntegerField(source="call.replicate", read_only=True)
    number = serializers.IntegerField(source="fence", read_only=True)
    reply = ReplySerializer(read_only=True)

    class Meta:
        model = Attempt
        fields = [
            "call",
            "replicate",
            "number",
            "amendment",
            "outcome",
            "unusable",
            "cost_micro",
            "reply",
        ]
        read_only_fields = fields


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


class AskedSerializer(serializers.Serializer):
    """A request written again from what is stored now; ``is_same`` if it is what left."""

    messages = MessageSerializer(many=True, source="request.messages")
    params = serializers.DictField(source="request.params")
    schema = serializers.DictField(source="request.schema", allow_null=True)
    tokens = serializers.IntegerField()
    flags = serializers.ListField(child=serializers.CharField())
    is_same = serializers.BooleanField()


class CallDetailSerializer(CallSerializer):
    """One request with its exact text, every attempt, every reply and every label."""

    asked = AskedSerializer(read_only=True, allow_null=True)
    attempts = AttemptSerializer(many=True, read_only=True)
    labels = JudgeLabelSerializer(many=True, read_only=True)

    class Meta:
        model = Call
        fields = [*CallSerializer.Meta.fields, "asked", "attempts", "labels"]
