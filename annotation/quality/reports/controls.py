"""Control items: what the crowd and the experts say about their keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.consensus.reports import counted_rows, expert_table, vote_table
from annotation.labelling.models.campaigns import Campaign, Item

from .kept import kept, state_of
from .quality import Annotator, Facts, LabelCounts, annotators, beside, facts_of, label_counts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CrowdView:
    """The counted votes on a control item: how many, how many equal the key, their majority."""

    votes: int = 0
    right: int = 0
    label: int | None = None


NOBODY = CrowdView()


@dataclass(frozen=True)
class Control:
    """A control item with what the crowd and the experts say about its key."""

    item: Item
    votes: int
    right: int
    crowd_label: int | None
    expert_label: int | None
    experts: int

    @property
    def share(self) -> float | None:
        """Share of the votes that equal the key."""
        return self.right / self.votes if self.votes else None

    @property
    def crowd_objects(self) -> bool:
        """Whether the crowd's majority is another label."""
        return self.crowd_label is not None and self.crowd_label != self.item.control_label

    @property
    def experts_object(self) -> bool:
        """Whether the experts' majority is another label."""
        return self.expert_label is not None and self.expert_label != self.item.control_label

    @property
    def is_contested(self) -> bool:
        """Whether the crowd or the experts contradict the key."""
        return self.crowd_objects or self.experts_object


@dataclass(frozen=True)
class ControlDetail:
    """The control items on one argument; labels of the crowd beside those of the experts."""

    controls: list[Control]
    labels: list[LabelCounts]
    excluded: int


def quality_of(campaign: Campaign) -> tuple[list[Annotator], list[Control]]:
    """Everybody with a vote, and the control items; the votes are read once in each state."""

    def compute() -> tuple[list[Facts], dict[int, CrowdView]]:
        votes = vote_table(campaign, exclude=False)
        return facts_of(votes), crowd_views(votes)

    facts, crowd = kept("people", campaign, state_of(campaign), compute)
    return annotators(campaign, facts), controls(campaign, crowd)


def crowd_views(votes: pd.DataFrame) -> dict[int, CrowdView]:
    """What the crowd says, by key of the control item; none for items without a counted vote."""
    from annotation.consensus.methods.consensus import label_votes

    counted = counted_rows(votes[votes["is_control"]], with_retired=True)
    by_item = counted.assign(unit=counted["item"])
    given = by_item.groupby("item").size()
    right = by_item[by_item["value"] == by_item["control_label"]].groupby("item").size()
    return {
        int(item): CrowdView(int(given[item]), int(right.get(item, 0)), int(label))
        for item, label in label_votes(by_item, "majority").items()
    }


def controls(campaign: Campaign, crowd: dict[int, CrowdView], **where: object) -> list[Control]:
    """Control items with the verdict of crowd and experts, lowest share of right votes first.

    ``crowd`` is that of `crowd_views`; ``where`` narrows the items.
    """
    from annotation.consensus.methods.consensus import label_votes

    experts = expert_table(campaign)
    expert = label_votes(experts, "majority")
    heads = experts.groupby("unit")["rater"].nunique()
    items = campaign.items.filter(control_label__isnull=False, **where)
    found = [
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
    return sorted(found, key=lambda each: (each.share is None, each.share, each.item.pk))


def control_detail(campaign: Campaign, argument_id: int) -> ControlDetail:
    """What the crowd and each expert say about the control items on one argument."""
    where = {"item__argument": argument_id}
    votes = vote_table(campaign, exclude=False, **where)
    found = controls(campaign, crowd_views(votes), argument=argument_id)
    counted = counted_rows(votes, with_retired=True)
    experts = expert_table(campaign)
    experts = experts[experts["unit"] == argument_id]
    scale = campaign.guideline.values
    crowd = label_counts(counted["value"])
    return ControlDetail(
        controls=found,
        labels=beside(crowd, label_counts(experts["value"]), scale),
        excluded=int(votes["excluded"].sum()),
    )


def _whole(label: Any) -> int | None:
    import pandas as pd

    return None if label is None or pd.isna(label) else int(label)
