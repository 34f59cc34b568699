"""Every figure of the relevance paper that its released votes and labels support.

Read from imported campaigns: nothing here knows the files.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pandas as pd
from django.db.models import Count, Max, Min, Q

from annotation.methods.consensus import describe_votes
from annotation.models import Assignment, Campaign, FinalLabel, Item, Rater, VoteEvent
from cqa_site.stats.aggregation import majority, split_pattern
from cqa_site.stats.agreement import Level, fleiss_kappa, krippendorff_alpha
from cqa_site.stats.ratings import Ratings

from .votes import vote_table

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
SCALE = (0, 1, 2, 3)
Values = dict[str, Any]


@dataclass(frozen=True)
class Sources:
    """The imported campaigns: the crowd's, the experts' batches and controls, the released."""

    crowd: Campaign
    batches: tuple[Campaign, ...]
    controls: Campaign
    released: Campaign


def crowd_values(crowd: Campaign, min_accuracy: float) -> Values:
    """Sizes, agreement, control accuracy and majority labels of the crowd's votes."""
    votes = vote_table(crowd)
    ordinary = votes[~votes["is_control"]]
    return {
        **_sizes(crowd),
        "votes": (len(ordinary), len(votes) - len(ordinary)),
        "vote_values": _distribution(votes["value"]),
        **{f"alpha_all_{level}": _alpha(votes, level) for level in LEVELS},
        **{f"alpha_ordinary_{level}": _alpha(ordinary, level) for level in LEVELS},
        **_control_accuracy(votes),
        **_kept_workers(crowd, votes, min_accuracy),
        **_majorities(votes, ordinary),
    }


def _sizes(crowd: Campaign) -> Values:
    states = dict(crowd.assignments.order_by().values_list("state").annotate(Count("pk")))
    items = crowd.items.select_related("argument__comparison")
    comparison = "argument__comparison"
    pairs = set(items.values_list(f"{comparison}__object1", f"{comparison}__object2"))
    per_item = items.annotate(
        n=Count("assignments", filter=Q(assignments__state=Assignment.State.ANSWERED))
    ).aggregate(least=Min("n"), most=Max("n"))
    blank = sum(1 for item in items if item.argument.is_blank)
    controls = items.filter(control_label__isnull=False).count()
    return {
        "rows": sum(states.values()),
        "answered_void": (states.get("answered", 0), states.get("void", 0)),
        "workers": _answered(crowd).values("rater").distinct().count(),
        "tasks": items.count(),
        "ordinary_control": (items.count() - controls, controls),
        "blank": blank,
        "pairs": len(pairs),
        "pairs_folded": len({frozenset(map(str.casefold, pair)) for pair in pairs}),
        "votes_per_task": (per_item["least"], per_item["most"]),
        "control_positions": _control_positions(crowd),
    }


def _answered(campaign: Campaign):
    return campaign.assignments.filter(state=Assignment.State.ANSWERED)


def _control_positions(crowd: Campaign) -> tuple[int, ...]:
    """How many control items stood first, second, … in their suite."""
    found = Counter(
        crowd.assignments.filter(item__control_label__isnull=False)
        .order_by()
        .values_list("position", flat=True)
    )
    return tuple(found[place] for place in range(max(found, default=-1) + 1))


def _control_accuracy(votes: pd.DataFrame) -> Values:
    controls = votes[votes["is_control"]]
    correct = controls["value"] == controls["control_label"].astype(int)
    by_worker = correct.groupby(controls["rater"]).mean()
    return {
        "control_accuracy": (int(correct.sum()), len(controls)),
        "workers_below_half": int((by_worker < 0.5).sum()),
        "workers_perfect_zero": (int((by_worker == 1).sum()), int((by_worker == 0).sum())),
    }


def _kept_workers(crowd: Campaign, votes: pd.DataFrame, min_accuracy: float) -> Values:
    """Ordinary votes of workers at or above the mark; workers without controls go too."""
    controls = votes[votes["is_control"]]
    correct = controls["value"] == controls["control_label"].astype(int)
    accuracy = correct.groupby(controls["rater"]).mean()
    good = accuracy[accuracy >= min_accuracy].index
    kept = votes[~votes["is_control"] & votes["rater"].isin(good)]
    table = majority(_ratings(kept))
    ordinary = crowd.items.filter(control_label__isnull=True).count()
    return {
        "kept_workers": len(good),
        "kept_votes": len(kept),
        "kept_tasks_without": ordinary - len(table),
        "kept_ties": int(table["tied"].sum()),
        "kept_alpha": _alpha(kept, "ordinal"),
        "kept_labels": _distribution(table["label"]),
    }


def _majorities(votes: pd.DataFrame, ordinary: pd.DataFrame) -> Values:
    units = describe_votes(votes)
    splits = Counter(split_pattern(_ratings(ordinary)))
    return {
        "majority_tasks": _distribution(majority(_ratings(votes))["label"]),
        "majority_units": _distribution(units["majority_label"]),
        "splits": tuple(splits[pattern] for pattern in ("3-0", "2-1", "1-1-1")),
        "tied_units": int(units["tied"].sum()),
    }


def consensus_values(sources: Sources) -> Values:
    """How many final labels equal a released label; the units are those with one.

    Where the release labels copies of a sentence differently, each of its
    labels counts as released.
    """
    released = _released_labels(sources.released)
    final = FinalLabel.objects.filter(campaign=sources.crowd, argument__in=released)
    rows = list(final.values_list("argument", "majority_label", "label"))
    return {
        "equal_majority": (sum(label in released[unit] for unit, label, _l in rows), len(rows)),
        "equal_final": (sum(label in released[unit] for unit, _m, label in rows), len(rows)),
    }


def _released_labels(campaign: Campaign) -> dict[int, set[int]]:
    people = Q(rater__kind=Rater.Kind.REFERENCE)
    votes = _answered(campaign).filter(people)
    found = {unit: {label} for unit, label in votes.values_list("item__argument", "label")}
    copies = VoteEvent.objects.filter(
        assignment__in=votes, kind=VoteEvent.Kind.FLAG, label__isnull=False
    )
    for unit, label in copies.values_list("assignment__item__argument", "label"):
        found[unit].add(label)
    return found


def expert_values(sources: Sources) -> Values:
    """Agreement of the experts on their control sheet and where their batches overlap."""
    controls = vote_table(sources.controls)
    batches = pd.concat([vote_table(campaign) for campaign in sources.batches])
    batches = batches.assign(item=batches["unit"])
    twice = batches[batches.groupby("unit")["unit"].transform("size") > 1]
    spread = twice.groupby("unit")["value"].agg(lambda values: values.max() - values.min())
    return {
        "expert_controls": (controls["item"].nunique(), controls["rater"].nunique()),
        "expert_alpha": _alpha(controls, "ordinal"),
        "expert_fleiss": fleiss_kappa(_ratings(controls)).value,
        "batch_items": int(batches["unit"].nunique()),
        "batch_twice": len(spread),
        "batch_alpha": _alpha(twice, "ordinal"),
        "batch_equal": int((spread == 0).sum()),
    }


def model_values(released: Campaign) -> Values:
    """Agreement of the model's labels with the released ones."""
    votes = vote_table(released)
    table = votes.pivot(index="item", columns="rater_kind", values="value").dropna()
    exact = (table[Rater.Kind.MODEL] == table[Rater.Kind.REFERENCE]).mean()
    return {
        "model_exact": float(exact),
        **{f"model_alpha_{level}": _alpha(votes, level) for level in LEVELS},
    }


def relabel_controls(crowd: Campaign, labels: dict[str, int]) -> list[str]:
    """Give control items of the crowd another known label; returns the ids that are none."""
    missing = []
    for task, label in labels.items():
        controls = Item.objects.filter(campaign=crowd, external_id=task)
        if not controls.filter(control_label__isnull=False).update(control_label=label):
            missing.append(task)
    return missing


def _ratings(votes: pd.DataFrame) -> Ratings:
    return Ratings.from_frame(votes[["item", "rater", "value"]])


def _alpha(votes: pd.DataFrame, level: Level) -> float | None:
    return krippendorff_alpha(_ratings(votes), level).value


def _distribution(labels: pd.Series) -> tuple[int, ...]:
    counts = labels.astype(int).value_counts()
    return tuple(int(counts.get(value, 0)) for value in SCALE)
