"""REST API for votes, final labels, decisions and adoptions."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.actions import consensus, decisions
from annotation.consensus.actions.consensus import SourceNotValid, prefer_labels, set_consensus
from annotation.consensus.actions.decisions import LabelChange
from annotation.consensus.forms import AdoptForm
from annotation.consensus.models import Adjudication, Adoption, FinalLabel, PreferredLabels
from annotation.consensus.reports import FINAL_PATHS, counted_votes, label_source
from annotation.labelling.api import LabelRoundViews, SentenceSerializer
from annotation.labelling.models import Assignment, LabelRound, label_rounds_of
from cqa_site.api.base import (
    Input,
    NothingInput,
    ReadSerializer,
    Request,
    StudyViews,
    body_of,
    public_id,
)
from cqa_site.people.actions import rater_for
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.web.rest.queries import Conflict, TrueFalseFilter, conflict_on, invalid_on


class ConsensusSerializer(ReadSerializer):
    """Aggregation method, and the ids of rounds whose labels overrule votes."""

    id = None
    overridden_by: serializers.SlugRelatedField = serializers.SlugRelatedField(
        slug_field="public_id", many=True, read_only=True
    )

    class Meta:
        model = LabelRound
        fields = ["aggregator", "overridden_by"]


class VoteSerializer(ReadSerializer):
    """One item served to one rater, with the answer."""

    item_id = serializers.CharField(source="item.external_id")
    argument = public_id("item.argument")
    control_label = serializers.IntegerField(source="item.control_label", allow_null=True)
    rater = public_id("rater")
    is_counted = serializers.BooleanField()

    class Meta:
        model = Assignment
        fields = [
            "id", "item_id", "argument", "control_label", "rater", "state", "label", "is_counted",
            "is_extra", "skip_reason", "is_flagged", "comment", "block", "position", "answered_at",
            "active_ms",
        ]  # fmt: skip


class FinalLabelSerializer(SentenceSerializer):
    """The final label of one argument and its source."""

    class Meta:
        model = FinalLabel
        fields = [
            *SentenceSerializer.Meta.fields,
            *(path for path in FINAL_PATHS if "__" not in path),
            "methods_differ",
        ]
        read_only_fields = fields


class AdjudicationSerializer(SentenceSerializer):
    """An expert's decision on one argument; superseded decisions are kept."""

    rater = public_id("rater")

    class Meta:
        model = Adjudication
        fields = [
            *SentenceSerializer.Meta.fields, "rater", "label", "comment", "source", "created_at",
            "superseded_at", "is_undone",
        ]  # fmt: skip
        read_only_fields = fields


class AdoptionSerializer(ReadSerializer):
    """Labels of one rater in another round, adopted in this round."""

    label_round = public_id("source")
    label_round_name = serializers.CharField(source="source.name")
    rater = public_id("rater")
    rater_name = serializers.CharField(source="rater.described")

    class Meta:
        model = Adoption
        fields = [
            "id", "label_round", "label_round_name", "rater", "rater_name", "only_tied",
            "created_at", "withdrawn_at",
        ]  # fmt: skip


class AdoptionPreviewSerializer(serializers.Serializer):
    """Changes that an adoption would make."""

    labelled = serializers.IntegerField(
        help_text="Sentences in this round that the rater labelled."
    )
    decided = serializers.IntegerField(
        help_text="Sentences that only adopted labels would decide."
    )
    changed = serializers.IntegerField(help_text="Sentences whose final label would change.")
    counts = body_of(LabelChange)(many=True)


class PreferredLabelsSerializer(serializers.Serializer):
    """The round whose final labels the study uses; null means each sentence's newest label."""

    label_round = serializers.UUIDField(allow_null=True)
    name = serializers.CharField(allow_null=True)


MAX_SOURCES = 100


class AdjudicationInput(Input):
    """A decision on one argument in the round."""

    argument = serializers.UUIDField()
    label = serializers.IntegerField(min_value=0, max_value=9)
    comment = serializers.CharField(max_length=1_000, allow_blank=True, default="")
    known = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="`created_at` of the decision you last saw, null if there was no decision. 409 "
        "if another decision is current. If left out, your decision is replaced "
        "without this check.",
    )


class AdoptInput(Input):
    """The rater and the round whose labels are adopted."""

    label_round = serializers.UUIDField()
    rater = serializers.UUIDField()
    only_tied = serializers.BooleanField(default=True)


class ConsensusInput(Input):
    """Aggregation method, and the rounds whose labels overrule votes."""

    aggregator = serializers.ChoiceField(LabelRound.Aggregator.choices)
    overridden_by = serializers.ListField(child=serializers.UUIDField(), max_length=MAX_SOURCES)


class PreferredLabelsInput(Input):
    """The round whose final labels the study uses; null means each sentence's newest label."""

    label_round = serializers.UUIDField(allow_null=True)


class VoteFilter(filters.FilterSet):
    counted = TrueFalseFilter(
        field_name="is_counted", label="Whether the vote counts in the figures of the round."
    )
    is_extra = TrueFalseFilter()
    is_flagged = TrueFalseFilter()
    state = filters.ChoiceFilter(choices=Assignment.State.choices)
    rater = filters.UUIDFilter(field_name="rater__public_id")
    argument = filters.UUIDFilter(field_name="item__argument__public_id")
    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)


class VoteViews(LabelRoundViews):
    """The votes of a round."""

    serializer_class = VoteSerializer
    filterset_class = VoteFilter

    def rows(self) -> QuerySet:
        """List all assignments, answered or not, in the order in which they were made."""
        counted = counted_votes(self.label_round).filter(pk=OuterRef("pk"))
        return (
            self.label_round.assignments.select_related("item__argument", "rater")
            .annotate(is_counted=Exists(counted))
            .order_by("pk")
        )


class FinalLabelFilter(filters.FilterSet):
    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)
    provenance = filters.ChoiceFilter(choices=FinalLabel.Provenance.choices)
    is_tied = TrueFalseFilter()
    methods_differ = TrueFalseFilter()
    comparison = filters.UUIDFilter(field_name="argument__comparison__public_id")


class FinalLabelViews(LabelRoundViews):
    """Final labels of a round."""

    serializer_class = FinalLabelSerializer
    filterset_class = FinalLabelFilter

    def rows(self) -> QuerySet:
        """List one row per argument, as last computed."""
        return self.label_round.final_labels.select_related("argument__comparison").order_by("pk")

    @extend_schema(request=NothingInput, responses={202: JobSerializer})
    def recompute(self, request: Request, **kwargs: Any) -> Response:
        """Recompute final labels in the background."""
        self.read(NothingInput)
        job = consensus.request_final_labels(label_round=self.label_round, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)


class AdjudicationFilter(filters.FilterSet):
    in_force = TrueFalseFilter(field_name="superseded_at", lookup_expr="isnull")
    source = filters.ChoiceFilter(choices=Adjudication.Source.choices)


class AdjudicationViews(LabelRoundViews):
    """Experts' decisions on arguments in a round."""

    serializer_class = AdjudicationSerializer
    filterset_class = AdjudicationFilter

    def rows(self) -> QuerySet:
        """List decisions in the order in which they were made."""
        return self.label_round.adjudications.select_related(
            "argument__comparison", "rater"
        ).order_by("pk")

    @extend_schema(request=AdjudicationInput, responses={201: AdjudicationSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Decide one argument; your earlier decision is superseded, not lost.

        With `known`, the response is 409 if you have since decided differently: nothing is stored,
        and `detail` names both labels.
        """
        data = self.read(AdjudicationInput)
        argument = self.study.arguments.filter(public_id=data.pop("argument")).first()
        if argument is None:
            raise ValidationError({"argument": ["This study has no such argument."]})
        with (
            invalid_on("non_field_errors", decisions.DecisionNotValid),
            conflict_on(decisions.DecidedMeanwhile),
        ):
            decision = decisions.adjudicate(
                label_round=self.label_round,
                argument=argument,
                rater=rater_for(membership=self.membership),
                **data,
            )
        return self.shown(self.get_queryset().get(pk=decision.pk), 201)


class ConsensusViews(LabelRoundViews):
    """The consensus settings of a round."""

    serializer_class = ConsensusSerializer

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the method, and the rounds whose labels overrule the votes."""
        return self.shown(self.label_round)

    @extend_schema(request=ConsensusInput, responses=ConsensusSerializer)
    @transaction.atomic
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Change the settings and recompute the labels; omitted fields keep their values."""
        data = self.read(ConsensusInput, partial=True)
        # Locked so that two simultaneous changes cannot overwrite each other.
        rows = label_rounds_of(self.study).select_for_update(of=("self",), no_key=True)
        label_round = get_object_or_404(rows.select_related("study"), pk=self.label_round.pk)
        with invalid_on("overridden_by", SourceNotValid):
            set_consensus(
                label_round=label_round,
                aggregator=data.get("aggregator", label_round.aggregator),
                overridden_by=self._sources(label_round, data),
                actor=request.user,
            )
        return self.shown(label_round)

    def _sources(self, label_round: LabelRound, data: dict[str, Any]) -> list[LabelRound]:
        if "overridden_by" not in data:
            return list(label_round.overridden_by.all())
        wanted = set(data["overridden_by"])
        sources = list(label_rounds_of(self.study).filter(public_id__in=wanted))
        if len(sources) < len(wanted):
            raise ValidationError(
                {"overridden_by": ["Some of these rounds are not in this study."]}
            )
        return sources


class AdoptionFilter(filters.FilterSet):
    in_force = TrueFalseFilter(field_name="withdrawn_at", lookup_expr="isnull")


class AdoptionViews(LabelRoundViews):
    """Adoptions of a round, including withdrawn adoptions."""

    serializer_class = AdoptionSerializer
    filterset_class = AdoptionFilter

    def rows(self) -> QuerySet:
        """Return the rows in the order in which they were created."""
        return self.label_round.adoptions.select_related("source", "rater").order_by("pk")

    @extend_schema(request=AdoptInput, responses={201: AdoptionSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Adopt the labels of one expert, model or release from another round."""
        with invalid_on("label_round", decisions.AdoptionNotPossible):
            adoption = decisions.adopt_labels(**self._asked(), actor=request.user)
        return self.shown(self.get_queryset().get(pk=adoption.pk), 201)

    @extend_schema(request=AdoptInput, responses={200: AdoptionPreviewSerializer})
    def preview(self, request: Request, **kwargs: Any) -> Response:
        """Preview the changes that an adoption would make; nothing is stored."""
        with invalid_on("label_round", decisions.AdoptionNotPossible):
            seen = decisions.preview_adoption(**self._asked())
        return Response(AdoptionPreviewSerializer(seen).data)

    @extend_schema(request=NothingInput, responses=AdoptionSerializer)
    def withdraw(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Withdraw an adoption; 409 if it was already withdrawn."""
        self.read(NothingInput)
        row = self.find_row(public_id)
        if not decisions.withdraw_adoption(adoption=row, actor=request.user):
            raise Conflict("This adoption has already been withdrawn.")
        return self.shown(self.get_queryset().get(pk=row.pk))

    def _asked(self) -> dict[str, Any]:
        data = self.read(AdoptInput)
        source = f"{data['label_round']}:{data['rater']}"
        form = AdoptForm(data | {"source": source}, label_round=self.label_round)
        if not form.is_valid():
            raise ValidationError(
                {"rater": ["This expert, model or release has no labels there."]}
            )
        return {
            "label_round": self.label_round,
            "source": label_rounds_of(self.study).get(public_id=data["label_round"]),
            "rater": self.study.raters.get(public_id=data["rater"]),
            "only_tied": data["only_tied"],
        }


class PreferredLabelsViews(StudyViews):
    """The round whose final labels appear in lists, filters, faithfulness checks and the desk."""

    queryset = PreferredLabels.objects.none()
    serializer_class = PreferredLabelsSerializer

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the round's id; null means the newest label of each sentence."""
        return Response(self._shown())

    @extend_schema(request=PreferredLabelsInput, responses=PreferredLabelsSerializer)
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Choose a round or, with null, each sentence's newest label."""
        data = self.read(PreferredLabelsInput, partial=True)
        if "label_round" not in data:
            return Response(self._shown())
        wanted = data["label_round"]
        label_round = (
            label_rounds_of(self.study).filter(public_id=wanted).first() if wanted else None
        )
        if wanted and label_round is None:
            raise ValidationError({"label_round": ["This study has no such round."]})
        prefer_labels(study=self.study, label_round=label_round, actor=request.user)
        return Response(self._shown())

    def _shown(self) -> dict[str, Any]:
        label_round = label_source(self.study)
        payload = {
            "label_round": label_round and label_round.public_id,
            "name": label_round and label_round.name,
        }
        return PreferredLabelsSerializer(payload).data
