"""Freezing, publishing and withdrawing through the interface, for every kind of snapshot."""

import uuid
from collections.abc import Callable
from typing import Any, ClassVar

from django.db.models import Model
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from cqa_site.api.inputs import Input, NothingInput
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.problems import conflict_on

from . import keeping
from .kind import ResultKind


class NoteInput(Input):
    """What the frozen snapshot is for."""

    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class FreezingViews(StudyViews):
    """Snapshots of a study; `owner` is what the numbers count within."""

    kind: ClassVar[ResultKind]

    @property
    def owner(self) -> Model:
        """The study, unless a kind says otherwise."""
        return self.study

    @extend_schema(request=NoteInput)
    def freeze(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Make the live one immutable."""
        return self._change(keeping.freeze, public_id, NoteInput)

    @extend_schema(request=NothingInput)
    def publish(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Give a frozen one an address that anybody may read."""
        return self._change(keeping.publish, public_id, NothingInput)

    @extend_schema(request=NothingInput)
    def withdraw(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Take the public address back."""
        return self._change(keeping.withdraw, public_id, NothingInput)

    def _change(self, change: Callable[..., Any], public_id: uuid.UUID, body: Any) -> Response:
        row = get_object_or_404(self.rows(), public_id=public_id)
        given = self.read(body)
        with conflict_on(keeping.SnapshotNotReady):
            change(
                self.kind,
                owner=self.owner,
                number=row.number,
                actor=self.request.user,
                **given,
            )
        return self.shown(self.rows().get(pk=row.pk))
