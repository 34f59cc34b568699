"""Decide one final label per unit from adjudications, adoptions, expert overrides or votes.

A unit is an argument. A release may contain the same sentence under several item ids, so the
votes for all items of a unit are pooled; the more votes a unit has, the longer its pattern.

Source: relevance paper, section 3.3.1: majority vote with the higher label on a tie, and labels
by experts where the crowd disagreed. Departure: the paper does not say how the labels of several
experts become one label; here they follow the rule for the crowd.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from cqa_site.stats.disagreement import majority, split_pattern
from cqa_site.stats.latent import dawid_skene, mace
from cqa_site.stats.ratings import Ratings

Method = Literal["majority", "dawid_skene", "mace"]

PRECEDENCE = ("adjudicated", "adopted", "expert", "votes")
NO_LABEL = "none"


def final_labels(
    votes: pd.DataFrame,
    overrides: pd.DataFrame,
    adjudications: pd.DataFrame,
    aggregator: Method = "majority",
    *,
    adopted: pd.DataFrame | None = None,
    compared: Sequence[Method] = (),
    units: Sequence[Hashable] | None = None,
) -> pd.DataFrame:
    """Decide the label of every unit and its provenance.

    Parameters
    ----------
    votes : columns unit, item, rater, value
        One row per counted vote; each rater votes once on an item.
    overrides : columns unit, rater, value
        Labels by experts from another round; they overrule the votes.
    adjudications : columns unit, rater, value
        Current decisions; they overrule everything.
    aggregator
        Method that turns votes into one label.
    adopted : columns unit, rater, value, only_tied
        Labels adopted from other rounds, with one "rater" per adoption; they overrule votes and
        experts. Labels with ``only_tied`` count only if the votes are tied.
    compared
        Methods shown next to the majority; the aggregator is always included.
    units
        Rows of the result; by default every unit in any of the tables.

    Returns
    -------
    DataFrame indexed by unit, in the order of `units`
        label : Int64, missing if there is no label
        provenance : "adjudicated", "adopted", "expert", "votes" or "none"
        majority_label, expert_label, adopted_label, adjudicated_label : Int64; the most
            frequent value in each table, the higher value on a tie
        dawid_skene_label, mace_label : Int64, for the compared methods
        n : counted votes
        tied : whether at least two values share the highest number of votes
        spread : largest minus smallest vote, 0 if there are no votes
        pattern : split of the votes, for example "2-1"; empty if there are none
        methods_differ : whether the majority and the compared methods disagree

    Raises
    ------
    DuplicateRatingError
        If a rater votes twice on one item.
    """
    table = describe_votes(votes)
    wanted = dict.fromkeys([*compared, aggregator])
    methods: list[Method] = [method for method in wanted if method != "majority"]
    for method in methods:
        table[f"{method}_label"] = label_votes(votes, method)
    tables = [votes, overrides, adjudications]
    table = table.reindex(_units(units, *tables, *([] if adopted is None else [adopted])))
    table["expert_label"] = _most_frequent(overrides).reindex(table.index)
    table["adopted_label"] = _adopted(adopted, table["tied"]).reindex(table.index)
    table["adjudicated_label"] = _most_frequent(adjudications).reindex(table.index)
    methods_compared = table[["majority_label", *(f"{method}_label" for method in methods)]]
    table["methods_differ"] = methods_compared.nunique(axis=1) > 1
    _decide(table, f"{aggregator}_label")
    return table.astype({"n": int, "tied": bool, "spread": int, "pattern": str})


def label_votes(votes: pd.DataFrame, method: Method) -> pd.Series:
    """Return the label of each unit according to one method, as an Int64 series indexed by unit.

    Parameters
    ----------
    votes : columns unit, rater, value
        If a rater has several rows for a unit (through several items), each row counts.
    method : {"majority", "dawid_skene", "mace"}
        In every method, a tie goes to the higher label.

    Notes
    -----
    Both models use every vote, including votes on control items, but not the control labels.
    MACE restarts from a fixed seed, so repeated calls give the same labels.
    """
    if votes.empty:
        return pd.Series(index=pd.Index([], name="unit"), dtype="Int64")
    ratings = _pool(votes)
    if method == "majority":
        labels = majority(ratings)["label"]
    elif method == "dawid_skene":
        labels = dawid_skene(ratings).labels
    else:
        labels = mace(ratings).labels
    return labels.rename_axis("unit").astype("Int64")


def describe_votes(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the majority label and the distribution measures of each unit's votes.

    Parameters
    ----------
    votes : columns unit, item, rater, value
        One row per counted vote.

    Returns
    -------
    DataFrame indexed by unit: majority_label, n, tied, spread, pattern as in `final_labels`.

    Raises
    ------
    DuplicateRatingError
        If a rater votes twice on one item.
    """
    Ratings.from_frame(votes[["item", "rater", "value"]])  # raises an error for repeated votes
    columns = {
        "majority_label": "Int64", "n": "Int64", "tied": "boolean", "spread": "Int64"
    }  # fmt: skip
    if votes.empty:
        empty = pd.DataFrame(columns=[*columns, "pattern"], index=pd.Index([], name="unit"))
        return empty.astype(columns)
    ratings = _pool(votes)
    table = majority(ratings).rename(columns={"label": "majority_label"})
    table["pattern"] = split_pattern(ratings)
    return table[[*columns, "pattern"]].astype(columns).rename_axis("unit")


def majority_of_others(votes: pd.DataFrame) -> pd.Series:
    """Return the most frequent value among the other raters of each vote's unit.

    Comparing raters with a majority that contains their own votes flatters them: with three votes
    and four labels, pure noise would agree in more than half of the cases.

    Parameters
    ----------
    votes : columns unit, rater, value
        One row per counted vote.

    Returns
    -------
    Int64 series aligned with the rows of `votes`; the higher value on a tie, missing where
    no other rater voted on the unit.
    """
    if votes.empty:
        return pd.Series(index=votes.index, dtype="Int64")
    unit = votes["unit"].factorize()[0]
    own = votes.groupby(["unit", "rater"], sort=False).ngroup().to_numpy()
    value, scale = votes["value"].factorize(sort=True)
    others = _count(unit, value, len(scale))[unit] - _count(own, value, len(scale))[own]
    best = len(scale) - 1 - others[:, ::-1].argmax(axis=1)
    labels = pd.Series(np.asarray(scale)[best], index=votes.index, dtype="Int64")
    return labels.mask(others.sum(axis=1) == 0)


def _count(
    row: np.ndarray[tuple[int], np.dtype[np.int64]],
    column: np.ndarray[tuple[int], np.dtype[np.int64]],
    width: int,
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Count each (row, column) pair; return an array of shape (rows, width)."""
    return np.bincount(row * width + column, minlength=(row.max() + 1) * width).reshape(-1, width)


def _pool(votes: pd.DataFrame) -> Ratings:
    """Return votes as ratings of units, without checks because raters may rate a unit twice."""
    unit, units = votes["unit"].factorize()
    rater, raters = votes["rater"].factorize()
    return Ratings(
        unit.astype(np.int64),
        rater.astype(np.int64),
        votes["value"].to_numpy(dtype=float),
        pd.Index(units, tupleize_cols=False),
        pd.Index(raters, tupleize_cols=False),
    )


def _units(units: Sequence[Hashable] | None, *tables: pd.DataFrame) -> pd.Index:
    if units is None:
        units = list(dict.fromkeys(unit for table in tables for unit in table["unit"]))
    return pd.Index(units, name="unit", tupleize_cols=False)


def _adopted(labels: pd.DataFrame | None, tied: pd.Series) -> pd.Series:
    """Return the most frequent adopted label of each unit; each adoption counts once."""
    if labels is None:
        return label_votes(pd.DataFrame(), "majority")
    used = labels[~labels["only_tied"].astype(bool) | labels["unit"].isin(tied.index[tied == 1])]
    rater_labels = [
        label_votes(part, "majority").reset_index(name="value").assign(rater=rater)
        for rater, part in used.groupby("rater", sort=False)
    ]
    return (
        _most_frequent(pd.concat(rater_labels)) if rater_labels else label_votes(used, "majority")
    )


def _most_frequent(labels: pd.DataFrame) -> pd.Series:
    return label_votes(labels, "majority")


def _decide(table: pd.DataFrame, from_votes: str) -> None:
    """Fill in labels and provenance by precedence, and defaults for units without votes."""
    named = ("adjudicated_label", "adopted_label", "expert_label", from_votes)
    sources = [table[name] for name in named]
    label = sources[0]
    for weaker in sources[1:]:
        label = label.fillna(weaker)
    known = [source.notna().to_numpy() for source in sources]
    table.insert(0, "label", label)
    table.insert(1, "provenance", np.select(known, list(PRECEDENCE), default=NO_LABEL))
    for column, nothing in (("n", 0), ("tied", False), ("spread", 0), ("pattern", "")):
        table[column] = table[column].fillna(nothing)
