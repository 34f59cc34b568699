"""Snapshots of key points: leaderboard, agreement, and the rows behind both."""

import uuid
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.leaderboard.actions import KEY_POINTS, request_board
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.leaderboard.reports.choice import board_choice
from cqa_site.api.inputs import Input
from cqa_site.api.requests import Request
from cqa_site.api.serializers import public_id
from cqa_site.results.api import TOLD, FreezingViews, KeptSerializer, ListOfSnapshots
from cqa_site.runs.api.bodies import JobSerializer


class KeyPointBoardSerializer(KeptSerializer):
    """A numbered snapshot; see its own address for the figures."""

    kind = KEY_POINTS
    dataset = public_id("dataset")

    class Meta:
        model = KeyPointSnapshot
        fields = ["id", "number", "dataset", "split", *TOLD, "public_token"]


class KeyPointBoardDetailSerializer(KeyPointBoardSerializer):
    """A numbered snapshot with every figure and its manifest."""

    class Meta:
        model = KeyPointSnapshot
        fields = [*KeyPointBoardSerializer.Meta.fields, "figures", "manifest"]


class KeptChoiceInput(Input):
    """What to keep; whatever is left out is as on the leaderboard."""

    dataset = serializers.UUIDField(required=False)
    split = serializers.CharField(required=False, allow_blank=True)
    coverage = serializers.CharField(required=False)
    redundancy = serializers.CharField(required=False)
    weight = serializers.FloatField(required=False, min_value=0, max_value=1)
    selection = serializers.CharField(required=False)
    share = serializers.FloatField(required=False, min_value=0, max_value=1)
    without = serializers.CharField(required=False, allow_blank=True, max_length=120)


class KeyPointBoardViews(FreezingViews):
    """The numbered snapshots of key points of a study."""

    kind = KEY_POINTS
    related = ("dataset",)
    queryset = KeyPointSnapshot.objects.none()
    serializer_class: type[serializers.Serializer] = KeyPointBoardDetailSerializer

    @extend_schema(request=KeptChoiceInput, responses={202: JobSerializer})
    def ask(self, request: Request, **kwargs: Any) -> Response:
        """Compute a leaderboard in the background and keep it as the live one of its split."""
        given = {name: str(value) for name, value in self.read(KeptChoiceInput).items()}
        choice = board_choice(self.study, given)
        said = {
            "dataset": str(choice.dataset.public_id) if choice.dataset else "",
            "split": choice.split,
            "coverage": choice.coverage.key,
            "redundancy": choice.redundancy.key,
            "selection": choice.terms.selection,
        }
        unknown = [name for name, value in said.items() if given.get(name, value) != value]
        if unknown or choice.dataset is None:
            wrong = unknown or ["dataset"]
            raise ValidationError({name: ["Nothing of this study."] for name in wrong})
        job = request_board(choice=choice, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def kept_rows(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> HttpResponse:
        """The rows behind a snapshot as CSV: exactly the bytes of its sha256."""
        return self.rows_file(public_id, "key-points")


class KeyPointBoardListViews(ListOfSnapshots, KeyPointBoardViews):
    """The list, without the figures."""

    serializer_class = KeyPointBoardSerializer
