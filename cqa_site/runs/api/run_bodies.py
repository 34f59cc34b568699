"""Responses about runs, their requests and replies, which are evidence and never change.

Money is in millionths of a unit (``_micro``), and times are in seconds.
"""

from typing import Any

from rest_framework import serializers

from cqa_site.api.base import DataSerializer, ReadSerializer, public_id
from cqa_site.runs.api.bodies import MessageSerializer
from cqa_site.runs.kinds import KINDS
from cqa_site.runs.models import Attempt, Call, ProviderBatch, Reply, Run
from cqa_site.runs.progress import RunProgress


class KindDetailSerializer(ReadSerializer):
    """The common fields, and the additional ``parts`` of each kind."""

    parts: tuple[str, ...]

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the common fields, followed by the fields of the kinds."""
        fields = super().get_fields()
        for kind in KINDS.values():
            for part in self.parts:
                fields |= getattr(kind.told(), part)().get_fields()
        return fields


class EstimateSerializer(serializers.Serializer[Any]):
    """The cost of a run, estimated from a sample if it has too many requests."""

    requests = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost_micro = serializers.IntegerField(help_text="Requests sent once, replies at their limit.")
    most_micro = serializers.IntegerField(help_text="With all repeats and paid retries.")
    is_sampled = serializers.BooleanField()
    passes_cap = serializers.BooleanField()


class RunSerializer(KindDetailSerializer):
    """A run in a list."""

    parts: tuple[str, ...] = ("run",)

    endpoint = public_id("endpoint")
    prompt = public_id("prompt")
    model = serializers.CharField(source="spec.model")
    done = serializers.IntegerField()
    unscored = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    spent_micro = serializers.IntegerField(source="budget.spent_micro")
    cap_micro = serializers.IntegerField(source="budget.cap_micro", allow_null=True)
    created_by = public_id("created_by", allow_null=True, default=None)

    class Meta:
        model = Run
        fields = [
            "id", "number", "kind", "name", "endpoint", "prompt", "model", "mode", "state",
            "pause_reason", "planned", "done", "unscored", "cancelled", "spent_micro", "cap_micro",
            "ceiling", "created_by", "created_at", "started_at", "ended_at",
        ]  # fmt: skip


class ProgressSerializer(DataSerializer):
    """The progress of a run; `limit` is the current maximum number of requests in flight."""

    shows = RunProgress
    ended = serializers.IntegerField()
    share = serializers.FloatField(help_text="Share of the planned requests that ended.")
    coverage = serializers.FloatField(help_text="Share of the planned requests with a value.")
    opens_in = serializers.FloatField(help_text="Seconds until requests can be sent again.")
    last_failure = serializers.CharField(
        help_text="Why no requests are sent if the endpoint did not respond; otherwise empty."
    )


class BatchSerializer(ReadSerializer):
    """A file of requests at the provider's batch service."""

    class Meta:
        model = ProviderBatch
        fields = ["id", "state", "remote_status", "message", "created_at"]


class RunDetailSerializer(RunSerializer):
    """A run with its progress, its pre-flight, and everything that determines its requests."""

    parts = ("run", "run_detail")
    message = serializers.CharField(help_text="The state in words.")
    planning_error = serializers.CharField(
        help_text="Why a draft could not be prepared; otherwise empty."
    )
    progress = ProgressSerializer()
    spec = serializers.DictField()
    params = serializers.DictField(
        help_text="The parameters in use: those of the plan or of the newest correction."
    )
    amendments = serializers.ListField(
        child=serializers.DictField(), help_text="Corrections, oldest first."
    )
    estimate = serializers.DictField()
    preflight = serializers.DictField()
    flags = serializers.DictField()
    batches = BatchSerializer(many=True)

    class Meta:
        model = Run
        fields = [
            *RunSerializer.Meta.fields, "message", "planning_error", "progress", "spec",
            "spec_hash", "params", "amendments", "estimate", "preflight", "flags", "webhook_url",
            "batches",
        ]  # fmt: skip


class CallSerializer(KindDetailSerializer):
    """One request in a run, with the arguments to judge or the question to answer."""

    parts: tuple[str, ...] = ("call",)

    class Meta:
        model = Call
        fields = [
            "id", "position", "replicate", "is_canary", "state", "reason", "tries", "format_tries",
            "throttles", "losses", "token_limit", "tokens_estimated", "finished_at",
        ]  # fmt: skip


class ReplySerializer(ReadSerializer):
    """The endpoint's reply without the full response body."""

    class Meta:
        model = Reply
        fields = [
            "id", "text", "finish_reason", "refusal", "model", "fingerprint", "request_id",
            "tokens_in", "tokens_out", "tokens_cached", "milliseconds", "at",
        ]  # fmt: skip


class WholeReplySerializer(ReplySerializer):
    """The endpoint's reply with the verbatim response body."""

    class Meta:
        model = Reply
        fields = [*ReplySerializer.Meta.fields, "body"]


class AttemptSerializer(serializers.ModelSerializer[Attempt]):
    """One attempt to send a request; ``unusable`` is the reason why its reply has no value.

    ``amendment`` is the number of earlier corrections of the run's parameters.
    """

    number = serializers.IntegerField(source="fence", read_only=True)
    reply = WholeReplySerializer(read_only=True, allow_null=True)

    class Meta:
        model = Attempt
        fields = [
            "number", "amendment", "outcome", "failure", "unusable", "status", "message",
            "cost_micro", "milliseconds", "opened_at", "closed_at", "reply",
        ]  # fmt: skip
        read_only_fields = fields


class CallReplySerializer(serializers.ModelSerializer[Attempt]):
    """One reply in a run, with its request."""

    call = public_id("call")
    replicate = serializers.IntegerField(source="call.replicate", read_only=True)
    number = serializers.IntegerField(source="fence", read_only=True)
    reply = ReplySerializer(read_only=True)

    class Meta:
        model = Attempt
        fields = [
            "call", "replicate", "number", "amendment", "outcome", "unusable", "cost_micro",
            "reply",
        ]  # fmt: skip
        read_only_fields = fields


class RequestTextSerializer(serializers.Serializer[Any]):
    """A request rebuilt from the stored data; ``is_same`` means that it equals the original."""

    messages = MessageSerializer(many=True, source="request.messages")
    params = serializers.DictField(source="request.params")
    schema = serializers.DictField(source="request.schema", allow_null=True)
    tokens = serializers.IntegerField()
    flags = serializers.ListField(child=serializers.CharField())
    is_same = serializers.BooleanField()


class CallDetailSerializer(CallSerializer):
    """One request with its exact text and all attempts, replies and labels."""

    parts = ("call", "call_detail")
    asked = RequestTextSerializer(allow_null=True)
    attempts = AttemptSerializer(many=True)

    class Meta:
        model = Call
        fields = [*CallSerializer.Meta.fields, "asked", "attempts"]
