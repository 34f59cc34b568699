"""REST views for corpora, searches, the CAM service and arguments."""

import uuid
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from annotation.corpus.models import Comparison
from annotation.retrieval.actions import arguments as actions, corpora
from annotation.retrieval.actions.arguments import MOST_HITS, search, sentences_of
from annotation.retrieval.api.serializers import (
    ArgumentSerializer,
    CamInput,
    CamRequestDetailSerializer,
    CamRequestFilter,
    CamRequestSerializer,
    CamServiceSerializer,
    ColumnsInput,
    ComparisonArgumentFilter,
    ComparisonFilter,
    ComparisonInput,
    ComparisonSerializer,
    CorpusFilter,
    CorpusHitSerializer,
    CorpusInput,
    CorpusSerializer,
    PlacesInput,
    SentencesInput,
    ServiceInput,
    TakenSerializer,
)
from annotation.retrieval.forms import (
    CamForm,
    ComparisonForm,
    CorpusForm,
    SearchForm,
    ServiceForm,
    ready_corpora,
)
from annotation.retrieval.models import CamRequest, CorpusSentence
from cqa_site.api.base import NothingInput, Request, StudyViews, require_valid
from cqa_site.web.rest.queries import conflict_on, invalid_on, refuse_undeclared
from cqa_site.web.uploads import TooLarge


class ComparisonViews(StudyViews):
    """Pairs of objects in a study."""

    serializer_class = ComparisonSerializer
    filterset_class = ComparisonFilter

    def rows(self) -> QuerySet:
        """List comparisons by object."""
        return self.study.comparisons.all()


class ArgumentViews(StudyViews):
    """Sentences in a study."""

    serializer_class = ArgumentSerializer
    filterset_class = ComparisonArgumentFilter

    def rows(self) -> QuerySet:
        """List arguments in the order they were added."""
        return self.study.arguments.select_related("comparison", "origin").order_by("pk")


CORPUS = CorpusSerializer
SEARCH = [
    OpenApiParameter("corpus", str, description="Id of a corpus; by default all that are ready."),
    OpenApiParameter(
        "words", str, enum=["any"], description="Whether any word of a name is enough."
    ),
    OpenApiParameter(
        "aspect", str, description="Aspect. The sentence must contain one of its words."
    ),
    OpenApiParameter(
        "most", int, description=f"Maximum number: by default 50, up to {MOST_HITS}."
    ),
]


class ComparisonListViews(ComparisonViews):
    """The list of comparisons, and creation of new comparisons."""

    @extend_schema(
        request=ComparisonInput, responses={200: ComparisonSerializer, 201: ComparisonSerializer}
    )
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Create a comparison; if it already exists, it is returned with status 200."""
        form = ComparisonForm(self.read(ComparisonInput))
        require_valid(form)
        is_known = self.rows().filter(**form.cleaned_data).exists()
        comparison = actions.make_comparison(
            study=self.study, actor=request.user, **form.cleaned_data
        )
        return self.shown(comparison, 200 if is_known else 201)


class CorpusViews(StudyViews):
    """Corpora in a study."""

    serializer_class = CORPUS
    filterset_class = CorpusFilter

    def rows(self) -> QuerySet:
        """List corpora by name, except deleted ones."""
        return self.study.corpora.filter(deleted_at__isnull=True).select_related("job", "study")

    @extend_schema(request=ColumnsInput, responses={202: CORPUS})
    def check(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Check the file again with other columns or encoding; nothing is loaded."""
        corpus = self.find_row(public_id)
        data = self.read(ColumnsInput)
        with conflict_on(corpora.CorpusBusy):
            corpora.request_check(corpus=corpus, options=data, actor=request.user)
        return self.shown(self.find_row(public_id), 202)

    @extend_schema(request=NothingInput, responses={202: CORPUS})
    def load(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Load the sentences of a checked file in the background."""
        corpus = self.find_row(public_id)
        self.read(NothingInput)
        with conflict_on(corpora.CorpusBusy):
            corpora.request_load(corpus=corpus, actor=request.user)
        return self.shown(self.find_row(public_id), 202)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Delete a corpus; arguments added from it are kept."""
        with conflict_on(corpora.CorpusBusy):
            corpora.request_deletion(corpus=self.find_row(public_id), actor=request.user)
        return Response(status=204)


class CorpusUploadViews(CorpusViews):
    """The list of corpora, and uploads as multipart/form-data."""

    parser_classes = [MultiPartParser]

    @extend_schema(request=CorpusInput, responses={202: CORPUS})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Store and check a file; ``found`` has the result after the check."""
        data = self.read(CorpusInput)
        form = CorpusForm({"name": data["name"]}, {"file": data["file"]})
        require_valid(form)
        try:
            with invalid_on("name", corpora.NameTaken):
                corpus = corpora.add_corpus(
                    study=self.study,
                    name=form.cleaned_data["name"],
                    file_name=data["file"].name,
                    chunks=data["file"].chunks(),
                    actor=request.user,
                )
        except TooLarge as reason:
            raise ValidationError({"file": ["The file is too large."]}) from reason
        return self.shown(self.find_row(corpus.public_id), 202)


class FindViews(StudyViews):
    """Sentences in corpora that name both objects of a comparison."""

    queryset = CorpusSentence.objects.none()
    serializer_class = CorpusHitSerializer
    pagination_class = None

    @extend_schema(parameters=SEARCH, responses=CorpusHitSerializer(many=True))
    def find(self, request: Request, comparison_id: uuid.UUID, **kwargs: Any) -> Response:
        """Search the corpora; comparative sentences come first."""
        refuse_undeclared(request, SEARCH)
        comparison = comparison_of(self, comparison_id)
        form = SearchForm(request.query_params, study=self.study, comparison=comparison)
        require_valid(form)
        hits = search(form.corpora(), form.query, form.cleaned_data["most"])
        known = actions.known_keys(comparison, [hit.key for hit in hits])
        rows = [
            {name: getattr(hit, name) for name in ("key", "text", "address", "corpus")}
            | {"is_comparative": hit.is_comparative, "is_known": hit.key in known}
            for hit in hits
        ]
        return Response(self.get_serializer(rows, many=True).data)

    @extend_schema(request=SentencesInput, responses=TakenSerializer)
    def take(self, request: Request, comparison_id: uuid.UUID, **kwargs: Any) -> Response:
        """Add the sentences with the given keys as arguments; unknown keys are ignored."""
        comparison = comparison_of(self, comparison_id)
        data = self.read(SentencesInput)
        arguments = actions.take_corpus_sentences(
            comparison=comparison,
            sentences=sentences_of(ready_corpora(self.study), data["keys"]),
            actor=request.user,
        )
        return Response(asdict(arguments))


def comparison_of(view: StudyViews, comparison_id: uuid.UUID) -> Comparison:
    """Return the comparison in the URL, if it belongs to the study."""
    rows = view.study.comparisons.select_related("study")
    return get_object_or_404(rows, public_id=comparison_id)


class CamServiceViews(StudyViews):
    """The address of the study's CAM service."""

    queryset = CamRequest.objects.none()
    serializer_class = CamServiceSerializer

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the address of the CAM service."""
        return Response({"address": actions.address_of(self.study)})

    @extend_schema(request=ServiceInput, responses=CamServiceSerializer)
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Change the address; an empty address removes it."""
        if not (data := self.read(ServiceInput, partial=True)):
            return self.retrieve(request)
        form = ServiceForm(data)
        require_valid(form)
        actions.set_service(study=self.study, actor=request.user, **form.cleaned_data)
        return self.retrieve(request)


class CamRequestViews(StudyViews):
    """Requests to the CAM service."""

    serializer_class = CamRequestSerializer
    filterset_class = CamRequestFilter

    def rows(self) -> QuerySet:
        """Return the rows, newest first."""
        return self.study.cam_requests.select_related("comparison__study", "job")

    @extend_schema(responses=CamRequestDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one request with its sentences."""
        return self._told(self.find_row(public_id))

    @extend_schema(request=CamInput, responses={202: CamRequestDetailSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Send a request to the service in the background."""
        data = self.read(CamInput)
        rows = self.study.comparisons.select_related("study")
        comparison = rows.filter(public_id=data.pop("comparison")).first()
        if comparison is None:
            raise ValidationError({"comparison": ["No such comparison in this study."]})
        form = CamForm(data | {"aspects": ", ".join(data["aspects"])})
        require_valid(form)
        with conflict_on(actions.NoService):
            query = actions.ask(comparison=comparison, actor=request.user, **form.cleaned_data)
        return self._told(self.get_queryset().get(pk=query.pk), 202)

    @extend_schema(request=PlacesInput, responses=TakenSerializer)
    def take(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Add the sentences at the given positions in the reply as arguments."""
        query = self.find_row(public_id)
        data = self.read(PlacesInput)
        arguments = actions.take_cam_sentences(
            asked=query, places=data["places"], actor=request.user
        )
        return Response(asdict(arguments))

    def _told(self, row: CamRequest, status: int = 200) -> Response:
        return Response(CamRequestDetailSerializer(row).data, status=status)
