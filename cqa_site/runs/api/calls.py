"""What a run asked and what came back; read only."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from cqa_site.api.requests import AnyRequest, Request
from cqa_site.api.views import StudyViews
from cqa_site.runs.kinds import KINDS, kind_of
from cqa_site.runs.models import Attempt, Call, Run
from cqa_site.runs.planning.asked import asked_again

from . import filters, told


class RunPartViews(StudyViews):
    """Addresses below ``runs/<run_id>/``."""

    run: Run

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the run inside the study."""
        super().initial(request, *args, **kwargs)
        runs = self.study.runs.select_related("endpoint", "prompt", "study")
        self.run = get_object_or_404(runs, public_id=kwargs["run_id"])


class CallViews(RunPartViews):
    """The requests of a run."""

    queryset = Call.objects.none()
    serializer_class = told.CallSerializer
    filterset_class = filters.CallFilter

    def rows(self) -> QuerySet[Call]:
        """In the order in which they are asked."""
        return self.run.calls.order_by("position")

    def list(self, request: Request, **kwargs: Any) -> Response:
        """A page of requests with the ids of what they ask about."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        add_told(self.run, page)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(responses=told.CallDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """One request: its exact text, every attempt, raw replies, and what was read."""
        calls = self.get_queryset().prefetch_related("attempts__reply")
        call = get_object_or_404(calls, public_id=public_id)
        call.run = self.run
        add_told(self.run, [call])
        call.asked = asked_again(self.run, call)
        return Response(told.CallDetailSerializer(call).data)


class ReplyViews(RunPartViews):
    """What came back for the requests of a run."""

    queryset = Attempt.objects.none()
    serializer_class = told.CallReplySerializer
    filterset_class = filters.ReplyFilter

    def rows(self) -> QuerySet[Attempt]:
        """In the order in which the requests left; whole bodies are told with their call."""
        replied = Attempt.objects.filter(call__run=self.run, reply__isnull=False)
        return replied.select_related("call", "reply").defer("reply__body").order_by("pk")


def add_told(run: Run, calls: Iterable[Call]) -> None:
    """Give requests what their kind tells of them; nothing where its app was taken out."""
    if run.kind in KINDS:
        kind_of(run).told().add_to_calls(run, calls)
