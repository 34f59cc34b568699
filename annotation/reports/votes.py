"""The table of votes: the only way statistics read them."""

import pandas as pd
from django.db.models import F, FilteredRelation, Q, QuerySet

from annotation.models import Adjudication, Assignment, Campaign

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


def vote_table(campaign: Campaign, *, exclude: bool = True) -> pd.DataFrame:
    """Read the votes of a campaign in one query, one row per answered assignment.

    Counted votes are answered, hold a place among the wanted ones (not extra),
    come from a rater who is not excluded and stand on an item that is not
    retired. With ``exclude=False`` the others are there too, marked by the
    columns is_extra, excluded and is_retired.

    Columns: assignment, item, unit (key of the argument), rater (key),
    rater_kind, value, is_control, control_label (Int64), is_extra,
    is_retired, answered_at, active_ms (Int64), excluded. Ordered by
    assignment, so that seeded methods repeat.
    """
    votes = counted_votes(campaign) if exclude else _answered(campaign)
    return _read(votes.order_by("pk"))


def counted_votes(campaign: Campaign) -> QuerySet[Assignment]:
    """The assignments that count in every figure of the campaign."""
    return _answered(campaign).filter(
        is_extra=False, excluded_at__isnull=True, item__is_retired=False
    )


def rater_controls(campaign: Campaign, rater_id: int) -> pd.DataFrame:
    """One rater's answers on control items that are still in use, columns as above."""
    controls = _answered(campaign).filter(
        rater_id=rater_id, item__control_label__isnull=False, item__is_retired=False
    )
    return _read(controls.order_by("pk"))


def override_table(campaign: Campaign) -> pd.DataFrame:
    """Counted labels of the campaigns that overrule this one: columns unit, rater, value.

    Only arguments of this campaign; one row per label.
    """
    sources = campaign.overridden_by.all()
    labels = (
        _with_exclusion(Assignment.objects.filter(campaign__in=sources))
        .filter(
            state=Assignment.State.ANSWERED,
            is_extra=False,
            excluded_at__isnull=True,
            item__is_retired=False,
            item__argument__in=campaign.items.values("argument"),
        )
        .order_by("pk")
        .values_list("item__argument_id", "rater_id", "label")
    )
    return pd.DataFrame(labels, columns=["unit", "rater", "value"])


def adjudication_table(campaign: Campaign) -> pd.DataFrame:
    """Decisions in force: columns unit, rater, value."""
    rows = (
        Adjudication.objects.filter(campaign=campaign, superseded_at__isnull=True)
        .order_by("pk")
        .values_list("argument_id", "rater_id", "label")
    )
    return pd.DataFrame(rows, columns=["unit", "rater", "value"])


def _answered(campaign: Campaign) -> QuerySet[Assignment]:
    return _with_exclusion(
        Assignment.objects.filter(campaign=campaign, state=Assignment.State.ANSWERED)
    )


def _with_exclusion(votes: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Join each vote with its rater's place in the same campaign, if there is one."""
    place = FilteredRelation(
        "rater__participations", condition=Q(rater__participations__campaign=F("campaign"))
    )
    return votes.annotate(place=place, excluded_at=F("place__excluded_at"))


def _read(votes: QuerySet[Assignment]) -> pd.DataFrame:
    table = pd.DataFrame(votes.values_list(*COLUMNS.values()), columns=list(COLUMNS))
    table = table.astype({"control_label": "Int64", "active_ms": "Int64"})
    table["is_control"] = table["control_label"].notna()
    table["excluded"] = table.pop("excluded_at").notna()
    return table
