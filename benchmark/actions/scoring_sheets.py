"""Drafts and submissions of people's score sheets.

A draft is saved while somebody scores; what was submitted stays as it is until the next
submission. Points that come too late, because another tab saved meanwhile, are kept aside.
"""

import uuid
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.sheet_saves import SAVED_FIELDS, is_overtaken, may_follow, note_save
from benchmark.methods.rubric import Rubric
from benchmark.models import (
    KeptDraft,
    Qualification,
    ScoreSheet,
    ScoringItem,
    ScoringRound,
    ScoringSlot,
    SheetEvent,
)
from cqa_site.people.access import record
from cqa_site.people.models import User

from .scoring_serving import NEEDED, renew, take_slot

# What a researcher decides about one person of a round.
DECISIONS = ("pass", "fail", "exclude", "reinstate")


@dataclass(frozen=True)
class Content:
    """What stands on a form; keys are criteria, and none has both points and a reason."""

    points: dict[str, int] = field(default_factory=dict)
    unable: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    comment: str = ""


@dataclass(frozen=True)
class Sent:
    """A form as a page sent it; see `ScoreSheet.client`."""

    content: Content
    base_version: int
    client: str = ""
    sequence: int = 0
    active_seconds: int = 0


class RoundNotOpen(Exception):
    """The round takes nothing now; what differed is kept aside."""


class StaleDraft(Exception):
    """Somebody saved meanwhile; ``kept`` is what came too late, None where nothing differs."""

    def __init__(self, kept: KeptDraft) -> None:
        super().__init__()
        self.kept = kept


class SheetNotValid(Exception):
    """The sheet cannot be submitted; the message says why, ``missing`` names criteria."""

    def __init__(self, message: str, missing: list[str]) -> None:
        super().__init__(message)
        self.missing = missing


def content_of(sheet: ScoreSheet) -> Content:
    """What stands on the form of a sheet: the draft, or what was submitted."""
    if sheet.draft is not None:
        return Content(**sheet.draft)
    return submitted_content(sheet)


def submitted_content(sheet: ScoreSheet | SheetEvent) -> Content:
    """What was submitted last, empty before that; or what one submission held."""
    return Content(sheet.points, sheet.unable, sheet.notes, sheet.comment)


def fresh(sheet: ScoreSheet) -> ScoreSheet:
    """The sheet as it is stored now, locked until the transaction ends."""
    rows = ScoreSheet.objects.select_for_update(of=("self",)).select_related(*NEEDED)
    return rows.get(pk=sheet.pk)


def is_changeable(sheet: ScoreSheet) -> bool:
    """Whether the form still takes points: never after the key of an example was shown."""
    is_seen_example = sheet.is_example and sheet.state == ScoreSheet.State.SUBMITTED
    return sheet.scoring_round.state == ScoringRound.State.OPEN and not is_seen_example


def save_draft(*, sheet: ScoreSheet, sent: Sent) -> ScoreSheet:
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


def submit_sheet(*, sheet: ScoreSheet, sent: Sent, key: str) -> ScoreSheet:
    """Submit what stands on the form; the same key with the same content submits nothing more.

    Raises RoundNotOpen and StaleDraft as `save_draft` does, and SheetNotValid while a criterion
    has neither points nor a reason; the draft is stored then.
    """
    with transaction.atomic():
        place = _locked_place(sheet)
        stored = fresh(sheet)
        earlier = stored.events.filter(client_key=key).first()
        if earlier is not None and submitted_content(earlier) == sent.content:
            return stored
        # A page that a browser brought back sends its old key with what was changed since.
        key = key if earlier is None else uuid.uuid4().hex
        problem: Exception | None = _refusal(stored, sent)
        if problem is None:
            _put_draft(stored, sent)
            problem = _incomplete(stored.rubric.rubric, sent.content)
        if problem is None:
            _submit(stored, place, sent.content, key)
    if problem is not None:
        raise problem
    return stored


@transaction.atomic
def take_kept(*, sheet: ScoreSheet, kept: KeptDraft, is_wanted: bool) -> ScoreSheet:
    """Go on with a draft that was kept aside, or with the stored one; raises RoundNotOpen."""
    stored = fresh(sheet)
    if is_wanted:
        if not is_changeable(stored):
            raise RoundNotOpen
        before = content_of(stored)
        _put_draft(stored, Sent(Content(**kept.content), stored.version))
        # The other one is kept in turn: a wrong click loses nothing.
        KeptDraft.objects.create(sheet=stored, base_version=stored.version, content=asdict(before))
    kept.delete()
    return stored


def _locked_place(sheet: ScoreSheet) -> Qualification:
    """The rater's place in the round, which is locked before sheets are."""
    places = Qualification.objects.select_for_update(of=("self",))
    return places.get(scoring_round=sheet.scoring_round_id, rater=sheet.rater_id)


def _refusal(stored: ScoreSheet, sent: Sent) -> RoundNotOpen | StaleDraft | None:
    """Why the content cannot become the draft; it is kept aside then."""
    if sent.content == content_of(stored) or is_overtaken(stored, sent):
        return None
    if not is_changeable(stored):
        _keep_aside(stored, sent)
        return RoundNotOpen()
    if not may_follow(stored, sent):
        return StaleDraft(_keep_aside(stored, sent))
    return None


def _keep_aside(stored: ScoreSheet, sent: Sent) -> KeptDraft:
    """Keep the content once, however often it comes."""
    content = asdict(sent.content)
    for kept in stored.kept_drafts.all():
        if kept.content == content:
            return kept
    return KeptDraft.objects.create(sheet=stored, base_version=sent.base_version, content=content)


def _put_draft(stored: ScoreSheet, sent: Sent) -> None:
    """Make the content the draft, unless it is there already or was overtaken."""
    if sent.content == content_of(stored) or is_overtaken(stored, sent):
        return
    note_save(stored, sent)
    is_as_submitted = sent.content == submitted_content(stored) and stored.submitted_at
    stored.draft = None if is_as_submitted else asdict(sent.content)
    stored.save(update_fields=("draft", *SAVED_FIELDS))
    renew(stored)


def _incomplete(rubric: Rubric, content: Content) -> SheetNotValid | None:
    missing = [
        key for key in rubric.keys if key not in content.points and key not in content.unable
    ]
    if missing:
        text = _("Without points: %s. Set them, or say that you cannot judge.")
        return SheetNotValid(text % ", ".join(missing), missing)
    unexplained = [
        key
        for key, code in content.unable.items()
        if code == ScoreSheet.Unable.OTHER and not content.notes.get(key)
    ]
    if unexplained:
        text = _("Write a note that says why you cannot judge: %s.")
        return SheetNotValid(text % ", ".join(unexplained), unexplained)
    return None


def _submit(stored: ScoreSheet, place: Qualification, content: Content, key: str) -> None:
    is_first = stored.submitted_at is None
    # A later content of the same page may have come before this submission did.
    stored.draft = None if content_of(stored) == content else stored.draft
    stored.points, stored.unable = content.points, content.unable
    stored.notes, stored.comment = content.notes, content.comment
    stored.total = stored.rubric.rubric.total(content.points)
    stored.state = ScoreSheet.State.SUBMITTED
    stored.submitted_at = timezone.now()
    if place.excluded_at is not None:
        stored.is_extra = True
    elif is_first and not stored.is_example and not stored.replicate:
        _hold_slot(stored)
    stored.save()
    SheetEvent.objects.create(sheet=stored, client_key=key, total=stored.total, **asdict(content))
    if stored.is_example:
        _qualify(stored.scoring_round, place)


def _hold_slot(stored: ScoreSheet) -> None:
    """A counted sheet holds a slot; a late one whose slot went to somebody else is an extra."""
    if stored.slot is None:
        item = ScoringItem.objects.get(scoring_round=stored.scoring_round, answer=stored.answer_id)
        stored.slot = take_slot(item, minutes=1)
    stored.is_extra = stored.slot is None
    if stored.slot is not None:
        ScoringSlot.objects.filter(pk=stored.slot.pk).update(
            state=ScoringSlot.State.DONE, lease_until=None
        )


def _qualify(scoring_round: ScoringRound, place: Qualification) -> None:
    """After the last example: the share of criteria that agree with the key decides."""
    keys = dict(
        scoring_round.items.filter(key_points__isnull=False).values_list("answer", "key_points")
    )
    own = ScoreSheet.objects.filter(
        scoring_round=scoring_round,
        rater=place.rater_id,
        is_example=True,
        state=ScoreSheet.State.SUBMITTED,
    )
    given = dict(own.values_list("answer", "points"))
    if given.keys() < keys.keys():
        return
    place.score = agreement_with_key(
        [(given[answer], key) for answer, key in keys.items() if answer in given]
    )
    if not place.is_decided_by_person:
        place.is_passed = place.score >= scoring_round.pass_mark
    place.save(update_fields=["score", "is_passed"])


def agreement_with_key(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> float:
    """Share of all criteria whose points equal the key; a criterion without points does not."""
    wanted = [(given.get(name), points) for given, key in pairs for name, points in key.items()]
    return sum(given == points for given, points in wanted) / len(wanted) if wanted else 0.0


@transaction.atomic
def decide_rater(
    *, place: Qualification, actor: User, decision: str, reason: str = ""
) -> Qualification:
    """Let somebody in or keep somebody out, or take sheets out of the figures; see `DECISIONS`."""
    rows = Qualification.objects.select_for_update(of=("self",))
    stored = rows.select_related("scoring_round__study", "rater").get(pk=place.pk)
    if decision in ("pass", "fail"):
        stored.is_passed, stored.is_decided_by_person = decision == "pass", True
    else:
        is_excluded = decision == "exclude"
        stored.excluded_at = timezone.now() if is_excluded else None
        stored.exclusion_reason = reason if is_excluded else ""
        (_free_slots if is_excluded else _take_slots_again)(stored)
    stored.save()
    record(
        study=stored.scoring_round.study,
        actor=actor,
        verb=f"scorer_{decision}",
        subject=f"{stored.scoring_round.name}: {stored.rater.pseudonym}",
        reason=reason,
    )
    return stored


def _free_slots(place: Qualification) -> None:
    """What somebody excluded held is open to others, so that no answer stays short of sheets."""
    sheets = ScoreSheet.objects.filter(scoring_round=place.scoring_round_id, rater=place.rater_id)
    # Sheets are locked before slots, as everywhere; nobody takes one of these meanwhile.
    holders = sheets.filter(slot__isnull=False).select_for_update(of=("self",)).order_by("pk")
    held = [each.slot_id for each in holders]
    sheets.filter(slot__isnull=False).update(slot=None)
    sheets.filter(state=ScoreSheet.State.SUBMITTED, is_example=False).update(is_extra=True)
    ScoringSlot.objects.filter(pk__in=held).update(state=ScoringSlot.State.OPEN, lease_until=None)


def _take_slots_again(place: Qualification) -> None:
    """Sheets count again where nobody else has filled their place meanwhile."""
    sheets = ScoreSheet.objects.filter(
        scoring_round=place.scoring_round_id,
        rater=place.rater_id,
        state=ScoreSheet.State.SUBMITTED,
        is_example=False,
        is_extra=True,
    )
    sheets.filter(replicate__gt=0).update(is_extra=False)
    for sheet in sheets.filter(replicate=0).select_related("scoring_round").order_by("pk"):
        _hold_slot(sheet)
        sheet.save(update_fields=["slot", "is_extra"])
