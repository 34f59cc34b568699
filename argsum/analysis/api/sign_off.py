"""Endpoints for the sign-off of key points."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from argsum.analysis.actions.edits import EditRefused
from argsum.analysis.actions.themes import sign_off
from argsum.analysis.models import SignOff
from argsum.analysis.reports.history import sign_off_of
from cqa_site.api.base import Request, public_id
from cqa_site.web.rest.queries import conflict_on
from .analyses import AnalysisViewsBelow
from .points import SeenInput


class SignOffSerializer(serializers.Serializer):
    """The newest sign-off. ``is_current`` is true if the key points shown are still the same.

    ``digest`` is the SHA-256 of their texts and themes. If there is no sign-off, ``by``, ``at``
    and ``digest`` are null.
    """

    is_current = serializers.BooleanField(source="is_valid")
    by = public_id("newest.actor", allow_null=True, default=None)
    at = serializers.DateTimeField(source="newest.at", allow_null=True, default=None)
    digest = serializers.CharField(source="newest.digest", allow_null=True, default=None)
    revision = serializers.IntegerField(source="newest.revision", allow_null=True, default=None)
    shown = serializers.IntegerField(help_text="Key points shown now.")
    proposed = serializers.IntegerField(help_text="Key points awaiting a decision.")


class SignOffViews(AnalysisViewsBelow):
    """The sign-off of the key points of an analysis."""

    queryset = SignOff.objects.none()
    serializer_class = SignOffSerializer
    pagination_class = None
    filter_backends = ()

    @extend_schema(responses=SignOffSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return who signed off the key points, and whether they are still the same."""
        return self._told(200)

    @extend_schema(request=SeenInput, responses={201: SignOffSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Sign off the key points shown; 409 if they have changed or any are still proposed."""
        seen = self.read(SeenInput)["seen"]
        with conflict_on(EditRefused):
            sign_off(analysis=self.analysis(), actor=request.user, seen=seen)
        return self._told(201)

    def _told(self, status: int) -> Response:
        return Response(SignOffSerializer(sign_off_of(self.analysis())).data, status=status)
