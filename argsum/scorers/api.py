"""Match and quality scorers: list, create, train, and compute trial scores."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response

from argsum.scorers.actions import training
from argsum.scorers.actions.encoders import EncoderUnavailable, encoder_states, request_encoder
from argsum.scorers.actions.models import ScorerRefused
from argsum.scorers.actions.scorers import add_scorer, first_scorers, request_try
from argsum.scorers.forms import (
    LONGEST_TEXT,
    ScorerForm,
    TrainForm,
    TrainingRecipeForm,
    TryForm,
    WriterTrainForm,
)
from argsum.scorers.models import Scorer
from argsum.scorers.reports import scorers_of, shown_state
from cqa_site.api.base import (
    FormInput,
    Input,
    NothingInput,
    ReadSerializer,
    Request,
    StudyViews,
    public_id,
    require_valid,
)
from cqa_site.judging.encoders import ENCODERS
from cqa_site.people.access import is_administrator
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.web.rest.queries import Conflict, conflict_on, invalid_on


class TextScorerSerializer(ReadSerializer):
    """A scorer; its card and its training have a separate endpoint."""

    trained_on = public_id("trained_on", allow_null=True, default=None)
    state = serializers.SerializerMethodField()
    dev = serializers.SerializerMethodField(help_text="Figures on the dev split.")
    test = serializers.SerializerMethodField(help_text="Figures on the test split.")

    class Meta:
        model = Scorer
        fields = [
            "id", "name", "task", "kind", "base_model", "sha256", "uses_topic", "threshold",
            "state", "error", "trained_on", "dev", "test", "created_at", "ready_at",
        ]  # fmt: skip

    def get_state(self, scorer: Scorer) -> str:
        """Return the state: training, ready, failed or cancelled."""
        return str(shown_state(scorer))

    def get_dev(self, scorer: Scorer) -> dict[str, Any] | None:
        """Return the figures on dev, or None if nothing was measured."""
        return scorer.figures.get("dev")

    def get_test(self, scorer: Scorer) -> dict[str, Any] | None:
        """Return the figures on test, or None if nothing was measured."""
        return scorer.figures.get("test")


class TextScorerDetailSerializer(TextScorerSerializer):
    """A scorer with recipe, all figures, card and pending jobs."""

    recipe = serializers.DictField()
    figures = serializers.DictField()
    job = JobSerializer(allow_null=True)

    class Meta(TextScorerSerializer.Meta):
        fields = [*TextScorerSerializer.Meta.fields, "recipe", "figures", "card", "job"]


class TextScorerInput(FormInput):
    """A scorer that needs no training; ``threshold`` only applies to match scorers."""

    form = ScorerForm


class TrainInput(FormInput):
    """A scorer trained on a dataset; omitted fields are as in the default recipe."""

    form = TrainForm


class WriterTrainInput(FormInput):
    """A writer trained on a dataset; omitted fields are as in the default recipe."""

    form = WriterTrainForm


class TryInput(FormInput):
    """Two texts for a match scorer, one for a quality scorer."""

    form = TryForm
    second = serializers.CharField(max_length=LONGEST_TEXT, required=False, allow_blank=True)


class EncoderSerializer(serializers.Serializer):
    """An optional encoder, with the job that downloads it."""

    name = serializers.CharField(source="encoder.name")
    title = serializers.CharField(source="encoder.title")
    languages = serializers.ListField(source="encoder.languages", child=serializers.CharField())
    megabytes = serializers.IntegerField(source="encoder.megabytes")
    is_installed = serializers.BooleanField()
    job = JobSerializer(allow_null=True)


class EncoderInput(Input):
    """The encoder to install."""

    encoder = serializers.ChoiceField(list(ENCODERS))


class ScorerFilter(filters.FilterSet):
    task = filters.ChoiceFilter(choices=Scorer.Task.choices)


class ScorerViews(StudyViews):
    """Scorers of the study."""

    serializer_class = TextScorerSerializer
    filterset_class = ScorerFilter

    def rows(self) -> QuerySet[Scorer]:
        """Return the rows, ordered by task and name."""
        return scorers_of(self.study)

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List the scorers, first creating the default scorers if they are missing."""
        first_scorers(self.study)
        return super().list(request, **kwargs)

    @extend_schema(responses=TextScorerDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one scorer with its card."""
        return self._shown(self.find_row(public_id))

    @extend_schema(request=TextScorerInput, responses={201: TextScorerDetailSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add a scorer: a model by name, or the imported column."""
        form = ScorerForm(self.read(TextScorerInput))
        require_valid(form)
        with invalid_on("model", ScorerRefused):
            scorer = add_scorer(study=self.study, actor=request.user, **form.wanted())
        return self._shown(scorer, 201)

    @extend_schema(request=TrainInput, responses={202: TextScorerDetailSerializer})
    def train(self, request: Request, **kwargs: Any) -> Response:
        """Train a scorer in the background; its `state` and `job` show the progress."""
        return self._train(request, TrainForm, TrainInput)

    @extend_schema(request=WriterTrainInput, responses={202: TextScorerDetailSerializer})
    def train_writer(self, request: Request, **kwargs: Any) -> Response:
        """Train a writer of key points in the background, like `train`."""
        return self._train(request, WriterTrainForm, WriterTrainInput)

    def _train(
        self, request: Request, form_type: type[TrainingRecipeForm], body: type[FormInput]
    ) -> Response:
        fields = form_type.base_fields.items()
        usual = {name: field.initial for name, field in fields if field.initial is not None}
        form = form_type(usual | self.read(body), study=self.study)
        require_valid(form)
        with invalid_on("dataset", ScorerRefused):
            scorer = training.request_training(
                study=self.study, actor=request.user, **form.request()
            )
        return self._shown(self.find_row(scorer.public_id), 202)

    @extend_schema(request=NothingInput, responses=TextScorerDetailSerializer)
    def cancel(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Stop a training run, which can be resumed later."""
        self.read(NothingInput)
        if not training.cancel_training(scorer=self.find_row(public_id), actor=request.user):
            raise Conflict("No training is in progress.")
        return self._shown(self.find_row(public_id))

    @extend_schema(request=NothingInput, responses={202: TextScorerDetailSerializer})
    def resume(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Resume a failed or cancelled training run."""
        self.read(NothingInput)
        with conflict_on(ScorerRefused):
            training.resume_training(scorer=self.find_row(public_id), actor=request.user)
        return self._shown(self.find_row(public_id), 202)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Delete an unused scorer."""
        with conflict_on(ScorerRefused):
            training.delete_scorer(scorer=self.find_row(public_id), actor=request.user)
        return Response(status=204)

    @extend_schema(request=TryInput, responses={202: JobSerializer})
    def score(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Score one or two texts; the score appears in the `note` of the finished job."""
        row = self.find_row(public_id)
        form = TryForm(self.read(TryInput), scorer=row)
        require_valid(form)
        texts = {"first": "", "second": "", "topic": ""} | form.cleaned_data
        with conflict_on(ScorerRefused):
            job = request_try(scorer=row, actor=request.user, **texts)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(responses=EncoderSerializer(many=True), filters=False)
    def encoders(self, request: Request, **kwargs: Any) -> Response:
        """List the optional encoders of the site, and whether they are installed."""
        page = self.paginate_queryset(encoder_states())
        return self.get_paginated_response(EncoderSerializer(page, many=True).data)

    @extend_schema(request=EncoderInput, responses={202: JobSerializer})
    def install(self, request: Request, **kwargs: Any) -> Response:
        """Download an encoder in the background; only for site administrators."""
        encoder = ENCODERS[self.read(EncoderInput)["encoder"]]
        if not is_administrator(request.user):
            raise PermissionDenied("Only site administrators may install encoders.")
        with conflict_on(EncoderUnavailable):
            job = request_encoder(study=self.study, encoder=encoder, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    def _shown(self, scorer: Scorer, status: int = 200) -> Response:
        return Response(TextScorerDetailSerializer(scorer).data, status=status)
