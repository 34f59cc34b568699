"""Consistency of verdicts across swapped sides, and with scores of the same systems."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from benchmark.preferences.methods.davidson import Strengths, fit_strengths
from benchmark.preferences.methods.pairs import BOTH, FIRST, LEFT, RIGHT, SECOND, TIE
from benchmark.preferences.methods.verdict_tables import Verdicts, VerdictsError
from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.correlation import Correlation
from cqa_site.stats.estimate import Estimate, check_confidence
from cqa_site.stats.means import clustered_mean
from cqa_site.stats.ranking import within_and_across

# Merging of two verdicts on one pair with sides swapped, and the effect of swapping.
#
# A language model tends to prefer the answer that it reads first, or the one that it reads second,
# so it compares each pair in both orders. Two different verdicts on a pair count as a tie.
# People's blind repeats with swapped sides are merged in the same way.


class RepeatedVerdictError(VerdictsError):
    """Raised if a rater judged a pair twice in the same order."""


@dataclass(frozen=True, kw_only=True)
class MergedOrders:
    """One verdict per rater and pair.

    Attributes
    ----------
    verdicts
        Merged verdicts; the side is ``both`` if the pair was judged in both orders.
    n_both
        Number of pairs (per rater) judged in both orders.
    n_made_ties
        Number of pairs whose two verdicts differ, so that they count as ties.
    n_one_order
        Number of pairs judged in one order only; their single verdict counts.
    """

    verdicts: Verdicts
    n_both: int
    n_made_ties: int
    n_one_order: int


def merge_orders(verdicts: Verdicts) -> MergedOrders:
    """Merge a rater's two verdicts on the same pair into one.

    Two identical verdicts are merged into that verdict (both bad stays both bad), and two
    different verdicts into a tie, even if one of them is already a tie. The weight is the mean of
    the two weights.

    Raises
    ------
    RepeatedVerdictError
        If a rater judged a pair twice in one order, or more than twice.

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
        n_made_ties=n_made_ties,
        n_one_order=len(merged) - n_both,
    )


def order_consistency(verdicts: Verdicts, *, confidence: float = 0.95) -> Estimate:
    """Return the share of pairs with the same verdict in both orders, 0 to 1.

    ``n_values`` is the number of pairs judged in both orders, and ``n_items`` the number of their
    questions; the interval is over questions.

    Raises
    ------
    RepeatedVerdictError
        See `merge_orders`.
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
    """Return the share of decided verdicts for the left answer, which is .5 without position bias.

    It is computed from verdicts before merging. It measures bias only if sides are balanced,
    either at random or because every pair occurs in both orders. ``n_values`` is the number of
    decided verdicts.
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
    """Return the share of comparisons on the same pair whose verdicts are the same, 0 to 1.

    Parameters
    ----------
    verdicts, others
        One verdict per rater and pair (see `merge_orders`). Every verdict is compared with each of
        the others on its pair; both bad and tie are different verdicts.
    confidence
        Confidence level of the interval.

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


# Contradictions between preferences and scores, for pairs of systems and for questions.
#
# A pair contradicts if the preferred system has fewer points. Pairs that are even by preferences
# or by scores neither agree nor contradict; they are counted separately.

# Figures that differ by less than this are even.
_DECIMALS = 7
ONE_SYSTEM = "fewer than 2 systems have both a strength and scores"
EVEN = "preferences and scores do not both decide any pair of systems"
NO_INTERVAL = "each system is in many pairs, so the share has no interval"


@dataclass(frozen=True, kw_only=True)
class Contradictions:
    """Contradictions between preferences and scores about which of two systems is better.

    Attributes
    ----------
    share
        Contradicting pairs ÷ pairs decided by both, 0 to 1.
    n_decided, n_contradicting, n_even
        Counts of pairs decided by both, of contradicting pairs among them, and of pairs that are
        even according to either.
    pairs
        Contradicting pairs of systems, the preferred system first; empty for questions.
    """

    share: Estimate
    n_decided: int
    n_contradicting: int
    n_even: int
    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def contradicting_systems(
    systems: tuple[str, ...],
    strengths: FloatArray,
    means: FloatArray,
    confidence: float = 0.95,
    reason: str | None = None,
) -> Contradictions:
    """Compare both rankings on all pairs of systems, without an interval (see `compare_rankings`).

    Examples
    --------
    >>> found = contradicting_systems(("a", "b", "c"), np.arange(3.0), np.array([1.0, 0.0, 2.0]))
    >>> round(found.share.value, 4), found.pairs
    (0.3333, (('b', 'a'),))
    """
    reason = reason or (ONE_SYSTEM if len(systems) < 2 else None)
    first, second = np.triu_indices(0 if reason else len(systems), k=1)
    signs = _sign(strengths[first] - strengths[second])
    product = signs * _sign(means[first] - means[second])
    pairs = tuple(
        (systems[place], systems[other]) if sign > 0 else (systems[other], systems[place])
        for place, other, sign, both in zip(first, second, signs, product, strict=True)
        if both < 0
    )
    n_decided = int((product != 0).sum())
    share = Estimate(
        value=len(pairs) / n_decided if n_decided else None,
        statistic="share of pairs of systems that contradict",
        recipe="contradicting pairs of systems divided by pairs decided by both",
        reason=reason or (NO_INTERVAL if n_decided else EVEN),
        confidence=confidence,
        n_items=len(systems),
        n_pairable_items=len(systems),
        n_raters=2,
        n_values=n_decided,
    )
    return Contradictions(
        share=share,
        n_decided=n_decided,
        n_contradicting=len(pairs),
        n_even=len(product) - n_decided,
        pairs=pairs,
    )


def contradicting_questions(
    verdicts: Verdicts, scores: pd.DataFrame, *, confidence: float = 0.95
) -> Contradictions:
    """Compare verdicts and scores on every question and pair of systems.

    A question counts only if it has verdicts on the pair and scores of both systems.

    Parameters
    ----------
    verdicts
        Verdicts; those on the same question and pair of systems are added up.
    scores
        Rows are systems, columns are questions, and values are points (NaN if missing).
    confidence
        Confidence level of the share's interval, which is over questions.
    """
    frame = verdicts.frame
    worth = frame["outcome"].map({FIRST: 1.0, SECOND: -1.0}).fillna(0.0) * frame["weight"]
    keys = ["question", "first", "second"]
    met = frame.assign(worth=worth).groupby(keys, sort=True)["worth"].sum().reset_index()
    points = scores.rename(index=str).stack().dropna().to_dict()
    gap = [
        points.get((row.first, row.question), np.nan)
        - points.get((row.second, row.question), np.nan)
        for row in met[["question", "first", "second"]].itertuples(index=False)
    ]
    met = met.assign(product=_sign(met["worth"].to_numpy()) * _sign(np.array(gap, dtype=float)))
    known = met.dropna(subset=["product"])
    decided = known[known["product"] != 0]
    against = decided["product"] < 0
    share = clustered_mean(
        decided["question"].tolist(),
        against.astype(float).tolist(),
        [1] * len(decided),
        confidence=confidence,
        limits=(0.0, 1.0),
    )
    return Contradictions(
        share=share,
        n_decided=len(decided),
        n_contradicting=int(against.sum()),
        n_even=len(known) - len(decided),
    )


def _sign(differences: FloatArray) -> FloatArray:
    return np.asarray(np.sign(np.round(differences, _DECIMALS)))


NO_SCORES = "it has no scores"
NO_VERDICTS = "there are no verdicts about it"
LEAST_QUESTIONS = 3
FEW_QUESTIONS = f"fewer than {LEAST_QUESTIONS} questions have a score of every system"
RECIPE = (
    "log strengths and mean scores of the same systems; mean scores over the questions that all "
    "of them share"
)


@dataclass(frozen=True, kw_only=True)
class TwoRankings:
    """Agreement of the rankings by preferences and by scores.

    Attributes
    ----------
    systems
        Compared systems, which have a strength and scores; the strongest first.
    log_strengths, means
        Log strengths; mean points over the common questions, empty if there are no such questions.
    spearman, kendall
        Rank correlations of log strengths and mean points (Kendall's is tau-b).
    by_systems, by_questions
        Contradictions for pairs of systems, overall and on single questions.
    left_out
        System with verdicts or scores → reason why it is not compared.
    n_questions
        Number of questions with a score for every compared system.
    """

    systems: tuple[str, ...]
    log_strengths: tuple[float, ...]
    means: tuple[float, ...]
    spearman: Estimate
    kendall: Estimate
    by_systems: Contradictions
    by_questions: Contradictions
    left_out: dict[str, str]
    n_questions: int


def compare_rankings(
    verdicts: Verdicts, scores: pd.DataFrame, *, confidence: float = 0.95
) -> TwoRankings:
    """Compare the rankings by preferences and by scores.

    Parameters
    ----------
    verdicts
        One verdict per rater and pair (see `merge_orders`).
    scores
        Rows are systems, columns are questions (named as in the verdicts), and values are the
        system's mean points on that question (NaN if missing). Means are over the questions with a
        score for every compared system, as on the leaderboard by scores.
    confidence
        Confidence level of the intervals. The intervals of correlations generalize to systems like
        these (see `within_and_across`). The share of contradicting pairs of systems has no
        interval because each system is in many pairs.

    Raises
    ------
    ValueError
        If a system occurs twice in the scores.
    NotConvergedError
        See `fit_strengths`.
    """
    check_confidence(confidence)
    scores = scores.rename(index=str)
    if not scores.index.is_unique:
        raise ValueError("a system occurs twice in the table of scores")
    everyone = fit_strengths(verdicts)
    scored = set(scores.index[scores.notna().any(axis=1)])
    systems = tuple(system for system in everyone.systems if system in scored)
    strength = everyone.by_system()
    common = scores.loc[list(systems)].dropna(axis=1) if systems else scores.iloc[:0, :0]
    own = np.array([strength[name] for name in systems])
    means = common.to_numpy(dtype=float).mean(axis=1) if common.shape[1] else np.empty(0)
    reason = everyone.reason
    if reason is None and len(systems) > 1 and common.shape[1] < LEAST_QUESTIONS:
        reason = FEW_QUESTIONS
    both = pd.DataFrame(
        {"system": systems, "question": 0, "x": own, "y": means if len(means) else np.nan}
    )
    return TwoRankings(
        systems=systems,
        log_strengths=tuple(own.tolist()),
        means=tuple(means.tolist()),
        spearman=_correlation("spearman", both, confidence, reason),
        kendall=_correlation("kendall", both, confidence, reason),
        by_systems=contradicting_systems(
            systems, own, means if reason is None else np.empty(0), confidence, reason
        ),
        by_questions=contradicting_questions(verdicts, scores, confidence=confidence),
        left_out=_left_out(everyone, verdicts, scored),
        n_questions=common.shape[1],
    )


def _correlation(
    kind: Correlation, both: pd.DataFrame, confidence: float, reason: str | None
) -> Estimate:
    """Return the rank correlation of two columns; its interval generalizes to similar systems."""
    estimate = within_and_across(both, kind, confidence=confidence).across
    if reason is not None:
        estimate = replace(estimate, value=None, low=None, high=None, interval=None, reason=reason)
    return replace(estimate, recipe=RECIPE)


def _left_out(everyone: Strengths, verdicts: Verdicts, scored: set[str]) -> dict[str, str]:
    reasons = dict.fromkeys(sorted(scored - set(verdicts.systems)), NO_VERDICTS)
    without = [system for system in everyone.systems if system not in scored]
    return reasons | dict.fromkeys(without, NO_SCORES) | everyone.unranked
