"""Every figure of a campaign, computed from the snapshot's table of votes alone.

What is undefined is None beside a reason, never NaN. Rows of the table are described in
`annotation.figures.reports.snapshots`.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from annotation.consensus.reports import MACHINES
from cqa_site.stats.agreement import (
    Level,
    coincidences,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    per_label_agreement,
    percent_agreement,
)
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.latent.aggregation import majority
from cqa_site.stats.ratings import Ratings

from .kept import (
    Confusion,
    Figures,
    LabelAgreement,
    LabelItems,
    LabelVotes,
    Majority,
    MedianOfPairs,
    Progress,
)
from .raters import annotators, hardest_items, number, pair_matrix, weighted_kappa
from .snapshots import counted
from .times import time_per_label, votes_over_time

SCOPES = ("all", "ordinary")
ALPHA_LEVELS: tuple[Level, ...] = ("ordinal", "nominal", "interval")
AC_LEVELS: tuple[Level, ...] = ("nominal", "ordinal")


def compute_figures(votes: pd.DataFrame, scale: Sequence[int], recipe: dict[str, Any]) -> Figures:
    """Compute all figures.

    Parameters
    ----------
    votes
        The snapshot's whole table, see `read_votes`.
    scale
        Labels of the guideline, ascending; other labels found in the votes are added.
    recipe
        See `recipe_of`: item counts, confidence, smallest number of shared items.
    """
    is_machine = votes["rater_kind"].isin([kind.value for kind in MACHINES])
    machines, votes = votes[is_machine], votes[~is_machine]
    used = counted(votes)
    values = tuple(sorted({*scale, *used["label"].astype(int)}))
    ratings = ratings_of(used)
    return Figures(
        values=values,
        progress=_progress(votes, machines, used, recipe),
        agreement={scope: _agreement(in_scope(used, scope), values, recipe) for scope in SCOPES},
        labels=_labels(used, values),
        majority=_majority(ratings, values),
        confusion=_confusion(ratings, values),
        per_label=_per_label(ratings, values),
        pairs=pair_matrix(ratings, recipe["min_shared"]),
        hardest=hardest_items(used, ratings),
        annotators=annotators(votes, used, ratings),
        time=time_per_label(used, values),
        votes_over_time=votes_over_time(used),
    )


def ratings_of(used: pd.DataFrame) -> Ratings:
    """Counted votes as ratings: item is the item's id, rater the rater's public id."""
    names = {"item_id": "item", "rater_id": "rater", "label": "value"}
    return Ratings.from_frame(used[list(names)].rename(columns=names))


def in_scope(used: pd.DataFrame, scope: str) -> pd.DataFrame:
    """Votes of all items, of ordinary ones only, or of control items only."""
    if scope == "all":
        return used
    return used[used["control_label"].isna() == (scope == "ordinary")]


def _progress(
    votes: pd.DataFrame, machines: pd.DataFrame, used: pd.DataFrame, recipe: dict[str, Any]
) -> Progress:
    """Counts; ``wanted``, ``filled`` and ``complete`` only where votes are collected here."""
    states = votes["state"].value_counts()
    ordinary = in_scope(used, "ordinary")
    per_item = ordinary.groupby("item_id").size()
    wanted = recipe["votes_per_item"]
    filled = (votes["state"] == "answered") & ~votes["is_extra"] & votes["control_label"].isna()
    return Progress(
        ordinary_items=recipe["ordinary_items"],
        control_items=recipe["control_items"],
        items_voted=int(used["item_id"].nunique()),
        ordinary_items_voted=len(per_item),
        complete=int((per_item >= wanted).sum()) if wanted else None,
        wanted=recipe["ordinary_items"] * wanted if wanted else None,
        filled=int(filled.sum()) if wanted else None,
        votes=len(used),
        control_votes=len(used) - len(ordinary),
        raters=int(used["rater_id"].nunique()),
        answered=int(states.get("answered", 0)),
        skipped=int(states.get("skipped", 0)),
        expired=int(states.get("expired", 0)),
        void=int(states.get("void", 0)),
        extra=int((votes["is_extra"] & (votes["state"] == "answered")).sum()),
        excluded=int((votes["is_excluded"] & (votes["state"] == "answered")).sum()),
        excluded_raters=int(votes.loc[votes["is_excluded"], "rater_id"].nunique()),
        flagged=int(votes["is_flagged"].sum()),
        machine_labels=int((machines["state"] == "answered").sum()),
    )


def _agreement(
    used: pd.DataFrame, values: Sequence[int], recipe: dict[str, Any]
) -> tuple[Estimate | MedianOfPairs, ...]:
    """One entry for each statistic, the headline (ordinal alpha) first."""
    ratings = ratings_of(used)
    confidence = recipe["confidence"]
    estimates = [krippendorff_alpha(ratings, level, confidence) for level in ALPHA_LEVELS]
    estimates.append(percent_agreement(ratings, confidence))
    estimates.append(fleiss_kappa(ratings, confidence, drop_unequal=True))
    for level in AC_LEVELS:
        estimates.append(gwet_ac(ratings, level, confidence, categories=values))
    return (*estimates, weighted_kappa(ratings, recipe["min_shared"]))


def _labels(used: pd.DataFrame, values: Sequence[int]) -> tuple[LabelVotes, ...]:
    """Counted votes by label, ordinary and control items apart."""
    control = in_scope(used, "control")["label"].value_counts()
    ordinary = in_scope(used, "ordinary")["label"].value_counts()
    return tuple(
        LabelVotes(
            label=value,
            ordinary=int(ordinary.get(value, 0)),
            control=int(control.get(value, 0)),
        )
        for value in values
    )


def _majority(ratings: Ratings, values: Sequence[int]) -> Majority:
    table = majority(ratings)
    sizes = table["label"].value_counts()
    return Majority(
        items=tuple(LabelItems(label=each, items=int(sizes.get(each, 0))) for each in values),
        tied=int(table["tied"].sum()),
        unanimous=int(((table["votes"] == table["n"]) & (table["n"] > 1)).sum()),
        single=int((table["n"] == 1).sum()),
        total=len(table),
    )


def _confusion(ratings: Ratings, values: Sequence[int]) -> Confusion:
    table = coincidences(ratings, values)
    cells = table.to_numpy(dtype=float).tolist()
    sums = tuple(sum(row) for row in cells)
    shares = tuple(
        tuple(cell / total if total else None for cell in row)
        for row, total in zip(cells, sums, strict=True)
    )
    return Confusion(cells=tuple(map(tuple, cells)), shares=shares, sums=sums)


def _per_label(ratings: Ratings, values: Sequence[int]) -> tuple[LabelAgreement, ...]:
    table = per_label_agreement(ratings).reindex(values)
    counts = table["n_values"].fillna(0).astype(int)
    return tuple(
        LabelAgreement(
            label=value,
            n_values=int(counts[value]),
            agreement=number(table.at[value, "agreement"]),
            chance=number(table.at[value, "chance"]),
        )
        for value in values
    )
