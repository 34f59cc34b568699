"""Endpoints: a key goes in and never comes out."""

import json
import uuid
from typing import Any

from django.db.models import QuerySet
from django.forms import model_to_dict
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from cqa_site.api.inputs import NothingInput, require_valid
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.runs.actions import endpoints as actions
from cqa_site.runs.api.bodies import EndpointInput, EndpointSerializer, JobSerializer
from cqa_site.runs.api.filters import EndpointFilter
from cqa_site.runs.forms.endpoints import EndpointForm
from cqa_site.runs.models import Endpoint
from cqa_site.web.rest.problems import Conflict, conflict_on

ENDPOINT = EndpointSerializer


class EndpointViews(StudyViews):
    """The servers and models of a study."""

    queryset = Endpoint.objects.none()
    serializer_class = ENDPOINT
    filterset_class = EndpointFilter

    def rows(self) -> QuerySet[Endpoint]:
        """By name, also those that were archived."""
        return self.study.endpoints.order_by("name", "pk")

    @extend_schema(request=EndpointInput, responses={201: ENDPOINT})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add an endpoint; its key, if it needs one, is stored encrypted."""
        form = self._checked(Endpoint(), self.read(EndpointInput))
        made = actions.create_endpoint(
            study=self.study,
            actor=request.user,
            values=form.values,
            key=form.cleaned_data["key"],
        )
        return self.shown(made, 201)

    @extend_schema(request=EndpointInput, responses=ENDPOINT)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change an endpoint; 409 while a run uses what identifies it."""
        stored = self._live(public_id)
        # The form writes into its own copy; the action compares with what is stored.
        form = self._checked(self._live(public_id), self.read(EndpointInput, partial=True))
        with conflict_on(actions.EndpointInUse):
            changed = actions.change_endpoint(
                endpoint=stored,
                actor=request.user,
                values=form.values,
                key=form.cleaned_data.get("key", ""),
            )
        return self.shown(changed)

    @extend_schema(request=NothingInput, responses=ENDPOINT)
    def embedded(self, request: Request, **kwargs: Any) -> Response:
        """Add the model in the box, or say which endpoint it is."""
        self.read(NothingInput)
        return self.shown(actions.embedded_endpoint(study=self.study, actor=request.user))

    @extend_schema(request=NothingInput, responses={202: JobSerializer})
    def probe(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Have a worker ask a few tiny questions; ``capabilities`` say what they showed."""
        endpoint = self._live(public_id)
        self.read(NothingInput)
        job = actions.request_probe(endpoint=endpoint, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=NothingInput, responses=ENDPOINT)
    def archive(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Forget the key and offer the endpoint no more; its runs stay."""
        endpoint = self._live(public_id)
        self.read(NothingInput)
        if endpoint.kind == Endpoint.Kind.EMBEDDED:
            raise Conflict("The model in the box stays; it costs nothing.")
        with conflict_on(actions.EndpointInUse):
            actions.archive_endpoint(endpoint=endpoint, actor=request.user)
        return self.shown(endpoint)

    def _live(self, public_id: uuid.UUID) -> Endpoint:
        """An endpoint that was not archived: the others are only read."""
        return get_object_or_404(self.rows(), public_id=public_id, is_archived=False)

    def _checked(self, copy: Endpoint, given: dict[str, Any]) -> EndpointForm:
        """The page's form over what is stored and what was sent."""
        values = model_to_dict(copy, fields=actions.FIELDS) | given
        values["extra_params"] = json.dumps(values["extra_params"])
        form = EndpointForm(values, study=self.study, instance=copy)
        if fixed := set(given) - set(form.fields):
            raise ValidationError({name: ["It cannot be changed here."] for name in fixed})
        require_valid(form)
        return form
