"""How far rounds are, and who has done what in them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Avg, Count, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from cqa_site.people.models import Rater, Study

from .kind import SheetKind, TaskKind, sheet_kind_of
from .models import COUNTED, Place, Round, Sheet
from .slots import DONE

SUBMITTED = Q(state=Sheet.State.SUBMITTED)
# Sheets that wait for their person: not submitted, or changed since.
TO_DO = Q(state=Sheet.State.OPEN) | Q(draft__isnull=False)


@dataclass(frozen=True)
class RaterProgress:
    """What one person has done in a round; ``figures`` are the kind's own."""

    place: Place
    sheets: int
    repeats: int
    extras: int
    begun: int
    minutes: int
    last_at: datetime | None
    figures: dict[str, Any]

    @property
    def rater(self) -> Rater:
        """Whose row it is."""
        return self.place.rater


def rounds_of(kind: TaskKind, study: Study) -> QuerySet[Any]:
    """The study's rounds of a kind with ``size``, ``wanted`` and ``done``; one query."""
    return kind.Round._default_manager.filter(study=study).annotate(**kind.counts())


def seconds_each(kind: SheetKind, study: Study) -> float | None:
    """How long a sheet of the kind took people of the study on average; None before one did."""
    rows = kind.Sheet._default_manager.filter(COUNTED, study=study, active_seconds__gt=0)
    found: float | None = rows.aggregate(mean=Avg("active_seconds"))["mean"]
    return found


def progress_of(round_: Round) -> list[RaterProgress]:
    """One row a person, in the order in which they came: two queries however many sheets."""
    kind = sheet_kind_of(round_)
    rows = (
        kind.Sheet._default_manager.filter(round=round_.pk)
        .order_by()
        .values("rater")
        .annotate(
            sheets=Count("pk", filter=COUNTED & Q(replicate=0)),
            repeats=Count("pk", filter=COUNTED & Q(replicate__gt=0)),
            extras=Count("pk", filter=SUBMITTED & Q(is_extra=True)),
            begun=Count("pk", filter=Q(state=Sheet.State.OPEN)),
            seconds=Sum("active_seconds"),
            last_at=Max("submitted_at"),
            **{f"own_{name}": figure for name, figure in kind.figures.items()},
        )
    )
    found = {row.pop("rater"): row for row in rows}
    places = Place.objects.filter(round=round_.pk).select_related("rater__user").order_by("pk")
    return [_progress(kind, place, found.get(place.rater_id, {})) for place in places]


def items_of(round_: Round) -> QuerySet[Any]:
    """Items, examples too, with what they show and how many sheets each wants and has."""
    kind = sheet_kind_of(round_)
    slots = kind.Slot._default_manager.filter(item=OuterRef("pk"))
    items = kind.Item._default_manager.filter(round=round_.pk)
    drawn: QuerySet[Any] = items.select_related(*kind.item_needed).annotate(
        wanted=count_of(slots, "item"),
        done=count_of(slots.filter(state=DONE), "item"),
    )
    return drawn


def count_of(rows: QuerySet[Any], by: str = "round") -> Coalesce:
    """The number of rows as a column of its own, so that counts do not multiply each other."""
    counted = rows.order_by().values(by).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def _progress(kind: SheetKind, place: Place, row: dict[str, Any]) -> RaterProgress:
    names = ("sheets", "repeats", "extras", "begun")
    return RaterProgress(
        place=place,
        **{name: row.get(name, 0) for name in names},
        minutes=round((row.get("seconds") or 0) / 60),
        last_at=row.get("last_at"),
        figures={name: row.get(f"own_{name}") for name in kind.figures},
    )
