"""Whose task may be opened by whom; everybody else hears that it does not exist."""

import uuid

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from annotation.actions.editing_drafts import NEEDED
from annotation.models import EditingRound, EditingTask
from cqa_site.people.models import Study


def own_task(request: HttpRequest, study: Study, task_id: uuid.UUID) -> EditingTask:
    """A task on the person's own desk; raises Http404."""
    tasks = opened_tasks(study).filter(editor=request.user)
    return get_object_or_404(tasks, public_id=task_id)


def readable_task(request: HttpRequest, study: Study, task_id: uuid.UUID) -> EditingTask:
    """A task that the person may read; raises Http404.

    Researchers read all of them, experts their own ones, and after the round
    closed those of others about calibration answers that they edited too.
    """
    tasks = opened_tasks(study).select_related("editor")
    if not request.membership.is_researcher:
        tasks = tasks.filter(Q(editor=request.user) | _shared_with(request))
    return get_object_or_404(tasks, public_id=task_id)


def sees_others(request: HttpRequest, editing_round: EditingRound) -> bool:
    """Whether what other experts wrote about calibration answers may be shown."""
    return request.membership.is_researcher or editing_round.state == EditingRound.State.CLOSED


def opened_tasks(study: Study) -> QuerySet[EditingTask]:
    """Tasks of rounds that were opened."""
    tasks = EditingTask.objects.filter(editing_round__study=study).select_related(*NEEDED)
    return tasks.exclude(editing_round__state=EditingRound.State.DRAFT)


def _shared_with(request: HttpRequest) -> Q:
    own = EditingTask.objects.filter(
        editing_round=OuterRef("editing_round"),
        answer=OuterRef("answer"),
        editor=request.user,
        is_calibration=True,
    )
    is_closed = Q(editing_round__state=EditingRound.State.CLOSED)
    return Q(Exists(own), is_calibration=True) & is_closed
