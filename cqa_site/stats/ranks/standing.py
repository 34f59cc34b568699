"""One system on a board that says how sure it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One system on the board; figures over the common questions.

    Attributes
    ----------
    system
        Its name.
    mean, low, high
        Mean score in points and its interval; None where the board gives a reason.
    rank, rank_low, rank_high
        1 is best, equal means share a rank; and the range over the resamples.
    p_best
        Share of resamples in which it has the highest mean (shared if several do), 0 to 1.
    tie_group
        1, 2, ...: not separable from the top of that group.
    n_questions
        Questions with a score of this system, common or not.
    """

    system: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    p_best: float | None = None
    tie_group: int | None = None
    n_questions: int
