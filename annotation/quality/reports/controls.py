"""Control items, and the effects of excluding raters by control accuracy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _, gettext_lazy

from annotation.consensus.reports import counted_rows, expert_table, vote_table
from annotation.labelling.models import Exclusion, Item, LabelRound
from cqa_site.results.figures import Column, table_of
from cqa_site.web.charts import vega
from cqa_site.web.charts.points import lines
from cqa_site.web.tables import TableData, one_line
from .quality import (
    AnnotatorQuality,
    Facts,
    LabelCounts,
    annotators,
    beside,
    control_records,
    facts_of,
    kept,
    label_counts,
    state_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from annotation.quality.methods import OrdinaryVotes


@dataclass(frozen=True)
class CrowdView:
    """Counted votes on a control item: total, number matching the key, and majority."""

    votes: int = 0
    right: int = 0
    label: int | None = None


NOBODY = CrowdView()


@dataclass(frozen=True)
class Control:
    """A control item, with the crowd's and the experts' verdicts on its key."""

    item: Item
    votes: int
    right: int
    crowd_label: int | None
    expert_label: int | None
    experts: int

    @property
    def share(self) -> float | None:
        """Share of the votes that match the key."""
        return self.right / self.votes if self.votes else None

    @property
    def crowd_objects(self) -> bool:
        """Whether the crowd's majority differs from the key."""
        return self.crowd_label is not None and self.crowd_label != self.item.control_label

    @property
    def experts_object(self) -> bool:
        """Whether the experts' majority differs from the key."""
        return self.expert_label is not None and self.expert_label != self.item.control_label

    @property
    def is_contested(self) -> bool:
        """Whether the crowd or the experts contradict the key."""
        return self.crowd_objects or self.experts_object


@dataclass(frozen=True)
class ControlDetail:
    """The control items for one argument, with labels from the crowd and the experts."""

    controls: list[Control]
    labels: list[LabelCounts]
    excluded: int


def quality_of(label_round: LabelRound) -> tuple[list[AnnotatorQuality], list[Control]]:
    """Return all raters with votes, and the control items; cached until the votes change."""

    def compute() -> tuple[list[Facts], dict[int, CrowdView]]:
        votes = vote_table(label_round, exclude=False)
        return facts_of(votes), crowd_views(votes)

    facts, crowd = kept("people", label_round, state_of(label_round), compute)
    return annotators(label_round, facts), controls(label_round, crowd)


def crowd_views(votes: pd.DataFrame) -> dict[int, CrowdView]:
    """Map control items to the crowd's view; items without counted votes are missing."""
    from annotation.consensus.methods import label_votes

    counted = counted_rows(votes[votes["is_control"]], with_retired=True)
    by_item = counted.assign(unit=counted["item"])
    counts = by_item.groupby("item").size()
    right = by_item[by_item["value"] == by_item["control_label"]].groupby("item").size()
    return {
        int(item): CrowdView(int(counts[item]), int(right.get(item, 0)), int(label))
        for item, label in label_votes(by_item, "majority").items()
    }


def controls(
    label_round: LabelRound, crowd: dict[int, CrowdView], **where: object
) -> list[Control]:
    """Return control items with both verdicts, sorted by share of right votes, lowest first.

    ``crowd`` is the result of `crowd_views`; ``where`` filters the items.
    """
    from annotation.consensus.methods import label_votes

    experts = expert_table(label_round)
    expert = label_votes(experts, "majority")
    heads = experts.groupby("unit")["rater"].nunique()
    items = label_round.items.filter(control_label__isnull=False, **where)
    rows = [
        Control(
            item=item,
            votes=crowd.get(item.pk, NOBODY).votes,
            right=crowd.get(item.pk, NOBODY).right,
            crowd_label=crowd.get(item.pk, NOBODY).label,
            expert_label=_whole(expert.get(item.argument_id)),
            experts=int(heads.get(item.argument_id, 0)),
        )
        for item in items.select_related("argument__comparison")
    ]
    return sorted(
        rows, key=lambda control: (control.share is None, control.share, control.item.pk)
    )


def control_detail(label_round: LabelRound, argument_id: int) -> ControlDetail:
    """Return the crowd's and each expert's labels for the control items of one argument."""
    where = {"item__argument": argument_id}
    votes = vote_table(label_round, exclude=False, **where)
    rows = controls(label_round, crowd_views(votes), argument=argument_id)
    counted = counted_rows(votes, with_retired=True)
    experts = expert_table(label_round)
    experts = experts[experts["unit"] == argument_id]
    scale = label_round.guideline.values
    crowd = label_counts(counted["value"])
    return ControlDetail(
        controls=rows,
        labels=beside(crowd, label_counts(experts["value"]), scale),
        excluded=int(votes["excluded"].sum()),
    )


def _whole(label: Any) -> int | None:
    import pandas as pd

    return None if label is None or pd.isna(label) else int(label)


# Exclusion by control accuracy: annotators concerned, and remaining votes

RECIPE = gettext_lazy(
    "Left out: annotators whose share of correct answers on control items is below the "
    "threshold. Annotators without answers on control items are kept. A threshold chosen for "
    "the highest alpha overstates alpha.\n\nCounted: votes on ordinary items; two items with "
    "the same sentence count separately.\n\nAlpha: Krippendorff's, ordinal.\n\nCoverage: items "
    "with a vote.\n\nTie: the most frequent labels have the same number of votes; the higher "
    "one is the majority label."
)


def low_raters(label_round: LabelRound, below: float, rule: str) -> set[int]:
    """Return the keys of counted annotators whose control accuracy is too low."""
    out = label_round.places.filter(excluded_at__isnull=False).values("rater")
    records = control_records(label_round)
    gone = set(out.values_list("rater", flat=True))
    if rule == Exclusion.Rule.SURELY:
        low = {rater for rater, record in records.items() if record.is_below(below)}
    else:
        low = {rater for rater, record in records.items() if record.right < below * record.n}
    return low - gone


def preview_exclusion(
    label_round: LabelRound, below: float, rule: str, *, state: str = ""
) -> dict[str, Any]:
    """Return the number of raters to exclude, and the votes before and after; cached.

    ``now`` and ``then`` describe the ordinary votes. ``state`` is the state of the votes, if the
    caller already knows it.
    """

    def compute() -> dict[str, Any]:
        low = low_raters(label_round, below, rule)
        votes = _ordinary(label_round)
        return {
            "excluded": len(low),
            "now": asdict(votes.without(set())),
            "then": asdict(votes.without(low)),
        }

    return kept(f"preview:{below}:{rule}", label_round, state or state_of(label_round), compute)


def exclusion_curve(label_round: LabelRound, *, state: str = "") -> list[dict[str, Any]]:
    """Return the remaining votes at each threshold; cached until the votes change."""

    def compute() -> list[dict[str, Any]]:
        from annotation.quality.methods import THRESHOLDS

        votes, records = _ordinary(label_round), control_records(label_round)
        rows = []
        for below in THRESHOLDS:
            low = {rater for rater, record in records.items() if record.right < below * record.n}
            rows.append({"below": below, **asdict(votes.without(low))})
        return rows

    return kept("curve", label_round, state or state_of(label_round), compute)


def _ordinary(label_round: LabelRound) -> OrdinaryVotes:
    from annotation.quality.methods import OrdinaryVotes

    votes = vote_table(label_round, item__control_label__isnull=True)
    items = label_round.items.filter(Item.ORDINARY).count()
    return OrdinaryVotes(votes, items, label_round.guideline.values)


def curve_table(label_round: LabelRound, rows: list[dict[str, Any]], name: str) -> TableData:
    """Return the curve as a table; for the labels chart, only the labels."""
    labels = {f"label {value}": _("label %d") % value for value in label_round.guideline.values}
    columns = {"below": _("Accuracy below")}
    if name != "labels":
        columns |= {"raters": _("Annotators remaining"), "votes": _("Votes")}
        columns |= {"without": _("Items without a vote"), "ties": _("Ties")}
        columns |= {"alpha": _("Ordinal alpha"), "pairable": _("Items with at least two votes")}
    caption = _("Round “%s” without annotators below a given control accuracy.")
    return table_of(
        (Column(title, key) for key, title in (columns | labels).items()),
        (row | dict(zip(labels, row["labels"], strict=True)) for row in rows),
        caption=caption % label_round.name,
        note=one_line(RECIPE),
        name=f"exclusion-{name}",
    )


def curve_chart(label_round: LabelRound, rows: list[dict[str, Any]], name: str, size: str):
    """Return the chart of alpha, coverage and ties, or of label shares.

    Raises KeyError for any other name.
    """
    points = {"figures": _figure_points, "labels": _label_points}[name](label_round, rows)
    titles = (_("Threshold of control accuracy"), "")
    return lines(points, x="below", y="share", series="name", titles=titles, size=size)


def _figure_points(label_round: LabelRound, rows: list[dict[str, Any]]) -> vega.Rows:
    points = []
    for row in rows:
        voted = sum(row["labels"])
        values = {
            _("Ordinal alpha"): row["alpha"],
            _("Items with a vote"): voted / (voted + row["without"]) if voted else None,
            _("Ties among items with a vote"): row["ties"] / voted if voted else None,
        }
        points += _points(row["below"], values)
    return points


def _label_points(label_round: LabelRound, rows: list[dict[str, Any]]) -> vega.Rows:
    points = []
    for row in rows:
        voted = sum(row["labels"])
        named = zip(label_round.guideline.values, row["labels"], strict=True)
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
    """Describe the curve in words."""
    first, best = rows[0], max(rows, key=lambda row: row["alpha"] or -1)
    if best["alpha"] is None:
        return _("Alpha is not defined at any threshold.")
    return _(
        "No one excluded: ordinal alpha %(alpha).3f, %(ties)d ties. Highest alpha in these "
        "data %(best).3f at %(below).2f, with %(without)d items without a vote."
    ) % {
        "alpha": first["alpha"] or 0,
        "ties": first["ties"],
        "best": best["alpha"],
        "below": best["below"],
        "without": best["without"],
    }
