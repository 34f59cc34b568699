"""REST API for guidelines, label rounds and their items."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.labelling.actions import rounds
from annotation.labelling.actions.blocks import retire_item
from annotation.labelling.actions.rounds import save_version
from annotation.labelling.forms import LabelRoundForm
from annotation.labelling.models import Guideline, Item, LabelRound, ScaleNotValid
from cqa_site.api.base import FormInput, Input, ReadSerializer, Request, StudyViews, public_id
from cqa_site.rounds.api import RoundApi, RoundSerializer, round_views
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.web.rest.queries import TrueFalseFilter, conflict_on, invalid_on


class SentenceSerializer(serializers.ModelSerializer):
    """A row about one argument, with its id and sentence."""

    argument = public_id("argument")
    object1 = serializers.CharField(source="argument.comparison.object1", read_only=True)
    object2 = serializers.CharField(source="argument.comparison.object2", read_only=True)
    text = serializers.CharField(source="argument.text", read_only=True)

    class Meta:
        fields = ["argument", "object1", "object2", "text"]


class LabelRoundSerializer(RoundSerializer):
    """One label round with all settings; ``done`` of ``wanted`` votes have been submitted."""

    form = LabelRoundForm

    class Meta:
        model = LabelRound
        fields = [*RoundSerializer.Meta.fields, "origin", "aggregator"]


class LabelItemSerializer(SentenceSerializer):
    """An argument in a round; ``control_label`` makes it a control item."""

    item_id = serializers.CharField(source="external_id", read_only=True)

    class Meta:
        model = Item
        fields = [
            "item_id",
            *SentenceSerializer.Meta.fields,
            "rank",
            "control_label",
            "is_retired",
        ]
        read_only_fields = fields


class LevelSerializer(serializers.Serializer):
    """One level of the label scale."""

    value = serializers.IntegerField(min_value=0, max_value=9)
    name = serializers.CharField(max_length=60)
    meaning = serializers.CharField(max_length=500, allow_blank=True, default="")
    example = serializers.CharField(max_length=500, allow_blank=True, default="")


class GuidelineSerializer(ReadSerializer):
    """One version of the instructions and the label scale."""

    levels = LevelSerializer(many=True)

    class Meta:
        model = Guideline
        fields = ["id", "number", "title", "body", "levels", "frozen_at", "created_at"]


MAX_ARGUMENTS = 10_000


class GuidelineInput(Input):
    """A new version of the instructions and the label scale."""

    title = serializers.CharField(max_length=120)
    body = serializers.CharField(max_length=100_000)
    levels = LevelSerializer(many=True)


class LabelRoundInput(FormInput):
    """Settings of a draft; omitted fields get their defaults, or keep their values in a change."""

    form = LabelRoundForm
    # By default the study's newest guideline.
    guideline = serializers.UUIDField(required=False)


class ItemsInput(Input):
    """Arguments that become ordinary items of a draft or a running round."""

    arguments = serializers.ListField(
        child=serializers.UUIDField(), min_length=1, max_length=MAX_ARGUMENTS
    )


class AddedSerializer(serializers.Serializer):
    """Number of new items."""

    added = serializers.IntegerField()


class RetireInput(Input):
    """An ordinary item of a running round, and whether it is retired."""

    item_id = serializers.CharField(max_length=200)
    is_retired = serializers.BooleanField()


class ControlInput(Input):
    """An item of a draft and its known label; null makes it an ordinary item again."""

    item_id = serializers.CharField(max_length=200)
    label = serializers.IntegerField(min_value=0, max_value=9, allow_null=True)


class LabelRoundFilter(filters.FilterSet):
    state = filters.ChoiceFilter(choices=LabelRound.State.choices)
    origin = filters.ChoiceFilter(choices=LabelRound.Origin.choices)


class ItemFilter(filters.FilterSet):
    is_control = TrueFalseFilter(field_name="control_label", lookup_expr="isnull", exclude=True)
    argument = filters.UUIDFilter(field_name="argument__public_id")
    comparison = filters.UUIDFilter(field_name="argument__comparison__public_id")


ROUNDS = round_views(
    RoundApi(
        plan=LabelRoundInput,
        shown=LabelRoundSerializer,
        related=("guideline",),
        filters=LabelRoundFilter,
    ),
    "label_round_id",
)


class LabelRoundViews(ROUNDS.part):  # type: ignore[name-defined]
    """Views below ``label-rounds/<label_round_id>/``."""

    @property
    def label_round(self) -> LabelRound:
        """Return the round in the URL."""
        return self.round


class GuidelineViews(StudyViews):
    """Versions of the guideline."""

    serializer_class = GuidelineSerializer

    def rows(self) -> QuerySet:
        """List versions, newest first."""
        return self.study.guidelines.all()

    @extend_schema(request=GuidelineInput, responses={201: GuidelineSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Create the next version."""
        data = self.read(GuidelineInput)
        with invalid_on("levels", ScaleNotValid):
            version = save_version(study=self.study, actor=request.user, **data)
        return self.shown(version, 201)


class ItemViews(LabelRoundViews):
    """Items of a round, including control items."""

    serializer_class = LabelItemSerializer
    filterset_class = ItemFilter

    def rows(self) -> QuerySet:
        """List items in the order they were added."""
        return self.label_round.items.select_related("argument__comparison").order_by("pk")

    @extend_schema(request=ItemsInput, responses={201: AddedSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add arguments as ordinary items; existing items do not change."""
        wanted = list(dict.fromkeys(self.read(ItemsInput)["arguments"]))
        known = keys_of(wanted, self.study.arguments.all())
        if len(known) < len(wanted):
            raise ValidationError(
                {"arguments": ["Some of these are not arguments of this study."]}
            )
        with conflict_on(RoundNotReady):
            added = rounds.add_items(
                label_round=self.label_round, argument_ids=[known[key] for key in wanted]
            )
        return Response({"added": added}, status=201)

    @extend_schema(request=ControlInput, responses=LabelItemSerializer)
    def control(self, request: Request, **kwargs: Any) -> Response:
        """Make an item of a draft a control item with a known label, or an ordinary item."""
        data = self.read(ControlInput)
        item = self._item(data["item_id"])
        with conflict_on(RoundNotReady):
            rounds.set_control(label_round=self.label_round, item=item, label=data["label"])
        return self.shown(self.get_queryset().get(pk=item.pk))

    @extend_schema(request=RetireInput, responses=LabelItemSerializer)
    def retire(self, request: Request, **kwargs: Any) -> Response:
        """Retire an ordinary item of a running round, or restore it."""
        data = self.read(RetireInput)
        item = self._item(data["item_id"])
        with conflict_on(RoundNotReady):
            retire_item(
                label_round=self.label_round,
                item=item,
                is_retired=data["is_retired"],
                actor=request.user,
            )
        return self.shown(self.get_queryset().get(pk=item.pk))

    def _item(self, item_id: str) -> Item:
        item = self.get_queryset().filter(external_id=item_id).first()
        if item is None:
            raise ValidationError({"item_id": ["No such item in this round."]})
        return item


def keys_of(ids: list[uuid.UUID], rows: QuerySet) -> dict[uuid.UUID, int]:
    """Return the keys of rows with these public ids, in batches small enough for any database."""
    keys: dict[uuid.UUID, int] = {}
    for start in range(0, len(ids), 500):
        piece = rows.filter(public_id__in=ids[start : start + 500])
        keys.update(piece.values_list("public_id", "pk"))
    return keys
