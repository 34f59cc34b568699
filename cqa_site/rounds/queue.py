"""The queue of a round: order of items and repeats, slots, and a rater's next sheet.

All draws are seeded: the same items and the same seed always give the same order.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import MD5, Cast, Concat, Now

from cqa_site.judging.chat import digest
from cqa_site.people.models import Rater
from cqa_site.rounds.kind import SheetKind, sheet_kind_of
from cqa_site.rounds.models import ORDINARY, Place, Round, Sheet, Slot
from cqa_site.rounds.onboarding.steps import (
    ExampleAttempt,
    example_attempt,
    may_work,
    qualifies_on_sheets,
)

# A repeat comes after at least this many other items, so that people do not remember the item.
LEAST_GAP = 5


def own_order(candidates: Sequence[int], *, seed: int, rater: int) -> list[int]:
    """Return the candidates in a rater's random order, which is the same on every call.

    The order of the remaining candidates does not depend on those already removed.
    """
    return sorted(candidates, key=lambda candidate: digest([seed, rater, candidate]))


def repeat_due(firsts: int, repeats: int, share: float, *, is_last: bool = False) -> bool:
    """Whether an item should be repeated now.

    Repeats are spread over the items judged so far; any missing repeats follow at the end.

    Examples
    --------
    >>> repeat_due(10, 0, 0.1), repeat_due(9, 0, 0.1), repeat_due(10, 1, 0.1)
    (True, False, False)
    >>> repeat_due(6, 0, 0.1, is_last=True)
    True
    """
    wanted = firsts * share
    if firsts <= LEAST_GAP:
        return False
    return repeats < (math.ceil(round(wanted, 9)) if is_last else math.floor(round(wanted, 9)))


def repeats_of(firsts: int, share: float) -> int:
    """Return the number of repeated items after this number of first answers.

    Examples
    --------
    >>> repeats_of(20, 0.1), repeats_of(21, 0.1), repeats_of(5, 0.1), repeats_of(6, 0.5)
    (2, 3, 0, 1)
    """
    return max(0, min(math.ceil(round(firsts * share, 9)), firsts - LEAST_GAP))


def controls_due(
    firsts: int, met: int, ordinary: int, *, controls: int, items: int, seed: int, rater: int
) -> int:
    """Return the number of control items that a rater gets with the next ``ordinary`` items.

    The rater has had ``firsts`` different items so far, and ``met`` of them were control items.
    The round's ``items`` are divided into ``controls`` equal stretches, each with one control item
    at a random position.
    """
    due, place, turn = 0, firsts, -1.0
    while met + due < controls:
        if turn < 0:
            share = int(digest(["control", seed, rater, met + due])[:8], 16) / 16**8
            turn = (met + due + share) * items / controls // 1
        if turn <= place:
            due, turn = due + 1, -1.0
        elif ordinary:
            ordinary -= 1
        else:
            break
        place += 1
    return due


def choose_repeat(
    judged: Sequence[int], repeated: set[int], *, seed: int, rater: int
) -> int | None:
    """Choose a random item to repeat among those judged long enough ago.

    ``judged`` is in the order of judging. Returns None if no item can be repeated.
    """
    old = [
        candidate for candidate in judged[: len(judged) - LEAST_GAP] if candidate not in repeated
    ]
    if len(judged) <= LEAST_GAP or not old:
        return None
    return own_order(old, seed=seed, rater=-rater - 1)[0]


# Slots: the sheets that an item needs, and their temporary reservations.
#
# A slot is open, leased until a certain time, or done. An expired lease (by the clock of the
# database) counts as open. Sheets refer to their slots. Slots are taken with ``SKIP LOCKED`` if
# the database supports it; on SQLite, the immediate transaction is the lock.
#
# All code takes locks in the same order: first the enrolment, then the sheet, then slots.

OPEN, LEASED, DONE = Slot.State.OPEN, Slot.State.LEASED, Slot.State.DONE
# Maximum number of rows written or read at once.
CHUNK = 2_000
FREE = Q(state=OPEN) | Q(state=LEASED, lease_until__lt=Now())


def unseen_items(round_: Any, seen: Iterable[int]) -> QuerySet[Any]:
    """Return the ordinary items whose subjects are not in ``seen``."""
    kind = sheet_kind_of(round_)
    items = kind.Item._default_manager.filter(ORDINARY, round=round_.pk)
    # A list instead of a subquery: without statistics on new tables, planners join row by row.
    unseen: QuerySet[Any] = items.exclude(**{f"{kind.subject}__in": seen})
    return unseen


def controls_coming(round_: Any, rater: int, seen: Sequence[int], ordinary: int) -> list[int]:
    """Return the control items that a rater gets with the next ``ordinary`` other items.

    ``seen`` contains the subjects of the rater's first sheets. Items that the rater has answered
    in another round are never served, because the known answer may come from that rater.
    """
    if not round_.n_controls:
        return []
    kind = sheet_kind_of(round_)
    items = kind.Item._default_manager.filter(round=round_.pk, key_points__isnull=True)
    rows = items.filter(known__isnull=False).values_list("pk", kind.subject, *kind.likeness)
    controls = {thing: (pk, like) for pk, thing, *like in rows}
    met, sizes = sum(thing in controls for thing in seen), (len(controls), items.count())
    own = {"seed": round_.seed, "rater": rater, "controls": sizes[0], "items": sizes[1]}
    due = controls_due(len(seen), met, ordinary, **own)
    sheets = kind.Sheet._default_manager.filter(rater=rater).exclude(round=round_.pk)
    # Counting the remaining items costs the same whether or not control items are left.
    elsewhere = set(sheets.values_list(*kind.likeness)) if due or ordinary else set()
    left = [
        pk
        for thing, (pk, like) in controls.items()
        if thing not in seen and tuple(like) not in elsewhere
    ]
    return own_order(left, seed=round_.seed, rater=rater)[:due]


def with_free_slot(round_: Any, items: QuerySet[Any]) -> QuerySet[Any]:
    slots = sheet_kind_of(round_).Slot._default_manager
    return items.filter(Exists(slots.filter(FREE, item=OuterRef("pk"))))


def take_slot(round_: Any, item_id: int, *, minutes: int) -> Any | None:
    """Reserve a free slot of an item, or return None if other raters have reserved all slots.

    All locks are taken with SKIP LOCKED, so reservations and saves cannot deadlock.
    """
    slots = sheet_kind_of(round_).Slot._default_manager.filter(item=item_id).order_by("number")
    # No sheet refers to an open slot.
    slot = slots.filter(state=OPEN).select_for_update(skip_locked=True).first()
    slot = slot or _run_out(round_, slots)
    if slot is not None:
        lease = {"state": LEASED, "lease_until": Now() + timedelta(minutes=minutes)}
        slots.filter(pk=slot.pk).update(**lease)
    return slot


def _run_out(round_: Any, slots: QuerySet[Any]) -> Any | None:
    """Lock a slot whose lease has expired, and take it from its sheet.

    Saving locks a sheet and then its slot, so sheets are also locked first here.
    """
    sheets = sheet_kind_of(round_).Sheet._default_manager
    free = slots.filter(FREE)
    for slot in free:
        holders = list(sheets.filter(slot=slot).values_list("pk", flat=True))
        mine = sheets.filter(pk__in=holders).select_for_update(of=("self",), skip_locked=True)
        if len(mine) < len(holders):
            continue
        if not free.filter(pk=slot.pk).select_for_update(skip_locked=True):
            continue
        # The previous rater keeps the sheet and the draft, but not the reservation.
        sheets.filter(pk__in=holders).update(slot=None)
        return slot
    return None


def renew(sheet: Any) -> None:
    """Extend the reservation of a sheet in progress.

    Sheets without a reservation, such as those for control items, also cause a write, so that
    people cannot recognize them by the response time.
    """
    kind = sheet_kind_of(sheet)
    if sheet.slot_id is None:
        kind.Sheet._default_manager.filter(pk=sheet.pk).update(place=F("place"))
        return
    slots = kind.Slot._default_manager.filter(pk=sheet.slot_id, state=LEASED)
    slots.update(lease_until=Now() + timedelta(minutes=sheet.round.lease_minutes))


def hold_slot(sheet: Any) -> None:
    """Fill a slot with a counted sheet; a late sheet without a free slot becomes an extra."""
    kind = sheet_kind_of(sheet)
    if sheet.slot is None:
        thing = getattr(sheet, f"{kind.subject}_id")
        items = kind.Item._default_manager.filter(round=sheet.round)
        item = items.values_list("pk", flat=True).get(**{kind.subject: thing})
        sheet.slot = take_slot(sheet.round, item, minutes=1)
    sheet.is_extra = sheet.slot is None
    if sheet.slot is not None:
        done = kind.Slot._default_manager.filter(pk=sheet.slot.pk)
        done.update(state=DONE, lease_until=None)


def free_slots(kind: Any, holders: Any) -> int:
    """Free the slots of sheets for other raters, and return their number; keep the sheets."""
    # Sheets are locked before slots, as in all other code, so that nobody takes these slots now.
    held = holders.filter(slot__isnull=False)
    locked = held.select_for_update(of=("self",)).order_by("pk")
    slots = [sheet.slot_id for sheet in locked]
    held.update(slot=None)
    freed = kind.Slot._default_manager.filter(pk__in=slots)
    return int(freed.update(state=OPEN, lease_until=None))


# The next sheet of a rater.
#
# Raters get one item at a time: first the examples of the qualification, then items in their own
# random order with blind repeats. Ordinary items are reserved with one of their slots.

# Number of items to try, in the rater's order, before locks by other people count as "held".
TRIES = 5


@dataclass(frozen=True)
class SheetWork:
    """The next sheet to fill in, or the reason why there is none."""

    sheet: Any | None
    reason: str = ""


def place_for(*, round_: Round, rater: Rater) -> Place:
    """Return the rater's enrolment in the round, which is created on the first visit."""
    places = Place.objects.filter(round=round_.pk, rater=rater)
    place = places.first() or _enrolled(round_, rater)
    # The given round has the kind's own class; the relation would load a plain round.
    place.round, place.rater = round_, rater
    return place


@transaction.atomic
def _enrolled(round_: Round, rater: Rater) -> Place:
    """Create an enrolment, after waiting for any concurrent change of control items."""
    Round.objects.select_for_update(no_key=True).get(pk=round_.pk)
    return Place.objects.get_or_create(round_id=round_.pk, rater=rater)[0]


def own_sheets(*, round_: Round, rater: Rater) -> QuerySet[Any]:
    """Return the rater's sheets in a round, in the order in which they were served."""
    rows = sheet_kind_of(round_).sheets().filter(round=round_.pk, rater=rater)
    return rows.order_by("place")


@transaction.atomic
def next_sheet(*, round_: Any, rater: Rater) -> SheetWork:
    """Return the rater's next sheet, starting a new one if none is open.

    If there is no sheet, the reason is ``not_open``, ``stopped``, ``steps`` (the steps come
    first), ``retry`` (the qualification can be repeated later), ``not_qualified``, ``held``
    (others have reserved the last items) or ``finished``.
    """
    place = _locked_place(round_, rater)
    if place.is_excluded or place.is_stopped:
        return SheetWork(None, "stopped")
    if round_.state != Round.State.OPEN:
        return SheetWork(None, "not_open")
    serving = _SheetServer(sheet_kind_of(round_), round_, place)
    waiting = serving.waiting()
    # A started sheet can be finished, but the person may not have seen an assigned sheet yet.
    is_begun = waiting is not None and not serving.kind.is_assigned
    if not is_begun and not may_work(round_, place):
        return SheetWork(None, "steps")
    if waiting is not None:
        return SheetWork(waiting)
    if serving.kind.is_assigned:
        return SheetWork(None, "finished")
    # People with ordinary sheets have passed the examples, unless a researcher decided otherwise
    # or their qualification has expired.
    asks = place.is_decided_by_person or not serving.has_begun or qualifies_on_sheets(round_)
    if asks and not place.is_passed:
        example = serving.next_example()
        if example is not None and not example.is_seen:
            if serving.attempt.is_waiting:
                return SheetWork(None, "retry")
            number = serving.attempt.number
            return SheetWork(serving.begin(example, is_example=True, replicate=number))
        # Without examples, everybody who was not refused may continue.
        if example is not None or place.is_decided_by_person:
            return SheetWork(None, "not_qualified")
    return serving.ordinary()


def _locked_place(round_: Any, rater: Rater) -> Place:
    """Lock the enrolment, so that a second tab waits and gets the same sheet as the first."""
    locked = Place.objects.select_for_update().filter(round=round_.pk, rater=rater)
    place = locked.first() or locked.get(pk=place_for(round_=round_, rater=rater).pk)
    place.rater = rater
    return place


@dataclass(frozen=True)
class _SheetServer:
    """Chooses a rater's next sheet while their enrolment is locked."""

    kind: SheetKind
    round_: Any
    place: Place

    def own(self) -> QuerySet[Any]:
        rows = self.kind.Sheet._default_manager
        return rows.filter(round=self.round_, rater=self.place.rater)

    def items(self) -> QuerySet[Any]:
        return self.kind.Item._default_manager.filter(round=self.round_)

    def waiting(self) -> Any | None:
        """Return the open sheet, if any, with its reservation renewed."""
        begun = [pk for pk, *_about, state in self._had if state == Sheet.State.OPEN]
        if not begun:
            return None
        sheet = self.own().get(pk=begun[0])
        sheet.round, sheet.rater = self.round_, self.place.rater
        renew(sheet)
        return sheet

    @property
    def has_begun(self) -> bool:
        """Whether the rater has had sheets other than examples."""
        return bool(self._done)

    @cached_property
    def attempt(self) -> ExampleAttempt:
        """The next attempt at the qualification."""
        return example_attempt(self.round_, self.place.rater_id)

    def next_example(self) -> Any | None:
        """Return the next example or, if none is left, an example already seen.

        Returns None if there are no examples.
        """
        examples = self.items().filter(key_points__isnull=False)
        mine = self.own().filter(**{self.kind.subject: OuterRef(self.kind.subject)})
        if self.attempt.number:
            again = examples.order_by("position").values_list("pk", flat=True)
            examples = examples.filter(pk__in=list(again[self.attempt.trained :]))
            mine = mine.filter(replicate=self.attempt.number)
        seen = examples.annotate(is_seen=Exists(mine.filter(is_example=True)))
        return seen.order_by("is_seen", "position").first()

    def ordinary(self) -> SheetWork:
        """Return a repeat if one is due, otherwise the next item in the rater's order."""
        sheet = self._repeat() or self._first() or self._repeat(is_last=True)
        if sheet is not None:
            return SheetWork(sheet)
        others = self.kind.Slot._default_manager.filter(round=self.round_).exclude(state=DONE)
        is_held = others.filter(item__in=self._unseen().values("pk")).exists()
        return SheetWork(None, "held" if is_held else "finished")

    def _unseen(self) -> QuerySet[Any]:
        return unseen_items(self.round_, [thing for thing, again in self._done if again == 0])

    def _first(self) -> Any | None:
        """Return a sheet for the next item with a free slot."""
        # A random order per rater, which removed items do not change. Sorting 3,000 items takes
        # milliseconds in the database, but reading and hashing them here took a tenth of a second.
        salt = Value(f"{self.round_.seed} {self.place.rater_id} ", CharField())
        turn = MD5(Concat(salt, Cast("pk", CharField())))
        order = self._unseen().order_by(turn, "pk")
        firsts = [thing for thing, again in self._done if again == 0]
        if self.round_.n_controls and (firsts or with_free_slot(self.round_, order).exists()):
            for control in controls_coming(self.round_, self.place.rater_id, firsts, 0):
                return self.begin(self.items().get(pk=control))
        # The next item is nearly always free; checking all 3,000 items takes twice as long.
        for item in chain(order[:1], with_free_slot(self.round_, order)[:TRIES]):
            slot = take_slot(self.round_, item.pk, minutes=self.round_.lease_minutes)
            if slot is not None:
                return self.begin(item, slot=slot)
        return None

    @cached_property
    def _done(self) -> list[tuple[int, int]]:
        """Subjects and repetition numbers of the rater's sheets other than examples, in order."""
        return [
            (thing, again) for _pk, thing, again, is_example, _state in self._had if not is_example
        ]

    @cached_property
    def _had(self) -> list[tuple[Any, ...]]:
        columns = ("pk", self.kind.subject, "replicate", "is_example", "state")
        return list(self.own().order_by("place").values_list(*columns))

    def _repeat(self, *, is_last: bool = False) -> Any | None:
        share = self.round_.repeat_share
        if not share:
            return None
        firsts = [thing for thing, replicate in self._done if replicate == 0]
        repeated = {thing for thing, replicate in self._done if replicate}
        if not repeat_due(len(firsts), len(repeated), share, is_last=is_last):
            return None
        again = choose_repeat(firsts, repeated, seed=self.round_.seed, rater=self.place.rater_id)
        if again is None:
            return None
        return self.begin(self.items().get(**{self.kind.subject: again}), replicate=1)

    def begin(
        self, item: Any, *, slot: Any = None, replicate: int = 0, is_example: bool = False
    ) -> Any:
        Place.objects.filter(pk=self.place.pk).update(served=F("served") + 1)
        subject = f"{self.kind.subject}_id"
        sheet: Any = self.kind.Sheet._default_manager.create(
            study_id=self.round_.study_id,
            rater=self.place.rater,
            round=self.round_,
            slot=slot,
            replicate=replicate,
            is_example=is_example,
            known=item.known,
            place=self.place.served + 1,
            served_at=Now(),
            **{subject: getattr(item, subject)},
            **self.kind.begin(self.round_, item, self.place.rater),
        )
        if slot is None:
            renew(sheet)
        # Deferred: the time on the database's clock is loaded when the field is accessed.
        del sheet.served_at
        return sheet
