"""Compute every figure of a round from the vote table of a snapshot."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from annotation.consensus.reports import MACHINES
from cqa_site.stats.agreement import (
    Level,
    coincidences,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    pairwise_agreement,
    pairwise_matrix,
    per_item_disagreement,
    per_label_agreement,
    percent_agreement,
)
from cqa_site.stats.disagreement import majority
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.ratings import Ratings
from .snapshots import (
    AgreementOverTime,
    AnnotatorAgreement,
    AnnotatorPairs,
    CoincidenceTable,
    DisputedItem,
    LabelAgreement,
    LabelItems,
    LabelVotes,
    Majority,
    MedianOfPairs,
    Quartiles,
    RoundFigures,
    RoundProgress,
    SecondsBin,
    TimeBin,
    Times,
    counted,
)

WIDTHS = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300)
MOST_BINS = 24
STEPS = (("hour", "h", 60), ("day", "D", 62), ("week", "W-SUN", 104), ("month", "MS", 10_000))


def time_per_label(used: pd.DataFrame, values: Sequence[int]) -> Times:
    """Return the median, quartiles and histogram of the active seconds that browsers reported."""
    timed = used[used["active_ms"].notna()]
    seconds = timed["active_ms"].to_numpy(dtype=float) / 1000
    by_label = {value: seconds[(timed["label"] == value).to_numpy(dtype=bool)] for value in values}
    return Times(
        n_untimed=len(used) - len(timed),
        all=_quartiles(seconds),
        labels=tuple(_quartiles(by_label[value], value) for value in values),
        histogram=tuple(_histogram(seconds)),
        reason=None if len(seconds) else "no vote has a time",
    )


def _quartiles(seconds: np.ndarray, label: int | None = None) -> Quartiles:
    if len(seconds) == 0:
        return Quartiles(label=label, n=0, q1=None, median=None, q3=None)
    q1, median, q3 = (float(value) for value in np.quantile(seconds, [0.25, 0.5, 0.75]))
    return Quartiles(label=label, n=len(seconds), q1=q1, median=median, q3=q3)


def _histogram(seconds: np.ndarray) -> list[SecondsBin]:
    """Return bins of equal width that cover 98 % of the votes; the last has no upper limit."""
    if len(seconds) == 0:
        return []
    reach = float(np.quantile(seconds, 0.98))
    width = next((width for width in WIDTHS if reach / width < MOST_BINS), WIDTHS[-1])
    bins = min(int(reach // width) + 1, MOST_BINS)
    places = np.minimum(seconds // width, bins - 1).astype(int)
    counts = np.bincount(places, minlength=bins)
    return [
        {
            "from": place * width,
            "to": (place + 1) * width if place < bins - 1 else None,
            "votes": int(count),
        }
        for place, count in enumerate(counts)
    ]


def votes_over_time(used: pd.DataFrame) -> AgreementOverTime:
    """Return counted votes by hour, day, week or month (UTC), including empty intervals."""
    times = used["answered_at"].dropna()
    undated = len(used) - len(times)
    if times.empty:
        return AgreementOverTime(
            step=None, bins=(), n_undated=undated, reason="no vote has a date"
        )
    hours = (times.max() - times.min()).total_seconds() / 3600
    lengths = {"hour": 1, "day": 24, "week": 168, "month": 730}
    step, rule = next((name, rule) for name, rule, most in STEPS if hours / lengths[name] <= most)
    counts = pd.Series(1, index=times).resample(rule, closed="left", label="left").sum()
    form = "%Y-%m-%d %H:00" if step == "hour" else "%Y-%m-%d"
    bins = tuple(
        TimeBin(start=start.strftime(form), votes=int(count), total=int(total))
        for start, count, total in zip(counts.index, counts, counts.cumsum(), strict=True)
    )
    return AgreementOverTime(step=step, bins=bins, n_undated=undated, reason=None)


MATRIX_RATERS = 15
HARDEST = 20
LISTED_RATERS = 500
SHOWN_TEXT = 400


def weighted_kappa(ratings: Ratings, min_shared: int) -> MedianOfPairs:
    """Return the median quadratically weighted kappa over rater pairs with enough shared items."""
    pairs = pairwise_agreement(ratings, "cohen_kappa_quadratic", min_shared)
    values = pairs["value"].dropna().to_numpy(dtype=float)
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75]) if len(values) else [None] * 3
    reason = None if len(values) else f"no two annotators share at least {min_shared} items"
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


def pair_matrix(ratings: Ratings, min_shared: int) -> AnnotatorPairs:
    """Return ordinal alpha for all pairs of the most active raters, and counts of shared items."""
    sizes = pd.Series(np.bincount(ratings.rater_codes, minlength=ratings.n_raters), ratings.raters)
    order = sizes.reset_index(name="n").sort_values(["n", "rater"], ascending=[False, True])
    active = order["rater"].head(MATRIX_RATERS).tolist()
    matrix = pairwise_matrix(ratings.subset(raters=active), "alpha_ordinal", min_shared)
    values = matrix.values.reindex(index=active, columns=active)
    shared = matrix.n_shared.reindex(index=active, columns=active)
    return AnnotatorPairs(
        raters=tuple(active),
        n_raters=ratings.n_raters,
        statistic="Krippendorff's alpha, ordinal",
        min_shared=min_shared,
        values=tuple(tuple(map(number, row)) for row in values.to_numpy(dtype=object)),
        n_shared=tuple(map(tuple, shared.astype(int).to_numpy().tolist())),
    )


def hardest_items(used: pd.DataFrame, ratings: Ratings) -> tuple[DisputedItem, ...]:
    """Return the items whose votes are furthest apart, most disputed first."""
    table = per_item_disagreement(ratings, "ordinal")
    table = table[table["mean_distance"] > 0].head(HARDEST)
    texts = used[used["item_id"].isin(table.index)].sort_values("label", kind="stable")
    groups = dict(iter(texts.groupby("item_id")))
    labels = majority(ratings).loc[table.index, "label"]
    return tuple(
        DisputedItem(
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


def annotators(
    votes: pd.DataFrame, used: pd.DataFrame, ratings: Ratings
) -> tuple[AnnotatorAgreement, ...]:
    """Return one row per rater, even if excluded, in descending order of counted votes."""
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


def _annotator(row: Mapping[Hashable, Any]) -> AnnotatorAgreement:
    compared = int(row["compared"])
    return AnnotatorAgreement(
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
    """Return for each vote whether it equals the majority of the *other* votes on its item.

    A majority that included the rater's own vote would overstate agreement.
    """
    scale = ratings.categories()
    others = ratings.counts(scale)[ratings.item_codes]
    own = ratings.value_codes(scale)
    others[np.arange(len(own)), own] -= 1
    several = others.sum(axis=1) > 0
    # Use the last maximum, because the higher label wins a tie.
    best = len(scale) - 1 - others[:, ::-1].argmax(axis=1) if len(own) else own
    rater = ratings.raters[ratings.rater_codes]
    return pd.DataFrame({"rater": rater, "agrees": best == own})[several]


def number(value: Any) -> float | None:
    """Return a float; None for a missing value."""
    return None if value is None or pd.isna(value) else float(value)


# Figures of a round, computed only from the snapshot's table of votes
#
# An undefined value is None with a reason, never NaN. The rows of the table are described in
# `annotation.figures.reports.snapshots`.

SCOPES = ("all", "ordinary")
ALPHA_LEVELS: tuple[Level, ...] = ("ordinal", "nominal", "interval")
AC_LEVELS: tuple[Level, ...] = ("nominal", "ordinal")


def compute_figures(
    votes: pd.DataFrame, scale: Sequence[int], recipe: dict[str, Any]
) -> RoundFigures:
    """Compute all figures.

    Parameters
    ----------
    votes
        The snapshot's whole table; see `read_votes`.
    scale
        Labels of the guideline, ascending; other labels found in the votes are added.
    recipe
        Item counts, confidence and minimum number of shared items; see `recipe_of`.
    """
    is_machine = votes["rater_kind"].isin([kind.value for kind in MACHINES])
    machines, votes = votes[is_machine], votes[~is_machine]
    used = counted(votes)
    values = tuple(sorted({*scale, *used["label"].astype(int)}))
    ratings = ratings_of(used)
    return RoundFigures(
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
    """Return counted votes as ratings, by item id and public id of the rater."""
    names = {"item_id": "item", "rater_id": "rater", "label": "value"}
    return Ratings.from_frame(used[list(names)].rename(columns=names))


def in_scope(used: pd.DataFrame, scope: str) -> pd.DataFrame:
    """Return votes on all items, only on ordinary items, or only on control items."""
    if scope == "all":
        return used
    return used[used["control_label"].isna() == (scope == "ordinary")]


def _progress(
    votes: pd.DataFrame, machines: pd.DataFrame, used: pd.DataFrame, recipe: dict[str, Any]
) -> RoundProgress:
    """Return counts; ``wanted``, ``filled`` and ``complete`` are None for imported votes."""
    states = votes["state"].value_counts()
    ordinary = in_scope(used, "ordinary")
    per_item = ordinary.groupby("item_id").size()
    wanted = recipe["votes_per_item"]
    filled = (votes["state"] == "answered") & ~votes["is_extra"] & votes["control_label"].isna()
    return RoundProgress(
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
    """Return one entry per statistic, starting with the headline (ordinal alpha)."""
    ratings = ratings_of(used)
    confidence = recipe["confidence"]
    estimates = [krippendorff_alpha(ratings, level, confidence) for level in ALPHA_LEVELS]
    estimates.append(percent_agreement(ratings, confidence))
    estimates.append(fleiss_kappa(ratings, confidence, drop_unequal=True))
    for level in AC_LEVELS:
        estimates.append(gwet_ac(ratings, level, confidence, categories=values))
    return (*estimates, weighted_kappa(ratings, recipe["min_shared"]))


def _labels(used: pd.DataFrame, values: Sequence[int]) -> tuple[LabelVotes, ...]:
    """Return counted votes by label, separately for ordinary and control items."""
    control = in_scope(used, "control")["label"].value_counts()
    ordinary = in_scope(used, "ordinary")["label"].value_counts()
    return tuple(
        LabelVotes(
            label=value, ordinary=int(ordinary.get(value, 0)), control=int(control.get(value, 0))
        )
        for value in values
    )


def _majority(ratings: Ratings, values: Sequence[int]) -> Majority:
    table = majority(ratings)
    sizes = table["label"].value_counts()
    return Majority(
        items=tuple(LabelItems(label=value, items=int(sizes.get(value, 0))) for value in values),
        tied=int(table["tied"].sum()),
        unanimous=int(((table["votes"] == table["n"]) & (table["n"] > 1)).sum()),
        single=int((table["n"] == 1).sum()),
        total=len(table),
    )


def _confusion(ratings: Ratings, values: Sequence[int]) -> CoincidenceTable:
    table = coincidences(ratings, values)
    cells = table.to_numpy(dtype=float).tolist()
    sums = tuple(sum(row) for row in cells)
    shares = tuple(
        tuple(cell / total if total else None for cell in row)
        for row, total in zip(cells, sums, strict=True)
    )
    return CoincidenceTable(cells=tuple(map(tuple, cells)), shares=shares, sums=sums)


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
