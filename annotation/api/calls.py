"""What a run asked, what came back and which labels were read from it; read only."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from annotation.models import JudgeLabel
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.runs.asked import asked_again
from cqa_site.runs.models import Attempt, Call, Run

from . import filters, serializers


class RunPartViews(StudyViews):
    """Addresses below ``runs/<run_id>/``."""

    run: Run

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the run inside the study."""
        super().initial(request, *args, **kwargs)
        runs = self.study.runs.select_related("endpoint", "prompt", "study")
        self.run = get_object_or_404(runs, public_id=kwargs["run_id"])


class CallViews(RunPartViews):
    """The requests of a run."""

    queryset = Call.objects.none()
    serializer_class = serializers.CallSerializer
    filterset_class = filters.CallFilter

    def rows(self) -> QuerySet:
        """In the order in which they are asked."""
        return self.run.calls.order_by("position")

    def list(self, request: Request, **kwargs: Any) -> Response:
        """A page of requests with the ids of what they ask about."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        add_items(self.run, page)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(responses=serializers.CallDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """One request: its exact text, every attempt, raw replies, and what was read."""
        calls = self.get_queryset().prefetch_related("attempts__reply")
        call = get_object_or_404(calls, public_id=public_id)
        call.run = self.run
        add_items(self.run, [call])
        call.asked = asked_again(self.run, call)
        labels = call.judge_labels.select_related("argument__comparison", "call")
        call.labels = labels.order_by("argument", "replicate")
        return Response(serializers.CallDetailSerializer(call).data)


class ReplyViews(RunPartViews):
    """What came back for the requests of a run."""

    queryset = Attempt.objects.none()
    serializer_class = serializers.CallReplySerializer
    filterset_class = filters.ReplyFilter

    def rows(self) -> QuerySet:
        """In the order in which the requests left; whole bodies are told with their call."""
        replied = Attempt.objects.filter(call__run=self.run, reply__isnull=False)
        return replied.select_related("call", "reply").defer("reply__body").order_by("pk")


class JudgeLabelViews(RunPartViews):
    """The labels of a run."""

    queryset = JudgeLabel.objects.none()
    serializer_class = serializers.JudgeLabelSerializer
    filterset_class = filters.JudgeLabelFilter

    def rows(self) -> QuerySet:
        """By argument, then replicate."""
        labels = self.run.judge_labels.select_related("argument__comparison", "call")
        return labels.order_by("argument", "replicate")


def add_items(run: Run, calls: Iterable[Call]) -> None:
    """Give each call the public ids of its ``arguments`` or of its ``question``; one query."""
    calls = list(calls)
    for call in calls:
        call.arguments, call.question = [], None
    if run.kind == "relevance":
        ids = _public_ids(run.study.arguments, {pk for call in calls for pk in call.subject_ids})
        for call in calls:
            call.arguments = [ids[pk] for pk in call.subject_ids if pk in ids]
    elif run.kind == "answers":
        ids = _public_ids(run.study.questions, {call.subject_ids[0] for call in calls})
        for call in calls:
            call.question = ids.get(call.subject_ids[0])


def _public_ids(rows: QuerySet, keys: set[int]) -> dict[int, uuid.UUID]:
    return dict(rows.filter(pk__in=keys).values_list("pk", "public_id"))
