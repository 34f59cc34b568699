"""The ranking by preferences beside the ranking by mean scores.

Both are of the same systems, and every resample weights the questions alike for both, so that
what a question does to the two does not count as disagreement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmark.preferences.methods.contradictions import Contradictions, contradicting_questions
from benchmark.preferences.methods.davidson import Strengths, fit_strengths
from benchmark.preferences.methods.joint_draws import LEAST_QUESTIONS, JointDraws
from benchmark.preferences.methods.paired import Verdicts
from benchmark.preferences.methods.preference_bootstrap import draw_weights, strength_draws
from cqa_site.stats.estimate import Estimate, check_confidence
from cqa_site.stats.ratings import FloatArray

NO_SCORES = "it has no scores"
NO_VERDICTS = "there are no verdicts about it"


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
    verdicts: Verdicts,
    scores: pd.DataFrame,
    *,
    draw_systems: bool = True,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
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
    draw_systems
        Whether the correlations stand for systems like these, so that their intervals draw
        systems as well as questions (Deutsch, Dror and Roth 2021) and are wide for a handful of
        them; or for these very systems. Shares of contradicting pairs are always of these.
    confidence, n_resamples, seed
        Of the percentile bootstraps.

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
    kept = [each for each in everyone.systems if each in scored]
    strength = everyone.by_system()
    common = scores.loc[kept].dropna(axis=1) if kept else scores.iloc[:0, :0]
    draws = _draws(verdicts, everyone, kept, common, n_resamples, seed)
    own = np.array([strength[name] for name in kept])
    means = common.to_numpy(dtype=float).mean(axis=1) if common.shape[1] else np.empty(0)
    both = JointDraws(
        systems=tuple(kept),
        own=own,
        means=means,
        strength_draws=draws[0],
        mean_draws=draws[1],
        n_questions=common.shape[1],
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
        reason=everyone.reason,
    )
    return TwoRankings(
        systems=both.systems,
        log_strengths=tuple(own.tolist()),
        means=tuple(means.tolist()),
        spearman=both.correlation("spearman", draw_systems=draw_systems),
        kendall=both.correlation("kendall", draw_systems=draw_systems),
        by_systems=both.contradictions(),
        by_questions=contradicting_questions(
            verdicts, scores, confidence=confidence, n_resamples=n_resamples, seed=seed
        ),
        left_out=_left_out(everyone, verdicts, scored),
        n_questions=common.shape[1],
    )


def _left_out(everyone: Strengths, verdicts: Verdicts, scored: set[str]) -> dict[str, str]:
    reasons = dict.fromkeys(sorted(scored - set(verdicts.systems)), NO_VERDICTS)
    without = [each for each in everyone.systems if each not in scored]
    return reasons | dict.fromkeys(without, NO_SCORES) | everyone.unranked


def _draws(
    verdicts: Verdicts,
    everyone: Strengths,
    kept: list[str],
    common: pd.DataFrame,
    n_resamples: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Strengths and means of the kept systems in the same resamples of all questions."""
    if len(kept) < 2 or common.shape[1] < LEAST_QUESTIONS:
        return np.empty((0, len(kept))), np.empty((0, len(kept)))
    ranked = verdicts.among(everyone.systems)
    questions = sorted({*ranked.questions, *common.columns}, key=str)
    places = {name: place for place, name in enumerate(questions)}
    weights = draw_weights(len(questions), n_resamples, seed)
    strengths = strength_draws(
        ranked.count(), everyone, weights[:, [places[each] for each in ranked.questions]]
    )[:, [everyone.systems.index(name) for name in kept]]
    scored = weights[:, [places[each] for each in common.columns]]
    means = scored @ common.to_numpy(dtype=float).T / scored.sum(axis=1, keepdims=True)
    return strengths, means
