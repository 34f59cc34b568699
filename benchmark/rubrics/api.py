"""REST API for reading rubric versions and storing a new one."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from benchmark.rubrics.methods.rubric import RubricError, rubric_from_dict
from benchmark.rubrics.models import RubricVersion, save_rubric
from benchmark.rubrics.reports import versions_with_counts
from cqa_site.api.base import Input, ReadSerializer, Request, StudyViews, public_id
from cqa_site.web.rest.queries import invalid_on


class RubricSerializer(ReadSerializer):
    """One frozen version and its uses."""

    derived_from = public_id("derived_from", allow_null=True, default=None)
    maximum = serializers.IntegerField(source="content.maximum")
    criteria = serializers.SerializerMethodField(help_text="How many.")
    sheets = serializers.IntegerField(source="n_sheets")
    rounds = serializers.IntegerField(source="n_rounds")
    runs = serializers.IntegerField(source="n_runs")

    class Meta:
        model = RubricVersion
        fields = [
            "id", "name", "number", "sha256", "maximum", "criteria", "derived_from", "sheets",
            "rounds", "runs", "created_at",
        ]  # fmt: skip

    def get_criteria(self, version: RubricVersion) -> int:
        """Return the number of criteria."""
        return len(version.content["criteria"])


class RubricTextSerializer(RubricSerializer):
    """One version with its full text."""

    content = serializers.DictField()

    class Meta(RubricSerializer.Meta):
        fields = [*RubricSerializer.Meta.fields, "content"]


class RubricInput(Input):
    """A rubric in the format of ``content``; an unchanged text returns the existing version."""

    content = serializers.DictField()
    derived_from = serializers.UUIDField(required=False, allow_null=True, default=None)


class RubricFilter(filters.FilterSet):
    name = filters.CharFilter(max_length=80)
    sha256 = filters.CharFilter(max_length=64)


class RubricViews(StudyViews):
    """Versions of the study's rubrics."""

    serializer_class = RubricSerializer
    filterset_class = RubricFilter

    def rows(self) -> QuerySet[RubricVersion]:
        """Return the rows by name, the newest version first."""
        return versions_with_counts(self.study)

    @extend_schema(responses=RubricTextSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one version with its text."""
        return self._shown(public_id)

    @extend_schema(request=RubricInput, responses={201: RubricTextSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Store a rubric as the next version under its name."""
        body = self.read(RubricInput)
        with invalid_on("content", RubricError):
            rubric = rubric_from_dict(body["content"])
        base = None
        if body["derived_from"] is not None:
            base = self.study.rubric_versions.filter(public_id=body["derived_from"]).first()
            if base is None:
                raise serializers.ValidationError(
                    {"derived_from": ["This version does not exist."]}
                )
        version = save_rubric(
            study=self.study, rubric=rubric, actor=request.user, derived_from=base
        )
        return self._shown(version.public_id, 201)

    def _shown(self, public_id: uuid.UUID, status: int = 200) -> Response:
        version = self.find_row(public_id)
        return Response(RubricTextSerializer(version).data, status=status)
