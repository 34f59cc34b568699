"""Bodies and filters for endpoints, prompts, jobs and runs, except responses about runs."""

import json
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.db.models import Manager, QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from cqa_site.api.base import FormInput, Input, ReadSerializer, public_id
from cqa_site.judging.endpoint_responses import TOKEN_LIMITS
from cqa_site.judging.prompts import LONGEST_PART
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.endpoints import FIELDS
from cqa_site.runs.forms.endpoints import MILLION, MOST_MONEY
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.kinds import KINDS, prompt_kinds
from cqa_site.runs.models import Attempt, Call, Endpoint, Job, PromptVersion, Run
from cqa_site.web.rest.queries import FilterSet, TrueFalseFilter

LARGEST_INTEGER = 2**31 - 1
LARGEST_CAP = MOST_MONEY * MILLION
MOST_REASONS = 50


class EndpointInput(Input):
    """A server and model; omitted fields get their default or keep their current value.

    ``key`` can be written but not read. If it is omitted or empty, the key does not change; a new
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


class OfferInput(Input):
    """Whether all studies on the site may add the endpoint."""

    is_offered = serializers.BooleanField()


class AddInput(Input):
    """The offered endpoint to add."""

    offer = serializers.UUIDField()


class PromptTextInput(Input):
    """Name, texts and note of an unused version; omitted fields do not change."""

    name = serializers.CharField(max_length=120)
    system = serializers.CharField(max_length=LONGEST_PART, allow_blank=True, default="")
    user = serializers.CharField(max_length=LONGEST_PART)
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class PromptInput(PromptTextInput):
    """A new version of one kind of prompt."""

    kind = serializers.ChoiceField(list(prompt_kinds()))


class PreviewInput(Input):
    """The item to show (by default the first), and texts that replace those of the version.

    The item is an argument for a judge's prompt and a question for a scenario's prompt.
    """

    item = serializers.UUIDField(required=False)
    system = serializers.CharField(max_length=LONGEST_PART, allow_blank=True, required=False)
    user = serializers.CharField(max_length=LONGEST_PART, required=False)


class PlanInput(FormInput):
    """Fields of every kind of run; omitted fields have the defaults of the form on the page."""

    form: ClassVar[type[forms.Form]] = RunPlanForm
    left_out: ClassVar[tuple[str, ...]] = ("cap", "webhook_sealed")
    most_chosen = 200
    extra = serializers.DictField(required=False)
    cap_micro = serializers.IntegerField(
        min_value=0, max_value=LARGEST_CAP, allow_null=True, required=False
    )


class LimitsInput(Input):
    """Settings that can change while a run is active; null removes a limit."""

    cap_micro = serializers.IntegerField(min_value=0, max_value=LARGEST_CAP, allow_null=True)
    ceiling = serializers.IntegerField(min_value=1, max_value=512, allow_null=True)


class CorrectionInput(Input):
    """Changed parameters of a run, after a refused parameter or truncated replies.

    ``leave_out`` lists parameters (``response_format`` for the JSON schema), and ``values`` has
    new values; a token limit can only be lowered. An empty body accepts the suggestion. If replies
    were truncated, ``values`` contains a higher token limit, and nothing else can change.
    """

    leave_out = serializers.ListField(
        child=serializers.CharField(max_length=100), max_length=MOST_REASONS, required=False
    )
    token_parameter = serializers.ChoiceField(TOKEN_LIMITS, required=False)
    values = serializers.DictField(required=False)


class RetryInput(Input):
    """Which unscored requests to send again, by reason; an empty list means all of them."""

    reasons = serializers.ListField(
        child=serializers.CharField(max_length=40), max_length=MOST_REASONS, default=list
    )


class CapabilitySerializer(serializers.Serializer[Any]):
    """The result of a probe for one capability of a server, with its evidence."""

    works = serializers.BooleanField()
    evidence = serializers.CharField(default="")
    refused = serializers.BooleanField(
        default=False, help_text="The endpoint refused it instead of ignoring it."
    )
    parameter = serializers.CharField(
        default="", help_text="Name of the parameter that sends the token limit."
    )
    proposed = serializers.IntegerField(
        default=0, help_text="Token limit that a model needs if it reasons first; otherwise 0."
    )


class EndpointSerializer(ReadSerializer):
    """A server and model; the key is shown only as ``has_key`` and its last characters."""

    origin = serializers.CharField(help_text="Scheme, host and port that the key belongs to.")
    has_key = serializers.BooleanField()
    is_withdrawn = serializers.BooleanField(
        help_text="Whether the offer was withdrawn, so that no request can be sent."
    )
    last4 = serializers.CharField(source="key_last4")
    extra_params = serializers.DictField()
    capabilities = serializers.DictField(child=CapabilitySerializer())

    class Meta:
        model = Endpoint
        fields = [
            "id", "kind", *FIELDS, "origin", "has_key", "last4", "capabilities", "probed_at",
            "is_archived", "is_offered", "is_withdrawn", "created_at",
        ]  # fmt: skip


class OfferedSerializer(ReadSerializer):
    """An endpoint that another study offers, without its key or owner."""

    class Meta:
        model = Endpoint
        fields = ["id", "name", "model", "price_in", "price_out"]


class PromptSerializer(ReadSerializer):
    """A prompt version without its texts; it is frozen when its first run starts."""

    created_by = public_id("created_by", allow_null=True, default=None)

    class Meta:
        model = PromptVersion
        fields = [
            "id", "kind", "number", "name", "note", "sha256", "frozen_at", "created_by",
            "created_at",
        ]  # fmt: skip


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
    """The messages for some arguments or questions, and flags about the texts."""

    items = serializers.ListField(child=serializers.UUIDField())
    messages = MessageSerializer(many=True)
    tokens = serializers.IntegerField(help_text="A rough estimate, which tends to be too high.")
    flags = serializers.ListField(child=serializers.CharField())


class JobSerializer(ReadSerializer):
    """A background job."""

    class Meta:
        model = Job
        fields = [
            "id", "kind", "state", "done", "total", "note", "error", "created_at", "finished_at",
        ]  # fmt: skip


class JobFilter(FilterSet):
    kind = filters.CharFilter(max_length=40)
    state = filters.ChoiceFilter(choices=Job.State.choices)


class EndpointFilter(FilterSet):
    kind = filters.ChoiceFilter(choices=Endpoint.Kind.choices)
    is_archived = TrueFalseFilter()


class PromptFilter(FilterSet):
    kind = filters.ChoiceFilter(choices=lambda: [(kind, kind) for kind in prompt_kinds()])
    is_frozen = TrueFalseFilter(field_name="frozen_at", lookup_expr="isnull", exclude=True)


class RunFilter(FilterSet):
    kind = filters.CharFilter(max_length=40)
    state = filters.ChoiceFilter(choices=Run.State.choices)
    endpoint = filters.UUIDFilter(field_name="endpoint__public_id")
    prompt = filters.UUIDFilter(field_name="prompt__public_id")

    @classmethod
    def get_filters(cls) -> dict[str, filters.Filter]:
        """Return the filters of all kinds, followed by the common filters."""
        added = {
            name: filters.UUIDFilter(field_name=path)
            for kind in KINDS.values()
            for name, path in kind.filters.items()
        }
        return {**added, **super().get_filters()}


class CallFilter(FilterSet):
    state = filters.ChoiceFilter(choices=Call.State.choices)
    reason = filters.CharFilter(max_length=40)
    is_canary = TrueFalseFilter()


class ReplyFilter(FilterSet):
    call = filters.UUIDFilter(field_name="call__public_id")
    outcome = filters.ChoiceFilter(choices=Attempt.Outcome.choices)
    unusable = filters.CharFilter(max_length=20)


Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Start:
    """The request body for one kind of run, and the function that fills the form from it."""

    body: type[Input]
    form: Callable[[Study, User, Given], RunPlanForm]


def key_of(rows: Manager[Any] | QuerySet[Any], public_id: uuid.UUID) -> int:
    """Return the primary key of a row, or 0 if the row does not exist."""
    return rows.filter(public_id=public_id).values_list("pk", flat=True).first() or 0


def keys_of(rows: Manager[Any] | QuerySet[Any], public_ids: Iterable[uuid.UUID]) -> list[int]:
    """Return the primary keys of rows, or only 0 if any row does not exist."""
    wanted = set(public_ids)
    keys = list(rows.filter(public_id__in=wanted).values_list("pk", flat=True))
    return keys if len(keys) == len(wanted) else [0]


def as_typed(form: type[RunPlanForm], study: Study, body: Given) -> Given:
    """Convert the body to form input, with primary keys, JSON as text and money in units."""
    offered = {name: field.initial for name, field in form.base_fields.items()}
    body["endpoint"] = key_of(study.endpoints, body["endpoint"])
    body["prompt"] = key_of(study.prompt_versions, body["prompt"])
    return offered | plain(body)


def plain(body: Given) -> Given:
    """Convert JSON to text, and money to units."""
    body["extra"] = json.dumps(body.get("extra", {}))
    if (cap := body.pop("cap_micro", None)) is not None:
        body["cap"] = Decimal(cap) / MILLION
    return body
