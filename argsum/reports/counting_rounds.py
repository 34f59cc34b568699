"""How far counting rounds are, and who has done what in them."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Avg, Count, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.models import Rater
from argsum.models import CountingItem, CountingPlace, CountingRound, CountingSlot, CountSheet
from cqa_site.people.models import Membership, Study

SUBMITTED = Q(state=CountSheet.State.SUBMITTED)
COUNTED = SUBMITTED & Q(is_extra=False)


@dataclass(frozen=True)
class RaterProgress:
    """What one person has done in a round; means are of counted sheets that have the share."""

    place: CountingPlace
    sheets: int
    repeats: int
    extras: int
    begun: int
    unsure: int
    coverage: float | None
    redundancy: float | None
    minutes: int
    last_at: datetime | None

    @property
    def rater(self) -> Rater:
        """Whose row it is."""
        return self.place.rater


def rounds_with_counts(study: Study) -> QuerySet[CountingRound]:
    """Rounds with ``sets``, ``wanted`` and ``done``; one query."""
    items = CountingItem.objects.filter(counting_round=OuterRef("pk"))
    slots = CountingSlot.objects.filter(counting_round=OuterRef("pk"))
    return study.counting_rounds.annotate(
        sets=_count(items),
        wanted=_count(slots),
        done=_count(slots.filter(state=CountingSlot.State.DONE)),
    )


def progress_of(counting_round: CountingRound) -> list[RaterProgress]:
    """One row a person, in the order in which they came: two queries however many sheets."""
    unsure = Q(covered_is_unsure=True) | Q(unique_is_unsure=True)
    rows = (
        CountSheet.objects.filter(counting_round=counting_round)
        .order_by()
        .values("rater")
        .annotate(
            sheets=Count("pk", filter=COUNTED & Q(replicate=0)),
            repeats=Count("pk", filter=COUNTED & Q(replicate__gt=0)),
            extras=Count("pk", filter=SUBMITTED & Q(is_extra=True)),
            begun=Count("pk", filter=Q(state=CountSheet.State.OPEN)),
            unsure=Count("pk", filter=COUNTED & unsure),
            mean_coverage=Avg("coverage", filter=COUNTED),
            mean_redundancy=Avg("redundancy", filter=COUNTED),
            seconds=Sum("active_seconds"),
            last_at=Max("submitted_at"),
        )
    )
    found = {row.pop("rater"): row for row in rows}
    places = counting_round.places.select_related("rater").order_by("pk")
    return [_progress(place, found.get(place.rater_id, {})) for place in places]


def open_rounds(membership: Membership) -> QuerySet[CountingRound]:
    """Rounds open to a member, with how many sheets they have submitted (``judged``)."""
    mine = CountSheet.objects.filter(
        SUBMITTED, counting_round=OuterRef("pk"), rater__user=membership.user
    )
    rounds = membership.study.counting_rounds.filter(state=CountingRound.State.OPEN)
    return rounds.annotate(judged=_count(mine))


def items_of(counting_round: CountingRound) -> QuerySet[CountingItem]:
    """Sets to judge, with how many sheets each wants and has."""
    slots = CountingSlot.objects.filter(item=OuterRef("pk"))
    return counting_round.items.select_related("summary_set__cell").annotate(
        wanted=_count(slots, "item"),
        done=_count(slots.filter(state=CountingSlot.State.DONE), "item"),
    )


def _progress(place: CountingPlace, row: dict) -> RaterProgress:
    names = ("sheets", "repeats", "extras", "begun", "unsure")
    return RaterProgress(
        place=place,
        **{name: row.get(name, 0) for name in names},
        coverage=row.get("mean_coverage"),
        redundancy=row.get("mean_redundancy"),
        minutes=round((row.get("seconds") or 0) / 60),
        last_at=row.get("last_at"),
    )


def _count(rows: QuerySet, by: str = "counting_round") -> Coalesce:
    """The number of rows as a column of its own, so that counts do not multiply each other."""
    counted = rows.order_by().values(by).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)
