"""Corpora, searches in them, the CAM service, and arguments taken from either."""

import uuid
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from annotation.actions import retrieval_corpora as corpora
from annotation.actions import retrieval_taking as taking
from annotation.actions.retrieval_search import MOST, search, sentences_of
from annotation.actions.uploads import TooLarge
from annotation.forms.retrieval import (
    ComparisonForm,
    CorpusForm,
    SearchForm,
    ready_corpora,
)
from annotation.models import Comparison, Corpus, CorpusSentence
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.problems import conflict_on, invalid_on
from cqa_site.web.strict_filters import refuse_undeclared

from . import filters, inputs, serializers
from .studies import ComparisonViews

CORPUS = serializers.CorpusSerializer
SEARCH = [
    OpenApiParameter("corpus", str, description="Id of the corpus; all that are ready."),
    OpenApiParameter("words", str, enum=["any"], description="Any word of a name will do."),
    OpenApiParameter("aspect", str, description="The sentence has a word of it."),
    OpenApiParameter("most", int, description=f"How many at most: 50, up to {MOST}."),
]


class ComparisonListViews(ComparisonViews):
    """The list, and new comparisons."""

    @extend_schema(
        request=inputs.ComparisonInput,
        responses={
            200: serializers.ComparisonSerializer,
            201: serializers.ComparisonSerializer,
        },
    )
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a comparison; one the study has already comes back with 200."""
        form = ComparisonForm(self.read(inputs.ComparisonInput))
        inputs.require_valid(form)
        is_known = self.rows().filter(**form.cleaned_data).exists()
        made = taking.make_comparison(study=self.study, actor=request.user, **form.cleaned_data)
        return self.shown(made, 200 if is_known else 201)


class CorpusViews(StudyViews):
    """The corpora of a study."""

    queryset = Corpus.objects.none()
    serializer_class = CORPUS
    filterset_class = filters.CorpusFilter

    def rows(self) -> QuerySet:
        """By name, without deleted ones."""
        return self.study.corpora.filter(deleted_at__isnull=True).select_related("job", "study")

    @extend_schema(request=inputs.ColumnsInput, responses={202: CORPUS})
    def check(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Look at the file again, with other columns or encoding; nothing is loaded."""
        found = self._found(public_id)
        given = self.read(inputs.ColumnsInput)
        with conflict_on(corpora.CorpusBusy):
            corpora.request_check(corpus=found, options=given, actor=request.user)
        return self.shown(self._found(public_id), 202)

    @extend_schema(request=inputs.NothingInput, responses={202: CORPUS})
    def load(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Load the sentences of a checked file in the background."""
        found = self._found(public_id)
        self.read(inputs.NothingInput)
        with conflict_on(corpora.CorpusBusy):
            corpora.request_load(corpus=found, actor=request.user)
        return self.shown(self._found(public_id), 202)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Delete a corpus; arguments taken from it stay."""
        with conflict_on(corpora.CorpusBusy):
            corpora.request_deletion(corpus=self._found(public_id), actor=request.user)
        return Response(status=204)

    def _found(self, public_id: uuid.UUID) -> Corpus:
        return get_object_or_404(self.get_queryset(), public_id=public_id)


class CorpusUploadViews(CorpusViews):
    """The list, and uploads as multipart/form-data."""

    parser_classes = [MultiPartParser]

    @extend_schema(request=inputs.CorpusInput, responses={202: CORPUS})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Store a file and look at it; see ``found`` when it is checked."""
        given = self.read(inputs.CorpusInput)
        form = CorpusForm({"name": given["name"]}, {"file": given["file"]})
        inputs.require_valid(form)
        try:
            with invalid_on("name", corpora.NameTaken):
                corpus = corpora.add_corpus(
                    study=self.study,
                    name=form.cleaned_data["name"],
                    file_name=given["file"].name,
                    chunks=given["file"].chunks(),
                    actor=request.user,
                )
        except TooLarge as reason:
            raise ValidationError({"file": ["The file is too large."]}) from reason
        return self.shown(self._found(corpus.public_id), 202)


class FindViews(StudyViews):
    """Sentences of the corpora that name both objects of a comparison."""

    queryset = CorpusSentence.objects.none()
    serializer_class = serializers.CorpusHitSerializer
    pagination_class = None

    @extend_schema(parameters=SEARCH, responses=serializers.CorpusHitSerializer(many=True))
    def find(self, request: Request, comparison_id: uuid.UUID, **kwargs: Any) -> Response:
        """Search; sentences that compare come first."""
        refuse_undeclared(request, SEARCH)
        comparison = comparison_of(self, comparison_id)
        form = SearchForm(request.query_params, study=self.study, comparison=comparison)
        inputs.require_valid(form)
        hits = search(form.corpora(), form.query, form.cleaned_data["most"])
        known = taking.known_keys(comparison, [hit.key for hit in hits])
        rows = [
            {name: getattr(hit, name) for name in ("key", "text", "address", "corpus")}
            | {"is_comparative": hit.is_comparative, "is_known": hit.key in known}
            for hit in hits
        ]
        return Response(self.get_serializer(rows, many=True).data)

    @extend_schema(request=inputs.SentencesInput, responses=serializers.TakenSerializer)
    def take(self, request: Request, comparison_id: uuid.UUID, **kwargs: Any) -> Response:
        """Make arguments of sentences, by their keys; unknown keys are passed over."""
        comparison = comparison_of(self, comparison_id)
        given = self.read(inputs.SentencesInput)
        taken = taking.take_corpus_sentences(
            comparison=comparison,
            sentences=sentences_of(ready_corpora(self.study), given["keys"]),
            actor=request.user,
        )
        return Response(asdict(taken))


def comparison_of(view: StudyViews, comparison_id: uuid.UUID) -> Comparison:
    """The comparison of the address, inside the study."""
    rows = view.study.comparisons.select_related("study")
    return get_object_or_404(rows, public_id=comparison_id)
