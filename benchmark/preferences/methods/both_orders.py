"""Two verdicts on one pair with the sides swapped: one verdict, and what swapping changed.

A language model tends to prefer the answer that it reads first, or the second; so each pair is
put to it in both orders. Two different verdicts on a pair count as a tie. People's blind repeats
with swapped sides are read in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmark.preferences.methods.paired import Verdicts, VerdictsError
from benchmark.preferences.methods.verdicts import BOTH, FIRST, LEFT, RIGHT, SECOND, TIE
from cqa_site.stats.clustered import clustered_mean
from cqa_site.stats.estimate import Estimate


class RepeatedVerdictError(VerdictsError):
    """One rater judged one pair twice in the same order."""


@dataclass(frozen=True, kw_only=True)
class MergedOrders:
    """One verdict of each rater on each pair.

    Attributes
    ----------
    verdicts
        A pair judged in both orders has the side ``both``.
    n_both, n_same
        Pairs (of a rater) judged in both orders; those with the same verdict in both.
    n_made_ties
        Pairs whose two verdicts differ, hence counted as ties: ``n_both - n_same``.
    n_one_order
        Pairs judged in one order only; their verdict stands.
    """

    verdicts: Verdicts
    n_both: int
    n_same: int
    n_made_ties: int
    n_one_order: int


def merge_orders(verdicts: Verdicts) -> MergedOrders:
    """Make one verdict of a rater's two on the same pair.

    The same verdict twice is that verdict (both bad stays both bad), two different ones are a
    tie, also when one of them was a tie already. The weight is the mean of the two.

    Raises
    ------
    RepeatedVerdictError
        A rater judged a pair twice in one order, or more than twice.

    Examples
    --------
    >>> import pandas as pd
    >>> about = {"question": "q", "pair": "a1-b1", "first": "a", "second": "b", "rater": "r"}
    >>> said = [{"outcome": "first", "side": "left"}, {"outcome": "second", "side": "right"}]
    >>> merged = merge_orders(Verdicts.from_frame(pd.DataFrame([about | each for each in said])))
    >>> merged.verdicts.frame["outcome"].tolist(), merged.n_made_ties
    (['tie'], 1)
    """
    frame = verdicts.frame
    _refuse_repeats(verdicts)
    pairs = frame.groupby(["rater", "pair"], sort=False)
    is_double = pairs["side"].transform("size").to_numpy() == 2
    differs = pairs["outcome"].transform("nunique").to_numpy() == 2
    frame = frame.assign(
        outcome=frame["outcome"].where(~differs, TIE),
        side=frame["side"].where(~is_double, BOTH),
        weight=pairs["weight"].transform("mean"),
    )
    merged = frame.drop_duplicates(["rater", "pair"])
    n_both, n_made_ties = int(is_double.sum()) // 2, int(differs.sum()) // 2
    return MergedOrders(
        verdicts=Verdicts.from_frame(merged),
        n_both=n_both,
        n_same=n_both - n_made_ties,
        n_made_ties=n_made_ties,
        n_one_order=len(merged) - n_both,
    )


def order_consistency(verdicts: Verdicts, *, confidence: float = 0.95) -> Estimate:
    """Share of the pairs judged in both orders that got the same verdict, 0 to 1.

    ``n_values`` is the number of such pairs, ``n_items`` that of their questions, over which the
    interval is.

    Raises
    ------
    RepeatedVerdictError
        As `merge_orders`.
    """
    _refuse_repeats(verdicts)
    pairs = verdicts.frame.groupby(["rater", "pair"], sort=False).agg(
        question=("question", "first"), n=("side", "size"), n_outcomes=("outcome", "nunique")
    )
    both = pairs[pairs["n"] == 2]
    return clustered_mean(
        both["question"].tolist(),
        (both["n_outcomes"] == 1).astype(float).tolist(),
        [1] * len(both),
        confidence=confidence,
        limits=(0.0, 1.0),
    )


def left_share(verdicts: Verdicts, *, confidence: float = 0.95) -> Estimate:
    """Share of the decided verdicts that chose the left answer: .5 without position bias.

    Over verdicts before merging. It measures bias only where sides are balanced: by chance, or
    because every pair stands in both orders. ``n_values`` is the number of decided verdicts.
    """
    frame = verdicts.frame
    decided = frame[frame["outcome"].isin([FIRST, SECOND]) & frame["side"].isin([LEFT, RIGHT])]
    chose_left = (decided["outcome"] == FIRST) == (decided["side"] == LEFT)
    return clustered_mean(
        decided["question"].tolist(),
        chose_left.astype(float).tolist(),
        [1] * len(decided),
        confidence=confidence,
        limits=(0.0, 1.0),
    )


def same_verdict(verdicts: Verdicts, others: Verdicts, *, confidence: float = 0.95) -> Estimate:
    """Share of the others' verdicts on the same pairs that are the same, 0 to 1.

    Parameters
    ----------
    verdicts, others
        One of each rater on each pair (`merge_orders`). Every verdict is held against every one
        of the others on its pair; both bad and a tie are two different verdicts.
    confidence
        Of the interval.

    Returns
    -------
    Estimate
        ``n_values`` is the number of comparisons; the interval is over questions.

    Examples
    --------
    >>> import pandas as pd
    >>> about = {"question": "q", "pair": "p", "first": "a", "second": "b", "side": "both"}
    >>> said = [{"outcome": "first", "rater": 1}, {"outcome": "tie", "rater": 2}]
    >>> one, other = (Verdicts.from_frame(pd.DataFrame([about | each])) for each in said)
    >>> same_verdict(one, other).value
    0.0
    """
    both = verdicts.frame.merge(others.frame[["pair", "outcome"]], on="pair", suffixes=("", "_2"))
    return clustered_mean(
        both["question"].tolist(),
        (both["outcome"] == both["outcome_2"]).astype(float).tolist(),
        [1] * len(both),
        confidence=confidence,
        limits=(0.0, 1.0),
    )


def _refuse_repeats(verdicts: Verdicts) -> None:
    frame = verdicts.frame
    sides = frame.groupby(["rater", "pair"], sort=False)["side"]
    summed_up = np.asarray(frame["side"] == BOTH) & (sides.transform("size").to_numpy() > 1)
    again = frame.duplicated(["rater", "pair", "side"]).to_numpy() | summed_up
    if again.any():
        row = frame[again].iloc[0]
        raise RepeatedVerdictError(
            f"rater {row['rater']} judged pair {row['pair']} more than once in the same order"
        )
