"""Drafts and submissions of sheets, and the order of saves."""

import uuid
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from .access import qualify
from .kind import SheetNotValid, sheet_kind_of
from .models import ConflictingDraft, Place, Round, Sheet
from .queue import hold_slot, renew
from .rules.actions import check_rules

# Which of several saves of one sheet may follow which.
#
# A sheet knows the page that saved last (``client``), the number the page gave its save
# (``sequence``), and the version that page began from (``since``): what a page sends on may be
# based on any version since then, because all of them are its own.

# Seconds that one save may add to the time of work.
LONGEST_STRETCH = 600
SAVED_FIELDS = ("version", "client", "sequence", "since", "active_seconds", "saved_at")


@dataclass(frozen=True)
class DraftSubmission:
    """A form as a page sent it."""

    content: Any
    base_version: int
    client: str = ""
    sequence: int = 0
    active_seconds: int = 0


def is_same_page(sheet: Any, save: DraftSubmission) -> bool:
    return bool(save.client) and save.client == sheet.client


def is_overtaken(sheet: Any, save: DraftSubmission) -> bool:
    """Whether the same page has already sent a later content."""
    return is_same_page(sheet, save) and 0 < save.sequence < sheet.sequence


def may_follow(sheet: Any, save: DraftSubmission) -> bool:
    """Whether the save builds on the stored version or on an earlier save of the same page."""
    if save.base_version == sheet.version:
        return True
    # The page's own earlier save, whose reply was lost.
    is_own = is_same_page(sheet, save) and sheet.since <= save.base_version <= sheet.version
    return bool(is_own and save.sequence > sheet.sequence)


def note_save(sheet: Any, save: DraftSubmission) -> None:
    """Increment the version and record the page that saved; the caller stores `SAVED_FIELDS`."""
    sheet.since = sheet.since if is_same_page(sheet, save) else sheet.version
    sheet.version += 1
    sheet.client, sheet.sequence = save.client, save.sequence
    sheet.active_seconds += _worked(sheet, save)
    sheet.saved_at = timezone.now()


def _worked(sheet: Any, save: DraftSubmission) -> int:
    """Return the seconds to add: the page's claim, limited to the time since the last save."""
    since = sheet.saved_at or sheet.served_at
    passed = round((timezone.now() - since).total_seconds()) if since else LONGEST_STRETCH
    return max(0, min(save.active_seconds, passed, LONGEST_STRETCH))


# Drafts and submissions of people's sheets.
#
# A draft is saved while somebody works; what was submitted stays as it is until the next
# submission. Content that comes too late, because another tab saved meanwhile, is kept aside.


class RoundNotOpen(Exception):
    """The round accepts nothing now; a differing content is set aside."""


class StaleDraft(Exception):
    """Another page saved meanwhile; ``kept`` is the draft that came too late."""

    def __init__(self, draft: ConflictingDraft) -> None:
        super().__init__()
        self.conflict = draft


def content_of(sheet: Sheet) -> Any:
    """Return the content of a sheet's form: the draft, or the submitted content."""
    return sheet_kind_of(sheet).content_of(sheet)


def fresh(sheet: Any) -> Any:
    """Reload the sheet and its round, and lock the sheet until the transaction ends.

    Their subject was read with the given sheet and never changes.
    """
    rows = sheet_kind_of(sheet).Sheet._default_manager.select_for_update(of=("self",))
    stored: Any = rows.select_related("round").get(pk=sheet.pk)
    _lend(sheet, stored)
    if sheet.round and stored.round:
        _lend(sheet.round, stored.round)
    return stored


def _lend(read: Any, stored: Any) -> None:
    """Copy cached related objects from one instance of a row to another."""
    for name, thing in read._state.fields_cache.items():
        field = stored._meta.get_field(name)
        if not field.concrete or thing is None or field.is_cached(stored):
            continue
        if getattr(stored, field.attname) == thing.pk:
            field.set_cached_value(stored, thing)


def is_changeable(sheet: Any) -> bool:
    """Whether the form still accepts changes: never after an example's key was shown."""
    is_seen_example = sheet.is_example and sheet.state == Sheet.State.SUBMITTED
    return bool(sheet.round and sheet.round.state == Round.State.OPEN and not is_seen_example)


def save_draft(*, sheet: Any, sent: DraftSubmission) -> Any:
    """Store the form's content; raises RoundNotOpen or StaleDraft but keeps the content."""
    with transaction.atomic():
        stored = fresh(sheet)
        problem = _refusal(stored, sent)
        if problem is None:
            _put_draft(stored, sent)
    # Raised outside, because what was kept aside must stay.
    if problem is not None:
        raise problem
    return stored


def submit_sheet(*, sheet: Any, sent: DraftSubmission, key: str) -> Any:
    """Submit the form's content.

    The same key with the same content submits only once.

    Raises RoundNotOpen and StaleDraft as `save_draft` does, and SheetNotValid for a content that
    the kind does not take; the draft is stored then.
    """
    with transaction.atomic():
        # The enrolment is locked before any sheet is.
        places = Place.objects.select_for_update(of=("self",))
        place = places.get(round=sheet.round_id, rater=sheet.rater_id)
        stored = fresh(sheet)
        earlier = stored.submitted_at and stored.events.filter(client_key=key).first()
        if earlier is not None and earlier.content == asdict(sent.content):
            return stored
        if stored.submitted_at and stored.draft is None and is_overtaken(stored, sent):
            # Another verdict of the same page was submitted since, and this request came late.
            return stored
        # A page that a browser brought back sends its old key with what was changed since.
        key = key if earlier is None else uuid.uuid4().hex
        problem: Exception | None = _refusal(stored, sent)
        if problem is None and not is_changeable(stored):
            # A content that is stored already is refused by nothing else.
            problem = RoundNotOpen()
        if problem is None:
            problem = _submit(stored, place, sent, key)
    if problem is not None:
        raise problem
    # On its own: it may lock how the person stands in other rounds, too.
    if stored.round.rules and not stored.is_example:
        place.rater = stored.rater
        check_rules(stored.round, place)
    return stored


@transaction.atomic
def resolve_conflict(*, sheet: Any, conflict: ConflictingDraft, is_wanted: bool) -> Any:
    """Continue with a draft that was set aside, or with the stored one; raises RoundNotOpen."""
    stored = fresh(sheet)
    if is_wanted:
        if not is_changeable(stored):
            raise RoundNotOpen
        before = asdict(content_of(stored))
        content = sheet_kind_of(stored).Content(**conflict.content)
        _put_draft(stored, DraftSubmission(content, stored.version))
        # The other one is kept in turn: a wrong click loses nothing.
        stored.conflicts.create(base_version=stored.version, content=before)
    conflict.delete()
    return stored


def _refusal(stored: Any, sent: DraftSubmission) -> RoundNotOpen | StaleDraft | None:
    """Return why the content cannot become the draft, after setting it aside; else None."""
    if sent.content == content_of(stored) or is_overtaken(stored, sent):
        return None
    if not is_changeable(stored):
        _store_conflict(stored, sent)
        return RoundNotOpen()
    if not may_follow(stored, sent):
        return StaleDraft(_store_conflict(stored, sent))
    return None


def _store_conflict(stored: Any, sent: DraftSubmission) -> ConflictingDraft:
    """Set the content aside, only once even if it comes again."""
    draft: ConflictingDraft
    for draft in stored.conflicts.all():
        if sheet_kind_of(stored).Content(**draft.content) == sent.content:
            return draft
    draft = stored.conflicts.create(base_version=sent.base_version, content=asdict(sent.content))
    return draft


def _put_draft(stored: Any, sent: DraftSubmission) -> None:
    """Make the content the draft, unless it already is or a later save came first."""
    if _take(stored, sent):
        stored.save(update_fields=("draft", *SAVED_FIELDS))
        renew(stored)


def _take(stored: Any, sent: DraftSubmission) -> bool:
    """Make new content the draft of the sheet in memory; return whether it was new."""
    if sent.content == content_of(stored) or is_overtaken(stored, sent):
        return False
    kind = sheet_kind_of(stored)
    kind.keep_earlier(stored, sent)
    note_save(stored, sent)
    is_as_submitted = sent.content == kind.submitted(stored) and stored.submitted_at
    stored.draft = None if is_as_submitted else asdict(sent.content)
    return True


def _submit(stored: Any, place: Place, sent: DraftSubmission, key: str) -> SheetNotValid | None:
    """Submit the content; store invalid content as the draft and return the problem."""
    content = sent.content
    problem = sheet_kind_of(stored).problem(stored, content)
    if problem is not None:
        _put_draft(stored, sent)
        return problem
    _take(stored, sent)
    is_first = stored.submitted_at is None
    # A later content of the same page may have come before this submission did.
    stored.draft = None if content_of(stored) == content else stored.draft
    sheet_kind_of(stored).settle(stored, content)
    stored.state = Sheet.State.SUBMITTED
    stored.submitted_at = timezone.now()
    if place.is_excluded:
        stored.is_extra = True
    elif is_first:
        is_ordinary = not (stored.is_example or stored.replicate or stored.known)
        (hold_slot if is_ordinary else renew)(stored)
    stored.save()
    about = sheet_kind_of(stored).event_fields(stored, content)
    stored.events.create(client_key=key, content=asdict(content), **about)
    if stored.is_example:
        qualify(stored.round, place)
    return None
