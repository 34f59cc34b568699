"""Endpoints, prompt versions and background jobs in the REST API."""

import json
import uuid
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.forms import model_to_dict
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from cqa_site.api.base import NothingInput, Request, StudyViews, require_valid
from cqa_site.people.models import Study
from cqa_site.runs.actions import endpoints
from cqa_site.runs.actions.endpoints import PromptFrozen, first_prompts, save_prompt
from cqa_site.runs.api.bodies import (
    AddInput,
    EndpointFilter,
    EndpointInput,
    EndpointSerializer,
    JobFilter,
    JobSerializer,
    OfferedSerializer,
    OfferInput,
    PreviewInput,
    PreviewSerializer,
    PromptDetailSerializer,
    PromptFilter,
    PromptInput,
    PromptSerializer,
    PromptTextInput,
)
from cqa_site.runs.forms.endpoints import EndpointForm, PromptForm
from cqa_site.runs.kinds import prompt_kinds, run_kind_of
from cqa_site.runs.models import Endpoint, Job, PromptVersion
from cqa_site.runs.planning import preview_prompt
from cqa_site.web.rest.queries import Conflict, conflict_on

ENDPOINT = EndpointSerializer


class EndpointViews(StudyViews):
    """The servers and models of a study."""

    serializer_class = ENDPOINT
    filterset_class = EndpointFilter

    def rows(self) -> QuerySet[Endpoint]:
        """List endpoints by name, including archived ones."""
        return self.study.endpoints.select_related("original").order_by("name", "pk")

    @extend_schema(request=EndpointInput, responses={201: ENDPOINT})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add an endpoint. Its key, if any, is stored encrypted."""
        form = self._checked(Endpoint(), self.read(EndpointInput))
        endpoint = endpoints.create_endpoint(
            study=self.study, actor=request.user, values=form.values, key=form.cleaned_data["key"]
        )
        return self.shown(endpoint, 201)

    @extend_schema(request=EndpointInput, responses=ENDPOINT)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change an endpoint; 409 while a run uses its address or model."""
        stored = self._live(public_id)
        # The form changes its own copy; the action compares that with the stored row.
        form = self._checked(self._live(public_id), self.read(EndpointInput, partial=True))
        with conflict_on(endpoints.EndpointInUse):
            changed = endpoints.change_endpoint(
                endpoint=stored,
                actor=request.user,
                values=form.values,
                key=form.cleaned_data.get("key", ""),
            )
        return self.shown(changed)

    @extend_schema(request=NothingInput, responses=ENDPOINT)
    def embedded(self, request: Request, **kwargs: Any) -> Response:
        """Add the built-in model, or return its endpoint."""
        self.read(NothingInput)
        return self.shown(endpoints.embedded_endpoint(study=self.study, actor=request.user))

    @extend_schema(request=NothingInput, responses={202: JobSerializer})
    def probe(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Probe the endpoint in the background; the result is stored in ``capabilities``."""
        endpoint = self._live(public_id)
        self.read(NothingInput)
        job = endpoints.request_probe(endpoint=endpoint, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=NothingInput, responses=ENDPOINT)
    def archive(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Archive the endpoint and delete its key; its runs are kept."""
        endpoint = self._live(public_id)
        self.read(NothingInput)
        if endpoint.kind == Endpoint.Kind.EMBEDDED:
            raise Conflict("The built-in model cannot be archived. It costs nothing.")
        with conflict_on(endpoints.EndpointInUse):
            endpoints.archive_endpoint(endpoint=endpoint, actor=request.user)
        return self.shown(endpoint)

    @extend_schema(request=OfferInput, responses=ENDPOINT)
    def offer(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Offer the endpoint to all studies (site administrators only), or withdraw the offer."""
        endpoint = self._live(public_id)
        endpoints.set_offered(endpoint=endpoint, actor=request.user, **self.read(OfferInput))
        return self.shown(endpoint)

    def _live(self, public_id: uuid.UUID) -> Endpoint:
        """Return the endpoint unless it is archived; archived endpoints are read-only."""
        return get_object_or_404(self.rows(), public_id=public_id, is_archived=False)

    def _checked(self, copy: Endpoint, body: dict[str, Any]) -> EndpointForm:
        """Return the page's form for the stored values and the request's changes."""
        values = model_to_dict(copy, fields=endpoints.FIELDS) | body
        values["extra_params"] = json.dumps(values["extra_params"])
        form = EndpointForm(values, study=self.study, instance=copy)
        if fixed := set(body) - set(form.fields):
            raise ValidationError({name: ["It cannot be changed here."] for name in fixed})
        require_valid(form)
        return form


class OfferedViews(StudyViews):
    """Endpoints that other studies offer to all studies on the site."""

    serializer_class = OfferedSerializer

    def rows(self) -> QuerySet[Endpoint]:
        """List offers by name, including those that the study has already added."""
        return endpoints.offers(self.study)

    @extend_schema(request=AddInput, responses={201: ENDPOINT})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add an offered endpoint or return the one already added; its study keeps the key."""
        offered = get_object_or_404(self.rows(), public_id=self.read(AddInput)["offer"])
        added = endpoints.add_offered(study=self.study, actor=request.user, offered=offered)
        return Response(ENDPOINT(added).data, status=201)


PROMPT = PromptDetailSerializer
TEXTS = ("name", "system", "user", "note")


class PromptListViews(StudyViews):
    """The list of prompt versions, without their texts."""

    serializer_class = PromptSerializer
    filterset_class = PromptFilter

    def rows(self) -> QuerySet[PromptVersion]:
        """List prompts by kind, newest first; the default prompts always exist."""
        first_prompts(self.study, prompt_kinds())
        return versions_of(self.study).defer("system", "user")

    @extend_schema(request=PromptInput, responses={200: PROMPT, 201: PROMPT})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Save the next version (201), or return the version that already has this text (200)."""
        body = self.read(PromptInput)
        kind = body.pop("kind")
        form = PromptForm(body, kind=kind)
        require_valid(form)
        with transaction.atomic():
            # Hold the lock for version numbers, so that only one caller gets 201.
            Study.objects.select_for_update().get(pk=self.study.pk)
            known = set(self.study.prompt_versions.values_list("pk", flat=True))
            version = save_prompt(
                study=self.study, actor=request.user, kind=kind, version=None, **form.texts
            )
        return Response(PROMPT(version).data, status=200 if version.pk in known else 201)


class PromptViews(StudyViews):
    """One prompt version with its texts."""

    serializer_class = PROMPT

    def rows(self) -> QuerySet[PromptVersion]:
        """Return every prompt version in the study."""
        return versions_of(self.study)

    @extend_schema(request=PromptTextInput, responses=PROMPT)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change a version; 409 once a run has used it."""
        version = self.find_row(public_id)
        body = self.read(PromptTextInput, partial=True)
        form = PromptForm(texts_of(version) | body, kind=version.kind)
        require_valid(form)
        with conflict_on(PromptFrozen):
            changed = save_prompt(
                study=self.study,
                actor=request.user,
                kind=version.kind,
                version=version,
                **form.texts,
            )
        return self.shown(changed)

    @extend_schema(request=PreviewInput, responses=PreviewSerializer)
    def preview(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return the messages that these texts produce for an item; store and send nothing."""
        version = self.find_row(public_id)
        body = self.read(PreviewInput)
        item = self._item(version.kind, body.pop("item", None))
        form = PromptForm(texts_of(version) | body, kind=version.kind)
        require_valid(form)
        typed = PromptVersion(
            kind=version.kind, system=form.texts["system"], user=form.texts["user"]
        )
        rendering = preview_prompt(self.study, typed, item)
        payload = {
            "items": [subject.public_id for subject in rendering.items],
            "messages": rendering.messages,
            "tokens": rendering.tokens,
            "flags": rendering.flags,
        }
        return Response(PreviewSerializer(payload).data)

    def _item(self, kind: str, public_id: uuid.UUID | None) -> Any:
        tried = run_kind_of(kind).tried_on
        items = tried.items(self.study)
        if public_id is not None:
            items = items.filter(public_id=public_id)
        item = items.first()
        if item is None:
            raise ValidationError({"item": [f"{tried.name}: not found in this study."]})
        return item


def versions_of(study: Study) -> QuerySet[PromptVersion]:
    """Return the prompts of every kind, newest first within a kind."""
    versions = study.prompt_versions.filter(kind__in=prompt_kinds()).select_related("created_by")
    return versions.order_by("-kind", "-number")


def texts_of(version: PromptVersion) -> dict[str, str]:
    """Return the initial values of a version's form."""
    return {name: getattr(version, name) for name in TEXTS}


class JobViews(StudyViews):
    """The background jobs of a study."""

    serializer_class = JobSerializer
    filterset_class = JobFilter

    def rows(self) -> QuerySet[Job]:
        """Return the rows, newest first."""
        return self.study.jobs.order_by("-created_at", "-pk")
