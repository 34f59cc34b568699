"""How far one person is in a campaign; control items count like all others."""

from math import ceil

from django.db.models import Count, Exists, OuterRef, Q

from annotation.labelling.models.campaigns import Campaign, Slot
from annotation.labelling.models.votes import Assignment
from cqa_site.rounds.how_far import HowFar, pace
from cqa_site.rounds.models import Place

from .serving import DONE, FREE, TAKEN

ORDINARY = Q(control_label__isnull=True)
CONTROL = Q(control_label__isnull=False, is_retired=False)


def times_of(place: Place) -> list[int | None]:
    """Active milliseconds of everything the rater labelled or skipped, controls included."""
    rows = Assignment.objects.filter(
        rater_id=place.rater_id, campaign_id=place.round_id, state__in=DONE
    )
    return list(rows.values_list("active_ms", flat=True))


def how_far(
    *,
    campaign: Campaign,
    place: Place,
    times: list[int | None],
    served: int,
    wanted: int | None = None,
) -> HowFar:
    """What is done, and what is served or can still come; one query.

    The number of control items to come follows from the blocks to come, so that the sum stays the
    same whatever was answered: after an ordinary item, and after one with a known label.
    """
    is_open = campaign.state == Campaign.State.OPEN and not (place.is_stopped or place.is_excluded)
    coming = _coming(campaign, place) if is_open else 0
    seconds = pace([each / 1000 for each in times if each], campaign.expected_seconds)
    return HowFar(len(times), served + coming, seconds).at_most(wanted)


def _coming(campaign: Campaign, place: Place) -> int:
    mine = Assignment.objects.filter(item=OuterRef("pk"), rater_id=place.rater_id, state__in=TAKEN)
    free = Slot.objects.filter(FREE, item=OuterRef("pk"))
    items = campaign.items.annotate(is_mine=Exists(mine), is_free=Exists(free)).aggregate(
        all=Count("pk", filter=ORDINARY),
        mine=Count("pk", filter=ORDINARY & Q(is_mine=True)),
        free=Count("pk", filter=ORDINARY & Q(is_mine=False, is_free=True)),
        controls=Count("pk", filter=CONTROL & Q(is_mine=False)),
    )
    allowed = ceil(items["all"] * campaign.share_cap) - items["mine"]
    ordinary = max(0, min(items["free"], allowed))
    blocks = ceil(ordinary / (campaign.block_size - campaign.controls_per_block))
    return ordinary + min(items["controls"], blocks * campaign.controls_per_block)
