"""Snapshots of every kind in the REST API: read, freeze, publish, withdraw, download."""

import uuid
from collections.abc import Callable
from typing import Any, ClassVar

from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from cqa_site.api.base import (
    DataSerializer,
    Input,
    NothingInput,
    ReadSerializer,
    Request,
    StudyViews,
)
from cqa_site.stats.estimate import Bounded, Estimate, RankPosition
from cqa_site.web.rest.queries import conflict_on
from . import snapshots
from .figures import snapshot_file
from .snapshots import ROWS, ResultKind, manifest_of

# Fields of a snapshot of any kind.
SNAPSHOT_FIELDS = ("is_frozen", "sha256", "recipe", "computed_at", "note", "frozen_at")


class NumberedSnapshotSerializer(ReadSerializer):
    """A numbered snapshot; each kind lists its fields, including `SNAPSHOT_FIELDS`."""

    kind: ClassVar[ResultKind]
    is_frozen = serializers.BooleanField()
    recipe = serializers.DictField()
    public_token = serializers.UUIDField(allow_null=True)
    figures = serializers.DictField()
    changes = serializers.DictField()
    manifest = serializers.SerializerMethodField()

    def get_manifest(self, row: Any) -> dict[str, Any]:
        """Return hashes, recipe, counts and package versions."""
        return manifest_of(self.kind, row)


class FigureSerializer(DataSerializer):
    """A figure with its interval; undefined values are null, with the reason."""

    shows = Bounded


class StatisticSerializer(DataSerializer):
    """A statistic with its recipe; ``n_pairable_items`` is the number of items it is based on."""

    shows = Estimate


class PositionSerializer(DataSerializer):
    """A system on a board, with its rank, its rank range after the tests, and its tie group."""

    shows = RankPosition
    system = serializers.CharField()


class NoteInput(Input):
    """The purpose of the frozen snapshot."""

    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class FreezingViews(StudyViews):
    """Snapshots of a study, numbered within their `owner`."""

    kind: ClassVar[ResultKind]
    # Related rows that the fields need.
    related: ClassVar[tuple[str, ...]] = ()

    @property
    def owner(self) -> Model:
        """Return the study, unless a kind overrides this."""
        return self.study

    @property
    def kept(self) -> QuerySet[Any]:
        """Return the snapshots with figures, newest first."""
        snapshots = self.kind.Model._default_manager.filter(**{self.kind.owner: self.owner})
        return snapshots.filter(computed_at__isnull=False)

    def rows(self) -> QuerySet[Any]:
        """Return the snapshots without loading their packed rows."""
        return self.kept.select_related(*self.related).defer("rows")

    def rows_file(self, public_id: uuid.UUID, called: str) -> HttpResponse:
        """Return the rows behind a snapshot as CSV."""
        row = get_object_or_404(self.kept.only("rows", "number"), public_id=public_id)
        return snapshot_file(self.kind, row, ROWS, called=called)

    @extend_schema(request=NoteInput)
    def freeze(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Freeze the live board, so that it can no longer change."""
        return self._change(snapshots.freeze, public_id, NoteInput)

    @extend_schema(request=NothingInput)
    def publish(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Publish a frozen board at an address that anyone can read."""
        return self._change(snapshots.publish, public_id, NothingInput)

    @extend_schema(request=NothingInput)
    def withdraw(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Withdraw the public address."""
        return self._change(snapshots.withdraw, public_id, NothingInput)

    def _change(self, change: Callable[..., Any], public_id: uuid.UUID, body: Any) -> Response:
        row = get_object_or_404(self.rows(), public_id=public_id)
        fields = self.read(body)
        with conflict_on(snapshots.SnapshotNotReady):
            change(
                self.kind, owner=self.owner, number=row.number, actor=self.request.user, **fields
            )
        return self.shown(self.rows().get(pk=row.pk))


class ListOfSnapshots(FreezingViews):
    """The list of snapshots without their figures; a mixin listed before the views of a kind."""

    def rows(self) -> QuerySet[Any]:
        """Return the rows, newest first."""
        return super().rows().defer("rows", "figures", "changes")
