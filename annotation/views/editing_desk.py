"""The editing desk: arguments, the text, live checks.

Drafts and revisions come from a plain form or from editing.js. Both post the
same fields; the Accept header decides between a redirect and JSON.
"""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.editing_checks import arguments_of, read_text
from annotation.actions.editing_drafts import (
    RoundNotOpen,
    StaleDraft,
    open_conflicts,
    save_draft,
    settle_conflict,
)
from annotation.actions.editing_revisions import RevisionNotValid, submit
from annotation.forms.editing import DraftForm, SettleForm, SubmitForm
from annotation.models import EditingRound, EditingTask, Revision
from annotation.models.editing import plain_lines
from cqa_site.people.access import study_page
from cqa_site.people.models import Role, Study
from cqa_site.web.replies import wants_json

from .editing_access import own_task
from .editing_payload import (
    checklist,
    desk_arguments,
    desk_conflicts,
    listed_arguments,
    page_data,
)


@study_page(Role.EXPERT)
@require_safe
def desk(request: HttpRequest, study: Study, task_id: uuid.UUID) -> HttpResponse:
    """Show one answer for editing, as it was last saved."""
    return _page(request, own_task(request, study, task_id))


@study_page(Role.EXPERT)
@require_POST
def desk_save(request: HttpRequest, study: Study, task_id: uuid.UUID) -> HttpResponse:
    """Store a draft; a text that comes too late is kept aside and shown beside the stored one."""
    task = own_task(request, study, task_id)
    form = DraftForm(request.POST)
    if not form.is_valid():
        return _not_valid(request, task, form)
    try:
        saved = save_draft(task=task, sent=form.sent())
    except StaleDraft as stale:
        return _stale(request, stale)
    except RoundNotOpen:
        return _closed(request, task)
    if not wants_json(request):
        return _to_desk(task)
    return JsonResponse(_saved(request, saved))


@study_page(Role.EXPERT)
@require_POST
def desk_submit(request: HttpRequest, study: Study, task_id: uuid.UUID) -> HttpResponse:
    """Store the text as a revision with its reasons."""
    task = own_task(request, study, task_id)
    form = SubmitForm(request.POST)
    if not form.is_valid():
        return _not_valid(request, task, form)
    try:
        revision = submit(
            task=task,
            sent=form.sent(),
            key=form.cleaned_data["client_key"],
            reasons=form.why(),
            editor=request.user,
        )
    except StaleDraft as stale:
        return _stale(request, stale)
    except RoundNotOpen:
        return _closed(request, task)
    except RevisionNotValid as reason:
        form.add_error(None, str(reason))
        return _not_valid(request, task, form)
    messages.success(request, _("Submitted as revision %d.") % revision.number)
    if not wants_json(request):
        return _to_desk(task)
    return JsonResponse({"revision": revision.number, "page": _address("desk", task)})


@study_page(Role.EXPERT)
@require_POST
def desk_settle(
    request: HttpRequest, study: Study, task_id: uuid.UUID, conflict_id: uuid.UUID
) -> HttpResponse:
    """Go on with one of two texts, or with a merged one."""
    task = own_task(request, study, task_id)
    conflict = get_object_or_404(task.conflicts, public_id=conflict_id)
    conflict.task = task
    form = SettleForm(request.POST)
    if not form.is_valid():
        return _not_valid(request, task, form)
    given = form.cleaned_data
    try:
        settle_conflict(
            conflict=conflict,
            choice=given["choice"],
            base_version=given["base_version"],
            merged=given["text"],
        )
    except StaleDraft:
        messages.error(request, _("The stored text changed once more. Choose again, please."))
    except RoundNotOpen:
        return _closed(request, task)
    return _to_desk(task)


def _page(
    request: HttpRequest,
    task: EditingTask,
    form: DraftForm | SettleForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The desk; a form with errors brings its own text back."""
    study = request.membership.study
    is_draft = isinstance(form, DraftForm) and "text" in form.data
    text = plain_lines(form.data["text"]) if form and is_draft else task.text
    entries = listed_arguments(task)
    reading = read_text(task, text, {entry.number: entry.argument.text for entry in entries})
    client = uuid.uuid4().hex
    context = {
        "study": study,
        "task": task,
        "editing_round": task.editing_round,
        "is_open": task.editing_round.state == EditingRound.State.OPEN,
        "comparison": task.answer.question.comparison,
        "text": text,
        "arguments": desk_arguments(study, task, entries, reading),
        "checks": checklist(reading),
        "conflicts": desk_conflicts(task, open_conflicts(task)),
        "revisions": list(task.revisions.defer("text")),
        "form": form,
        "chosen": form.data.getlist("reasons") if form and is_draft else [],
        "reasons": Revision.Reason.choices,
        "client": client,
        "client_key": uuid.uuid4().hex,
        "page": page_data(task, request.user, client),
        "place": _place(task),
    }
    return render(request, "annotation/editing_desk.html", context, status=status)


def _place(task: EditingTask) -> dict[str, Any]:
    """Where the task stands among the person's tasks of the round."""
    tasks = EditingTask.objects.filter(editing_round=task.editing_round, editor=task.editor_id)
    rows = list(tasks.order_by("position").values_list("public_id", "state"))
    ids = [public_id for public_id, _state in rows]
    here = ids.index(task.public_id)
    later = rows[here + 1 :] + rows[:here]
    waiting = [public_id for public_id, state in later if state == EditingTask.State.OPEN]
    return {
        "number": here + 1,
        "all": len(ids),
        "before": ids[here - 1] if here else None,
        "after": ids[here + 1] if here + 1 < len(ids) else None,
        "to_do": waiting[0] if waiting else None,
    }


def _saved(request: HttpRequest, task: EditingTask) -> dict[str, Any]:
    """What the page learns from a save: the version to go on from, and the checklist."""
    reading = read_text(task, task.text, arguments_of(task))
    context = {"checks": checklist(reading)}
    return {
        "version": task.draft_version,
        "saved_at": task.draft_saved_at,
        "state": task.get_state_display(),
        "checks": render_to_string("annotation/_editing_checks.html", context, request),
    }


def _stale(request: HttpRequest, stale: StaleDraft) -> HttpResponse:
    """The kept text and the stored one side by side; nothing was overwritten."""
    task = stale.conflict.task
    if not wants_json(request):
        return _to_desk(task)
    context = {
        "study": request.membership.study,
        "task": task,
        "conflicts": desk_conflicts(task, [stale.conflict]),
        "is_open": True,
    }
    html = render_to_string("annotation/_editing_conflicts.html", context, request)
    return JsonResponse({"error": "conflict", "conflict": html}, status=409)


def _closed(request: HttpRequest, task: EditingTask) -> HttpResponse:
    """The round ended meanwhile; what differed is kept."""
    detail = _("The round is closed. Your text is kept; a researcher can open the round again.")
    if wants_json(request):
        return JsonResponse({"error": "closed", "detail": detail}, status=409)
    messages.error(request, detail)
    return _to_desk(task)


def _not_valid(
    request: HttpRequest, task: EditingTask, form: DraftForm | SettleForm
) -> HttpResponse:
    """Say why nothing was stored, or not as a revision; without script the text comes back."""
    if not wants_json(request):
        return _page(request, task, form, status=422)
    texts = [text for errors in form.errors.values() for text in errors]
    return JsonResponse({"error": "not_valid", "detail": " ".join(texts)}, status=422)


def _address(name: str, task: EditingTask) -> str:
    return reverse(name, args=[task.editing_round.study.public_id, task.public_id])


def _to_desk(task: EditingTask) -> HttpResponse:
    return HttpResponse(status=303, headers={"Location": _address("desk", task)})


urlpatterns = [
    path("editing/<uuid:task_id>/", desk, name="desk"),
    path("editing/<uuid:task_id>/save/", desk_save, name="desk_save"),
    path("editing/<uuid:task_id>/submit/", desk_submit, name="desk_submit"),
    path("editing/<uuid:task_id>/conflicts/<uuid:conflict_id>/", desk_settle, name="desk_settle"),
]
