"""Endpoints for analyses, their edits, and the runs that write key points."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.analysis.actions.analyses import (
    AnalysisRefused,
    analyse_dataset,
    cancel_analysis,
    delete_analysis,
    resume_analysis,
    start_analysis,
)
from argsum.analysis.actions.jobs import new_comments, new_statements, place_new_comments
from argsum.analysis.forms import AnalysisForm, AnalysisRunForm, PointWritingForm
from argsum.analysis.models import Analysis, PointChange
from argsum.analysis.reports.analyses import (
    analyses_of,
    changes_of,
    encoder_of,
    listed,
    writing_of,
)
from argsum.scorers.methods.encoders import SHIPPED
from cqa_site.api.base import (
    Input,
    NothingInput,
    ReadSerializer,
    Request,
    StudyViews,
    public_id,
    require_valid,
)
from cqa_site.judging.encoders import ENCODERS
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import Given, JobSerializer, PlanInput, Start, as_typed, key_of
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.web.rest.queries import conflict_on


class AnalysisSerializer(ReadSerializer):
    """An analysis. ``cutoff`` is the minimum score for grouping statements.

    ``sure_from`` is the minimum match score of sure placements, or null if it is unknown.
    """

    cell = public_id("cell")
    dataset = public_id("cell.dataset")
    topic = serializers.CharField(source="cell.topic")
    stance = serializers.IntegerField(source="cell.stance")
    match_scorer = public_id("match_scorer")
    quality_scorer = public_id("quality_scorer", allow_null=True, default=None)
    encoder = serializers.SerializerMethodField()
    encoder_reason = serializers.SerializerMethodField()
    points_shown = serializers.IntegerField()
    points_proposed = serializers.IntegerField()

    class Meta:
        model = Analysis
        fields = [
            "id", "number", "name", "cell", "dataset", "topic", "stance", "match_scorer",
            "quality_scorer", "encoder", "encoder_reason", "cutoff", "sure_from",
            "language", "state", "error", "revision", "statements", "comments", "voices",
            "points_shown", "points_proposed", "seconds", "created_at", "done_at", "placed_at",
        ]  # fmt: skip

    def get_encoder(self, row: Analysis) -> str:
        """Return the name of the encoder.

        ``shipped`` means the match scorer's encoder. The name is empty if a scorer has its own
        encoder.
        """
        return encoder_of(row).name

    def get_encoder_reason(self, row: Analysis) -> str:
        """Return the reason for the encoder as one sentence."""
        return encoder_of(row).why


class WritingSerializer(serializers.Serializer):
    """Outcome of a writing run, as counts of key points.

    ``kept`` counts key points that did not change: ``refused`` because the new text was nearer to
    another key point, ``unusable`` because no reply could be used, and ``same`` because the new
    text is the same.
    """

    run = public_id("run")
    written = serializers.IntegerField()
    kept = serializers.IntegerField()
    same = serializers.IntegerField()
    refused = serializers.IntegerField()
    unusable = serializers.IntegerField()
    changed = serializers.IntegerField(help_text="Edited in the meantime.")
    unchecked = serializers.IntegerField()


class AnalysisDetailSerializer(AnalysisSerializer):
    """One analysis with its new comments, the filters for its comments, and its jobs."""

    new_comments = serializers.SerializerMethodField()
    new_statements = serializers.SerializerMethodField()
    facets = serializers.DictField()
    job = JobSerializer(allow_null=True)
    writing = serializers.SerializerMethodField()

    class Meta(AnalysisSerializer.Meta):
        fields = [
            *AnalysisSerializer.Meta.fields,
            *("new_comments", "new_statements", "facets", "job", "writing"),
        ]

    @extend_schema_field(WritingSerializer(allow_null=True))
    def get_writing(self, row: Analysis) -> dict[str, Any] | None:
        """Return the outcome of the newest run that writes the key points, or null."""
        return WritingSerializer(writing_of(row.writing)).data if row.writing else None

    def get_new_comments(self, row: Analysis) -> int:
        """Return the number of comments added since the last placement."""
        return new_comments(row) if row.state == Analysis.State.DONE else 0

    def get_new_statements(self, row: Analysis) -> int:
        """Return the number of statements added since the last placement."""
        return new_statements(row) if row.state == Analysis.State.DONE else 0


class PointChangeSerializer(serializers.ModelSerializer):
    """One edit. ``undone_by`` is the revision of the edit that undid it."""

    key_point = public_id("point", allow_null=True, default=None)
    text = serializers.CharField(
        source="point.text", allow_null=True, default=None, read_only=True
    )
    statements = serializers.IntegerField(source="number", read_only=True)
    undone_by = serializers.IntegerField(
        source="undone_by.revision", allow_null=True, default=None, read_only=True
    )
    actor = public_id("actor", allow_null=True, default=None)
    # As on the page of edits, which is for the same people.
    actor_name = serializers.CharField(
        source="actor", allow_null=True, default=None, read_only=True
    )

    class Meta:
        model = PointChange
        fields = [
            "revision", "verb", "key_point", "text", "statements", "undone_by", "actor",
            "actor_name", "at",
        ]  # fmt: skip
        read_only_fields = fields


class AnalysisInput(Input):
    """The topic to analyse.

    The study's first scorers are used by default.
    """

    cell = serializers.UUIDField()
    match_scorer = serializers.UUIDField(required=False)
    quality_scorer = serializers.UUIDField(required=False)
    encoder = serializers.ChoiceField(
        [SHIPPED, *ENCODERS], required=False, help_text="Default: by the language of the comments."
    )


class DatasetInput(Input):
    """A dataset whose topics are each analysed with default settings."""

    dataset = serializers.UUIDField()


class StartedSerializer(serializers.Serializer):
    """The analyses in progress."""

    analyses = serializers.ListField(child=serializers.UUIDField())


class UndoInput(Input):
    """The edit to undo."""

    revision = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class AnalysisFilter(filters.FilterSet):
    """Filters for analyses: dataset, cell and state."""

    dataset = filters.UUIDFilter(field_name="cell__dataset__public_id")
    cell = filters.UUIDFilter(field_name="cell__public_id")
    state = filters.ChoiceFilter(choices=Analysis.State.choices)


class AnalysisViews(StudyViews):
    """Analyses of the study."""

    queryset = Analysis.objects.none()
    serializer_class = AnalysisSerializer
    filterset_class = AnalysisFilter

    def rows(self) -> QuerySet:
        """Return the rows, newest first."""
        return listed(analyses_of(self.study))

    @extend_schema(responses=AnalysisDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one analysis."""
        return self._one(public_id)

    @extend_schema(request=AnalysisInput, responses={201: AnalysisDetailSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Start an analysis in the background. Its ``state`` shows the progress."""
        data = self.read(AnalysisInput)
        empty = AnalysisForm(study=self.study)
        names = ("cell", "match_scorer", "quality_scorer")
        keys = {name: self._key(empty.fields[name], data.get(name)) for name in names}
        form = AnalysisForm(keys, study=self.study)
        require_valid(form)
        wanted = form.cleaned_data | {"encoder": data.get("encoder", "")}
        try:
            analysis = start_analysis(study=self.study, actor=request.user, **wanted)
        except AnalysisRefused as reason:
            raise ValidationError({"non_field_errors": [str(reason)]}) from None
        return self._one(analysis.public_id, 201)

    @extend_schema(request=DatasetInput, responses={201: StartedSerializer})
    def dataset(self, request: Request, **kwargs: Any) -> Response:
        """Start an analysis for each topic and stance of a dataset; 409 if none can start."""
        wanted = self.read(DatasetInput)["dataset"]
        argument_dataset = self.study.argument_datasets.filter(public_id=wanted).first()
        if argument_dataset is None:
            raise ValidationError({"dataset": ["Not in this study."]})
        with conflict_on(AnalysisRefused):
            analyses = analyse_dataset(
                study=self.study, actor=request.user, dataset=argument_dataset
            )
        serializer = StartedSerializer({"analyses": [analysis.public_id for analysis in analyses]})
        return Response(serializer.data, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Delete an analysis with its key points and edits. The comments are kept."""
        with conflict_on(AnalysisRefused):
            delete_analysis(analysis=self.find_row(public_id), actor=request.user)
        return Response(status=204)

    @extend_schema(request=NothingInput, responses=AnalysisDetailSerializer)
    def cancel(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Stop the computation."""
        return self._steer(public_id, cancel_analysis)

    @extend_schema(request=NothingInput, responses={202: AnalysisDetailSerializer})
    def resume(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Restart a failed or cancelled analysis."""
        return self._steer(public_id, resume_analysis, 202)

    @extend_schema(request=NothingInput, responses={202: AnalysisDetailSerializer})
    def place(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Place new comments, and propose new key points for statements that fit none."""
        return self._steer(public_id, place_new_comments, 202)

    def _steer(
        self, public_id: uuid.UUID, action: Callable[..., object], status: int = 200
    ) -> Response:
        row = self.find_row(public_id)
        self.read(NothingInput)
        with conflict_on(AnalysisRefused):
            action(analysis=row, actor=self.request.user)
        return self._one(public_id, status)

    def _one(self, public_id: uuid.UUID, status: int = 200) -> Response:
        return Response(AnalysisDetailSerializer(self.find_row(public_id)).data, status=status)

    @staticmethod
    def _key(field: Any, wanted: uuid.UUID | None) -> Any:
        """Return the primary key for the form, or 0 for a row that cannot be chosen."""
        if wanted is None:
            return None
        row = field.queryset.filter(public_id=wanted).first()
        return row.pk if row else 0


class AnalysisViewsBelow(StudyViews):
    """Base of the views for parts of one analysis."""

    def analysis(self) -> Analysis:
        """Return the analysis in the URL."""
        row: Analysis = get_object_or_404(
            analyses_of(self.study), public_id=self.kwargs["analysis_id"]
        )
        return row


class PointChangeViews(AnalysisViewsBelow):
    """Edits of an analysis, newest first."""

    queryset = PointChange.objects.none()
    serializer_class = PointChangeSerializer

    def rows(self) -> QuerySet:
        """Return the edits without the changed values."""
        return changes_of(self.analysis())


class PointWritingRunInput(PlanInput):
    """A language model that writes the key points of a finished analysis.

    Key points that a person named do not change. A request shows the ``most_statements`` best
    statements of each key point.
    """

    form = PointWritingForm
    kind = serializers.ChoiceField(["point_writing"])
    analysis = serializers.UUIDField()


def start_of(body: type[PlanInput], form_class: type[AnalysisRunForm]) -> Start:
    """Return a function that starts a run for the finished analysis named in a request body."""

    def fill(study: Study, actor: User, data: Given) -> RunPlanForm:
        done = study.analyses.filter(state=Analysis.State.DONE)
        data["analysis"] = key_of(done, data["analysis"])
        return form_class(as_typed(form_class, study, data), study=study, actor=actor)

    return Start(body, fill)


POINT_WRITING = start_of(PointWritingRunInput, PointWritingForm)
