"""Prompt versions: read, written while unused, and tried out on an item."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from cqa_site.api.inputs import require_valid
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.people.models import Study
from cqa_site.runs.actions.first_prompts import first_prompts
from cqa_site.runs.actions.prompts import PromptFrozen, save_prompt
from cqa_site.runs.api.bodies import (
    PreviewInput,
    PreviewSerializer,
    PromptDetailSerializer,
    PromptInput,
    PromptSerializer,
    PromptTextInput,
)
from cqa_site.runs.api.filters import PromptFilter
from cqa_site.runs.kinds import prompt_kinds, run_kind_of
from cqa_site.runs.models import PromptVersion
from cqa_site.runs.planning.previews import preview_prompt
from cqa_site.runs.prompt_form import PromptForm
from cqa_site.web.rest.problems import conflict_on

PROMPT = PromptDetailSerializer
TEXTS = ("name", "system", "user", "note")


class PromptListViews(StudyViews):
    """The list of prompt versions, without their texts."""

    queryset = PromptVersion.objects.none()
    serializer_class = PromptSerializer
    filterset_class = PromptFilter

    def rows(self) -> QuerySet[PromptVersion]:
        """By kind, newest first; the prompts of the project are there from the beginning."""
        first_prompts(self.study, prompt_kinds())
        return versions_of(self.study).defer("system", "user")

    @extend_schema(request=PromptInput, responses={200: PROMPT, 201: PROMPT})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Save the next version: 201; 200 with the version that has this text already."""
        given = self.read(PromptInput)
        kind = given.pop("kind")
        form = PromptForm(given, kind=kind)
        require_valid(form)
        with transaction.atomic():
            # Under the lock that numbers versions, so that only one caller hears 201.
            Study.objects.select_for_update().get(pk=self.study.pk)
            known = set(self.study.prompt_versions.values_list("pk", flat=True))
            version = save_prompt(
                study=self.study, actor=request.user, kind=kind, version=None, **form.texts
            )
        return Response(PROMPT(version).data, status=200 if version.pk in known else 201)


class PromptViews(StudyViews):
    """One prompt version with its texts."""

    queryset = PromptVersion.objects.none()
    serializer_class = PROMPT

    def rows(self) -> QuerySet[PromptVersion]:
        """Every version of the study."""
        return versions_of(self.study)

    @extend_schema(request=PromptTextInput, responses=PROMPT)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change a version; 409 once a run used it."""
        version = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = self.read(PromptTextInput, partial=True)
        form = PromptForm(texts_of(version) | given, kind=version.kind)
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
        """The messages that these texts make of an item; nothing is stored or sent."""
        version = get_object_or_404(self.get_queryset(), public_id=public_id)
        given = self.read(PreviewInput)
        item = self._item(version.kind, given.pop("item", None))
        form = PromptForm(texts_of(version) | given, kind=version.kind)
        require_valid(form)
        typed = PromptVersion(
            kind=version.kind, system=form.texts["system"], user=form.texts["user"]
        )
        found = preview_prompt(self.study, typed, item)
        shown = {
            "items": [each.public_id for each in found.items],
            "messages": found.messages,
            "tokens": found.tokens,
            "flags": found.flags,
        }
        return Response(PreviewSerializer(shown).data)

    def _item(self, kind: str, public_id: uuid.UUID | None) -> Any:
        tried = run_kind_of(kind).tried_on
        items = tried.items(self.study)
        if public_id is not None:
            items = items.filter(public_id=public_id)
        item = items.first()
        if item is None:
            raise ValidationError({"item": [f"{tried.name}: there is none in this study."]})
        return item


def versions_of(study: Study) -> QuerySet[PromptVersion]:
    """The prompts of every kind, newest first in each."""
    versions = study.prompt_versions.filter(kind__in=prompt_kinds()).select_related("created_by")
    return versions.order_by("-kind", "-number")


def texts_of(version: PromptVersion) -> dict[str, str]:
    """What the form of a version begins with."""
    return {name: getattr(version, name) for name in TEXTS}
