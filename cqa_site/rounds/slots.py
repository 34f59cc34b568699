"""Slots: how many sheets an item asks for, and who holds which of them for a while.

A slot is open, leased until some time, or done; a lease that ran out (by the clock of the
database) counts as open. Sheets point at their slot. Slots are taken with ``SKIP LOCKED`` where
the database has it; on SQLite the immediate transaction is the lock.

Locks are taken in one order everywhere: the place, then the sheet, then slots.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from .kind import sheet_kind_of
from .models import Slot

OPEN, LEASED, DONE = Slot.State.OPEN, Slot.State.LEASED, Slot.State.DONE
# Rows that are written at once.
CHUNK = 2_000
FREE = Q(state=OPEN) | Q(state=LEASED, lease_until__lt=Now())


def unseen_items(round_: Any, seen: Iterable[int]) -> QuerySet[Any]:
    """Items without a known answer whose thing is not among those."""
    kind = sheet_kind_of(round_)
    items = kind.Item._default_manager.filter(round=round_.pk, key_points__isnull=True)
    # A list, not a subquery: a planner that does not know fresh tables would join row by row.
    unseen: QuerySet[Any] = items.exclude(**{f"{kind.subject}__in": seen})
    return unseen


def with_free_slot(round_: Any, items: QuerySet[Any]) -> QuerySet[Any]:
    """Those of a round's items of which a slot is free."""
    slots = sheet_kind_of(round_).Slot._default_manager
    return items.filter(Exists(slots.filter(FREE, item=OuterRef("pk"))))


def take_slot(round_: Any, item_id: int, *, minutes: int) -> Any | None:
    """Reserve one of an item's slots that is free; None where others hold all of them.

    Every lock is taken with SKIP LOCKED, so takers and saves can never wait in a circle.
    """
    slots = sheet_kind_of(round_).Slot._default_manager.filter(item=item_id).order_by("number")
    # No sheet points at an open slot.
    slot = slots.filter(state=OPEN).select_for_update(skip_locked=True).first()
    slot = slot or _run_out(round_, slots)
    if slot is not None:
        lease = {"state": LEASED, "lease_until": Now() + timedelta(minutes=minutes)}
        slots.filter(pk=slot.pk).update(**lease)
    return slot


def _run_out(round_: Any, slots: QuerySet[Any]) -> Any | None:
    """A slot whose lease ran out, locked and taken from its sheet.

    Saving locks a sheet and then its slot, so holders are locked first here, too.
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
        # Whoever held it keeps the sheet and the draft, without the reservation.
        sheets.filter(pk__in=holders).update(slot=None)
        return slot
    return None


def renew(sheet: Any) -> None:
    """Prolong the reservation of a sheet that is being worked on."""
    if sheet.slot_id is None:
        return
    slots = sheet_kind_of(sheet).Slot._default_manager.filter(pk=sheet.slot_id, state=LEASED)
    slots.update(lease_until=Now() + timedelta(minutes=sheet.round.lease_minutes))


def hold_slot(sheet: Any) -> None:
    """A counted sheet holds a slot; a late one whose slot went to somebody else is an extra."""
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
    """Open the slots of sheets to others, the sheets keep everything else; return how many."""
    # Sheets are locked before slots, as everywhere; nobody takes one of these meanwhile.
    held = holders.filter(slot__isnull=False)
    locked = held.select_for_update(of=("self",)).order_by("pk")
    slots = [each.slot_id for each in locked]
    held.update(slot=None)
    freed = kind.Slot._default_manager.filter(pk__in=slots)
    return int(freed.update(state=OPEN, lease_until=None))
