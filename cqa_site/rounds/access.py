"""Access to rounds: qualification, permission to open a sheet, and trial sheets."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import (
    BooleanField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    UUIDField,
)
from django.db.models.functions import Now
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone

from cqa_site.people.access import PersonRequest, record
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Rater, Role, Study, User
from cqa_site.web.bulk_queries import PreparedQuery
from .examples import examples_of
from .kind import SheetKind, TaskKind, kind_of, sheet_kind_of
from .models import Participant, Place, Round, Sheet, StepResult
from .onboarding.steps import (
    EXERCISES,
    FAILED,
    PASSED,
    QUALIFICATION,
    TRAINING,
    WITHDRAWN,
    ExampleAttempt,
    add_qualification,
    example_attempt,
    may_work,
    step_progress,
)
from .progress import skipped_by, skips_paid
from .queue import LEAST_GAP, SheetWork, next_sheet, own_sheets, place_for

# Access to rounds and sheets; people without access get a 404.

WORKERS = (Role.ANNOTATOR, Role.EXPERT)


def opened_round(
    kind: TaskKind, request: HttpRequest, study: Study, round_id: uuid.UUID, *related: str
) -> Any:
    """Return an opened round, or raise Http404.

    Crowd participants can open only their link's round.
    """
    rounds = kind.Round._default_manager.filter(study=study).exclude(state=Round.State.DRAFT)
    participant = participant_of(request)
    if participant is not None:
        rounds = rounds.filter(pk=participant.link.round_id)
        refuse_withdrawn(participant)
    return get_object_or_404(rounds.select_related("study", *related), public_id=round_id)


def participant_of(request: Any) -> Participant | None:
    """Return the person's crowd participation, looked up once per request."""
    if not request.user.is_participant:
        return None
    if not hasattr(request, "participant"):
        people = Participant.objects.select_related("link").filter(user=request.user)
        request.participant = people.first()
    participant: Participant | None = request.participant
    return participant


def refuse_withdrawn(participant: Participant | None) -> None:
    """Raise Http404 for a participant who withdrew their answers."""
    if participant and participant.outcome == Participant.Outcome.WITHDRAWN:
        raise Http404


def own_rater(request: Any) -> Rater:
    return rater_for(membership=request.membership)


def own_sheet(kind: SheetKind, request: PersonRequest, study: Study, sheet_id: uuid.UUID) -> Any:
    """Return one of the person's sheets if they may still see it; raises Http404."""
    person = request.user.pk
    sheet: Any = next(iter(_own_sheets(kind)(sheet=sheet_id, study=study.pk, user=person)), None)
    if sheet is None:
        raise Http404
    sheet.rater.user, sheet.round.study = request.user, study
    participant = participant_of(request)
    refuse_withdrawn(participant)
    if participant and participant.link.round_id != sheet.round_id:
        raise Http404
    is_begun = sheet.state == Sheet.State.OPEN
    if not is_begun and not shown_sheets(sheet.round, sheet.rater).filter(pk=sheet.pk).exists():
        raise Http404
    return sheet


def is_before_steps(sheet: Any) -> bool:
    """Whether the steps must be passed before this untouched, assigned sheet can be opened."""
    is_touched = sheet.version > 0 or sheet.submitted_at is not None
    has_steps = sheet.round.onboarding_id or sheet.round.shows_guideline
    if is_touched or not has_steps or not sheet_kind_of(sheet).is_assigned:
        return False
    return not may_work(sheet.round, place_for(round_=sheet.round, rater=sheet.rater))


@cache
def _own_sheets(kind: SheetKind) -> PreparedQuery:
    def build(sheet: uuid.UUID, study: int, user: int) -> QuerySet[Any]:
        rows = kind.sheets("rater", "round", "slot").exclude(round__state=Round.State.DRAFT)
        return rows.filter(public_id=sheet, study=study, rater__user=user, round__isnull=False)

    key = Study._meta.pk
    return PreparedQuery(build, sheet=UUIDField(), study=key, user=key)


def next_work(request: Any, round_: Any, rater: Rater) -> SheetWork:
    """Return the next sheet; crowd participants get no more sheets than their link requires."""
    if participant_of(request):
        reason = over_reason(request, round_, submitted_count(round_, rater))
        if reason:
            return SheetWork(None, reason)
    return next_sheet(round_=round_, rater=rater)


def over_reason(request: Any, round_: Any, done: int) -> str:
    """Return why a crowd participant gets no more sheets after this many; "" if more follow.

    The reason is ``ended``, ``skips`` (more than the round allows) or ``finished``.
    """
    participant = participant_of(request)
    if participant is None:
        return ""
    if participant.outcome != Participant.Outcome.RUNNING:
        return "ended"
    required_items = participant.link.required_items
    allowed = skips_paid(round_, required_items)
    # Nobody can have skipped more items than they have done.
    if done > allowed and skipped_by(round_, request.user) > allowed:
        return "skips"
    return "finished" if done >= required_items else ""


def shown_sheets(round_: Round, rater: Rater) -> QuerySet[Any]:
    """Return the person's sheets, newest first.

    While items may be repeated, only the last few sheets are returned: if people could look up
    earlier answers, repeats would not be independent.
    """
    rows = own_sheets(round_=round_, rater=rater).order_by("-place")
    if round_.repeat_share > 0 and round_.state == Round.State.OPEN:
        newest = rows.values_list("pk", flat=True)[:LEAST_GAP]
        return rows.filter(pk__in=list(newest))
    return rows


def submitted_count(round_: Round, rater: Rater) -> int:
    """Count the sheets that the person has submitted, excluding examples."""
    own = sheet_kind_of(round_).Sheet._default_manager.filter(round=round_.pk, rater=rater)
    return own.filter(state=Sheet.State.SUBMITTED, is_example=False).count()


# Decisions of a researcher about one person in a round.
DECISIONS = ("pass", "fail", "exclude", "reinstate")
LONGEST_REASON = 300
# Maximum number of people examined for each person listed.
EXAMINED_PER_LISTED = 10


def qualify(round_: Any, place: Place) -> None:
    """After the last example, decide by the share of right answers whether the person qualifies.

    The steps before work can set the number of examples used only for training, and the share of
    right answers required. An answer is right if it would be right for a control item.
    """
    kind = sheet_kind_of(round_)
    attempt = example_attempt(round_, place.rater_id)
    keys = list(examples_of(round_).values_list(kind.subject, "key_points"))
    own: Any = kind.Sheet._default_manager.filter(
        round=round_, rater=place.rater_id, is_example=True, state=Sheet.State.SUBMITTED
    )
    sheets = {(getattr(sheet, f"{kind.subject}_id"), sheet.replicate): sheet for sheet in own}
    _note_training(round_, place, [(thing, 0) in sheets for thing, _key in keys])
    trained, judged = keys[: attempt.trained], keys[attempt.trained :]
    wanted = [(thing, attempt.number) for thing, _key in judged]
    if any(pair not in sheets for pair in [*wanted, *((thing, 0) for thing, _key in trained)]):
        return
    answered = [(sheets[thing, attempt.number], key) for thing, key in judged]
    place.score = agreement(kind, answered)
    if attempt.is_step:
        right = sum(kind.is_right(round_, sheet, key) for sheet, key in answered)
        place.score = right / len(answered) if answered else 0.0
    if not place.is_decided_by_person:
        place.is_passed = place.score >= attempt.needed
    if attempt.is_step:
        _note_attempt(round_, place, attempt)
    place.save(update_fields=["score", "is_passed", "prepared_until"])


def _note_training(round_: Any, place: Place, done: Sequence[bool]) -> None:
    """If all training examples are done, record this; ``done`` has one flag per example."""
    step = round_.onboarding.step(TRAINING) if round_.onboarding else None
    if step and all(done[: step["items"]]):
        own = {"round_id": round_.pk, "rater_id": place.rater_id, "version": round_.onboarding}
        StepResult.objects.get_or_create(**own, step=TRAINING, defaults={"outcome": PASSED})


def _note_attempt(round_: Any, place: Place, attempt: ExampleAttempt) -> None:
    """Store the outcome of a qualification attempt; only a failed last attempt is final."""
    StepResult.objects.create(
        round=round_,
        rater_id=place.rater_id,
        version=round_.onboarding,
        step=QUALIFICATION,
        attempt=attempt.number + 1,
        outcome=PASSED if place.is_passed else FAILED,
        answers={"score": place.score},
    )
    if place.is_passed:
        qualification = add_qualification(round_.onboarding, place.rater_id)
        place.prepared_until = qualification.expires_at
    elif not attempt.is_last:
        place.score = None


def shows_key(sheet: Any) -> bool:
    """Whether an example is shown beside its key; qualification examples are not."""
    version = sheet.round.onboarding
    training, step = (version.step(kind) if version else None for kind in EXERCISES)
    if step is None:
        return True
    kind = sheet_kind_of(sheet)
    things = examples_of(sheet.round).values_list(kind.subject, flat=True)
    return getattr(sheet, f"{kind.subject}_id") in things[: training["items"] if training else 0]


def count_examples(round_: Round) -> int:
    """Count the practice sheets before a rater's first real sheet."""
    return int(examples_of(round_).count()) if isinstance(kind_of(round_), SheetKind) else 0


def held_back(study: Study) -> QuerySet[Place]:
    """Return the enrolments of members who await a researcher's decision in an open round.

    The members failed the practice or were paused. Crowd participants return to the platform
    instead.
    """
    places = Place.objects.filter(round__study=study, round__state=Round.State.OPEN)
    members = places.filter(rater__user__participant__isnull=True)
    failed = Q(score__isnull=False, is_passed=False, is_decided_by_person=False)
    return members.filter(failed | Q(is_stopped=True), excluded_at=None)


def held_at_steps(study: Study, most: int) -> list[Place]:
    """Return the enrolments of members who failed a step of an open round and cannot retry.

    People whose qualification was withdrawn are left out, because a decision about them has
    already been made.
    """
    failed = StepResult.objects.filter(
        rater=OuterRef("rater"),
        version__onboarding=OuterRef("round__onboarding__onboarding"),
        outcome=FAILED,
    )
    places = Place.objects.filter(
        Exists(failed), round__study=study, round__state=Round.State.OPEN, excluded_at=None
    )
    # Most people who failed once have passed since.
    lasts = Q(prepared_until=None) | Q(prepared_until__gt=Now())
    places = places.exclude(lasts, prepared_for=F("round__onboarding"))
    members = places.filter(rater__user__participant__isnull=True).order_by("round", "pk")
    rows = members.select_related("round__onboarding__onboarding", "rater__user")
    # This takes a few queries per person, so only a limited number is examined.
    at_steps = (
        place
        for place in rows[: EXAMINED_PER_LISTED * most]
        if (progress := step_progress(place.round, place)).is_over and progress.end != WITHDRAWN
    )
    return list(islice(at_steps, most))


def agreement(kind: SheetKind, answered: Iterable[tuple[Any, Any]]) -> float:
    """Return the share of known answers' parts that the sheets match; 0 if there are no parts."""
    marks = [kind.mark(sheet, key) for sheet, key in answered]
    wanted = sum(of for _met, of in marks)
    return sum(met for met, _of in marks) / wanted if wanted else 0.0


@transaction.atomic
def decide_rater(
    *, place: Place, actor: User | None, decision: str, reason: str = "", rule: str = ""
) -> Place | None:
    """Admit, refuse or exclude a rater, or reinstate their work; see `DECISIONS`.

    Without an actor, the decision is made by a rule. A rule never overrides a person's decision;
    it can also decide ``pause``. ``rule`` is the rule's name in `Round.rules`. Returns None if
    nothing changed.
    """
    stored = Place.objects.select_for_update().get(pk=place.pk)
    stored.round, stored.rater = place.round, place.rater
    if actor is None and stored.is_decided_by_person:
        return None
    if _stands(stored, decision):
        return None
    kind = kind_of(stored.round)
    details = _apply(kind, stored, decision, reason)
    stored.stopped_by = rule if stored.is_stopped else ""
    if kind.excludes_by_rule:
        stored.is_decided_by_person = actor is not None
    stored.save()
    record(
        study=stored.round.study,
        actor=actor,
        verb=f"{kind.audit.person}_{kind.audit.decisions.get(decision, decision)}",
        subject=f"{stored.round.name}: {stored.rater.pseudonym}",
        reason=reason,
        **details,
    )
    return stored


def _stands(place: Place, decision: str) -> bool:
    """Whether the decision already applies; False for admissions, which can always change."""
    if decision == "exclude":
        return place.is_excluded
    if decision == "pause":
        return place.is_stopped or place.is_excluded
    return decision == "reinstate" and not (place.is_excluded or place.is_stopped)


def _apply(kind: TaskKind, place: Place, decision: str, reason: str) -> dict[str, int]:
    """Change the enrolment, which the caller saves; return details for the history."""
    if decision in ("pass", "fail"):
        place.is_passed, place.is_decided_by_person = decision == "pass", True
        return {}
    if decision == "pause":
        place.is_stopped = True
        return {}
    if decision == "exclude":
        place.excluded_at, place.exclusion_reason = timezone.now(), reason[:LONGEST_REASON]
        return {"freed_slots": kind.leave_out(place)}
    place.excluded_at, place.exclusion_reason, place.is_stopped = None, "", False
    place.rules_since = timezone.now()
    return {"regained_slots": kind.count_again(place)}


# Trial sheets: a sheet as a worker would see it, without storing anything.
#
# The real code serves, saves and submits the sheet; the transaction around it is rolled back.

# Maximum number of items in a round that can be tried.
MOST = 20


def tried_items(round_: Any) -> QuerySet[Any]:
    """Return the first items of the round, examples before other items."""
    items = sheet_kind_of(round_).Item._default_manager.filter(round=round_.pk)
    is_example = ExpressionWrapper(Q(key_points__isnull=False), BooleanField())
    rows: QuerySet[Any] = items.order_by(is_example.desc(), "position")[:MOST]
    return rows


def trial_context(round_: Any, item: Any) -> dict[str, Any]:
    """Return the template context for a page about one item, including the item's trial page."""
    tried = [row.pk for row in tried_items(round_)]
    number = tried.index(item.pk) + 1 if item.pk in tried else None
    return {"item": item, "number": number, "trial": f"{kind_of(round_).work_page}_trial"}


def tried_id(round_: Round, number: int) -> uuid.UUID:
    """Return an id that is always the same for an item, so browsers keep at most one draft."""
    return uuid.uuid5(round_.public_id, f"trial {number}")


@contextmanager
def sheet_on_trial(round_: Any, item: Any, *, number: int, version: int) -> Iterator[Any]:
    """Yield a started sheet for a temporary rater; the round counts as open in any state."""
    kind = sheet_kind_of(round_)
    with transaction.atomic():
        try:
            yield _begun(kind, round_, item, number=number, version=version)
        finally:
            transaction.set_rollback(True)


def _begun(kind: SheetKind, round_: Any, item: Any, *, number: int, version: int) -> Any:
    rater = Rater.objects.create(
        study=round_.study, external_id=str(tried_id(round_, 0)), public_id=tried_id(round_, 0)
    )
    Round.objects.filter(pk=round_.pk).exclude(state=Round.State.OPEN).update(
        state=Round.State.OPEN
    )
    round_.state = Round.State.OPEN
    place_for(round_=round_, rater=rater)
    subject = f"{kind.subject}_id"
    new_sheet: Any = kind.Sheet._default_manager.create(
        public_id=tried_id(round_, number),
        study_id=round_.study_id,
        rater=rater,
        round=round_,
        place=number,
        is_example=item.is_example,
        version=version,
        served_at=Now(),
        **{subject: getattr(item, subject)},
        **kind.begin(round_, item, rater),
    )
    sheet: Any = kind.sheets().get(pk=new_sheet.pk)
    sheet.round, sheet.rater = round_, rater
    return sheet
