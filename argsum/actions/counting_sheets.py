"""Drafts and submissions of people's count sheets.

A draft is saved while somebody judges; what was submitted stays as it is until the next
submission. Marks that come too late, because another tab saved meanwhile, are kept aside.
"""

import uuid
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.sheet_saves import SAVED_FIELDS, is_overtaken, may_follow, note_save
from argsum.methods.count_marks import (
    Counts,
    count_covered,
    count_unique,
    marks_from_json,
    undecided,
)
from argsum.models import (
    CountEvent,
    CountingItem,
    CountingPlace,
    CountingRound,
    CountingSlot,
    CountSheet,
    KeptCount,
)

from .counting_serving import NEEDED, renew, take_slot


@dataclass(frozen=True)
class Content:
    """What stands on a form.

    ``marks`` is as `CountSheet.marks`; ``covered`` and ``unique`` are counts that were typed, None
    where the marks count; an unsure one gives no count. ``covered_text`` and ``unique_text`` are
    what was typed there and is no count: kept in drafts, so that nothing typed is lost.
    """

    marks: dict[str, Any] = field(default_factory=dict)
    covered: float | None = None
    covered_is_unsure: bool = False
    unique: float | None = None
    unique_is_unsure: bool = False
    comment: str = ""
    covered_text: str = ""
    unique_text: str = ""


@dataclass(frozen=True)
class Sent:
    """A form as a page sent it; see `annotation.actions.sheet_saves`."""

    content: Content
    base_version: int
    client: str = ""
    sequence: int = 0
    active_seconds: int = 0


class RoundNotOpen(Exception):
    """The round takes nothing now; what differed is kept aside."""


class StaleDraft(Exception):
    """Somebody saved meanwhile; ``kept`` is what came too late."""

    def __init__(self, kept: KeptCount) -> None:
        super().__init__()
        self.kept = kept


class SheetNotValid(Exception):
    """The sheet cannot be submitted; the message says why, ``missing`` names rows of the form."""

    def __init__(self, message: str, missing: list[str]) -> None:
        super().__init__(message)
        self.missing = missing


def content_of(sheet: CountSheet) -> Content:
    """What stands on the form of a sheet: the draft, or what was submitted."""
    if sheet.draft is not None:
        return Content(**sheet.draft)
    return submitted_content(sheet)


def submitted_content(sheet: CountSheet) -> Content:
    """What was submitted last, empty before that."""
    return Content(
        marks=sheet.marks,
        covered=sheet.covered if sheet.covered_is_typed else None,
        covered_is_unsure=sheet.covered_is_unsure,
        unique=sheet.unique if sheet.unique_is_typed else None,
        unique_is_unsure=sheet.unique_is_unsure,
        comment=sheet.comment,
    )


def counts_of(content: Content, *, references: int, summaries: int) -> Counts:
    """The counts that a content gives so far: typed ones first, else those of the marks."""
    marks = marks_from_json(content.marks)
    covered = count_covered(marks) if content.covered is None else content.covered
    unique = count_unique(marks) if content.unique is None else content.unique
    return Counts(
        None if content.covered_is_unsure else covered,
        None if content.unique_is_unsure else unique,
        references,
        summaries,
    )


def fresh(sheet: CountSheet) -> CountSheet:
    """The sheet as it is stored now, locked until the transaction ends."""
    rows = CountSheet.objects.select_for_update(of=("self",)).select_related(*NEEDED)
    return rows.get(pk=sheet.pk)


def is_changeable(sheet: CountSheet) -> bool:
    """Whether the form still takes marks."""
    counting_round = sheet.counting_round
    return counting_round is not None and counting_round.state == CountingRound.State.OPEN


def save_draft(*, sheet: CountSheet, sent: Sent) -> CountSheet:
    """Store what stands on the form; raises RoundNotOpen or StaleDraft and keeps it even then."""
    with transaction.atomic():
        stored = fresh(sheet)
        problem = _refusal(stored, sent)
        if problem is None:
            _put_draft(stored, sent)
    # Raised outside, because what was kept aside must stay.
    if problem is not None:
        raise problem
    return stored


def submit_sheet(*, sheet: CountSheet, sent: Sent, key: str) -> CountSheet:
    """Submit what stands on the form; the same key with the same content submits nothing more.

    Raises RoundNotOpen and StaleDraft as `save_draft` does, and SheetNotValid while a count
    neither follows from the marks, nor is typed, nor unsure; the draft is stored then.
    """
    with transaction.atomic():
        place = _locked_place(sheet)
        stored = fresh(sheet)
        earlier = stored.events.filter(client_key=key).first()
        if earlier is not None and earlier.content == asdict(sent.content):
            return stored
        # A page that a browser brought back sends its old key with what was changed since.
        key = key if earlier is None else uuid.uuid4().hex
        problem: Exception | None = _refusal(stored, sent)
        if problem is None:
            _put_draft(stored, sent)
            problem = _incomplete(stored, sent.content)
        if problem is None:
            _submit(stored, place, sent.content, key)
    if problem is not None:
        raise problem
    return stored


@transaction.atomic
def take_kept(*, sheet: CountSheet, kept: KeptCount, is_wanted: bool) -> CountSheet:
    """Go on with a draft that was kept aside, or with the stored one; raises RoundNotOpen."""
    stored = fresh(sheet)
    if is_wanted:
        if not is_changeable(stored):
            raise RoundNotOpen
        before = content_of(stored)
        _put_draft(stored, Sent(Content(**kept.content), stored.version))
        # The other one is kept in turn: a wrong click loses nothing.
        KeptCount.objects.create(sheet=stored, base_version=stored.version, content=asdict(before))
    kept.delete()
    return stored


def hold_slot(stored: CountSheet) -> None:
    """A counted sheet holds a slot; a late one whose slot went to somebody else is an extra."""
    if stored.slot is None:
        items = CountingItem.objects.filter(counting_round=stored.counting_round)
        stored.slot = take_slot(items.get(summary_set=stored.summary_set_id), minutes=1)
    stored.is_extra = stored.slot is None
    if stored.slot is not None:
        CountingSlot.objects.filter(pk=stored.slot.pk).update(
            state=CountingSlot.State.DONE, lease_until=None
        )


def _locked_place(sheet: CountSheet) -> CountingPlace:
    """The rater's place in the round, which is locked before sheets are."""
    places = CountingPlace.objects.select_for_update(of=("self",))
    return places.get(counting_round=sheet.counting_round_id, rater=sheet.rater_id)


def _refusal(stored: CountSheet, sent: Sent) -> RoundNotOpen | StaleDraft | None:
    """Why the content cannot become the draft; it is kept aside then."""
    if sent.content == content_of(stored) or is_overtaken(stored, sent):
        return None
    if not is_changeable(stored):
        _keep_aside(stored, sent)
        return RoundNotOpen()
    if not may_follow(stored, sent):
        return StaleDraft(_keep_aside(stored, sent))
    return None


def _keep_aside(stored: CountSheet, sent: Sent) -> KeptCount:
    """Keep the content once, however often it comes."""
    content = asdict(sent.content)
    for kept in stored.kept.all():
        if kept.content == content:
            return kept
    return KeptCount.objects.create(sheet=stored, base_version=sent.base_version, content=content)


def _put_draft(stored: CountSheet, sent: Sent) -> None:
    """Make the content the draft, unless it is there already or was overtaken."""
    if sent.content == content_of(stored) or is_overtaken(stored, sent):
        return
    note_save(stored, sent)
    is_as_submitted = sent.content == submitted_content(stored) and stored.submitted_at
    stored.draft = None if is_as_submitted else asdict(sent.content)
    stored.save(update_fields=("draft", *SAVED_FIELDS))
    renew(stored)


def _incomplete(stored: CountSheet, content: Content) -> SheetNotValid | None:
    """A count needs all its marks, or a number, or that somebody is unsure."""
    marks = marks_from_json(content.marks)
    references, summaries = undecided(marks, stored.references, stored.summaries)
    missing = []
    if content.covered is None and not content.covered_is_unsure:
        missing += [f"reference-{each}" for each in references]
    if content.unique is None and not content.unique_is_unsure:
        missing += [f"summary-{each}" for each in summaries]
        partly = set(marks.partly)
        if not missing and marks.groups and all(partly.intersection(g) for g in marks.groups):
            text = _("At least one statement has to count in full: nothing else is repeated.")
            return SheetNotValid(text, [f"summary-{each}" for each in sorted(partly)])
    if not missing:
        return None
    text = _("Still undecided: %s. Mark them, type the count, or say that you are unsure.")
    return SheetNotValid(text % ", ".join(_shown(each) for each in missing), missing)


def _shown(name: str) -> str:
    kind, place = name.split("-")
    text = _("reference %d") if kind == "reference" else _("summary %d")
    return text % (int(place) + 1)


def _submit(stored: CountSheet, place: CountingPlace, content: Content, key: str) -> None:
    is_first = stored.submitted_at is None
    # A later content of the same page may have come before this submission did.
    stored.draft = None if content_of(stored) == content else stored.draft
    put_content(stored, content)
    stored.state = CountSheet.State.SUBMITTED
    stored.submitted_at = timezone.now()
    if place.excluded_at is not None:
        stored.is_extra = True
    elif is_first and not stored.replicate:
        hold_slot(stored)
    stored.save()
    CountEvent.objects.create(
        sheet=stored,
        client_key=key,
        content=asdict(content),
        covered=stored.covered,
        unique=stored.unique,
    )


def put_content(sheet: CountSheet, content: Content) -> None:
    """Set marks, counts and shares of a sheet that the caller saves."""
    counts = counts_of(content, references=sheet.references, summaries=sheet.summaries)
    sheet.marks, sheet.comment = content.marks, content.comment
    sheet.covered, sheet.unique = counts.covered, counts.unique
    sheet.covered_is_typed = content.covered is not None and not content.covered_is_unsure
    sheet.unique_is_typed = content.unique is not None and not content.unique_is_unsure
    sheet.covered_is_unsure = content.covered_is_unsure
    sheet.unique_is_unsure = content.unique_is_unsure
    sheet.coverage, sheet.redundancy = counts.coverage, counts.redundancy
