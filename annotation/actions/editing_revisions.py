"""Submitting: a draft becomes a revision that never changes; every further one is the next."""

import uuid
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import DraftConflict, EditingRound, EditingTask, Revision
from annotation.models.questions import text_key
from cqa_site.people.models import User

from .editing_checks import arguments_of, read_text
from .editing_drafts import RoundNotOpen, Sent, accepted, follows, fresh, take, worked


class RevisionNotValid(Exception):
    """The text is stored as the draft but not submitted; the message says why."""


@dataclass(frozen=True)
class Reasons:
    """What the changes were for: codes of `Revision.Reason`, and words."""

    codes: tuple[str, ...] = ()
    comment: str = ""


def submit(*, task: EditingTask, sent: Sent, key: str, reasons: Reasons, editor: User) -> Revision:
    """Store the text as draft and next revision; the same request again changes nothing.

    Raises StaleDraft or RoundNotOpen, which have kept the text, and RevisionNotValid.
    """
    # What was kept must stay when the answer is no, so refusals leave the transaction as values.
    with transaction.atomic():
        outcome = _submit(task, sent, key, reasons, editor)
    if isinstance(outcome, DraftConflict):
        accepted(outcome)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _submit(
    task: EditingTask, sent: Sent, key: str, reasons: Reasons, editor: User
) -> Revision | DraftConflict | RoundNotOpen | RevisionNotValid:
    EditingTask.objects.select_for_update().get(pk=task.pk)
    revisions = list(task.revisions.all())
    repeated = next((each for each in revisions if each.client_key == key), None)
    if repeated is not None and _is_same(repeated, sent.text, reasons):
        return repeated
    stored = take(fresh(task), sent)
    if isinstance(stored, DraftConflict):
        return stored
    if stored.editing_round.state != EditingRound.State.OPEN:
        return RoundNotOpen()
    latest = revisions[-1] if revisions else None
    problem = _problem(stored, latest, sent.text, reasons)
    if problem:
        return RevisionNotValid(problem)
    _end_draft(stored, sent)
    free_key = key if repeated is None else uuid.uuid4().hex
    return _revise(fresh(stored), latest, free_key, reasons, editor)


def _problem(task: EditingTask, latest: Revision | None, text: str, reasons: Reasons) -> str:
    """Why this cannot be a revision; empty if it can."""
    if not text.strip():
        return _("The text is empty.")
    if latest is not None and _is_same(latest, text, reasons):
        return _("Nothing has changed since revision %d.") % latest.number
    is_changed = text != (latest.text if latest else task.machine_text)
    if is_changed and not set(reasons.codes) - {Revision.Reason.UNCHANGED}:
        return _("Choose at least one reason for the changes.")
    if Revision.Reason.OTHER in reasons.codes and not reasons.comment.strip():
        return _("Say in the comment what the other reason is.")
    return ""


def _is_same(revision: Revision, text: str, reasons: Reasons) -> bool:
    return (revision.text, set(revision.reasons), revision.comment) == (
        text,
        set(reasons.codes),
        reasons.comment,
    )


def _end_draft(task: EditingTask, sent: Sent) -> None:
    """The draft is the submitted text; the version rises, so that other pages are behind."""
    now = timezone.now()
    EditingTask.objects.filter(pk=task.pk).update(
        state=EditingTask.State.SUBMITTED,
        draft=sent.text,
        draft_saved_at=now,
        submitted_at=now,
        active_seconds=task.active_seconds + worked(task, sent, now),
        **follows(task, sent),
    )


def _revise(
    task: EditingTask, latest: Revision | None, key: str, reasons: Reasons, editor: User
) -> Revision:
    reading = read_text(task, task.text, arguments_of(task))
    return Revision.objects.create(
        task=task,
        number=latest.number + 1 if latest else 1,
        text=task.text,
        text_sha256=text_key(task.text),
        reasons=[code for code in Revision.Reason.values if code in reasons.codes],
        comment=reasons.comment,
        checks=reading.snapshot(),
        active_seconds=task.active_seconds,
        client_key=key,
        created_by=editor,
    )
