"""The table of votes: the only way statistics read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db.models import F, FilteredRelation, Q, QuerySet

from annotation.models import Adjudication, Assignment, Campaign, Rater

if TYPE_CHECKING:
    import pandas as pd

# Column of the table → where it comes from.
COLUMNS = {
    "assignment": "pk",
    "item": "item_id",
    "unit": "item__argument_id",
    "rater": "rater_id",
    "rater_kind": "rater__kind",
    "value": "label",
    "control_label": "item__control_label",
    "is_extra": "is_extra",
    "is_retired": "item__is_retired",
    "answered_at": "answered_at",
    "active_ms": "active_ms",
    "excluded_at": "excluded_at",
}


def vote_table(campaign: Campaign, *, exclude: bool = True, **where: object) -> pd.DataFrame:
    """Read the votes of a campaign in one query, one row per answered assignment.

    Counted votes are answered, hold a place among the wanted ones (not extra),
    come from a rater who is not excluded and stand on an item that is not
    retired. With ``exclude=False`` the others are there too, marked by the
    columns is_extra, excluded and is_retired. Lookups of Assignment narrow
    the table, for example to one rater.

    Columns: assignment, item, unit (key of the argument), rater (key),
    rater_kind, value, is_control, control_label (Int64), is_extra,
    is_retired, answered_at, active_ms (Int64), excluded. Ordered by
    assignment, so that seeded methods repeat.
    """
    votes = counted_votes(campaign) if exclude else _answered(campaign=campaign)
    rows = votes.filter(**where).order_by("pk").values_list(*COLUMNS.values())
    table = _frame(rows, list(COLUMNS)).astype({"control_label": "Int64", "active_ms": "Int64"})
    table["is_control"] = table["control_label"].notna()
    table["excluded"] = table.pop("excluded_at").notna()
    return table


def counted_votes(campaign: Campaign) -> QuerySet[Assignment]:
    """The assignments that count in every figure of the campaign."""
    return _counted(_answered(campaign=campaign))


def override_table(campaign: Campaign) -> pd.DataFrame:
    """Counted labels of the campaigns that overrule this one: columns unit, rater, value.

    Only arguments of this campaign; one row is one label.
    """
    sources = campaign.overridden_by.values("pk")
    labels = _counted(_answered(campaign__in=sources)).filter(
        item__argument__in=campaign.items.values("argument")
    )
    return _labels_of(labels)


def expert_table(campaign: Campaign) -> pd.DataFrame:
    """What experts of the study said about the control items: columns unit, rater, value.

    Their counted labels in any campaign, this one included.
    """
    controls = campaign.items.filter(control_label__isnull=False).values("argument")
    labels = _counted(
        _answered(
            campaign__study=campaign.study_id,
            rater__kind=Rater.Kind.EXPERT,
            item__argument__in=controls,
        )
    )
    return _labels_of(labels)


def adjudication_table(campaign: Campaign, **where: object) -> pd.DataFrame:
    """Decisions in force, all or those that ``where`` leaves: columns unit, rater, value."""
    rows = (
        Adjudication.objects.filter(campaign=campaign, superseded_at__isnull=True, **where)
        .order_by("pk")
        .values_list("argument_id", "rater_id", "label")
    )
    return _frame(rows, ["unit", "rater", "value"])


def _answered(**where: object) -> QuerySet[Assignment]:
    """Answered assignments, each with when its rater was excluded from its campaign."""
    place = FilteredRelation(
        "rater__participations", condition=Q(rater__participations__campaign=F("campaign"))
    )
    return Assignment.objects.filter(state=Assignment.State.ANSWERED, **where).annotate(
        place=place, excluded_at=F("place__excluded_at")
    )


def _counted(votes: QuerySet[Assignment]) -> QuerySet[Assignment]:
    return votes.filter(is_extra=False, excluded_at__isnull=True, item__is_retired=False)


def _labels_of(votes: QuerySet[Assignment]) -> pd.DataFrame:
    rows = votes.order_by("pk").values_list("item__argument_id", "rater_id", "label")
    return _frame(rows, ["unit", "rater", "value"])


def _frame(rows: Iterable[tuple[Any, ...]], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)
