"""Agreement statistics by name, and pairwise agreement between raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
import pandas as pd

from cqa_site.stats.agreement_coefficients import (
    Weights,
    disagreement,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.disagreement import (
    coincidences,
    confusion,
    per_item_disagreement,
    per_label_agreement,
    percent_agreement,
)
from cqa_site.stats.estimate import ONE_VALUE
from cqa_site.stats.ratings import LEVELS, Level, Ratings, chance_corrected, distances, mid_ranks

PairStatistic = Literal[
    "percent_agreement",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "alpha_ratio",
]
PAIR_STATISTICS: tuple[str, ...] = get_args(PairStatistic)


@dataclass(frozen=True)
class PairwiseMatrix:
    """Rater × rater tables; `values` is pd.NA on the diagonal and for pairs without a value.

    Attributes
    ----------
    statistic : name of the statistic
    min_shared : pairs with fewer shared items have no value
    values : DataFrame, Float64, symmetric
    n_shared : DataFrame of ints, symmetric; the diagonal counts each rater's ratings
    """

    statistic: str
    min_shared: int
    values: pd.DataFrame
    n_shared: pd.DataFrame


@dataclass(frozen=True, eq=False)
class _SharedItems:
    """One row per item and pair of raters; `pair` numbers the pairs of raters."""

    pair: IntArray
    rater_a: IntArray
    rater_b: IntArray
    code_a: IntArray
    code_b: IntArray
    n_shared: IntArray

    def mean(self, weights: FloatArray) -> FloatArray:
        sums = np.bincount(self.pair, weights=weights, minlength=len(self.n_shared))
        return np.asarray(sums / self.n_shared)

    def margins(self, codes: IntArray, n_categories: int) -> FloatArray:
        cells = np.bincount(
            self.pair * n_categories + codes, minlength=len(self.n_shared) * n_categories
        )
        return cells.reshape(len(self.n_shared), n_categories).astype(np.float64)


def pairwise_agreement(
    ratings: Ratings, statistic: PairStatistic = "alpha_ordinal", min_shared: int = 5
) -> pd.DataFrame:
    """Compute the agreement of each pair of raters who share at least one item.

    Time and memory grow with the sum over items of the squared number of ratings.

    Returns
    -------
    DataFrame
        rater_a, rater_b : in the order of `ratings.raters`, each pair once
        n_shared : number of items that both raters rated
        value : Float64; missing with fewer than `min_shared` items or only one distinct value
        reason : reason for a missing value, or None

    Raises
    ------
    ValueError
        For an unknown statistic.
    """
    if statistic not in PAIR_STATISTICS:
        raise ValueError(f"statistic must be one of {', '.join(PAIR_STATISTICS)}")
    shared = _shared_items(ratings)
    values = _pair_values(shared, ratings.categories(), statistic)
    too_few = shared.n_shared < min_shared
    reasons = np.select(
        [too_few, np.isnan(values)],
        [f"fewer than {min_shared} shared items", ONE_VALUE],
        default="",
    )
    return pd.DataFrame(
        {
            "rater_a": ratings.raters[shared.rater_a],
            "rater_b": ratings.raters[shared.rater_b],
            "n_shared": shared.n_shared,
            "value": pd.array(np.where(too_few, np.nan, values), dtype="Float64"),
            # A text column would turn None into NaN.
            "reason": pd.Series([reason or None for reason in reasons.tolist()], dtype=object),
        }
    )


def pairwise_matrix(
    ratings: Ratings, statistic: PairStatistic = "alpha_ordinal", min_shared: int = 5
) -> PairwiseMatrix:
    """Compute pairwise agreement as two square tables; see `pairwise_agreement`."""
    table = pairwise_agreement(ratings, statistic, min_shared)
    size = ratings.n_raters
    first = ratings.raters.get_indexer(table["rater_a"])
    second = ratings.raters.get_indexer(table["rater_b"])
    values = np.full((size, size), np.nan)
    values[first, second] = values[second, first] = table["value"].to_numpy(float, na_value=np.nan)
    n_shared = np.diag(np.bincount(ratings.rater_codes, minlength=size))
    n_shared[first, second] = n_shared[second, first] = table["n_shared"]
    names = {"index": ratings.raters, "columns": ratings.raters}
    return PairwiseMatrix(
        statistic,
        min_shared,
        pd.DataFrame(values, **names).astype("Float64"),
        pd.DataFrame(n_shared, **names),
    )


def _shared_items(ratings: Ratings) -> _SharedItems:
    columns = {
        "item": ratings.item_codes,
        "rater": ratings.rater_codes,
        "code": ratings.value_codes(ratings.categories()),
    }
    table = pd.DataFrame(columns)
    pairs = table.merge(table, on="item", suffixes=("_a", "_b"))
    pairs = pairs[pairs["rater_a"] < pairs["rater_b"]]
    couples = pairs["rater_a"].to_numpy() * ratings.n_raters + pairs["rater_b"].to_numpy()
    known, pair, n_shared = np.unique(couples, return_inverse=True, return_counts=True)
    return _SharedItems(
        pair,
        known // max(ratings.n_raters, 1),
        known % max(ratings.n_raters, 1),
        pairs["code_a"].to_numpy(),
        pairs["code_b"].to_numpy(),
        n_shared,
    )


def _pair_values(shared: _SharedItems, scale: FloatArray, statistic: str) -> FloatArray:
    a = shared.margins(shared.code_a, len(scale))
    b = shared.margins(shared.code_b, len(scale))
    equal = shared.mean((shared.code_a == shared.code_b).astype(np.float64))
    if statistic == "percent_agreement":
        return equal
    if statistic.startswith("cohen_kappa"):
        weights = cast(Weights | None, statistic.removeprefix("cohen_kappa").lstrip("_") or None)
        distance = disagreement(scale, weights)
        expected = ((a @ distance) * b).sum(axis=1) / shared.n_shared**2
        return chance_corrected(shared.mean(distance[shared.code_a, shared.code_b]), expected)
    level = cast(Level, statistic.removeprefix("alpha_"))
    pooled = a + b
    if level == "ordinal":
        return _ordinal_alphas(shared, pooled)
    n = 2 * shared.n_shared
    distance = distances(level, scale, pooled.sum(axis=0))
    expected = ((pooled @ distance) * pooled).sum(axis=1) / (n * (n - 1))
    return chance_corrected(shared.mean(distance[shared.code_a, shared.code_b]), expected)


def _ordinal_alphas(shared: _SharedItems, pooled: FloatArray) -> FloatArray:
    """Compute ordinal alphas; each pair's mid-ranks come from the ratings of its shared items."""
    n = 2 * shared.n_shared
    scores = mid_ranks(pooled)
    differences = scores[shared.pair, shared.code_a] - scores[shared.pair, shared.code_b]
    squares = (pooled * scores**2).sum(axis=1) - (pooled * scores).sum(axis=1) ** 2 / n
    return chance_corrected(shared.mean(differences**2), 2 * squares / (n - 1))


__all__ = [
    "LEVELS", "PAIR_STATISTICS", "Level", "PairStatistic", "PairwiseMatrix", "coincidences",
    "confusion", "fleiss_kappa", "gwet_ac", "krippendorff_alpha", "pairwise_agreement",
    "pairwise_matrix", "per_item_disagreement", "per_label_agreement", "percent_agreement",
]  # fmt: skip
