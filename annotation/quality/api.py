"""REST API for annotators, control items and exclusions."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.reports import vote_table
from annotation.labelling.api import LabelRoundViews
from annotation.labelling.models import Assignment, Exclusion, Item
from annotation.quality import actions
from annotation.quality.reports.controls import (
    control_detail,
    controls,
    crowd_views,
    exclusion_curve,
    preview_exclusion,
)
from annotation.quality.reports.quality import annotator_detail, annotators, facts_of, state_of
from cqa_site.api.base import Input, NothingInput, ReadSerializer, ReasonInput, Request, public_id
from cqa_site.people.models import Rater
from cqa_site.rounds.api import SkipsSerializer
from cqa_site.rounds.progress import count_of
from cqa_site.web.rest.queries import Conflict, invalid_on


class RaterSerializer(SkipsSerializer, ReadSerializer):
    """A rater in one round, identified by a pseudonym."""

    rater_pk = "pk"
    pseudonym = serializers.CharField()
    votes = serializers.IntegerField()
    control_votes = serializers.IntegerField()
    control_correct = serializers.IntegerField()
    is_excluded = serializers.BooleanField()
    exclusion_reason = serializers.CharField()

    class Meta:
        model = Rater
        fields = [
            "id", "pseudonym", "kind", "votes", "control_votes", "control_correct", "is_excluded",
            "exclusion_reason", "skipped", "skipped_share", "is_skipping",
        ]  # fmt: skip


class AnnotatorSerializer(SkipsSerializer):
    """One row of the quality table, with the exact 95 % interval (Clopper–Pearson)."""

    rater_pk = "rater.pk"
    id = public_id("rater")
    pseudonym = serializers.CharField(source="rater.pseudonym")
    kind = serializers.ChoiceField(Rater.Kind.choices, source="rater.kind")
    votes = serializers.IntegerField()
    extras = serializers.IntegerField()
    control_votes = serializers.IntegerField(source="controls.n")
    control_correct = serializers.IntegerField(source="controls.right")
    control_accuracy = serializers.FloatField(source="controls.accuracy", allow_null=True)
    control_interval = serializers.ListField(
        child=serializers.FloatField(), source="controls.interval", allow_null=True
    )
    is_low = serializers.BooleanField(help_text="The whole interval is below the minimum.")
    fall_signalled_at = serializers.IntegerField(
        source="fall.signal",
        allow_null=True,
        help_text="Number of the control answer at which a fall in accuracy was signalled.",
    )
    agreement = serializers.FloatField(
        allow_null=True, help_text="Share of agreement with the other raters."
    )
    compared = serializers.IntegerField(help_text="Number of labels compared.")
    median_seconds = serializers.FloatField(allow_null=True)
    is_hasty = serializers.BooleanField()
    is_one_value = serializers.BooleanField()
    is_stopped = serializers.BooleanField()
    is_excluded = serializers.BooleanField()
    exclusion_reason = serializers.CharField(source="place.exclusion_reason", default="")


class OwnLabelsSerializer(serializers.Serializer):
    """Frequency of one label among an annotator's votes and among all counted votes."""

    label = serializers.IntegerField()  # type: ignore[assignment]  # a field of this name
    own = serializers.IntegerField(source="first")
    everybody = serializers.IntegerField(source="second")


class TimesSerializer(serializers.Serializer):
    """Number of labels in one bin of active seconds."""

    seconds = serializers.CharField()
    count = serializers.IntegerField()


class AnnotatorDetailSerializer(serializers.Serializer):
    """One annotator compared with all raters."""

    annotator = AnnotatorSerializer()
    labels = OwnLabelsSerializer(many=True)
    times = TimesSerializer(many=True)


class ControlSerializer(serializers.Serializer):
    """A control item; contested if the majority of the crowd or experts rejects its label."""

    item_id = serializers.CharField(source="item.external_id")
    argument = public_id("item.argument")
    object1 = serializers.CharField(source="item.argument.comparison.object1")
    object2 = serializers.CharField(source="item.argument.comparison.object2")
    text = serializers.CharField(source="item.argument.text")
    control_label = serializers.IntegerField(source="item.control_label")
    imported_control_label = serializers.IntegerField(
        source="item.imported_control_label", allow_null=True
    )
    is_retired = serializers.BooleanField(source="item.is_retired")
    votes = serializers.IntegerField()
    right = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    crowd_label = serializers.IntegerField(allow_null=True)
    expert_label = serializers.IntegerField(allow_null=True)
    experts = serializers.IntegerField()
    is_contested = serializers.BooleanField()


class ControlLabelsSerializer(serializers.Serializer):
    """Frequency of one label among the crowd's and the experts' labels."""

    label = serializers.IntegerField()  # type: ignore[assignment]  # a field of this name
    crowd = serializers.IntegerField(source="first")
    experts = serializers.IntegerField(source="second")


class ControlDetailSerializer(serializers.Serializer):
    """The control items for one argument, and the distribution of its labels."""

    controls = ControlSerializer(many=True)
    labels = ControlLabelsSerializer(many=True)
    excluded_votes = serializers.IntegerField(source="excluded")


class ExcludedSerializer(serializers.Serializer):
    """Number of excluded annotators, and the exclusion to undo; null if nobody was excluded."""

    excluded = serializers.IntegerField()
    id = serializers.UUIDField(allow_null=True)


class ExclusionSerializer(ReadSerializer):
    """Exclusion of all annotators below a control accuracy."""

    still_excluded = serializers.IntegerField()

    class Meta:
        model = Exclusion
        fields = ["id", "below", "rule", "reason", "still_excluded", "made_at", "undone_at"]
        read_only_fields = fields


class RemainingSerializer(serializers.Serializer):
    """Remaining votes on ordinary items; ``labels`` counts items by majority label."""

    raters = serializers.IntegerField()
    votes = serializers.IntegerField()
    without = serializers.IntegerField(help_text="Ordinary items without a vote.")
    ties = serializers.IntegerField()
    alpha = serializers.FloatField(allow_null=True, help_text="Krippendorff's alpha, ordinal.")
    pairable = serializers.IntegerField(help_text="Items with at least two votes, used for alpha.")
    labels = serializers.ListField(child=serializers.IntegerField())


class CurvePointSerializer(RemainingSerializer):
    """Remaining votes at one threshold."""

    below = serializers.FloatField()


class ExclusionPreviewSerializer(serializers.Serializer):
    """Votes that would remain after the exclusion."""

    excluded = serializers.IntegerField()
    now = RemainingSerializer()
    then = RemainingSerializer()
    curve = CurvePointSerializer(many=True)


class ControlChangeInput(Input):
    """A new known label for a control item (null retires the item), and the reason."""

    item_id = serializers.CharField(max_length=200)
    label = serializers.IntegerField(min_value=0, max_value=9, allow_null=True)
    reason = serializers.CharField(max_length=300)


class BelowInput(Input):
    """Control accuracy below which annotators are excluded; by default the round's minimum."""

    below = serializers.FloatField(min_value=0, max_value=1, required=False)
    rule = serializers.ChoiceField(Exclusion.Rule.choices, default=Exclusion.Rule.SURELY)


class ExcludeLowInput(BelowInput):
    """Control accuracy below which annotators are excluded, with the reason."""

    reason = serializers.CharField(max_length=300)


class RaterViews(LabelRoundViews):
    """Raters of a round, identified by pseudonyms."""

    serializer_class = RaterSerializer

    def rows(self) -> QuerySet:
        """List all raters who were ever served an item in the round, with their counts."""
        mine = self.label_round.assignments.filter(rater=OuterRef("pk"))
        place = self.label_round.places.filter(rater=OuterRef("pk"))
        answered = mine.filter(state=Assignment.State.ANSWERED)
        controls = answered.filter(item__control_label__isnull=False, item__is_retired=False)
        return (
            self.study.raters.filter(Exists(mine) | Exists(place))
            .annotate(
                votes=count_of(answered, "rater"),
                control_votes=count_of(controls, "rater"),
                control_correct=count_of(controls.filter(label=F("item__control_label")), "rater"),
                is_excluded=Exists(place.filter(excluded_at__isnull=False)),
                exclusion_reason=Coalesce(
                    Subquery(place.values("exclusion_reason")[:1]), Value("")
                ),
            )
            .order_by("pk")
        )

    @extend_schema(request=ReasonInput, responses=RaterSerializer)
    def exclude(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Leave the rater's labels out of every figure; this can be undone."""
        return self._decide(actions.exclude_rater, public_id)

    @extend_schema(request=ReasonInput, responses=RaterSerializer)
    def reinstate(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Count the rater's labels again."""
        return self._decide(actions.reinstate_rater, public_id)

    def _decide(self, decision: Callable[..., None], public_id: uuid.UUID) -> Response:
        rater = self.find_row(public_id)
        reason = self.read(ReasonInput)["reason"]
        decision(label_round=self.label_round, rater=rater, reason=reason, actor=self.request.user)
        return self.shown(self.get_queryset().get(pk=rater.pk))


class AnnotatorViews(LabelRoundViews):
    """Annotators with labels in the round, and their quality figures."""

    queryset = Rater.objects.none()
    serializer_class = AnnotatorSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List the rows of the quality table in order of first appearance."""
        votes = vote_table(self.label_round, exclude=False)
        return self.listed(annotators(self.label_round, facts_of(votes)))

    @extend_schema(responses=AnnotatorDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one annotator's control record, times, and labels compared with all raters."""
        rater = get_object_or_404(self.study.raters, public_id=public_id)
        detail = annotator_detail(self.label_round, rater)
        if detail is None:
            raise Http404
        times = [{"seconds": name, "count": count} for name, count, _percent in detail.times]
        payload = {"annotator": detail.annotator, "labels": detail.labels, "times": times}
        context = self.get_serializer_context()
        return Response(AnnotatorDetailSerializer(payload, context=context).data)

    @extend_schema(
        parameters=[
            OpenApiParameter("below", float, description="Default: the round's minimum."),
            OpenApiParameter("rule", str, enum=Exclusion.Rule.values),
        ],
        responses=ExclusionPreviewSerializer,
    )
    def preview_low(self, request: Request, **kwargs: Any) -> Response:
        """Preview the exclusion of all annotators below a control accuracy, with the curve."""
        serializer = BelowInput(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        state, threshold = state_of(self.label_round), self._threshold(serializer.validated_data)
        seen = preview_exclusion(self.label_round, **threshold, state=state)
        seen["curve"] = exclusion_curve(self.label_round, state=state)
        return Response(ExclusionPreviewSerializer(seen).data)

    @extend_schema(request=ExcludeLowInput, responses=ExcludedSerializer)
    def exclude_low(self, request: Request, **kwargs: Any) -> Response:
        """Exclude all annotators below a control accuracy, as one action that can be undone."""
        data = self.read(ExcludeLowInput)
        exclusion = actions.exclude_below(
            label_round=self.label_round,
            reason=data["reason"],
            actor=request.user,
            **self._threshold(data),
        )
        count = exclusion.places.count() if exclusion else 0
        payload = {"excluded": count, "id": exclusion.public_id if exclusion else None}
        return Response(ExcludedSerializer(payload).data)

    def _threshold(self, data: dict[str, Any]) -> dict[str, Any]:
        below = data.get("below", self.label_round.min_control_accuracy)
        return {"below": below, "rule": data["rule"]}


class ExclusionViews(LabelRoundViews):
    """Exclusions of all annotators below a control accuracy, including undone ones."""

    serializer_class = ExclusionSerializer

    def rows(self) -> QuerySet:
        """List exclusions, newest first, each with the number of raters still excluded."""
        exclusions = self.label_round.exclusions.annotate(still_excluded=Count("places"))
        # The count groups the rows, which drops the model's default ordering.
        return exclusions.order_by("-pk")

    @extend_schema(request=NothingInput, responses=ExclusionSerializer)
    def undo(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Reinstate the annotators excluded by this action; 409 if already undone."""
        self.read(NothingInput)
        row = self.find_row(public_id)
        if actions.undo_exclusion(exclusion=row, actor=request.user) is None:
            raise Conflict("This exclusion has already been undone.")
        return self.shown(self.get_queryset().get(pk=row.pk))


class ControlViews(LabelRoundViews):
    """Control items of a round, with labels from the crowd and the experts."""

    queryset = Item.objects.none()
    serializer_class = ControlSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List control items by share of correct votes, lowest first."""
        votes = vote_table(self.label_round, exclude=False, item__control_label__isnull=False)
        return self.listed(controls(self.label_round, crowd_views(votes)))

    @extend_schema(responses=ControlDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return an argument's control items, with labels from the crowd and the experts."""
        argument = get_object_or_404(self.study.arguments, public_id=public_id)
        detail = control_detail(self.label_round, argument.pk)
        if not detail.controls:
            raise Http404
        return Response(ControlDetailSerializer(detail).data)

    @extend_schema(request=ControlChangeInput, responses=ControlSerializer)
    def change(self, request: Request, **kwargs: Any) -> Response:
        """Change a control item's known label or retire the item, even in a running round.

        Control accuracies are updated immediately. A retired item is no longer served; a new label
        restores it.
        """
        data = self.read(ControlChangeInput)
        keyed = self.label_round.items.filter(control_label__isnull=False)
        item = keyed.filter(external_id=data.pop("item_id")).first()
        if item is None:
            raise ValidationError({"item_id": ["No such control item in this round."]})
        with invalid_on("label", actions.ControlNotValid):
            actions.replace_control_label(
                label_round=self.label_round, item=item, actor=request.user, **data
            )
        votes = vote_table(self.label_round, exclude=False, item=item.pk)
        (changed,) = controls(self.label_round, crowd_views(votes), pk=item.pk)
        return self.shown(changed)
