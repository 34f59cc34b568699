"""Addresses of judges beside people."""

import uuid
from collections.abc import Iterable

from django.db.models import Manager, QuerySet

from annotation.judges.api.bodies import (
    ArgumentsOfCall,
    JudgeLabelSerializer,
    LabelsOfCall,
    RoundOfRun,
)
from annotation.judges.api.filters import JudgeLabelFilter
from annotation.judges.models import JudgeLabel
from cqa_site.runs.api.calls import RunPartViews
from cqa_site.runs.kind_parts import Told
from cqa_site.runs.models import Call, Run


class JudgeLabelViews(RunPartViews):
    """The labels of a run."""

    queryset = JudgeLabel.objects.none()
    serializer_class = JudgeLabelSerializer
    filterset_class = JudgeLabelFilter

    def rows(self) -> QuerySet:
        """By argument, then replicate."""
        labels = self.run.judge_labels.select_related("argument__comparison", "call")
        return labels.order_by("argument", "replicate")


def _add_arguments(run: Run, calls: Iterable[Call]) -> None:
    calls = list(calls)
    ids = public_ids(run.study.arguments, {pk for call in calls for pk in call.subject_ids})
    for call in calls:
        labels = call.judge_labels.select_related("argument__comparison", "call")
        arguments = [ids[pk] for pk in call.subject_ids if pk in ids]
        vars(call).update(arguments=arguments, labels=labels.order_by("argument", "replicate"))


def public_ids(rows: Manager | QuerySet, keys: set[int]) -> dict[int, uuid.UUID]:
    return dict(rows.filter(pk__in=keys).values_list("pk", "public_id"))


RELEVANCE = Told(
    run=RoundOfRun,
    call=ArgumentsOfCall,
    call_detail=LabelsOfCall,
    add_to_calls=_add_arguments,
)
