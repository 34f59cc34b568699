"""One system on a board that says how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from cqa_site.stats.as_json import ONLY_IF_KNOWN


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
        1 is best, equal means share a rank; and the ranks that the tests of pairs leave: one more
        than the systems shown above it, up to all but those shown below it.
    tie_group
        1, 2, ...: no two systems of a group can be told apart.
    p_best
        Of boards before version 3: share of resamples in which it has the highest mean.
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
    tie_group: int | None = None
    p_best: float | None = field(default=None, metadata=ONLY_IF_KNOWN)
    n_questions: int
