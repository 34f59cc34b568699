"""Addresses of snapshots of a round."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from annotation.figures import actions as snapshots
from annotation.figures.api.bodies import SnapshotDetailSerializer, SnapshotSerializer
from annotation.figures.api.filters import SnapshotFilter
from annotation.figures.models import Snapshot
from annotation.labelling.api.campaigns import CampaignViews
from annotation.labelling.models.campaigns import Campaign
from cqa_site.api.inputs import NothingInput
from cqa_site.api.requests import Request
from cqa_site.results.api import FreezingViews, ListOfSnapshots
from cqa_site.runs.api.bodies import JobSerializer


class SnapshotViews(FreezingViews, CampaignViews):
    """The numbered sets of figures of a round."""

    kind = snapshots.CAMPAIGNS
    queryset = Snapshot.objects.none()
    filterset_class = SnapshotFilter
    serializer_class: type[Serializer] = SnapshotDetailSerializer

    @property
    def owner(self) -> Campaign:
        """Numbers count within the round."""
        return self.campaign

    @extend_schema(request=NothingInput, responses={202: JobSerializer})
    def refresh(self, request: Request, **kwargs: Any) -> Response:
        """Ask for new figures of the live snapshot in the background."""
        self.read(NothingInput)
        job = snapshots.request_snapshot(campaign=self.campaign, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)


class SnapshotListViews(ListOfSnapshots, SnapshotViews):
    """The list, without the figures."""

    serializer_class = SnapshotSerializer
