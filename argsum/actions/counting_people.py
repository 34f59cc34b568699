"""What a researcher decides about the people of a counting round."""

from django.db import transaction
from django.utils import timezone

from argsum.models import CountingPlace, CountingSlot, CountSheet
from cqa_site.people.access import record
from cqa_site.people.models import User

from .counting_sheets import hold_slot

DECISIONS = ("exclude", "reinstate")


@transaction.atomic
def decide_rater(
    *, place: CountingPlace, actor: User, decision: str, reason: str = ""
) -> CountingPlace:
    """Take somebody's sheets out of the figures and free their slots, or count them again."""
    rows = CountingPlace.objects.select_for_update(of=("self",))
    stored = rows.select_related("counting_round__study", "rater").get(pk=place.pk)
    is_excluded = decision == "exclude"
    stored.excluded_at = timezone.now() if is_excluded else None
    stored.exclusion_reason = reason if is_excluded else ""
    (_free_slots if is_excluded else _take_slots_again)(stored)
    stored.save()
    record(
        study=stored.counting_round.study,
        actor=actor,
        verb=f"counter_{decision}",
        subject=f"{stored.counting_round.name}: {stored.rater.pseudonym}",
        reason=reason,
    )
    return stored


def _free_slots(place: CountingPlace) -> None:
    """What somebody excluded held is open to others, so that no set stays short of sheets."""
    sheets = CountSheet.objects.filter(counting_round=place.counting_round, rater=place.rater)
    # Sheets are locked before slots, as everywhere; nobody takes one of these meanwhile.
    holders = sheets.filter(slot__isnull=False).select_for_update(of=("self",)).order_by("pk")
    held = [each.slot_id for each in holders]
    sheets.filter(slot__isnull=False).update(slot=None)
    sheets.filter(state=CountSheet.State.SUBMITTED).update(is_extra=True)
    CountingSlot.objects.filter(pk__in=held).update(
        state=CountingSlot.State.OPEN, lease_until=None
    )


def _take_slots_again(place: CountingPlace) -> None:
    """Sheets count again where nobody else has filled their place meanwhile."""
    sheets = CountSheet.objects.filter(
        counting_round=place.counting_round,
        rater=place.rater,
        state=CountSheet.State.SUBMITTED,
        is_extra=True,
    )
    sheets.filter(replicate__gt=0).update(is_extra=False)
    for sheet in sheets.filter(replicate=0).select_related("counting_round").order_by("pk"):
        hold_slot(sheet)
        sheet.save(update_fields=["slot", "is_extra"])
