"""Acting on quality: excluding and reinstating raters, changing control items.

Every decision is logged and can be taken back; assignments and labels are
never deleted. A person's decision about a rater stands until a person changes
it: the automatic rule leaves it alone.
"""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Assignment, Campaign, Exclusion, Item, Slot
from annotation.reports.quality import ControlRecord, control_record, control_records
from cqa_site.people.access import record
from cqa_site.people.models import Rater, User
from cqa_site.rounds.models import Place
from cqa_site.rounds.serving import place_for

from .consensus import request_everywhere
from .serving import FREE, lock_slots, take_slots

CHUNK = 500


class ControlNotValid(Exception):
    """The item is no control item, or the label is not on the scale."""


def check_rater(*, campaign: Campaign, place: Place) -> ControlRecord:
    """Apply the campaign's rule to one rater, say after each block they finish.

    Acts only while the upper bound of the accuracy is below the mark, takes
    an automatic step back once it no longer is, and never touches what a
    person decided.
    """
    found = control_record(campaign, place.rater_id)
    _apply_rule(campaign, place, found)
    return found


@transaction.atomic
def exclude_rater(*, campaign: Campaign, rater: Rater, reason: str, actor: User | None) -> None:
    """Leave the rater's labels out of every figure; without an actor it is the rule's decision.

    In a round that still runs, others get the rater's places: the labels stay
    as extras, items merely reserved go back.
    """
    if exclude_one(campaign=campaign, rater=rater, reason=reason, actor=actor):
        request_everywhere(campaign=campaign, actor=actor)


def exclude_one(
    *,
    campaign: Campaign,
    rater: Rater,
    reason: str,
    actor: User | None,
    exclusion: Exclusion | None = None,
) -> bool:
    """Exclude one rater and log it; the caller has the final labels recomputed if it is True."""
    place = _locked_place(campaign, rater)
    if place.is_excluded or _is_overruled(place, actor):
        return False
    place.excluded_at = timezone.now()
    place.exclusion_reason = reason[:300]
    place.is_decided_by_person = actor is not None
    place.save(update_fields=["excluded_at", "exclusion_reason", "is_decided_by_person"])
    if exclusion is not None:
        exclusion.places.add(place)
    freed = _free_slots(campaign, rater) if _is_running(campaign) else 0
    _log(campaign, rater, "rater_excluded", reason, actor, freed_slots=freed)
    return True


@transaction.atomic
def reinstate_rater(*, campaign: Campaign, rater: Rater, reason: str, actor: User | None) -> None:
    """Count the rater's labels again and serve them items; also ends a pause.

    Labels whose place nobody took in the meantime hold one again, the others
    stay extras.
    """
    if reinstate_one(campaign=campaign, rater=rater, reason=reason, actor=actor):
        request_everywhere(campaign=campaign, actor=actor)


def reinstate_one(*, campaign: Campaign, rater: Rater, reason: str, actor: User | None) -> bool:
    """Let one rater in again and log it; the caller has the labels recomputed if it is True."""
    place = _locked_place(campaign, rater)
    if not (place.is_excluded or place.is_stopped) or _is_overruled(place, actor):
        return False
    place.excluded_at, place.exclusion_reason, place.is_stopped = None, "", False
    place.is_decided_by_person = actor is not None
    place.save()
    place.exclusions.clear()
    regained = _regain_slots(campaign, rater)
    _log(campaign, rater, "rater_reinstated", reason, actor, regained_slots=regained)
    return True


@transaction.atomic
def replace_control_label(
    *, campaign: Campaign, item: Item, label: int | None, reason: str, actor: User
) -> None:
    """Give a control item another known label, or retire it with None; then apply the rule anew.

    The label it came with stays in ``imported_control_label``. A retired
    control is served no more and its answers count nowhere; giving it a label
    brings it back.
    """
    # Not its key: serving it, which refers to it, must not wait for us while we wait for raters.
    item = Item.objects.select_for_update(no_key=True).get(pk=item.pk, campaign=campaign)
    if not item.is_control or (label is not None and label not in campaign.guideline.values):
        raise ControlNotValid(_("Choose a label of the scale for a control item."))
    before = {"label": item.control_label, "is_retired": item.is_retired}
    item.is_retired = label is None
    item.control_label = item.control_label if label is None else label
    item.save(update_fields=["is_retired", "control_label"])
    record(
        study=campaign.study,
        actor=actor,
        verb="control_retired" if label is None else "control_label_changed",
        subject=f"{campaign.name}: {item.external_id}",
        reason=reason,
        before=before,
        after={"label": item.control_label, "is_retired": item.is_retired},
    )
    _recheck_everybody(campaign)
    request_everywhere(campaign=campaign, actor=actor)


def _recheck_everybody(campaign: Campaign) -> None:
    records = control_records(campaign)
    for place in campaign.places.select_related("rater").order_by("rater"):
        _apply_rule(campaign, place, records.get(place.rater_id, ControlRecord()))


def _apply_rule(campaign: Campaign, place: Place, found: ControlRecord) -> None:
    if place.is_decided_by_person:
        return
    is_acted_on = place.is_excluded or place.is_stopped
    is_low = found.is_surely_below(campaign.min_control_accuracy)
    if is_acted_on == (is_low and campaign.low_accuracy != Campaign.LowAccuracy.WARN):
        return
    reason = _describe(found)
    if is_acted_on:
        reinstate_rater(campaign=campaign, rater=place.rater, reason=reason, actor=None)
    elif campaign.low_accuracy == Campaign.LowAccuracy.EXCLUDE:
        exclude_rater(campaign=campaign, rater=place.rater, reason=reason, actor=None)
    else:
        _pause(campaign, place.rater, reason)


@transaction.atomic
def _pause(campaign: Campaign, rater: Rater, reason: str) -> None:
    place = _locked_place(campaign, rater)
    if place.is_stopped or _is_overruled(place, None):
        return
    place.is_stopped = True
    place.save(update_fields=["is_stopped"])
    _log(campaign, rater, "rater_paused", reason, None)


def _describe(found: ControlRecord) -> str:
    if found.interval is None:
        return _("No control item answered.")
    low, high = found.interval
    return _("Control accuracy %(right)d of %(n)d, 95%% interval %(low).2f to %(high).2f.") % {
        "right": found.right,
        "n": found.n,
        "low": low,
        "high": high,
    }


def _is_running(campaign: Campaign) -> bool:
    return campaign.is_live and campaign.state != Campaign.State.CLOSED


def _locked_place(campaign: Campaign, rater: Rater) -> Place:
    """The rater's place, locked; imported raters may not have one yet."""
    place = place_for(round_=campaign, rater=rater)
    return Place.objects.select_for_update().get(pk=place.pk)


def _is_overruled(place: Place, actor: User | None) -> bool:
    """Whether a person decided since the rule looked."""
    return actor is None and place.is_decided_by_person


def _free_slots(campaign: Campaign, rater: Rater) -> int:
    """Open the slots the rater holds; return how many.

    Reserved control items go, too: what is left of a block would be its controls.
    """
    reserved = Q(state=Assignment.State.SERVED)
    held = Assignment.objects.filter(
        Q(slot__isnull=False) | reserved, campaign=campaign, rater=rater
    )
    rows = list(held.select_for_update().order_by("pk").values_list("slot", flat=True))
    slots = sorted(pk for pk in rows if pk)
    held.filter(state=Assignment.State.ANSWERED).update(slot=None, is_extra=True)
    held.filter(reserved).update(slot=None, state=Assignment.State.EXPIRED)
    for start in range(0, len(slots), CHUNK):
        chunk = lock_slots(Slot.objects.filter(pk__in=slots[start : start + CHUNK]))
        Slot.objects.filter(pk__in=chunk).update(state=Slot.State.OPEN, lease_until=None)
    return len(slots)


def _regain_slots(campaign: Campaign, rater: Rater) -> int:
    """Give each extra label of the rater a free slot of its item; return how many got one.

    What came after the round was closed stays an extra.
    """
    extras = Assignment.objects.filter(
        campaign=campaign, rater=rater, state=Assignment.State.ANSWERED, is_extra=True
    )
    if campaign.closed_at:
        extras = extras.filter(answered_at__lt=campaign.closed_at)
    waiting = list(extras.select_for_update().order_by("pk").values_list("item", "pk"))
    return sum(
        _take_slots(dict(waiting[start : start + CHUNK]))
        for start in range(0, len(waiting), CHUNK)
    )


def _take_slots(assignments: dict[int, int]) -> int:
    """Take the first free slot of each item for its assignment; return how many there were."""
    free = Slot.objects.filter(FREE, item__in=assignments)
    # The last one written wins, so the lowest number comes last.
    chosen = dict(free.order_by("-number").values_list("item", "pk"))
    taken = take_slots(list(chosen.values()))
    ids = [slot.pk for slot in taken]
    Slot.objects.filter(pk__in=ids).update(state=Slot.State.DONE, lease_until=None)
    rows = [Assignment(pk=assignments[slot.item_id], slot=slot, is_extra=False) for slot in taken]
    return Assignment.objects.bulk_update(rows, ["slot", "is_extra"])


def _log(
    campaign: Campaign, rater: Rater, verb: str, reason: str, actor: User | None, **details: int
) -> None:
    record(
        study=campaign.study,
        actor=actor,
        verb=verb,
        subject=f"{campaign.name}: {rater.pseudonym}",
        reason=reason,
        **details,
    )
