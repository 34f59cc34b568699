"""Addresses of runs in which a model writes answers."""

from collections.abc import Iterable

from annotation.generation.api.bodies import (
    LeftOutOfRun,
    QuestionOfCall,
    SystemOfRun,
)
from annotation.judges.api.labels import public_ids
from cqa_site.runs.kind_parts import Told
from cqa_site.runs.models import Call, Run


def _add_question(run: Run, calls: Iterable[Call]) -> None:
    calls = list(calls)
    ids = public_ids(run.study.questions, {call.subject_ids[0] for call in calls})
    for call in calls:
        vars(call).update(question=ids.get(call.subject_ids[0]))


ANSWERS = Told(
    run=SystemOfRun,
    run_detail=LeftOutOfRun,
    call=QuestionOfCall,
    add_to_calls=_add_question,
)
