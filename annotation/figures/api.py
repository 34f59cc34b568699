"""REST API for the snapshots of a round."""

from typing import Any

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from annotation.figures import actions
from annotation.figures.models import Snapshot
from annotation.labelling.api import LabelRoundViews
from annotation.labelling.models import LabelRound
from cqa_site.api.base import NothingInput, Request
from cqa_site.results.api import (
    SNAPSHOT_FIELDS,
    FreezingViews,
    ListOfSnapshots,
    NumberedSnapshotSerializer,
)
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.web.rest.queries import TrueFalseFilter


class SnapshotSerializer(NumberedSnapshotSerializer):
    """A snapshot without its figures; the snapshot's own URL returns them."""

    class Meta:
        model = Snapshot
        fields = ["id", "number", *SNAPSHOT_FIELDS]


class SnapshotDetailSerializer(SnapshotSerializer):
    """A snapshot with its figures."""

    class Meta:
        model = Snapshot
        fields = [*SnapshotSerializer.Meta.fields, "figures"]


class SnapshotFilter(filters.FilterSet):
    is_frozen = TrueFalseFilter(field_name="frozen_at", lookup_expr="isnull", exclude=True)


class SnapshotViews(FreezingViews, LabelRoundViews):
    """The numbered snapshots of a round."""

    kind = actions.LABEL_ROUNDS
    filterset_class = SnapshotFilter
    serializer_class: type[Serializer] = SnapshotDetailSerializer

    @property
    def owner(self) -> LabelRound:
        """Return the round in which snapshots are numbered."""
        return self.label_round

    @extend_schema(request=NothingInput, responses={202: JobSerializer})
    def refresh(self, request: Request, **kwargs: Any) -> Response:
        """Recompute the live snapshot's figures in the background."""
        self.read(NothingInput)
        job = actions.request_snapshot(label_round=self.label_round, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)


class SnapshotListViews(ListOfSnapshots, SnapshotViews):
    """List of snapshots, without their figures."""

    serializer_class = SnapshotSerializer
