"""Labels of the relevance judge, two runs compared, and what is told of runs of this paper."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from annotation.models import JudgeLabel
from annotation.reports.generation import compare_answers
from annotation.reports.judge_compare import compare_runs
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.runs.api.calls import RunPartViews
from cqa_site.runs.kind_parts import Told
from cqa_site.runs.models import Call, Run

from . import filters, serializers


class RunComparisonViews(StudyViews):
    """Two runs side by side."""

    queryset = Run.objects.none()

    def rows(self) -> QuerySet:
        """Runs of any kind; each comparison takes those of its own."""
        return self.study.runs.select_related("prompt", "relevance__campaign")

    @extend_schema(responses=serializers.RunComparisonSerializer)
    def compare(
        self, request: Request, public_id: uuid.UUID, other_id: uuid.UUID, **kwargs: Any
    ) -> Response:
        """How far this run and another one over the same campaign agree."""
        judges = self.get_queryset().filter(kind="relevance")
        run = get_object_or_404(judges, public_id=public_id)
        others = judges.filter(relevance__campaign=run.relevance.campaign)
        other = get_object_or_404(others.exclude(pk=run.pk), public_id=other_id)
        compared = compare_runs(run, other)
        return Response(serializers.RunComparisonSerializer(compared).data)

    @extend_schema(responses=serializers.AnswersComparisonSerializer)
    def compare_answers(
        self, request: Request, public_id: uuid.UUID, other_id: uuid.UUID, **kwargs: Any
    ) -> Response:
        """Lengths and choices of the answers of this run and another one that writes some."""
        writing = self.get_queryset().filter(kind="answers")
        run = get_object_or_404(writing, public_id=public_id)
        other = get_object_or_404(writing.exclude(pk=run.pk), public_id=other_id)
        compared = compare_answers(run, other)
        return Response(serializers.AnswersComparisonSerializer(compared).data)


class JudgeLabelViews(RunPartViews):
    """The labels of a run."""

    queryset = JudgeLabel.objects.none()
    serializer_class = serializers.JudgeLabelSerializer
    filterset_class = filters.JudgeLabelFilter

    def rows(self) -> QuerySet:
        """By argument, then replicate."""
        labels = self.run.judge_labels.select_related("argument__comparison", "call")
        return labels.order_by("argument", "replicate")


def _add_arguments(run: Run, calls: Iterable[Call]) -> None:
    calls = list(calls)
    ids = _public_ids(run.study.arguments, {pk for call in calls for pk in call.subject_ids})
    for call in calls:
        call.arguments = [ids[pk] for pk in call.subject_ids if pk in ids]
        labels = call.judge_labels.select_related("argument__comparison", "call")
        call.labels = labels.order_by("argument", "replicate")


def _add_question(run: Run, calls: Iterable[Call]) -> None:
    calls = list(calls)
    ids = _public_ids(run.study.questions, {call.subject_ids[0] for call in calls})
    for call in calls:
        call.question = ids.get(call.subject_ids[0])


def _public_ids(rows: QuerySet, keys: set[int]) -> dict[int, uuid.UUID]:
    return dict(rows.filter(pk__in=keys).values_list("pk", "public_id"))


RELEVANCE = Told(
    run=serializers.CampaignOfRun,
    call=serializers.ArgumentsOfCall,
    call_detail=serializers.LabelsOfCall,
    add_to_calls=_add_arguments,
)
ANSWERS = Told(
    run=serializers.SystemOfRun,
    run_detail=serializers.LeftOutOfRun,
    call=serializers.QuestionOfCall,
    add_to_calls=_add_question,
)
