"""Figures about raters and items: pairs of raters, hardest items, the table of annotators."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from cqa_site.stats.agreement import pairwise_agreement, pairwise_matrix, per_item_disagreement
from cqa_site.stats.latent.aggregation import majority
from cqa_site.stats.ratings import Ratings

from .kept import Annotator, Disputed, MedianOfPairs, Pairs

MATRIX_RATERS = 15
HARDEST = 20
LISTED_RATERS = 500
SHOWN_TEXT = 400


def weighted_kappa(ratings: Ratings, min_shared: int) -> MedianOfPairs:
    """Median quadratically weighted kappa over the pairs of raters who share enough items."""
    pairs = pairwise_agreement(ratings, "cohen_kappa_quadratic", min_shared)
    values = pairs["value"].dropna().to_numpy(dtype=float)
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75]) if len(values) else [None] * 3
    reason = None if len(values) else f"no two annotators share {min_shared} items or more"
    return MedianOfPairs(
        statistic="Cohen's kappa, quadratic weights, median of pairs",
        level="interval",
        value=number(median),
        low=number(low),
        high=number(high),
        interval="quartiles over pairs of annotators",
        recipe=(
            f"median over {len(values)} of {len(pairs)} pairs of annotators, those who share "
            f"at least {min_shared} items and used more than one label there"
        ),
        reason=reason,
        n_items=ratings.n_items,
        n_pairable_items=int((ratings.values_per_item >= 2).sum()),
        n_raters=ratings.n_raters,
        n_values=ratings.n_values,
        n_pairs=len(values),
    )


def pair_matrix(ratings: Ratings, min_shared: int) -> Pairs:
    """Ordinal alpha of each two of the most active raters, with the items they share."""
    sizes = pd.Series(np.bincount(ratings.rater_codes, minlength=ratings.n_raters), ratings.raters)
    order = sizes.reset_index(name="n").sort_values(["n", "rater"], ascending=[False, True])
    active = order["rater"].head(MATRIX_RATERS).tolist()
    matrix = pairwise_matrix(ratings.subset(raters=active), "alpha_ordinal", min_shared)
    values = matrix.values.reindex(index=active, columns=active)
    shared = matrix.n_shared.reindex(index=active, columns=active)
    return Pairs(
        raters=tuple(active),
        n_raters=ratings.n_raters,
        statistic="Krippendorff's alpha, ordinal",
        min_shared=min_shared,
        values=tuple(tuple(map(number, row)) for row in values.to_numpy(dtype=object)),
        n_shared=tuple(map(tuple, shared.astype(int).to_numpy().tolist())),
    )


def hardest_items(used: pd.DataFrame, ratings: Ratings) -> tuple[Disputed, ...]:
    """The items whose votes lie furthest apart, most disputed first."""
    table = per_item_disagreement(ratings, "ordinal")
    table = table[table["mean_distance"] > 0].head(HARDEST)
    texts = used[used["item_id"].isin(table.index)].sort_values("label", kind="stable")
    groups = dict(iter(texts.groupby("item_id")))
    labels = majority(ratings).loc[table.index, "label"]
    return tuple(
        Disputed(
            item=str(item),
            object1=groups[item]["object1"].iloc[0],
            object2=groups[item]["object2"].iloc[0],
            text=groups[item]["text"].iloc[0][:SHOWN_TEXT],
            is_control=bool(groups[item]["control_label"].notna().iloc[0]),
            votes=tuple(groups[item]["label"].astype(int).tolist()),
            majority=int(labels[item]),
            spread=int(row["spread"]),
            relative=number(row["relative"]),
        )
        for item, row in table.iterrows()
    )


def annotators(votes: pd.DataFrame, used: pd.DataFrame, ratings: Ratings) -> tuple[Annotator, ...]:
    """One row for each rater, most counted votes first; excluded ones are listed, too."""
    table = votes.groupby("rater_id").agg(
        kind=("rater_kind", "first"), is_excluded=("is_excluded", "max")
    )
    table["votes"] = used.groupby("rater_id").size()
    table["skipped"] = votes[votes["state"] == "skipped"].groupby("rater_id").size()
    table["extra"] = votes[votes["is_extra"]].groupby("rater_id").size()
    controls = used[used["control_label"].notna()]
    table["controls"] = controls.groupby("rater_id").size()
    right = controls[controls["label"] == controls["control_label"]]
    table["controls_right"] = right.groupby("rater_id").size()
    compared = _agrees_with_others(ratings)
    table["compared"] = compared.groupby("rater").size()
    table["agreeing"] = compared.groupby("rater")["agrees"].sum()
    seconds = used["active_ms"].astype("Float64") / 1000
    table["seconds"] = seconds.groupby(used["rater_id"]).median()
    counts = [name for name in table.columns if name not in ("kind", "is_excluded", "seconds")]
    table[counts] = table[counts].fillna(0).astype(int)
    table = table.reset_index().sort_values(["votes", "rater_id"], ascending=[False, True])
    return tuple(_annotator(row) for row in table.head(LISTED_RATERS).to_dict("records"))


def _annotator(row: Mapping[Hashable, Any]) -> Annotator:
    compared = int(row["compared"])
    return Annotator(
        rater=row["rater_id"],
        kind=row["kind"],
        is_excluded=bool(row["is_excluded"]),
        votes=int(row["votes"]),
        skipped=int(row["skipped"]),
        extra=int(row["extra"]),
        controls=int(row["controls"]),
        controls_right=int(row["controls_right"]),
        compared=compared,
        agreement=int(row["agreeing"]) / compared if compared else None,
        median_seconds=number(row["seconds"]),
    )


def _agrees_with_others(ratings: Ratings) -> pd.DataFrame:
    """For each vote on an item others voted on: does it equal the majority of the *others*?

    Counting the rater's own vote would make everybody agree with themselves.
    """
    scale = ratings.categories()
    others = ratings.counts(scale)[ratings.item_codes]
    own = ratings.value_codes(scale)
    others[np.arange(len(own)), own] -= 1
    several = others.sum(axis=1) > 0
    # The last maximum: of equally frequent labels the higher one counts.
    best = len(scale) - 1 - others[:, ::-1].argmax(axis=1) if len(own) else own
    rater = ratings.raters[ratings.rater_codes]
    return pd.DataFrame({"rater": rater, "agrees": best == own})[several]


def number(value: Any) -> float | None:
    """None for what is missing."""
    return None if value is None or pd.isna(value) else float(value)
