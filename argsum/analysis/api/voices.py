"""Endpoints for groups of near-duplicate comments."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.analysis.actions.voices import GroupRefused, ask_to_group, change_group
from argsum.analysis.reports.voices import groups_of
from argsum.datasets.api import CellPartViews
from argsum.datasets.models import Comment, NearDuplicate, NearDuplicateGroup
from cqa_site.api.base import Input, NothingInput, ReadSerializer, Request, public_id
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.web.rest.queries import conflict_on


class NearDuplicateGroupSerializer(ReadSerializer):
    """Comments that count as one voice, except ``out`` of them, which count separately."""

    centre = public_id("centre")
    text = serializers.CharField(source="centre.text")
    comments = serializers.IntegerField()
    out = serializers.IntegerField()

    class Meta:
        model = NearDuplicateGroup
        fields = ["id", "centre", "text", "comments", "out", "is_undone", "created_at"]


class NearDuplicateSerializer(serializers.ModelSerializer):
    """A comment in a group. ``shared`` is its similarity to the group's centre (0–1)."""

    comment = public_id("comment")
    text = serializers.CharField(source="comment.text", read_only=True)

    class Meta:
        model = NearDuplicate
        fields = ["comment", "text", "shared", "is_out"]
        read_only_fields = fields


class NearDuplicateInput(Input):
    """Whether a comment, or by default every comment of the group, counts separately."""

    is_out = serializers.BooleanField()
    comment = serializers.UUIDField(required=False, allow_null=True)


class NearDuplicateGroupViews(CellPartViews):
    """Groups of near-duplicates in a cell."""

    queryset = NearDuplicateGroup.objects.none()
    serializer_class = NearDuplicateGroupSerializer

    def rows(self) -> QuerySet:
        """Return the groups, the largest first and undone ones last."""
        return groups_of(self.cell())

    @extend_schema(request=NothingInput, responses={202: JobSerializer})
    def find(self, request: Request, **kwargs: Any) -> Response:
        """Look for near-duplicates among new comments; 409 if no comments are new."""
        self.read(NothingInput)
        with conflict_on(GroupRefused):
            job = ask_to_group(cell=self.cell(), actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=NearDuplicateInput, responses=NearDuplicateGroupSerializer)
    def change(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Remove a comment, put it back, or undo or restore the whole group."""
        data = self.read(NearDuplicateInput)
        group = self.find_row(public_id)
        comment = None
        if wanted := data.get("comment"):
            comment = Comment.objects.filter(duplicate__group=group, public_id=wanted).first()
            if comment is None:
                raise ValidationError({"comment": ["Not in this group."]})
        with conflict_on(GroupRefused):
            change_group(group=group, actor=request.user, is_out=data["is_out"], comment=comment)
        return self.shown(self.find_row(public_id))


class NearDuplicateViews(CellPartViews):
    """Comments of one group."""

    queryset = NearDuplicate.objects.none()
    serializer_class = NearDuplicateSerializer

    def rows(self) -> QuerySet:
        """Return the rows, ordered by position; raises 404 for a group of another cell."""
        groups = self.cell().duplicate_groups
        group = get_object_or_404(groups, public_id=self.kwargs["public_id"])
        return group.members.select_related("comment").order_by("comment__position")
