"""The ranking by preferences beside the ranking by mean scores of the same systems."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from benchmark.preferences.methods.contradictions import (
    Contradictions,
    contradicting_questions,
    contradicting_systems,
)
from benchmark.preferences.methods.davidson import Strengths, fit_strengths
from benchmark.preferences.methods.paired import Verdicts
from cqa_site.stats.estimate import Estimate, check_confidence
from cqa_site.stats.ranks.system_correlation import within_and_across
from cqa_site.stats.weighted_correlation import Correlation

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
    """How far preferences and scores rank alike.

    Attributes
    ----------
    systems
        Those compared: with a strength and with scores; the strongest first.
    log_strengths, means
        Of each; means in points over the common questions, empty where there is none.
    spearman, kendall
        Rank correlations (tau-b) of the two.
    by_systems, by_questions
        Contradicting pairs of systems; and on single questions.
    left_out
        System with verdicts or scores → why it is not compared.
    n_questions
        With a score of every compared system.
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
    """Put the two rankings beside each other.

    Parameters
    ----------
    verdicts
        One of each rater on each pair (`both_orders.merge_orders`).
    scores
        Rows are systems, columns questions (the names that the verdicts use), values mean points
        of that system there; NaN where there is none. Means are over the questions with a score
        of every compared system, as on the board of scores.
    confidence
        Of the intervals. Correlations stand for systems like these (`within_and_across`). The
        share of contradicting pairs of systems has no interval: each system is in many pairs.

    Raises
    ------
    ValueError
        A system occurs twice among the scores.
    NotConvergedError
        As `fit_strengths`.
    """
    check_confidence(confidence)
    scores = scores.rename(index=str)
    if not scores.index.is_unique:
        raise ValueError("a system occurs twice in the table of scores")
    everyone = fit_strengths(verdicts)
    scored = set(scores.index[scores.notna().any(axis=1)])
    kept = tuple(each for each in everyone.systems if each in scored)
    strength = everyone.by_system()
    common = scores.loc[list(kept)].dropna(axis=1) if kept else scores.iloc[:0, :0]
    own = np.array([strength[name] for name in kept])
    means = common.to_numpy(dtype=float).mean(axis=1) if common.shape[1] else np.empty(0)
    reason = everyone.reason
    if reason is None and len(kept) > 1 and common.shape[1] < LEAST_QUESTIONS:
        reason = FEW_QUESTIONS
    both = pd.DataFrame(
        {"system": kept, "question": 0, "x": own, "y": means if len(means) else np.nan}
    )
    return TwoRankings(
        systems=kept,
        log_strengths=tuple(own.tolist()),
        means=tuple(means.tolist()),
        spearman=_correlation("spearman", both, confidence, reason),
        kendall=_correlation("kendall", both, confidence, reason),
        by_systems=contradicting_systems(
            kept, own, means if reason is None else np.empty(0), confidence, reason
        ),
        by_questions=contradicting_questions(verdicts, scores, confidence=confidence),
        left_out=_left_out(everyone, verdicts, scored),
        n_questions=common.shape[1],
    )


def _correlation(
    kind: Correlation, both: pd.DataFrame, confidence: float, reason: str | None
) -> Estimate:
    """Rank correlation of both columns; its interval is about other systems like these."""
    found = within_and_across(both, kind, confidence=confidence).across
    if reason is not None:
        found = replace(found, value=None, low=None, high=None, interval=None, reason=reason)
    return replace(found, recipe=RECIPE)


def _left_out(everyone: Strengths, verdicts: Verdicts, scored: set[str]) -> dict[str, str]:
    reasons = dict.fromkeys(sorted(scored - set(verdicts.systems)), NO_VERDICTS)
    without = [each for each in everyone.systems if each not in scored]
    return reasons | dict.fromkeys(without, NO_SCORES) | everyone.unranked
