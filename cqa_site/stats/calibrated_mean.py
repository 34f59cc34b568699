"""Mean human score, estimated from a judge's scores and human scores for a random sample.

The judge's mean is corrected by the difference between human and judge scores on the items that
have both. Whatever the judge's error, the interval is valid if the labelled items were drawn with
known probabilities; with an uninformative judge, it is merely as wide as an interval from human
scores alone.

Source: Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference,
section 2 and the power tuning of section 6; weights as in survey sampling (Horvitz and
Thompson 1952).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.estimate import Estimate, check_confidence
from cqa_site.stats.intervals import reaches

LEAST_LABELLED = 10
NO_PROBABILITIES = (
    "the labelled items were not drawn with known probabilities, so the judge's error on them "
    "does not reliably show its error on the others"
)
TOO_FEW_LABELLED = f"fewer than {LEAST_LABELLED} items have a human score"
TOO_FEW_OTHERS = "fewer than 2 items lack a human score; take the plain mean of the human scores"
Recipe = Literal["corrected", "published"]
INTERVALS = {
    "corrected": "Student's t corrected for skewness, from the judge and the corrections",
    "published": "normal, from the spread of the judge and of the corrections",
}


@dataclass(frozen=True, kw_only=True)
class CalibratedMean:
    """A mean of human scores, estimated with a judge's help.

    Attributes
    ----------
    estimate
        The calibrated mean; ``n_pairable_items`` counts the items with both scores.
    human_only
        Weighted mean of the human scores alone, to show the judge's contribution.
    judge_mean
        Unweighted mean of the judge's scores on all items; None if there are no scores.
    tuning
        Lambda, the weight of the judge, from 0 (not used) to 1 (fully used).
    labels_to_halve
        Number of the other items that people would have to score for an interval half as wide.
        None if scoring all of them would not be enough. Also None with clusters, because the
        choice of items then matters, too.
    """

    estimate: Estimate
    human_only: Estimate
    judge_mean: float | None = None
    tuning: float | None = None
    labels_to_halve: int | None = None


def calibrated_mean(
    judge: Sequence[float],
    human: Sequence[float],
    probabilities: float | Sequence[float] | None,
    *,
    clusters: Sequence[int] | None = None,
    recipe: Recipe = "corrected",
    confidence: float = 0.95,
) -> CalibratedMean:
    """Compute the prediction-powered mean with a tuned lambda.

    Parameters
    ----------
    judge : length n
        The judge's scores for all items; unscored items (NaN) are dropped and counted.
        Items are independent units unless ``clusters`` groups them.
    human : length n
        Human scores for the items drawn for labelling, otherwise NaN.
    probabilities
        Probability that each item is drawn, strictly between 0 and 1: one number for all items, or
        one for each item.
    clusters : length n, optional
        Group of each item, for example the question of an answer; the interval is then about as
        wide as an interval from as many independent units as there are clusters. Every item has
        the same weight, so the weight of a cluster is its size. At least `LEAST_LABELLED` clusters
        must contain a labelled item.
    recipe : {"corrected", "published"}
        Method for the interval; see the notes.
    confidence
        Nominal coverage.

    Returns
    -------
    CalibratedMean
        Undefined with fewer than `LEAST_LABELLED` labelled items, or if all items are labelled.

    Raises
    ------
    ValueError
        If probabilities are missing or out of range, lengths differ, or the recipe is unknown.

    Notes
    -----
    ``mean(w y) + lambda (mean(v f') - mean(w f))`` where y and f are the human and judge scores
    for labelled items, and f' the judge scores for the others. With the weights ``w = 1 / p`` and
    ``v = 1 / (1 - p)``, scaled to mean 1, each part represents all items.
    ``lambda = cov(w y, w f) / ((1 + n/N) var(f, f'))``, clipped to 0..1; 0 for a constant judge.
    Variance: ``lambda² var(v f') / N + var(w (y - lambda f)) / n``, where scores are deviations
    from their weighted mean, because weights scaled by their sum make the mean a ratio.

    The published recipe divides by n and uses normal quantiles; with equal probabilities it agrees
    with ppi-python 0.2.3 to within 1e-9 (20 random draws). That package does not centre weighted
    scores, so its intervals for weighted scores contained the truth in .926 to .9995 of simulated
    draws. The corrected recipe divides by n - 2, because lambda is estimated as well, and uses t
    quantiles with n - 2 degrees of freedom, where n is the effective number
    ``sum(w)² / sum(w²)``. It also extends the interval towards the side to which the
    contributions of single items are skewed (`cqa_site.stats.intervals`).

    `python -m benchmarks.verdicts --only calibrated` reports how often the interval contains the
    truth with at least `LEAST_LABELLED` labels. With 15 labels and probabilities that differ
    fourfold, intervals are too narrow (.92).

    With clusters, the variance is the sum over clusters of the squared sum of the contributions
    of their items, labelled or not, to the mean; with one item per cluster, it is the same as
    without clusters.
    """
    check_confidence(confidence)
    if recipe not in INTERVALS:
        raise ValueError(f"the recipe must be one of {', '.join(INTERVALS)}, not {recipe!r}")
    scores, labels, chance = _read(judge, human, probabilities)
    shared = None if clusters is None else np.asarray(clusters)
    if shared is not None and shared.shape != scores.shape:
        raise ValueError("clusters must have one entry for each item")
    known = ~np.isnan(scores)
    n_dropped = int((~known).sum())
    scores, labels, chance = scores[known], labels[known], chance[known]
    shared = None if shared is None else np.unique(shared[known], return_inverse=True)[1]
    labelled = ~np.isnan(labels)
    about: dict[str, Any] = {
        "confidence": confidence,
        "n_items": len(known),
        "n_pairable_items": int(labelled.sum()),
        "n_raters": 2,
        "n_values": len(scores) + int(labelled.sum()),
        "n_dropped_items": n_dropped,
    }
    description: dict[str, Any] = {
        "statistic": "prediction-powered mean",
        "recipe": "judge's mean corrected by human minus judge on labelled items; items without "
        "a score of the judge are dropped",
    }
    alone: dict[str, Any] = {
        "statistic": "mean of human scores",
        "recipe": "labelled items, weighted by 1 / p",
    }
    judge_mean = float(scores.mean()) if len(scores) else None
    reason = _why_undefined(labelled, shared)
    if reason is not None:
        return CalibratedMean(
            estimate=Estimate(value=None, reason=reason, **description, **about),
            human_only=Estimate(value=None, reason=reason, **alone, **about),
            judge_mean=judge_mean,
        )
    parts = _Parts.of(scores, labels, chance, labelled, shared)
    tuning = parts.tuning()
    return CalibratedMean(
        estimate=parts.estimate(tuning, recipe, description | about),
        human_only=parts.estimate(0.0, recipe, alone | about),
        judge_mean=judge_mean,
        tuning=tuning,
        labels_to_halve=None if shared is not None else parts.labels_to_halve(tuning),
    )


@dataclass(frozen=True, eq=False)
class _Parts:
    """Weighted scores of labelled items (y, f) and other items (rest); raw scores for tuning."""

    y: FloatArray
    f: FloatArray
    rest: FloatArray
    w: FloatArray
    v: FloatArray
    of_labelled: Any = None
    of_rest: Any = None

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        labels: FloatArray,
        chance: FloatArray,
        labelled: Any,
        clusters: Any,
    ) -> _Parts:
        w, v = 1 / chance[labelled], 1 / (1 - chance[~labelled])
        return cls(
            labels[labelled],
            scores[labelled],
            scores[~labelled],
            w / w.mean(),
            v / v.mean(),
            None if clusters is None else clusters[labelled],
            None if clusters is None else clusters[~labelled],
        )

    def tuning(self) -> float:
        """Return the lambda with the smallest variance, using deviations from the untuned mean."""
        n, others = len(self.y), len(self.rest)
        centre = self._mean(1.0)
        y, f = self.w * (self.y - centre), self.w * (self.f - centre)
        judged = np.concatenate([f, self.v * (self.rest - centre)])
        spread = (1 + n / others) * float(judged.var(ddof=1))
        if np.ptp(np.concatenate([self.f, self.rest])) == 0:
            return 0.0
        shared = float(((y - y.mean()) * (f - f.mean())).mean())
        return float(np.clip(shared / spread, 0.0, 1.0))

    def estimate(self, tuning: float, recipe: Recipe, about: dict[str, Any]) -> Estimate:
        n, (rest, own) = len(self.y), self._variances(tuning)
        mean, upto = self._mean(tuning), (1 + about["confidence"]) / 2
        quantile = float(special.ndtri(upto))
        if recipe != "published":
            estimated = 1 if tuning == 0 else 2
            effective = float(self.w.sum() ** 2 / (self.w**2).sum())
            if self.of_labelled is not None:
                effective = min(effective, float(len(np.unique(self.of_labelled))))
            own *= n / (n - estimated)
            quantile = float(special.stdtrit(max(effective - estimated, 1.0), upto))
        squared = rest / len(self.rest) + own / n
        added = self._added(tuning, 1 if recipe == "published" else n / (n - estimated))
        if self.of_labelled is not None:
            squared = float((added**2).sum())
        error = squared**0.5
        if error == 0:
            reason = "the scores do not vary, so there is no spread"
            return Estimate(value=mean, reason=reason, **about)
        pull = (added**3).sum() / (added**2).sum() ** 1.5 if recipe == "corrected" else 0.0
        down, up = reaches(quantile, np.array([pull]))
        return Estimate(
            value=mean,
            low=mean - float(down[0]) * error,
            high=mean + float(up[0]) * error,
            interval=INTERVALS[recipe],
            **about,
        )

    def _added(self, tuning: float, correction: float) -> FloatArray:
        """Return each item's contribution to the mean, or each cluster's if there are clusters."""
        rest, own = tuning * self.rest, self.y - tuning * self.f
        labelled = self.w * (own - (self.w * own).mean()) / len(own) * correction**0.5
        others = self.v * (rest - (self.v * rest).mean()) / len(rest)
        if self.of_labelled is None:
            return np.concatenate([labelled, others])
        n = 1 + max(self.of_labelled.max(initial=0), self.of_rest.max(initial=0))
        added = np.bincount(self.of_labelled, weights=labelled, minlength=n)
        added = added + np.bincount(self.of_rest, weights=others, minlength=n)
        return np.asarray(added, dtype=np.float64)

    def labels_to_halve(self, tuning: float) -> int | None:
        """Return how many more labels would halve the standard error, with lambda retuned.

        With the best lambda, the variance is ``unexplained / n + explained / (n + N)``: the part
        that the judge explains is known from all items, the rest only from labelled items.
        """
        n, others = len(self.y), len(self.rest)
        explained = (tuning * (1 + n / others)) ** 2 * self._variances(1.0)[0]
        unexplained = max(self._variances(0.0)[1] - explained, 0.0)
        rest, own = self._variances(tuning)
        room = (rest / others + own / n) / 4 - explained / (n + others)
        if room <= 0 or unexplained / room > n + others:
            return None
        return max(math.ceil(unexplained / room) - n, 1)

    def _mean(self, tuning: float) -> float:
        labelled = (self.w * (self.y - tuning * self.f)).mean()
        return float(tuning * (self.v * self.rest).mean() + labelled)

    def _variances(self, tuning: float) -> tuple[float, float]:
        """Return the variances (ddof 0) contributed by an unlabelled and by a labelled item."""
        rest, own = tuning * self.rest, self.y - tuning * self.f
        return (
            float((self.v * (rest - (self.v * rest).mean())).var()),
            float((self.w * (own - (self.w * own).mean())).var()),
        )


def _read(
    judge: Sequence[float], human: Sequence[float], probabilities: float | Sequence[float] | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    if probabilities is None:
        raise ValueError(NO_PROBABILITIES)
    scores, labels = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
    if scores.shape != labels.shape or scores.ndim != 1:
        raise ValueError("judge and human must have one score or gap for each item")
    chance = np.asarray(probabilities, dtype=float)
    if chance.ndim and chance.shape != scores.shape:
        raise ValueError("probabilities must be one number, or one for each item")
    if not ((chance > 0) & (chance < 1)).all():
        raise ValueError("an inclusion probability must be strictly between 0 and 1")
    return scores, labels, np.broadcast_to(chance, scores.shape)


def _why_undefined(labelled: Any, clusters: Any) -> str | None:
    n = labelled.sum() if clusters is None else len(np.unique(clusters[labelled]))
    if n < LEAST_LABELLED:
        return TOO_FEW_LABELLED
    return TOO_FEW_OTHERS if (~labelled).sum() < 2 else None
