"""Scores of a set of summaries from the similarity of each with each reference.

Source: argument summarization paper, section 3.4, equations 1–3; Li et al. (2023) for the soft
scores and Khosravani et al. (2024) for the coverage score. Higher is better.
"""

from dataclasses import dataclass

import numpy as np

from cqa_site.stats.arrays import FloatArray


@dataclass(frozen=True)
class SoftScores:
    """Of one set of summaries, in the unit of the similarity.

    `f1` is the harmonic mean; None where precision and recall have different signs.
    """

    precision: float
    recall: float
    f1: float | None


def soft_scores(similarity: FloatArray) -> SoftScores:
    """How well each summary is met by its best reference, and each reference by its best summary.

    Parameters
    ----------
    similarity : float array, shape (references, summaries)
        In any unit; higher is more alike.

    Returns
    -------
    SoftScores
        Precision is the mean over summaries, recall over references.

    Raises
    ------
    ValueError
        Without references or without summaries.

    Examples
    --------
    >>> found = soft_scores(np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.4]]))
    >>> round(found.precision, 2), round(found.recall, 2), round(found.f1, 4)
    (0.7, 0.85, 0.7677)
    """
    _check(similarity)
    precision = float(similarity.max(axis=0).mean())
    recall = float(similarity.max(axis=1).mean())
    return SoftScores(precision, recall, _harmonic(precision, recall))


def coverage_score(similarity: FloatArray, threshold: float) -> float:
    """Share of references that some summary matches with a score above the threshold.

    Parameters
    ----------
    similarity : float array, shape (references, summaries)
        Match scores.
    threshold
        Strict: a score equal to it is no match.

    Raises
    ------
    ValueError
        Without references or without summaries.

    Examples
    --------
    >>> coverage_score(np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.4]]), 0.8)
    0.5
    """
    _check(similarity)
    return float((similarity > threshold).any(axis=1).mean())


def _harmonic(precision: float, recall: float) -> float | None:
    # Similarities may be logarithms, below 0 all of them; the mean of two such is one.
    if precision * recall < 0:
        return None
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def _check(similarity: FloatArray) -> None:
    if similarity.ndim != 2 or not similarity.size:
        raise ValueError("A set is scored by at least one reference and one summary.")
    if not np.isfinite(similarity).all():
        raise ValueError("A similarity is not a finite number.")
