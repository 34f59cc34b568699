"""What is sent about endpoints, prompts and runs, and what comes back about all but runs."""

from typing import Any, ClassVar

from django import forms
from rest_framework import serializers

from cqa_site.api.form_bodies import FormInput
from cqa_site.api.inputs import Input
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.judging.parameters import TOKEN_LIMITS
from cqa_site.judging.prompts import LONGEST_PART
from cqa_site.runs.actions.endpoints import FIELDS
from cqa_site.runs.forms.endpoints import MILLION, MOST_MONEY
from cqa_site.runs.forms.plan import PlanForm
from cqa_site.runs.kinds import prompt_kinds
from cqa_site.runs.models import Endpoint, Job, PromptVersion

LARGEST_INTEGER = 2**31 - 1
LARGEST_CAP = MOST_MONEY * MILLION
MOST_REASONS = 50


class EndpointInput(Input):
    """A server and model; what is left out keeps its default, or its value on a change.

    ``key`` can be written and never read. Left out or empty it stays as it is; another
    origin in ``base_url`` clears it.
    """

    name = serializers.CharField(max_length=120)
    base_url = serializers.CharField(max_length=500)
    model = serializers.CharField(max_length=200)
    key = serializers.CharField(max_length=2_000, allow_blank=True, required=False)
    price_in = serializers.DecimalField(12, 6, min_value=0, required=False)
    price_out = serializers.DecimalField(12, 6, min_value=0, required=False)
    max_in_flight = serializers.IntegerField(min_value=1, max_value=512, required=False)
    requests_per_minute = serializers.IntegerField(
        min_value=1, max_value=LARGEST_INTEGER, allow_null=True, required=False
    )
    tokens_per_minute = serializers.IntegerField(
        min_value=1, max_value=LARGEST_INTEGER, allow_null=True, required=False
    )
    deadline_seconds = serializers.IntegerField(min_value=1, max_value=600, required=False)
    extra_params = serializers.DictField(required=False)


class PromptTextInput(Input):
    """Name, texts and note of a version that no run has used; what is left out stays."""

    name = serializers.CharField(max_length=120)
    system = serializers.CharField(max_length=LONGEST_PART, allow_blank=True, default="")
    user = serializers.CharField(max_length=LONGEST_PART)
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class PromptInput(PromptTextInput):
    """The next version of one kind of prompt."""

    kind = serializers.ChoiceField(list(prompt_kinds()))


class PreviewInput(Input):
    """Which item to show, by default the first; other texts than those of the version.

    The item is an argument for a judge's prompt and a question for a scenario's.
    """

    item = serializers.UUIDField(required=False)
    system = serializers.CharField(max_length=LONGEST_PART, allow_blank=True, required=False)
    user = serializers.CharField(max_length=LONGEST_PART, required=False)


class PlanInput(FormInput):
    """What every kind of run asks for; what is left out is as the form of the page offers it."""

    form: ClassVar[type[forms.Form]] = PlanForm
    left_out: ClassVar[tuple[str, ...]] = ("cap", "webhook_sealed")
    most_chosen = 200
    extra = serializers.DictField(required=False)
    cap_micro = serializers.IntegerField(
        min_value=0, max_value=LARGEST_CAP, allow_null=True, required=False
    )


class LimitsInput(Input):
    """What can change while a run goes on; null takes a limit away."""

    cap_micro = serializers.IntegerField(min_value=0, max_value=LARGEST_CAP, allow_null=True)
    ceiling = serializers.IntegerField(min_value=1, max_value=512, allow_null=True)


class CorrectionInput(Input):
    """What a run sends otherwise, whose endpoint refuses a parameter.

    ``leave_out`` names parameters (``response_format`` for the JSON schema), ``values`` gives
    others another value; a token limit can only shrink. An empty body takes what is suggested.
    """

    leave_out = serializers.ListField(
        child=serializers.CharField(max_length=100), max_length=MOST_REASONS, required=False
    )
    token_parameter = serializers.ChoiceField(TOKEN_LIMITS, required=False)
    values = serializers.DictField(required=False)


class RetryInput(Input):
    """Which unscored requests are asked again, by reason; none named means all."""

    reasons = serializers.ListField(
        child=serializers.CharField(max_length=40), max_length=MOST_REASONS, default=list
    )


class CapabilitySerializer(serializers.Serializer[Any]):
    """What a probe found out about one ability of a server, and from what."""

    works = serializers.BooleanField()
    evidence = serializers.CharField(default="")
    refused = serializers.BooleanField(
        default=False, help_text="Asking for it was refused, not just ignored."
    )
    parameter = serializers.CharField(
        default="", help_text="Of the token limit: the name under which it is sent."
    )


class EndpointSerializer(ReadSerializer):
    """A server and model; of the key only whether there is one, and its last characters."""

    origin = serializers.CharField(
        read_only=True, help_text="Scheme, host and port: what a key belongs to."
    )
    has_key = serializers.BooleanField(read_only=True)
    last4 = serializers.CharField(source="key_last4", read_only=True)
    extra_params = serializers.DictField(read_only=True)
    capabilities = serializers.DictField(child=CapabilitySerializer(), read_only=True)

    class Meta:
        model = Endpoint
        fields = [
            "id",
            "kind",
            *FIELDS,
            "origin",
            "has_key",
            "last4",
            "capabilities",
            "probed_at",
            "is_archived",
            "created_at",
        ]


class PromptSerializer(ReadSerializer):
    """A prompt version without its texts; frozen from its first run on."""

    created_by = public_id("created_by", allow_null=True, default=None)

    class Meta:
        model = PromptVersion
        fields = [
            "id",
            "kind",
            "number",
            "name",
            "note",
            "sha256",
            "frozen_at",
            "created_by",
            "created_at",
        ]


class PromptDetailSerializer(PromptSerializer):
    """A prompt version with its texts."""

    class Meta:
        model = PromptVersion
        fields = [*PromptSerializer.Meta.fields, "system", "user"]


class MessageSerializer(serializers.Serializer[Any]):
    """One chat message."""

    role = serializers.CharField()
    content = serializers.CharField()


class PreviewSerializer(serializers.Serializer[Any]):
    """What would leave for some arguments or questions, and what was noticed about the texts."""

    items = serializers.ListField(child=serializers.UUIDField())
    messages = MessageSerializer(many=True)
    tokens = serializers.IntegerField(help_text="An estimate that leans upwards.")
    flags = serializers.ListField(child=serializers.CharField())


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
