"""How far scoring rounds are, and who has done what in them."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Avg, Count, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.models import Rater
from benchmark.models import Qualification, ScoreSheet, ScoringItem, ScoringRound, ScoringSlot
from cqa_site.people.models import Membership, Study

SUBMITTED = Q(state=ScoreSheet.State.SUBMITTED)
COUNTED = SUBMITTED & Q(is_example=False, is_extra=False)


@dataclass(frozen=True)
class RaterProgress:
    """What one person has done in a round."""

    place: Qualification
    sheets: int
    repeats: int
    extras: int
    begun: int
    unable: int
    mean: float | None
    minutes: int
    last_at: datetime | None

    @property
    def rater(self) -> Rater:
        """Whose row it is."""
        return self.place.rater


def rounds_with_counts(study: Study) -> QuerySet[ScoringRound]:
    """Rounds with ``answers``, ``wanted`` and ``done``; one query."""
    rounds = study.scoring_rounds.select_related("rubric")
    ordinary = ScoringItem.objects.filter(scoring_round=OuterRef("pk"), key_points__isnull=True)
    slots = ScoringSlot.objects.filter(scoring_round=OuterRef("pk"))
    return rounds.annotate(
        answers=_count(ordinary),
        wanted=_count(slots),
        done=_count(slots.filter(state=ScoringSlot.State.DONE)),
    )


def progress_of(scoring_round: ScoringRound) -> list[RaterProgress]:
    """One row a person, in the order in which they came: two queries however many sheets."""
    rows = (
        ScoreSheet.objects.filter(scoring_round=scoring_round)
        .order_by()
        .values("rater")
        .annotate(
            sheets=Count("pk", filter=COUNTED & Q(replicate=0)),
            repeats=Count("pk", filter=COUNTED & Q(replicate__gt=0)),
            extras=Count("pk", filter=SUBMITTED & Q(is_extra=True)),
            begun=Count("pk", filter=Q(state=ScoreSheet.State.OPEN)),
            unable=Count("pk", filter=COUNTED & Q(total__isnull=True)),
            mean=Avg("total", filter=COUNTED),
            seconds=Sum("active_seconds"),
            last_at=Max("submitted_at"),
        )
    )
    found = {row.pop("rater"): row for row in rows}
    places = scoring_round.qualifications.select_related("rater").order_by("pk")
    return [_progress(place, found.get(place.rater_id, {})) for place in places]


def open_rounds(membership: Membership) -> QuerySet[ScoringRound]:
    """Rounds open to a member, with how many sheets they have submitted (``scored``)."""
    mine = ScoreSheet.objects.filter(
        SUBMITTED,
        scoring_round=OuterRef("pk"),
        rater__user=membership.user,
        is_example=False,
    )
    rounds = membership.study.scoring_rounds.filter(state=ScoringRound.State.OPEN)
    return rounds.annotate(scored=_count(mine))


def items_of(scoring_round: ScoringRound, *, with_examples: bool = False) -> QuerySet[ScoringItem]:
    """Answers to score, with how many sheets each wants and has."""
    slots = ScoringSlot.objects.filter(item=OuterRef("pk"))
    items = scoring_round.items.all()
    return (
        (items if with_examples else items.filter(key_points__isnull=True))
        .select_related("answer__question__comparison", "answer__system")
        .annotate(
            wanted=_count(slots, "item"),
            done=_count(slots.filter(state=ScoringSlot.State.DONE), "item"),
        )
    )


def examples_of(scoring_round: ScoringRound) -> QuerySet[ScoringItem]:
    """Examples of the qualification with their answers, in their order."""
    rows = scoring_round.items.filter(key_points__isnull=False)
    return rows.select_related("answer__question__comparison", "answer__system")


def _progress(place: Qualification, row: dict) -> RaterProgress:
    numbers = {name: row.get(name, 0) for name in ("sheets", "repeats", "extras", "begun")}
    return RaterProgress(
        place=place,
        **numbers,
        unable=row.get("unable", 0),
        mean=row.get("mean"),
        minutes=round((row.get("seconds") or 0) / 60),
        last_at=row.get("last_at"),
    )


def _count(rows: QuerySet, by: str = "scoring_round") -> Coalesce:
    """The number of rows as a column of its own, so that counts do not multiply each other."""
    counted = rows.order_by().values(by).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)
