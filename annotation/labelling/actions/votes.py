"""Idempotent storage of answers, with a history; completed work is never rejected."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from annotation.labelling.models import Assignment, LabelRound, Slot, VoteEvent
from cqa_site.people.models import Rater
from .serving import DONE, FREE, take_slots

MAX_ACTIVE_MS = 30 * 60 * 1000
LATE = (Assignment.State.EXPIRED, Assignment.State.SKIPPED, Assignment.State.VOID)

# Fields that an answer changes
ANSWER_FIELDS = (
    "slot", "state", "label", "is_extra", "skip_reason", "comment", "is_flagged", "answered_at",
    "active_ms",
)  # fmt: skip


class AnswerNotValid(Exception):
    """The label is not on the scale, or a skip has no reason."""


class KeyReused(Exception):
    """A client key was reused for a different answer."""


class RoundClosed(Exception):
    """The round is closed, so a counted answer can no longer change."""


@dataclass(frozen=True)
class SubmittedLabel:
    """Content of the browser's request for one assignment."""

    client_key: str
    label: int | None = None
    skip_reason: str = ""
    comment: str = ""
    is_flagged: bool = False
    active_ms: int | None = None
    # Client key of the answer shown on the page, empty if there was no answer; None if not given.
    known: str | None = None


class AnsweredMeanwhile(Exception):
    """The stored answer is newer than the answer on the page, so it is not changed."""

    def __init__(self, row: Assignment, label: SubmittedLabel) -> None:
        text = _(
            "You already answered this item in another tab or on another device: %(stored)s. "
            "That answer was kept; %(late)s was not stored."
        )
        super().__init__(text % {"stored": _value(row.label), "late": _value(label.label)})


def _value(label: int | None) -> str:
    return _("skipped") if label is None else str(label)


@dataclass(frozen=True)
class StoredLabel:
    """The stored assignment, and whether this was its first answer."""

    row: Assignment
    is_first: bool


@transaction.atomic
def answer(*, rater: Rater, assignment: Assignment, given: SubmittedLabel) -> Assignment:
    """Store the rater's answer to an assignment; see `store`."""
    rows = Assignment.objects.select_for_update(of=("self",)).select_related("round__guideline")
    return store(rows.get(pk=assignment.pk, rater=rater), given).row


def store(row: Assignment, label: SubmittedLabel) -> StoredLabel:
    """Store an answer in a locked row; repeating the same key and body changes nothing.

    A first answer is always stored; it counts if it has a slot, and is an extra otherwise. A later
    answer changes only the answer that it names as ``known``. Raises AnswerNotValid, KeyReused,
    RoundClosed or AnsweredMeanwhile before anything is written.
    """
    _check(label, row.round)
    was_answered = row.state in DONE
    # Events exist only after an answer, so a first answer has no event to compare with.
    earlier = row.events.filter(client_key=label.client_key).first() if was_answered else None
    if earlier is not None:
        return StoredLabel(_replay(earlier, label, row), is_first=False)
    if was_answered and row.round.state == LabelRound.State.CLOSED:
        raise RoundClosed
    if was_answered and _is_late(row, label):
        raise AnsweredMeanwhile(row, label)
    if label.label is None:
        _give_back(row)
        row.label, row.is_extra = None, False
        row.skip_reason, row.state = label.skip_reason, Assignment.State.SKIPPED
    else:
        _label(row, label)
    row.comment, row.is_flagged = label.comment, label.is_flagged
    if not was_answered:
        row.answered_at = Now()
        row.active_ms = _bounded(label.active_ms)
    row.save(update_fields=ANSWER_FIELDS)
    _remember(row, label, was_answered)
    return StoredLabel(row, is_first=not was_answered)


def _check(label: SubmittedLabel, label_round: LabelRound) -> None:
    if not label.client_key or len(label.client_key) > 64:
        raise AnswerNotValid("An answer needs a client key of at most 64 characters.")
    if label.label is None and label.skip_reason not in Assignment.SkipReason.values:
        raise AnswerNotValid("Choose a label, or skip with a reason.")
    if label.label is not None and label.label not in label_round.guideline.values:
        raise AnswerNotValid("The label is not on the scale.")
    if len(label.comment) > 1_000:
        raise AnswerNotValid("A comment has at most 1,000 characters.")


def _replay(earlier: VoteEvent, label: SubmittedLabel, row: Assignment) -> Assignment:
    """Accept a repeated request; reject a different body with the same key."""
    same = (
        earlier.label == label.label
        and earlier.skip_reason == (label.skip_reason if label.label is None else "")
        and earlier.comment == label.comment
    )
    if not same:
        raise KeyReused
    return row


def _is_late(row: Assignment, label: SubmittedLabel) -> bool:
    """Whether another device has stored a different answer since the page loaded."""
    is_same = (row.label, row.comment) == (label.label, label.comment)
    if label.known is None or is_same:
        return False
    return newest_keys([row]).get(row.pk, "") != label.known


def newest_keys(rows: Iterable[Assignment]) -> dict[int, str]:
    """Return the client key of each assignment's last answer."""
    events = VoteEvent.objects.filter(assignment__in=[row.pk for row in rows]).order_by("pk")
    return dict(events.values_list("assignment", "client_key"))


def _label(row: Assignment, label: SubmittedLabel) -> None:
    if row.round.state == LabelRound.State.CLOSED:
        _give_back(row)
    # Control items have no slots, but the query is made anyway to keep response times the same.
    if row.state in LATE or row.is_extra:
        row.slot = _free_slot(row)
        row.is_extra = row.slot_id is None and not row.item.is_control
    row.label, row.skip_reason = label.label, ""
    row.state = Assignment.State.ANSWERED
    # The query is also made for control items (no slot has key 0), so both kinds cost the same.
    Slot.objects.filter(pk=row.slot_id or 0).update(state=Slot.State.DONE, lease_until=None)


def _free_slot(row: Assignment) -> Slot | None:
    """Return a free slot of the item for a late answer; otherwise the answer stays an extra.

    In a closed round, or from an excluded rater, the answer always stays an extra.
    """
    if row.round.state == LabelRound.State.CLOSED or _is_excluded(row):
        return None
    free = Slot.objects.filter(FREE, item_id=row.item_id).order_by("number")
    for pk in free.values_list("pk", flat=True):
        if slots := take_slots([pk]):
            return slots[0]
    return None


def _is_excluded(row: Assignment) -> bool:
    return row.rater.places.filter(round=row.round_id, excluded_at__isnull=False).exists()


def _give_back(row: Assignment) -> None:
    """Release the slot for another rater; in a closed round, it stays empty."""
    Slot.objects.filter(pk=row.slot_id or 0).update(state=Slot.State.OPEN, lease_until=None)
    row.slot, row.state = None, Assignment.State.EXPIRED


def _bounded(active_ms: int | None) -> int | None:
    """Limit the time reported by the browser to between zero and half an hour."""
    return None if active_ms is None else max(0, min(active_ms, MAX_ACTIVE_MS))


def _remember(row: Assignment, label: SubmittedLabel, was_answered: bool) -> None:
    kind = VoteEvent.Kind.SKIP if label.label is None else VoteEvent.Kind.ANSWER
    if was_answered and label.label is not None:
        kind = VoteEvent.Kind.CHANGE
    # The row lock above prevents a second event with the same key.
    VoteEvent.objects.create(
        assignment=row,
        client_key=label.client_key,
        kind=kind,
        label=label.label,
        skip_reason=row.skip_reason,
        comment=label.comment,
    )
