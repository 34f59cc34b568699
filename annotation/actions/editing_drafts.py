"""Saving drafts: no text that arrives is ever lost, and none overwrites one it did not know.

A page says with each save which version its text was written from. That
version is replaced by one conditional update. A text that comes too late is
kept as a conflict for its writer to decide about; a draft that another page
replaces, and every so often one that its own page replaces, is kept as an
earlier draft.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.models import DraftConflict, EarlierDraft, EditingRound, EditingTask

KEEP_EVERY = 20
LONGEST_STRETCH = 30 * 60
TURNS = 3
# What everybody who looks at a task reads besides.
NEEDED = ("editing_round__study", "answer__question__comparison")


@dataclass(frozen=True)
class Sent:
    """What a page sent.

    ``sequence`` counts the page's own changes from 1 on; 0 comes from a page
    that cannot count, and the text is then taken only for the version it names.
    """

    text: str
    base_version: int
    client: str = ""
    sequence: int = 0
    active_seconds: int = 0


class StaleDraft(Exception):
    """The draft had changed since; ``conflict`` keeps the text."""

    def __init__(self, conflict: DraftConflict) -> None:
        super().__init__("the draft has changed since this text was begun")
        self.conflict = conflict


class RoundNotOpen(Exception):
    """The round takes no changes now; a text that differed is kept in ``conflict``."""

    def __init__(self, conflict: DraftConflict | None = None) -> None:
        super().__init__("the round takes no changes now")
        self.conflict = conflict


def save_draft(*, task: EditingTask, sent: Sent) -> EditingTask:
    """Store a draft and return the task as it is then; the same text again changes nothing.

    Raises StaleDraft or RoundNotOpen; both have kept the text.
    """
    with transaction.atomic():
        outcome = take(task, sent)
    return accepted(outcome)


def settle_conflict(
    *, conflict: DraftConflict, choice: str, base_version: int, merged: str = ""
) -> EditingTask:
    """Go on with the text that was kept aside, with the stored one, or with a merged one.

    ``base_version`` is the draft that the chooser saw. Raises StaleDraft, with
    the conflict that is still open, or RoundNotOpen.
    """
    task = conflict.task
    with transaction.atomic():
        outcome: EditingTask | DraftConflict = task
        if choice == DraftConflict.Choice.MINE:
            outcome = _take_kept(conflict, base_version)
        if choice == DraftConflict.Choice.MERGED:
            outcome = take(task, Sent(merged, base_version))
        if outcome is not conflict:
            DraftConflict.objects.filter(pk=conflict.pk, settled_at__isnull=True).update(
                settled_at=timezone.now(), choice=choice
            )
    return accepted(outcome)


def open_conflicts(task: EditingTask) -> list[DraftConflict]:
    """Texts that still wait for a decision, oldest first."""
    return list(task.conflicts.filter(settled_at__isnull=True))


def take(task: EditingTask, sent: Sent) -> EditingTask | DraftConflict:
    """Store the text as the draft, or keep it aside: inside the caller's transaction."""
    for _turn in range(TURNS):
        if _is_known(task, sent):
            return task
        if not _may_follow(task, sent):
            break
        if _put(task, sent):
            return fresh(task)
        # Somebody else saved in between; look again at what is stored now.
        task = fresh(task)
    return _keep_aside(task, sent)


def fresh(task: EditingTask) -> EditingTask:
    """The task as it is stored now."""
    return EditingTask.objects.select_related(*NEEDED).get(pk=task.pk)


def accepted(outcome: EditingTask | DraftConflict) -> EditingTask:
    """The task, or the exception that says why the text was kept aside."""
    if isinstance(outcome, EditingTask):
        return outcome
    if outcome.task.editing_round.state != EditingRound.State.OPEN:
        raise RoundNotOpen(outcome)
    raise StaleDraft(outcome)


def follows(task: EditingTask, sent: Sent) -> dict[str, object]:
    """Columns of the task that say whose series the next version belongs to."""
    is_same_page = bool(sent.client) and sent.client == task.draft_client
    return {
        "draft_version": task.draft_version + 1,
        "draft_client": sent.client,
        "draft_sequence": sent.sequence,
        "draft_since": task.draft_since if is_same_page else task.draft_version,
    }


def worked(task: EditingTask, sent: Sent, now: datetime) -> int:
    """Seconds to add: what the page claims, but no more than have passed since the last save."""
    longest = LONGEST_STRETCH
    if task.draft_saved_at is not None:
        longest = min(longest, max(0, int((now - task.draft_saved_at).total_seconds())))
    return max(0, min(sent.active_seconds, longest))


def _is_known(task: EditingTask, sent: Sent) -> bool:
    """The text is there already, or the page itself has sent a later one since."""
    if sent.text == task.text:
        return True
    is_same_page = bool(sent.client) and sent.client == task.draft_client
    return is_same_page and 0 < sent.sequence < task.draft_sequence


def _may_follow(task: EditingTask, sent: Sent) -> bool:
    if task.editing_round.state != EditingRound.State.OPEN:
        return False
    if sent.base_version == task.draft_version:
        return True
    # Its own earlier save, of which the page never got the answer.
    return (
        bool(sent.client)
        and sent.client == task.draft_client
        and task.draft_since <= sent.base_version <= task.draft_version
        and sent.sequence > task.draft_sequence
    )


def _put(task: EditingTask, sent: Sent) -> bool:
    """Replace exactly the version that was looked at; False if it is no longer there."""
    now = timezone.now()
    there = EditingTask.objects.filter(
        pk=task.pk,
        draft_version=task.draft_version,
        editing_round__state=EditingRound.State.OPEN,
    )
    changed = there.update(
        draft=sent.text,
        draft_saved_at=now,
        state=EditingTask.State.OPEN,
        active_seconds=F("active_seconds") + worked(task, sent, now),
        **follows(task, sent),
    )
    if changed and _is_worth_keeping(task, sent):
        EarlierDraft.objects.create(
            task=task,
            version=task.draft_version,
            text=task.draft,
            client=task.draft_client,
            saved_at=task.draft_saved_at,
        )
    return bool(changed)


def _is_worth_keeping(task: EditingTask, sent: Sent) -> bool:
    """Drafts of other pages, every twentieth one, and what may have been deleted by mistake."""
    if task.draft_version == 0:
        return False
    is_same_page = bool(sent.client) and sent.client == task.draft_client
    is_much_shorter = len(sent.text) < len(task.draft) / 2
    return not is_same_page or is_much_shorter or task.draft_version % KEEP_EVERY == 0


def _take_kept(conflict: DraftConflict, base_version: int) -> EditingTask | DraftConflict:
    """The kept text as the draft, or the same conflict where the draft has changed again."""
    task = fresh(conflict.task)
    sent = Sent(conflict.text, base_version)
    if _is_known(task, sent):
        return task
    if _may_follow(task, sent) and _put(task, sent):
        return fresh(task)
    return _meeting(conflict, task)


def _meeting(conflict: DraftConflict, task: EditingTask) -> DraftConflict:
    """The conflict with the draft that it meets now."""
    conflict.task, conflict.met_version = task, task.draft_version
    conflict.save(update_fields=["met_version"])
    return conflict


def _keep_aside(task: EditingTask, sent: Sent) -> DraftConflict:
    """Keep the text once, however often it comes."""
    same = task.conflicts.filter(client=sent.client, text=sent.text, settled_at__isnull=True)
    conflict = same.first()
    if conflict is not None:
        conflict.task = task
        return conflict
    return DraftConflict.objects.create(
        task=task,
        base_version=sent.base_version,
        met_version=task.draft_version,
        text=sent.text,
        client=sent.client,
    )
