"""Slots: how many sheets an item asks for, and who holds which of them for a while.

A slot is open, leased until some time, or done; a lease that ran out (by the clock of the
database) counts as open. Sheets point at their slot. Slots are taken with ``SKIP LOCKED`` where
the database has it; on SQLite the immediate transaction is the lock.

Both scoring and counting use this: their slots have ``state``, ``lease_until`` and ``number``.
"""

from datetime import timedelta
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Now

OPEN, LEASED, DONE = "open", "leased", "done"
FREE = Q(state=OPEN) | Q(state=LEASED, lease_until__lt=Now())


def take_free_slot(slots: QuerySet, sheets: type[Model], *, minutes: int) -> Any | None:
    """Reserve one of an item's slots that is free; None where others hold all of them.

    Saving locks a sheet and then its slot, so holders are locked first here, too; every lock is
    taken with SKIP LOCKED, so two takers and a save can never wait in a circle.
    """
    free = slots.filter(FREE).order_by("number")
    for slot in free:
        rows = sheets._default_manager.filter(slot=slot)
        holders = list(rows.values_list("pk", flat=True))
        mine = sheets._default_manager.filter(pk__in=holders).select_for_update(skip_locked=True)
        if len(mine) < len(holders):
            continue
        if not free.filter(pk=slot.pk).select_for_update(skip_locked=True):
            continue
        # Whoever held it keeps the sheet and the draft, without the reservation.
        sheets._default_manager.filter(pk__in=holders).update(slot=None)
        lease = {"state": LEASED, "lease_until": Now() + timedelta(minutes=minutes)}
        slots.filter(pk=slot.pk).update(**lease)
        return slot
    return None


def renew_lease(sheet: Any, *, minutes: int) -> None:
    """Prolong the reservation of a sheet that is being worked on."""
    if sheet.slot_id is None:
        return
    slots = type(sheet.slot)._default_manager.filter(pk=sheet.slot_id, state=LEASED)
    slots.update(lease_until=Now() + timedelta(minutes=minutes))
