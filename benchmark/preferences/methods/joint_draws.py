"""Two figures of the same systems in the same resamples: do they rank the systems alike?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.preferences.methods.contradictions import (
    Contradictions,
    contradicting_systems,
    contradiction_shares,
)
from cqa_site.stats.correlation import NAMES, in_chunks
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import UndefinedIntervalError, percentile_interval
from cqa_site.stats.ranks.system_correlation import FEW_SYSTEMS, LEAST_SYSTEMS, NO_SPREAD
from cqa_site.stats.ratings import FloatArray
from cqa_site.stats.weighted_correlation import Correlation, weighted_correlations

LEAST_QUESTIONS = 3
FEW_QUESTIONS = f"fewer than {LEAST_QUESTIONS} questions have a score of every system"
ONE_SYSTEM = "fewer than 2 systems have both a strength and scores"
EVEN = "no pair of systems is decided by both"
QUESTIONS = "question bootstrap by fractional weights, the same for both, percentile"
SYSTEMS = "systems and question bootstrap by fractional weights, the same for both, percentile"


@dataclass(frozen=True, eq=False)
class JointDraws:
    """Log strength and mean score of each system, and both in each resample.

    Attributes
    ----------
    own, means : shape (n_systems,)
    strength_draws, mean_draws : shape (n_resamples, n_systems)
        NaN where a resample leaves them undefined; without rows where nothing is compared.
    n_questions
        Behind the mean scores.
    reason
        Why there are no log strengths.
    """

    systems: tuple[str, ...]
    own: FloatArray
    means: FloatArray
    strength_draws: FloatArray
    mean_draws: FloatArray
    n_questions: int
    confidence: float
    n_resamples: int
    seed: int
    reason: str | None = None

    def correlation(self, kind: Correlation, *, draw_systems: bool) -> Estimate:
        """Rank correlation of the two; its interval resamples questions, or systems as well."""
        about = self._about(f"{NAMES[kind]} of two rankings of systems")
        reason = self._why_undefined(LEAST_SYSTEMS, FEW_SYSTEMS)
        if reason is not None:
            return Estimate(value=None, reason=reason, **about)
        ones = np.ones((1, len(self.systems)))
        value = float(weighted_correlations(kind, self.own, self.means, ones)[0])
        if np.isnan(value):
            return Estimate(value=None, reason=NO_SPREAD, **about)
        values = self._correlations(kind, draw_systems=draw_systems)
        return self._with_interval(value, values, SYSTEMS if draw_systems else QUESTIONS, about)

    def contradictions(self) -> Contradictions:
        """Pairs of systems on which the two disagree; the interval resamples questions."""
        about = self._about("share of pairs of systems that contradict")
        reason = self._why_undefined(2, ONE_SYSTEM)
        if reason is not None:
            share = Estimate(value=None, reason=reason, **about)
            return Contradictions(share=share, n_decided=0, n_contradicting=0, n_even=0)
        pairs, n_even = contradicting_systems(self.systems, self.own, self.means)
        value = float(contradiction_shares(self.own[None], self.means[None])[0])
        if np.isnan(value):
            share = Estimate(value=None, reason=EVEN, **about)
        else:
            values = contradiction_shares(self.strength_draws, self.mean_draws)
            share = self._with_interval(value, values, QUESTIONS, about)
        n = len(self.systems) * (len(self.systems) - 1) // 2
        return Contradictions(
            share=share,
            n_decided=n - n_even,
            n_contradicting=len(pairs),
            n_even=n_even,
            pairs=pairs,
        )

    def _why_undefined(self, least: int, too_few: str) -> str | None:
        if self.reason is not None:
            return self.reason
        if len(self.systems) < least:
            return too_few
        return FEW_QUESTIONS if self.n_questions < LEAST_QUESTIONS else None

    def _correlations(self, kind: Correlation, *, draw_systems: bool) -> FloatArray:
        n = len(self.systems)
        drawn_both = self.strength_draws + self.mean_draws
        known: np.ndarray = np.logical_not(np.isnan(drawn_both).any(axis=1))
        drawn = np.ones((len(known), n))
        if draw_systems:
            generator = np.random.default_rng([self.seed, n])
            drawn = generator.multinomial(n, np.full(n, 1 / n), size=len(known)).astype(float)
        values = np.full(len(known), np.nan)
        stacked = np.hstack([self.strength_draws, self.mean_draws, drawn])[known]
        if len(stacked):
            values[known] = in_chunks(
                lambda rows: weighted_correlations(
                    kind, rows[:, :n], rows[:, n : 2 * n], rows[:, 2 * n :]
                ),
                stacked,
                n**2,
            )
        return values

    def _with_interval(
        self, value: float, values: FloatArray, how: str, about: dict[str, Any]
    ) -> Estimate:
        try:
            low, high = percentile_interval(values, self.confidence)
        except UndefinedIntervalError as error:
            return Estimate(value=value, reason=str(error), **about)
        interval = f"{how}, {self.n_resamples} resamples, seed {self.seed}"
        return Estimate(value=value, low=low, high=high, interval=interval, **about)

    def _about(self, statistic: str) -> dict[str, Any]:
        return {
            "statistic": statistic,
            "recipe": "log strengths and mean scores of the same systems; mean scores over the "
            "questions that all of them share",
            "confidence": self.confidence,
            "n_items": len(self.systems),
            "n_pairable_items": len(self.systems),
            "n_raters": 2,
            "n_values": 2 * len(self.systems),
        }
