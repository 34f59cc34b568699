"""The relevance paper's figures from imported or live campaigns.

What is computed stands in `annotation.papers.methods.relevance_paper`; here are only the tables.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from annotation.consensus.models import FinalLabel
from annotation.consensus.reports import machine_table, vote_table
from annotation.judges.reports.label_compare import labels_of_rater
from annotation.labelling.models.campaigns import Campaign, Item
from annotation.labelling.models.votes import Assignment
from annotation.papers.methods import relevance_paper as paper
from annotation.papers.methods.relevance_paper import Values
from cqa_site.people.models import Rater

ROWS = {
    "item": "item_id",
    "unit": "item__argument_id",
    "text": "item__argument__text",
    "object1": "item__argument__comparison__object1",
    "object2": "item__argument__comparison__object2",
    "rater": "rater_id",
    "value": "label",
    "control_label": "item__control_label",
    "state": "state",
    "place": "position",
}


@dataclass(frozen=True)
class Sources:
    """The imported campaigns: the crowd's, the experts' batches and controls, the released."""

    crowd: Campaign
    batches: tuple[Campaign, ...]
    controls: Campaign
    released: Campaign


def crowd_rows(campaign: Campaign) -> pd.DataFrame:
    """Every assignment of a campaign, answered or not, as `methods.relevance_paper` takes it."""
    found = campaign.assignments.order_by("pk").values_list(*ROWS.values())
    rows = pd.DataFrame(found, columns=list(ROWS))
    rows["pair"] = list(zip(rows.pop("object1"), rows.pop("object2"), strict=True))
    rows["is_blank"] = rows.pop("text").str.strip() == ""
    rows["is_counted"] = rows.pop("state") == Assignment.State.ANSWERED
    rows["is_control"] = rows["control_label"].notna()
    # Blocks count their items from 0.
    rows["place"] += 1
    return rows


def crowd_values(crowd: Campaign, min_accuracy: float) -> Values:
    """Sizes, agreement, control accuracy and majority labels of the crowd's votes."""
    return paper.crowd_values(crowd_rows(crowd), min_accuracy)


def consensus_values(sources: Sources) -> dict[str, tuple[int, int]]:
    """How many majority and final labels equal a released label."""
    rater = Rater.objects.get(study=sources.released.study_id, kind=Rater.Kind.REFERENCE)
    released = labels_of_rater(sources.released, rater).copies
    rows = FinalLabel.objects.filter(campaign=sources.crowd, argument__in=released)
    majority: dict[int, Any] = dict(rows.values_list("argument", "majority_label"))
    final: dict[int, Any] = dict(rows.values_list("argument", "label"))
    return {
        "equal_majority": paper.consensus_values(majority, released),
        "equal_final": paper.consensus_values(final, released),
    }


def expert_values(controls: Campaign, batches: Iterable[Campaign]) -> Values:
    """Agreement of the experts on their control sheet and where their batches overlap."""
    together = pd.concat([vote_table(campaign) for campaign in batches])
    return paper.expert_values(vote_table(controls), together)


def model_values(released: Campaign) -> Values:
    """Agreement of the model's labels with the released ones."""
    names = {Rater.Kind.MODEL: "model", Rater.Kind.REFERENCE: "final"}
    labels = pd.concat([vote_table(released), machine_table(released)])
    return paper.model_values(labels.assign(rater=labels["rater_kind"].map(names)))


def relabel_controls(crowd: Campaign, labels: dict[str, int]) -> list[str]:
    """Give control items of the crowd another known label; returns the ids that are none."""
    missing = []
    for task, label in labels.items():
        controls = Item.objects.filter(campaign=crowd, external_id=task)
        if not controls.filter(control_label__isnull=False).update(control_label=label):
            missing.append(task)
    return missing
