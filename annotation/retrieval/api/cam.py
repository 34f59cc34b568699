"""The CAM service of a study, what it was asked, and arguments taken from its answers."""

import uuid
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.retrieval.actions import cam, taking
from annotation.retrieval.api.bodies import (
    CamRequestDetailSerializer,
    CamRequestSerializer,
    CamServiceSerializer,
    TakenSerializer,
)
from annotation.retrieval.api.filters import CamRequestFilter
from annotation.retrieval.api.inputs import CamInput, PlacesInput, ServiceInput
from annotation.retrieval.forms import CamForm, ServiceForm
from annotation.retrieval.models import CamRequest
from cqa_site.api.inputs import require_valid
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.problems import conflict_on


class CamServiceViews(StudyViews):
    """The address of the study's CAM service."""

    queryset = CamRequest.objects.none()
    serializer_class = CamServiceSerializer

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """The address."""
        return Response({"address": cam.address_of(self.study)})

    @extend_schema(request=ServiceInput, responses=CamServiceSerializer)
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Change the address; an empty one removes it."""
        if not (given := self.read(ServiceInput, partial=True)):
            return self.retrieve(request)
        form = ServiceForm(given)
        require_valid(form)
        cam.set_service(study=self.study, actor=request.user, **form.cleaned_data)
        return self.retrieve(request)


class CamRequestViews(StudyViews):
    """What the CAM service was asked."""

    queryset = CamRequest.objects.none()
    serializer_class = CamRequestSerializer
    filterset_class = CamRequestFilter

    def rows(self) -> QuerySet:
        """Newest first."""
        return self.study.cam_requests.select_related("comparison__study", "job")

    @extend_schema(responses=CamRequestDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """One request with the sentences that came."""
        return self._told(get_object_or_404(self.get_queryset(), public_id=public_id))

    @extend_schema(request=CamInput, responses={202: CamRequestDetailSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Ask in the background."""
        given = self.read(CamInput)
        rows = self.study.comparisons.select_related("study")
        comparison = rows.filter(public_id=given.pop("comparison")).first()
        if comparison is None:
            raise ValidationError({"comparison": ["No such comparison in this study."]})
        form = CamForm(given | {"aspects": ", ".join(given["aspects"])})
        require_valid(form)
        with conflict_on(cam.NoService):
            asked = cam.ask(comparison=comparison, actor=request.user, **form.cleaned_data)
        return self._told(self.get_queryset().get(pk=asked.pk), 202)

    @extend_schema(request=PlacesInput, responses=TakenSerializer)
    def take(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Make arguments of sentences of the answer, by their places in it."""
        asked = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = self.read(PlacesInput)
        taken = taking.take_cam_sentences(asked=asked, places=given["places"], actor=request.user)
        return Response(asdict(taken))

    def _told(self, row: CamRequest, status: int = 200) -> Response:
        return Response(CamRequestDetailSerializer(row).data, status=status)
