"""Leaving annotators out by their control accuracy: who that is, and what would remain."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.consensus.reports import vote_table
from annotation.labelling.models.campaigns import Campaign, Exclusion
from cqa_site.web.charts import drawing as charts
from cqa_site.web.charts.lines import lines
from cqa_site.web.tables import TableData, one_line

from .kept import kept, state_of
from .quality import control_records

if TYPE_CHECKING:
    from annotation.quality.methods.exclusion_curve import OrdinaryVotes

RECIPE = gettext_lazy(
    "Left out: annotators whose share of right answers on control items is below the threshold; "
    "who answered no control item stays. A threshold chosen because alpha is highest there "
    "flatters alpha.\n\n"
    "Counted: votes on ordinary items; an item is a task, also where two hold the same "
    "sentence.\n\n"
    "Alpha: Krippendorff's, ordinal.\n\nCoverage: items with a vote.\n\n"
    "Tie: two labels equally frequent at the top; the higher one is the majority label."
)


def low_raters(campaign: Campaign, below: float, rule: str) -> set[int]:
    """Keys of annotators whose labels count and whose control accuracy is too low."""
    out = campaign.places.filter(excluded_at__isnull=False).values("rater")
    records = control_records(campaign)
    gone = set(out.values_list("rater", flat=True))
    if rule == Exclusion.Rule.SURELY:
        low = {rater for rater, found in records.items() if found.is_below(below)}
    else:
        low = {rater for rater, found in records.items() if found.right < below * found.n}
    return low - gone


def preview_exclusion(
    campaign: Campaign, below: float, rule: str, *, state: str = ""
) -> dict[str, Any]:
    """How many would be excluded, and the votes on ordinary items ``now`` and ``then``; kept.

    ``state`` is that of the votes, for who has asked for it already.
    """

    def compute() -> dict[str, Any]:
        low = low_raters(campaign, below, rule)
        votes = _ordinary(campaign)
        return {
            "excluded": len(low),
            "now": asdict(votes.without(set())),
            "then": asdict(votes.without(low)),
        }

    return kept(f"preview:{below}:{rule}", campaign, state or state_of(campaign), compute)


def exclusion_curve(campaign: Campaign, *, state: str = "") -> list[dict[str, Any]]:
    """What would remain at each threshold, as the votes stand; kept until they change."""

    def compute() -> list[dict[str, Any]]:
        from annotation.quality.methods.exclusion_curve import THRESHOLDS

        votes, records = _ordinary(campaign), control_records(campaign)
        rows = []
        for below in THRESHOLDS:
            low = {rater for rater, found in records.items() if found.right < below * found.n}
            rows.append({"below": below, **asdict(votes.without(low))})
        return rows

    return kept("curve", campaign, state or state_of(campaign), compute)


def _ordinary(campaign: Campaign) -> OrdinaryVotes:
    from annotation.quality.methods.exclusion_curve import OrdinaryVotes

    votes = vote_table(campaign, item__control_label__isnull=True)
    items = campaign.items.filter(control_label__isnull=True).count()
    return OrdinaryVotes(votes, items, campaign.guideline.values)


def curve_table(campaign: Campaign, rows: list[dict[str, Any]], name: str) -> TableData:
    """The curve in numbers; only its labels under that name."""
    labels = {f"label {value}": _("label %d") % value for value in campaign.guideline.values}
    columns = {"below": _("Accuracy below")}
    if name != "labels":
        columns |= {"raters": _("Annotators left"), "votes": _("Votes")}
        columns |= {"without": _("Items without a vote"), "ties": _("Ties")}
        columns |= {"alpha": _("Ordinal alpha"), "pairable": _("of items with two votes or more")}
    caption = _("What remains of round “%s” without annotators below a control accuracy.")
    return TableData.of_rows(
        [row | dict(zip(labels, row["labels"], strict=True)) for row in rows],
        columns | labels,
        caption=caption % campaign.name,
        note=one_line(RECIPE),
        name=f"exclusion-{name}",
    )


def curve_chart(campaign: Campaign, rows: list[dict[str, Any]], name: str, size: str):
    """Alpha, coverage and ties, or the shares of the labels; KeyError for another name."""
    points = {"figures": _figure_points, "labels": _label_points}[name](campaign, rows)
    titles = (_("Left out below this control accuracy"), "")
    return lines(points, x="below", y="share", series="name", titles=titles, size=size)


def _figure_points(campaign: Campaign, rows: list[dict[str, Any]]) -> charts.Rows:
    points = []
    for row in rows:
        voted = sum(row["labels"])
        values = {
            _("Ordinal alpha"): row["alpha"],
            _("Items with a vote"): voted / (voted + row["without"]) if voted else None,
            _("Ties among them"): row["ties"] / voted if voted else None,
        }
        points += _points(row["below"], values)
    return points


def _label_points(campaign: Campaign, rows: list[dict[str, Any]]) -> charts.Rows:
    points = []
    for row in rows:
        voted = sum(row["labels"])
        named = zip(campaign.guideline.values, row["labels"], strict=True)
        values = {_("Label %d") % value: n / voted for value, n in named if voted}
        points += _points(row["below"], values)
    return points


def _points(below: float, values: dict[str, float | None]) -> list[dict[str, Any]]:
    return [
        {"below": below, "name": name, "share": share}
        for name, share in values.items()
        if share is not None
    ]


def curve_alt(rows: list[dict[str, Any]]) -> str:
    """The curve in words."""
    first, best = rows[0], max(rows, key=lambda row: row["alpha"] or -1)
    if best["alpha"] is None:
        return _("Alpha is not defined at any threshold.")
    return _(
        "Nobody left out: ordinal alpha %(alpha).3f, %(ties)d ties. Highest alpha in these data "
        "%(best).3f at %(below).2f, with %(without)d items without a vote."
    ) % {
        "alpha": first["alpha"] or 0,
        "ties": first["ties"],
        "best": best["alpha"],
        "below": best["below"],
        "without": best["without"],
    }
