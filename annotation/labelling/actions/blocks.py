"""The policy by which labels are served: blocks of items with control items hidden among them.

`serving` and `answering` beside it do the work; here stands what the engine of rounds asks.
"""

import math
from collections.abc import Iterable
from typing import Any

from django.db.models import Avg, Count, OuterRef, Q

from annotation.labelling.models.campaigns import Campaign, Item, Slot
from annotation.labelling.models.votes import Assignment
from annotation.labelling.reports import label_violations
from cqa_site.people.models import Rater, User
from cqa_site.rounds.kind import TaskKind
from cqa_site.rounds.models import Place, Round
from cqa_site.rounds.progress import count_of
from cqa_site.rounds.serving import place_for

from .how_far import how_far
from .serving import DONE, FREE, lock_slots, next_work, take_slots

CHUNK = 500
RESERVED = Q(state=Assignment.State.SERVED)
HELD = RESERVED | Q(slot__isnull=False)


class Blocks(TaskKind):
    """One block is one reservation: ordinary items through slots, control items without."""

    # Who answers too few control items as known.
    excludes_by_rule = True
    pauses = True

    def counts(self) -> dict[str, Any]:
        """Items and slots; ``votes`` are all labels, which imported campaigns have alone."""
        mine = {"campaign": OuterRef("pk")}
        slots = Slot.objects.filter(**mine)
        votes = Assignment.objects.filter(**mine, state=Assignment.State.ANSWERED)
        found = {
            "size": Item.objects.filter(**mine),
            "wanted": slots,
            "done": slots.filter(state=Slot.State.DONE),
            "votes": votes,
        }
        return {name: count_of(rows, "campaign") for name, rows in found.items()}

    def count_own(self, rounds: Iterable[Round], user: User) -> dict[int, int]:
        """Items labelled or skipped, control items too."""
        own = Assignment.objects.filter(
            campaign__in=[each.pk for each in rounds], rater__user=user, state__in=DONE
        )
        return dict(own.order_by().values_list("campaign").annotate(Count("pk")))

    def most_items(self, round_: Round) -> int:
        """Every item comes once at most, ordinary ones up to the share cap.

        Each block of them brings its control items along, for as long as there are any the
        person has not had. Nobody gets any of a draft.
        """
        campaign = self.own(round_)
        if campaign.state == Campaign.State.DRAFT:
            return 0
        items = _count_items(campaign)
        return _with_controls(campaign, items["ordinary"], items)

    def count_free(self, round_: Round) -> int:
        """The same, of ordinary items with a free vote; none of a round that is not open."""
        campaign = self.own(round_)
        if campaign.state != Campaign.State.OPEN:
            return 0
        free = Slot.objects.filter(FREE, campaign=campaign).values("item").distinct().count()
        return _with_controls(campaign, free, _count_items(campaign)) if free else 0

    def paces(self, round_: Round, **where: Any) -> Iterable[tuple[int, int, int, Any]]:
        """Of items labelled or skipped, control items too."""
        own = Assignment.objects.filter(campaign=round_.pk, state__in=DONE, **where)
        skipped = Count("pk", filter=Q(state=Assignment.State.SKIPPED))
        rows = own.order_by().values_list("rater")
        return rows.annotate(Count("pk"), skipped=skipped, seconds=Avg("active_ms") / 1000)

    def why_none(self, round_: Round, rater: Rater) -> str:
        """What serving says."""
        campaign = self.own(round_)
        return next_work(campaign=campaign, place=place_for(round_=campaign, rater=rater)).reason

    def is_done_by(self, round_: Round, place: Place) -> bool:
        """As the work page counts."""
        served = Assignment.objects.filter(
            campaign=round_.pk, rater=place.rater_id, state=Assignment.State.SERVED
        )
        far = how_far(campaign=self.own(round_), place=place, times=[], served=served.count())
        return not far.left

    def leave_out(self, place: Place) -> int:
        """In a round that still runs, labels stay as extras, items merely reserved go back.

        Reserved control items go, too: what is left of a block would be its controls.
        """
        return _free_slots(place, HELD) if _is_running(self.own(place.round)) else 0

    def stop(self, place: Place, *, withdraws: bool) -> None:
        """The history of votes keeps what was said; an answer under way finds a free slot."""
        mine = Assignment.objects.filter(campaign=place.round_id, rater=place.rater_id)
        _free_slots(place, HELD if withdraws else RESERVED)
        if withdraws:
            void = {"label": None, "is_extra": False, "state": Assignment.State.VOID}
            mine.filter(state__in=DONE).update(**void)

    def count_again(self, place: Place) -> int:
        """What came after the round was closed stays an extra."""
        return _regain_slots(place)

    def check_work(self) -> Iterable[str]:
        """Assignments, slots and votes."""
        return label_violations()


def _is_running(campaign: Campaign) -> bool:
    return campaign.is_live and campaign.state != Campaign.State.CLOSED


def _count_items(campaign: Campaign) -> dict[str, int]:
    return campaign.items.aggregate(
        ordinary=Count("pk", filter=Q(control_label__isnull=True)),
        controls=Count("pk", filter=Q(control_label__isnull=False, is_retired=False)),
    )


def _with_controls(campaign: Campaign, ordinary: int, items: dict[str, int]) -> int:
    """So many ordinary items, up to the share cap, with the control items of their blocks."""
    allowed = min(ordinary, math.ceil(items["ordinary"] * campaign.share_cap))
    blocks = math.ceil(allowed / max(1, campaign.block_size - campaign.controls_per_block))
    return allowed + min(items["controls"], blocks * campaign.controls_per_block)


def _free_slots(place: Place, which: Q) -> int:
    """Open the slots of such rows of the rater; return how many."""
    held = Assignment.objects.filter(which, campaign=place.round_id, rater=place.rater_id)
    rows = list(held.select_for_update().order_by("pk").values_list("slot", flat=True))
    slots = sorted(pk for pk in rows if pk)
    held.filter(state=Assignment.State.ANSWERED).update(slot=None, is_extra=True)
    held.filter(RESERVED).update(slot=None, state=Assignment.State.EXPIRED)
    for start in range(0, len(slots), CHUNK):
        chunk = lock_slots(Slot.objects.filter(pk__in=slots[start : start + CHUNK]))
        Slot.objects.filter(pk__in=chunk).update(state=Slot.State.OPEN, lease_until=None)
    return len(slots)


def _regain_slots(place: Place) -> int:
    """Give each extra label of the rater a free slot of its item; return how many got one."""
    extras = Assignment.objects.filter(
        campaign=place.round_id,
        rater=place.rater_id,
        state=Assignment.State.ANSWERED,
        is_extra=True,
    )
    if place.round.closed_at:
        extras = extras.filter(answered_at__lt=place.round.closed_at)
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
