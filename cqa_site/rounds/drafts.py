"""Drafts and submissions of sheets, and the order of their saves."""

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

# The order of saves from several pages.
#
# A sheet stores the page that saved last (``client``), the page's number for that save
# (``sequence``), and the version from which the page began (``since``). Later saves from the same
# page may be based on any version since then, because the page wrote all of them.

# Maximum number of seconds that one save adds to the working time.
LONGEST_STRETCH = 600
SAVED_FIELDS = ("version", "client", "sequence", "since", "active_seconds", "saved_at")


@dataclass(frozen=True)
class DraftSubmission:
    """The content of a form as sent by a page."""

    content: Any
    base_version: int
    client: str = ""
    sequence: int = 0
    active_seconds: int = 0


def is_same_page(sheet: Any, save: DraftSubmission) -> bool:
    return bool(save.client) and save.client == sheet.client


def is_overtaken(sheet: Any, save: DraftSubmission) -> bool:
    """Whether the same page has already sent newer content."""
    return is_same_page(sheet, save) and 0 < save.sequence < sheet.sequence


def may_follow(sheet: Any, save: DraftSubmission) -> bool:
    """Whether the save builds on the stored version or on an earlier save of the same page."""
    if save.base_version == sheet.version:
        return True
    # The page did not receive the reply to its earlier save.
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
    """Return the seconds reported by the page, up to the time since the last save."""
    since = sheet.saved_at or sheet.served_at
    passed = round((timezone.now() - since).total_seconds()) if since else LONGEST_STRETCH
    return max(0, min(save.active_seconds, passed, LONGEST_STRETCH))


# Drafts and submissions of people's sheets.
#
# A draft is saved while somebody works; the submitted content does not change until the next
# submission. Content that arrives too late, because another tab has saved, is set aside.


class RoundNotOpen(Exception):
    """The round accepts no changes now; new content is set aside."""


class StaleDraft(Exception):
    """Another page has saved in the meantime; ``conflict`` is the draft that came too late."""

    def __init__(self, draft: ConflictingDraft) -> None:
        super().__init__()
        self.conflict = draft


def content_of(sheet: Sheet) -> Any:
    """Return the content of a sheet's form: the draft, or the submitted content."""
    return sheet_kind_of(sheet).content_of(sheet)


def fresh(sheet: Any) -> Any:
    """Reload the sheet and its round, and lock the sheet until the transaction ends.

    Cached related objects, such as the subject, never change and are copied.
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
    """Whether the form accepts changes.

    It does so only while the round is open, and not if the sheet is a submitted example.
    """
    is_seen_example = sheet.is_example and sheet.state == Sheet.State.SUBMITTED
    return bool(sheet.round and sheet.round.state == Round.State.OPEN and not is_seen_example)


def save_draft(*, sheet: Any, sent: DraftSubmission) -> Any:
    """Store the form's content as the draft; raises RoundNotOpen or StaleDraft.

    The content is set aside in both cases.
    """
    with transaction.atomic():
        stored = fresh(sheet)
        problem = _refusal(stored, sent)
        if problem is None:
            _put_draft(stored, sent)
    # Raised outside the transaction, so that the content set aside is kept.
    if problem is not None:
        raise problem
    return stored


def submit_sheet(*, sheet: Any, sent: DraftSubmission, key: str) -> Any:
    """Submit the form's content, but only once for the same key and content.

    Raises RoundNotOpen and StaleDraft as `save_draft` does. Raises SheetNotValid if the kind
    rejects the content, which is then stored as the draft.
    """
    with transaction.atomic():
        # The enrolment is locked before any sheet.
        places = Place.objects.select_for_update(of=("self",))
        place = places.get(round=sheet.round_id, rater=sheet.rater_id)
        stored = fresh(sheet)
        earlier = stored.submitted_at and stored.events.filter(client_key=key).first()
        if earlier is not None and earlier.content == asdict(sent.content):
            return stored
        if stored.submitted_at and stored.draft is None and is_overtaken(stored, sent):
            # The same page has submitted another verdict since, and this request arrived late.
            return stored
        # A page restored by the browser sends its old key with newer content.
        key = key if earlier is None else uuid.uuid4().hex
        problem: Exception | None = _refusal(stored, sent)
        if problem is None and not is_changeable(stored):
            # No other check refuses content that is already stored.
            problem = RoundNotOpen()
        if problem is None:
            problem = _submit(stored, place, sent, key)
    if problem is not None:
        raise problem
    # In a separate transaction, because it may also lock enrolments in other rounds.
    if stored.round.rules and not stored.is_example:
        place.rater = stored.rater
        check_rules(stored.round, place)
    return stored


@transaction.atomic
def resolve_conflict(*, sheet: Any, conflict: ConflictingDraft, is_wanted: bool) -> Any:
    """Continue with the draft that was set aside or the stored draft; raises RoundNotOpen."""
    stored = fresh(sheet)
    if is_wanted:
        if not is_changeable(stored):
            raise RoundNotOpen
        before = asdict(content_of(stored))
        content = sheet_kind_of(stored).Content(**conflict.content)
        _put_draft(stored, DraftSubmission(content, stored.version))
        # The other version is set aside instead, so that a wrong click loses nothing.
        stored.conflicts.create(base_version=stored.version, content=before)
    conflict.delete()
    return stored


def _refusal(stored: Any, sent: DraftSubmission) -> RoundNotOpen | StaleDraft | None:
    """Return None if the content can become the draft; otherwise set it aside and say why."""
    if sent.content == content_of(stored) or is_overtaken(stored, sent):
        return None
    if not is_changeable(stored):
        _store_conflict(stored, sent)
        return RoundNotOpen()
    if not may_follow(stored, sent):
        return StaleDraft(_store_conflict(stored, sent))
    return None


def _store_conflict(stored: Any, sent: DraftSubmission) -> ConflictingDraft:
    """Set the content aside, unless the same content was already set aside."""
    draft: ConflictingDraft
    for draft in stored.conflicts.all():
        if sheet_kind_of(stored).Content(**draft.content) == sent.content:
            return draft
    draft = stored.conflicts.create(base_version=sent.base_version, content=asdict(sent.content))
    return draft


def _put_draft(stored: Any, sent: DraftSubmission) -> None:
    """Store the content as the draft, unless it is already stored or a later save has arrived."""
    if _take(stored, sent):
        stored.save(update_fields=("draft", *SAVED_FIELDS))
        renew(stored)


def _take(stored: Any, sent: DraftSubmission) -> bool:
    """Set new content as the draft without saving the sheet; return whether it was new."""
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
    # Newer content from the same page may have arrived before this submission.
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
