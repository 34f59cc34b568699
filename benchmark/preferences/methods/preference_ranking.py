"""A leaderboard by preferences that says how sure it is: strengths, rank ranges, tie groups.

One bootstrap of questions serves every figure (`preference_bootstrap`), so that ranks and
differences are paired.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from benchmark.preferences.methods.davidson import Strengths, fit_strengths
from benchmark.preferences.methods.paired import Verdicts
from benchmark.preferences.methods.preference_bootstrap import (
    DECIMALS,
    draw_weights,
    strength_draws,
)
from benchmark.preferences.methods.strength_differences import strength_differences
from benchmark.preferences.methods.verdicts import BOTH_BAD, FIRST, SECOND, TIE
from cqa_site.stats.clustered import clustered_mean
from cqa_site.stats.estimate import Estimate, check_confidence
from cqa_site.stats.intervals import UNDEFINED_SHARE
from cqa_site.stats.ranks.paired_differences import PairDifference
from cqa_site.stats.ranks.rank_ranges import ranks_of
from cqa_site.stats.ranks.ranking import Place, places_of
from cqa_site.stats.ratings import FloatArray

TOO_FEW_QUESTIONS = "verdicts on fewer than 3 questions, too few for intervals"
NOT_SETTLED = "in over 5 % of the resamples the strengths did not settle"
INTERVAL = "question bootstrap by fractional weights, paired over systems, percentile"


@dataclass(frozen=True, kw_only=True)
class PreferenceStanding:
    """One ranked system; see `cqa_site.stats.ranks.ranking.Standing` for ranks and tie groups.

    Attributes
    ----------
    log_strength, low, high
        Natural logarithm, mean 0 over the ranked systems; and its interval.
    wins, losses, ties, both_bad
        Verdicts about it, against ranked systems, without weights.
    n_questions
        On which it was compared with them.
    """

    system: str
    log_strength: float
    low: float | None = None
    high: float | None = None
    rank: int
    rank_low: int | None = None
    rank_high: int | None = None
    p_best: float | None = None
    tie_group: int | None = None
    wins: int
    losses: int
    ties: int
    both_bad: int
    n_questions: int


@dataclass(frozen=True, kw_only=True)
class PreferenceRanking:
    """A leaderboard by preferences.

    Attributes
    ----------
    strengths
        The fit, with the systems that cannot be ranked.
    standings
        Best first.
    pairs
        Every two ranked systems; differences are those of log strengths.
    both_bad
        Share of all verdicts that found both answers bad, with its interval.
    n_questions
        With a verdict between ranked systems.
    n_undefined
        Resamples whose strengths did not settle, which are left out.
    interval, confidence, n_resamples, seed
        How the intervals were made.
    reason
        Why there are no strengths, or no intervals.
    """

    strengths: Strengths
    standings: tuple[PreferenceStanding, ...] = ()
    pairs: tuple[PairDifference, ...] = field(default=(), repr=False)
    both_bad: Estimate
    n_questions: int = 0
    n_undefined: int = 0
    interval: str = INTERVAL
    confidence: float
    n_resamples: int
    seed: int
    reason: str | None = None


def rank_by_preference(
    verdicts: Verdicts, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 0
) -> PreferenceRanking:
    """Rank systems by their strengths.

    Parameters
    ----------
    verdicts
        One of each rater on each pair (`merge_orders`).
    confidence, n_resamples, seed
        Of the percentile bootstrap over questions; systems are separable where Holm's
        adjusted p lies below 1 - confidence.

    Returns
    -------
    PreferenceRanking
        Without intervals, and with the reason, where there are too few questions.
    """
    check_confidence(confidence)
    strengths = fit_strengths(verdicts)
    about: dict[str, Any] = {
        "strengths": strengths,
        "both_bad": _both_bad(verdicts, confidence, n_resamples, seed),
        "confidence": confidence,
        "n_resamples": n_resamples,
        "seed": seed,
    }
    if strengths.reason:
        return PreferenceRanking(reason=strengths.reason, **about)
    ranked = verdicts.among(strengths.systems)
    about["n_questions"] = n_questions = len(ranked.questions)
    if n_questions < 3:
        standings = _standings(ranked, strengths, None)
        return PreferenceRanking(standings=standings, reason=TOO_FEW_QUESTIONS, **about)
    weights = draw_weights(n_questions, n_resamples, seed)
    draws = strength_draws(ranked.count(), strengths, weights)
    defined = draws[~np.isnan(draws).any(axis=1)]
    about["n_undefined"] = n_undefined = len(draws) - len(defined)
    if n_undefined > UNDEFINED_SHARE * n_resamples:
        standings = _standings(ranked, strengths, None)
        return PreferenceRanking(standings=standings, reason=NOT_SETTLED, **about)
    pairs = strength_differences(strengths, defined, n_questions, confidence)
    places = places_of(_rounded(strengths), defined, pairs, confidence)
    standings = _standings(ranked, strengths, places)
    return PreferenceRanking(standings=standings, pairs=pairs, **about)


def _standings(
    ranked: Verdicts, strengths: Strengths, places: list[Place] | None
) -> tuple[PreferenceStanding, ...]:
    rank = ranks_of(_rounded(strengths)[None, :])[0]
    tallies = _tallies(ranked)
    return tuple(
        PreferenceStanding(
            system=name,
            log_strength=strengths.log_strengths[at],
            **tallies[name],
            **(vars(places[at]) if places else {"rank": int(rank[at])}),
        )
        for at, name in enumerate(strengths.systems)
    )


def _rounded(strengths: Strengths) -> FloatArray:
    return np.round(np.array(strengths.log_strengths), DECIMALS)


def _tallies(ranked: Verdicts) -> dict[str, dict[str, int]]:
    """System → how often each outcome was its own, and on how many questions it was compared."""
    frame = ranked.frame
    own = {FIRST: "wins", SECOND: "losses", TIE: "ties", BOTH_BAD: "both_bad"}
    others = own | {FIRST: "losses", SECOND: "wins"}
    rows = pd.concat(
        pd.DataFrame(
            {
                "system": frame[side],
                "question": frame["question"],
                "was": frame["outcome"].map(names),
            }
        )
        for side, names in ((FIRST, own), (SECOND, others))
    )
    counts = pd.crosstab(rows["system"], rows["was"])
    counts = counts.reindex(columns=list(own.values()), fill_value=0)
    counts = counts.assign(n_questions=rows.groupby("system")["question"].nunique())
    return {str(name): row for name, row in counts.to_dict("index").items()}


def _both_bad(verdicts: Verdicts, confidence: float, n_resamples: int, seed: int) -> Estimate:
    said = (verdicts.frame["outcome"] == BOTH_BAD).astype(float)
    return clustered_mean(
        verdicts.frame["question"].tolist(),
        said.tolist(),
        [1] * len(said),
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
    )
