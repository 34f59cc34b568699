"""Addresses of runs in which a model writes answers."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from annotation.generation.api.bodies import (
    AnswersComparisonSerializer,
)
from annotation.generation.reports.answers import compare_answers
from annotation.judges.api.bodies import (
    RunComparisonSerializer,
)
from annotation.judges.reports.compare import compare_runs
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.runs.models import Run


class RunComparisonViews(StudyViews):
    """Two runs side by side."""

    queryset = Run.objects.none()

    def rows(self) -> QuerySet:
        """Runs of any kind; each comparison takes those of its own."""
        return self.study.runs.select_related("prompt", "relevance__campaign")

    @extend_schema(responses=RunComparisonSerializer)
    def compare(
        self, request: Request, public_id: uuid.UUID, other_id: uuid.UUID, **kwargs: Any
    ) -> Response:
        """How far this run and another one over the same round agree."""
        judges = self.get_queryset().filter(kind="relevance")
        run = get_object_or_404(judges, public_id=public_id)
        others = judges.filter(relevance__campaign=run.relevance.campaign)
        other = get_object_or_404(others.exclude(pk=run.pk), public_id=other_id)
        compared = compare_runs(run, other)
        return Response(RunComparisonSerializer(compared).data)

    @extend_schema(responses=AnswersComparisonSerializer)
    def compare_answers(
        self, request: Request, public_id: uuid.UUID, other_id: uuid.UUID, **kwargs: Any
    ) -> Response:
        """Lengths and choices of the answers of this run and another one that writes some."""
        writing = self.get_queryset().filter(kind="answers")
        run = get_object_or_404(writing, public_id=public_id)
        other = get_object_or_404(writing.exclude(pk=run.pk), public_id=other_id)
        compared = compare_answers(run, other)
        return Response(AnswersComparisonSerializer(compared).data)
