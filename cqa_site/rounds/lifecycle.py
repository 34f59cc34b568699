"""States of a round, the two serving policies for sheets, and invariants."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Avg, Count, F, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from cqa_site.people.access import record
from cqa_site.people.models import Rater, User
from .crowd.payments import misdirected
from .examples import draw_examples
from .kind import RoundNotReady, SheetKind, kind_of, kinds
from .models import ParticipantLink, Place, Round, Sheet
from .onboarding.steps import exercises_wanted
from .progress import SUBMITTED, TO_DO, count_of, how_far, newest_of_each
from .queue import CHUNK, DONE, FREE, LEASED, OPEN, free_slots, hold_slot, next_sheet, unseen_items
from .rules.measures import FAST, OF_CONTROLS, ONE_VALUE, SKIPS, ControlAnswer, RecentAnswer

# A round has a row in two tables. The shared table, with the state, must also be locked. Otherwise
# a transaction that waited for the lock would continue with the old state.
WHOLE = ("self", "round_ptr")
CORRECTABLE = (Round.State.OPEN, Round.State.PAUSED, Round.State.CLOSED)


@transaction.atomic
def open_round(*, round_: Round, actor: User) -> None:
    """Create the slots and start serving, or continue after a pause; raises RoundNotReady."""
    stored = locked_round(round_, Round.State.DRAFT, Round.State.PAUSED)
    if stored.state == Round.State.DRAFT:
        kind_of(stored).draw_exercises(stored, exercises_wanted(stored.onboarding))
        kind_of(stored).make_slots(stored)
        stored.opened_at = timezone.now()
    _move(stored, Round.State.OPEN, actor)


@transaction.atomic
def pause_round(*, round_: Round, actor: User) -> None:
    """Pause serving; raises RoundNotReady for kinds that cannot pause."""
    stored = locked_round(round_, Round.State.OPEN)
    if not kind_of(stored).pauses:
        raise RoundNotReady(
            _("Rounds of this kind cannot be paused. Close the round and reopen it instead.")
        )
    _move(stored, Round.State.PAUSED, actor)


@transaction.atomic
def close_round(*, round_: Round, actor: User) -> None:
    """Stop serving; submitted work counts, and drafts are kept."""
    stored = locked_round(round_, Round.State.OPEN, Round.State.PAUSED)
    stored.closed_at = timezone.now()
    _move(stored, Round.State.CLOSED, actor)
    kind = kind_of(stored)
    kind.closed(stored, actor)
    for follow in kind.after_closing:
        follow(round_=stored, actor=actor)


@transaction.atomic
def reopen_round(*, round_: Round, actor: User) -> None:
    """Reopen a closed round; raises RoundNotReady if its kind does not allow it."""
    stored = locked_round(round_, Round.State.CLOSED)
    kind_of(stored).check_reopening(stored)
    stored.closed_at = None
    _move(stored, Round.State.OPEN, actor)


@transaction.atomic
def correct_round(*, round_: Round, actor: User, values: dict[str, Any]) -> bool:
    """Change a round's columns, and record old and new values; return False if nothing changed.

    Raises RoundNotReady for a draft, and if the kind rejects a value.
    """
    stored = locked_round(round_, *CORRECTABLE)
    before = {name: getattr(stored, name) for name in values}
    before = {name: value for name, value in before.items() if value != values[name]}
    if not before:
        return False
    after = {name: values[name] for name in before}
    if after.get("onboarding") is not None:
        kind_of(stored).draw_exercises(stored, exercises_wanted(after["onboarding"]))
        if after["onboarding"].text:
            before["instructions"] = stored.instructions
            after["instructions"] = after["onboarding"].text
    kind_of(stored).check_correction(stored, after)
    for name, value in after.items():
        setattr(stored, name, value)
    stored.save(update_fields=list(after))
    kind_of(stored).corrected(stored, before)
    sides = [{name: str(value) for name, value in side.items()} for side in (before, after)]
    record(
        study=stored.study,
        actor=actor,
        verb=kind_of(stored).audit.of_round("corrected"),
        subject=stored.name,
        before=sides[0],
        after=sides[1],
    )
    return True


@transaction.atomic
def delete_round(*, round_: Round, actor: User) -> None:
    """Delete a draft round, in which nobody has worked; raises RoundNotReady."""
    stored = locked_round(round_, Round.State.DRAFT)
    kind_of(stored).check_removal(stored)
    verb = kind_of(stored).audit.of_round("deleted")
    record(study=stored.study, actor=actor, verb=verb, subject=stored.name)
    stored.delete()


def locked_round(round_: Round, *states: str) -> Any:
    """Return the stored round, locked until the transaction ends.

    Raises RoundNotReady if the round is not in one of the given states.
    """
    rounds = kind_of(round_).Round._default_manager
    # The keys are not locked: new sheets and enrolments refer to both tables and would deadlock.
    rows = rounds.select_for_update(of=WHOLE, no_key=True).select_related("study")
    stored = rows.get(pk=round_.pk)
    if stored.state not in states:
        raise RoundNotReady(
            _("The round is %s, so this is not possible now.") % stored.get_state_display()
        )
    return stored


def _move(stored: Any, state: str, actor: User) -> None:
    before, stored.state = stored.state, state
    stored.save(update_fields=["state", "opened_at", "closed_at", "n_controls"])
    record(
        study=stored.study,
        actor=actor,
        verb=kind_of(stored).audit.of_round(state),
        subject=stored.name,
        before=before,
    )


# Invariants of people's work in the database; each violation is described in one sentence.

FETCH = 1_000


def find_violations() -> Iterator[str]:
    """Yield all violations of invariants, for every kind."""
    for kind in kinds():
        yield from kind.check_work()
        yield from kind.check()
    strays = ParticipantLink.objects.exclude(study=F("round__study"))
    for pk in strays.values_list("pk", flat=True):
        yield f"crowd link {pk} leads to a round of another study"
    for pk in misdirected().values_list("pk", flat=True):
        yield f"crowd payment {pk} names a submission other than the one it was earned under"


def sheet_violations(kind: SheetKind) -> Iterator[str]:
    """Yield contradictions between a kind's sheets, slots and submissions."""
    yield from _slots_without_their_sheet(kind)
    yield from _sheets_without_their_slot(kind)
    yield from _sheets_unlike_their_item(kind)
    yield from _sheets_unlike_their_history(kind)


def _slots_without_their_sheet(kind: SheetKind) -> Iterator[str]:
    holds = {
        DONE: Q(sheet__state=Sheet.State.SUBMITTED),
        LEASED: Q(sheet__state=Sheet.State.OPEN),
        OPEN: Q(sheet__isnull=True),
    }
    for state, condition in holds.items():
        slots = kind.Slot._default_manager.filter(state=state).exclude(condition)
        for pk in slots.values_list("pk", flat=True):
            yield f"{kind.name} slot {pk} is {state}, but its sheet does not match"


def _submitted(kind: SheetKind) -> Any:
    return kind.sheets().filter(state=Sheet.State.SUBMITTED, round__isnull=False)


def _sheets_without_their_slot(kind: SheetKind) -> Iterator[str]:
    stray = _submitted(kind).filter(
        slot__isnull=True, is_extra=False, is_example=False, replicate=0, known__isnull=True
    )
    for pk in stray.values_list("pk", flat=True):
        yield f"{kind.name} sheet {pk} counts but holds no slot"


def _sheets_unlike_their_item(kind: SheetKind) -> Iterator[str]:
    columns = ("round", kind.subject, "known")
    controls = kind.Item._default_manager.filter(known__isnull=False)
    known = {(round_, thing): key for round_, thing, key in controls.values_list(*columns)}
    rounds = {round_ for round_, _thing in known}
    sheets = kind.Sheet._default_manager.filter(is_example=False, round__isnull=False)
    rows = sheets.filter(Q(known__isnull=False) | Q(round__in=rounds)).values_list("pk", *columns)
    for pk, round_, thing, key in rows.iterator(FETCH):
        if key != known.get((round_, thing)):
            yield f"{kind.name} sheet {pk} has a different known answer from its item"


def _sheets_unlike_their_history(kind: SheetKind) -> Iterator[str]:
    last = kind.Event._default_manager.filter(sheet=OuterRef("pk")).order_by("-pk")
    rows = _submitted(kind).annotate(
        event=Subquery(last.values("pk")[:1]), said=Subquery(last.values("content")[:1])
    )
    for sheet in rows.iterator(FETCH):
        unlike = ["event"] if sheet.event is None else _unlike(kind, sheet, _read(sheet.said))
        if unlike:
            names = ", ".join(unlike)
            yield f"{kind.name} sheet {sheet.pk} has other {names} than its last submission"


def _unlike(kind: SheetKind, sheet: Any, content: dict[str, Any]) -> list[str]:
    """List the fields that would change if the last submission were settled again."""
    stored = {name: getattr(sheet, name) for name in kind.settled}
    kind.settle(sheet, kind.Content(**content))
    return [name for name, value in stored.items() if getattr(sheet, name) != value]


def _read(content: Any) -> dict[str, Any]:
    """Decode a JSON column's value, which SQLite returns as text in subqueries."""
    read: dict[str, Any] = json.loads(content) if isinstance(content, str) else content
    return read


# The two serving policies for sheets: one by one, or assigned in advance.
#
# A kind with sheets is a subclass of one policy and defines what is specific to its sheets.


class OneByOne(SheetKind):
    """Serving policy: examples, then items in a random order per person, with blind repeats."""

    # The person's own sheets that are counted on their home page.
    own_count: ClassVar[Q] = SUBMITTED

    def make_slots(self, round_: Any) -> None:
        items = unseen_items(round_, ()).order_by("position")
        wanted = self.slots(round_, items.values_list("pk", flat=True))
        if not wanted:
            raise RoundNotReady(_("The round has no items."))
        self.check_opening(round_)
        controls = self.Item._default_manager.filter(round=round_, known__isnull=False)
        round_.n_controls = controls.count()
        slots = (
            self.Slot(round=round_, item_id=item, number=number)
            for item, sheets in wanted.items()
            for number in range(1, sheets + 1)
        )
        self.Slot._default_manager.bulk_create(slots, batch_size=CHUNK)

    def draw_exercises(self, round_: Any, wanted: int) -> None:
        draw_examples(round_, wanted)

    def counts(self) -> dict[str, Any]:
        """Count items other than examples, the sheets that they need, and the submitted sheets."""
        slots = self.Slot._default_manager.filter(round=OuterRef("pk"))
        items = self.Item._default_manager.filter(round=OuterRef("pk"), key_points__isnull=True)
        return {
            "size": count_of(items),
            "wanted": count_of(slots),
            "done": count_of(slots.filter(state=DONE)),
        }

    def count_own(self, rounds: Iterable[Round], user: User) -> dict[int, int]:
        """Count sheets other than examples, whether or not they are used in figures."""
        own = self.Sheet._default_manager.filter(
            self.own_count, round__in=rounds, rater__user=user, is_example=False
        )
        return dict(own.order_by().values_list("round").annotate(Count("pk")))

    def most_items(self, round_: Round) -> int:
        """Count the round's items other than examples, without blind repeats; 0 for a draft."""
        if round_.state == Round.State.DRAFT:
            return 0
        items = self.Item._default_manager.filter(round=round_.pk)
        return items.filter(key_points__isnull=True).count()

    def count_free(self, round_: Round) -> int:
        """Count the items with free slots; 0 if the round is not open."""
        slots = self.Slot._default_manager.filter(FREE, round=round_.pk)
        is_open = round_.state == Round.State.OPEN
        return slots.values("item").distinct().count() if is_open else 0

    def paces(self, round_: Round, **where: Any) -> Iterable[tuple[int, int, int, Any]]:
        """Compute paces from submitted sheets other than examples."""
        skipped = Value(0) if self.skipped is None else Count("pk", filter=self.skipped)
        own = self.Sheet._default_manager.filter(SUBMITTED, round=round_.pk, is_example=False)
        rows: Any = own.filter(**where).order_by().values_list("rater")
        yield from rows.annotate(Count("pk"), skipped=skipped, seconds=Avg("active_seconds"))

    def seconds_worked(self, round_: Round) -> Iterable[tuple[int, Any]]:
        rows = self.Sheet._default_manager.filter(round=round_.pk).order_by()
        yield from rows.values_list("rater").annotate(Sum("active_seconds"))

    def measures(self, round_: Round) -> tuple[str, ...]:
        """Return the measures that apply to the kind."""
        is_known = {FAST: True, ONE_VALUE: self.value, SKIPS: self.skipped is not None}
        is_known |= dict.fromkeys(OF_CONTROLS, self.takes_controls)
        return tuple(name for name, known in is_known.items() if known)

    def last_answers(
        self, round_: Round, most: int, *, with_majority: bool = False, **where: Any
    ) -> dict[int, list[RecentAnswer]]:
        """Return answers other than examples, ordered by the time of their last submission.

        If the page reported no active time, the time since the sheet was served is used.
        """
        own = self._answered(round_).filter(**where).annotate(is_skip=self.skipped or Value(False))
        rows = newest_of_each(own, most, "-submitted_at", "-pk").values_list(
            "rater", "submitted_at", "served_at", "active_seconds", "is_skip", *self.value
        )
        answers: dict[int, list[RecentAnswer]] = defaultdict(list)
        for rater, at, since, active, is_skip, *value in rows:
            seconds = active or ((at - since).total_seconds() if since else None)
            answers[rater].append(RecentAnswer(at, seconds, value, is_skip))
        return answers

    def control_answers(self, round_: Round, **where: Any) -> dict[int, list[ControlAnswer]]:
        """Return first answers, including answers by excluded people but not examples."""
        own = self._answered(round_).filter(known__isnull=False, replicate=0, **where)
        answers: dict[int, list[ControlAnswer]] = defaultdict(list)
        for sheet in own.defer("draft", "comment").order_by("rater", "place"):
            is_right = self.is_right(round_, sheet, sheet.known)
            thing = getattr(sheet, f"{self.subject}_id")
            answer = ControlAnswer(sheet.submitted_at, is_right, thing)
            answers[sheet.rater_id].append(answer)
        return answers

    def value_counts(self, round_: Round) -> list[int]:
        """Count the values of submitted sheets, excluding skipped sheets."""
        own = self._answered(round_).exclude(self.skipped or Q(pk=None))
        rows = own.order_by().values_list(*self.value).annotate(n=Count("pk"))
        return [n for *_value, n in rows]

    def _answered(self, round_: Round) -> QuerySet[Any]:
        rows = self.Sheet._default_manager
        return rows.filter(SUBMITTED, round=round_.pk, is_example=False, rater__isnull=False)

    def stop(self, place: Place, *, withdraws: bool) -> None:
        """Release started sheets, and keep their content.

        If the person withdraws, void submitted sheets, including examples.
        """
        sheets = self._sheets(place)
        free_slots(self, sheets if withdraws else sheets.filter(state=Sheet.State.OPEN))
        if withdraws:
            sheets.filter(state=Sheet.State.SUBMITTED).update(state=Sheet.State.VOID)

    def why_none(self, round_: Round, rater: Rater) -> str:
        return next_sheet(round_=self.own(round_), rater=rater).reason

    def is_done_by(self, round_: Round, place: Place) -> bool:
        """Whether no work is left, counted as on the work page."""
        return not how_far(self.own(round_), place.rater).left

    def leave_out(self, place: Place) -> int:
        """Free the rater's slots, so that other raters can fill them."""
        sheets = self._sheets(place)
        freed = free_slots(self, sheets)
        sheets.filter(state=Sheet.State.SUBMITTED, is_example=False).update(is_extra=True)
        return freed

    def count_again(self, place: Place) -> int:
        """Reinstate all repeats and control answers, and other sheets if a slot is free."""
        own = self._sheets(place).filter(state=Sheet.State.SUBMITTED, is_extra=True)
        sheets = own.filter(is_example=False)
        slotless = Q(replicate__gt=0) | Q(known__isnull=False)
        again: int = sheets.filter(slotless).update(is_extra=False)
        firsts = sheets.exclude(slotless)
        for sheet in firsts.select_related("round").order_by("pk"):
            hold_slot(sheet)
            sheet.save(update_fields=["slot", "is_extra"])
            again += not sheet.is_extra
        return again

    def _sheets(self, place: Place) -> Any:
        return self.Sheet._default_manager.filter(round=place.round_id, rater=place.rater_id)

    def asks(self, items: int) -> str:
        text = ngettext(
            "You will fill in %(items)s sheet.", "You will fill in %(items)s sheets.", items
        )
        return f"{text % {'items': items}} {self.card(0).text}"

    def counted(self) -> str:
        """Say that submitted sheets count, including blind repeats but not examples."""
        return _("Submitted sheets, including blind repeats but not examples.")

    def check_work(self) -> Iterable[str]:
        return sheet_violations(self)


class Desk(OneByOne):
    """Serving policy: sheets are assigned when the round is drawn."""

    is_assigned = True
    own_count = TO_DO
