"""Options of a leaderboard, without heavy imports so that pages can use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# All people together are one judge of a board; each model is a separate judge.
PEOPLE = "people"
PEOPLE_KINDS = ("person", "expert", "reference")
TOTAL = "total"
# Version of a board's methods, described in `benchmark.leaderboard.methods.board`.
VERSION = 3


@dataclass(frozen=True, kw_only=True)
class BoardOptions:
    """Options for the figures of a leaderboard.

    Attributes
    ----------
    column
        "total", the key of a group, or the key of a criterion.
    maximum
        Maximum points of the column.
    parts
        Further columns (groups and criteria) with their maxima.
    criteria
        Total or group → keys of its criteria.
    confidence
        Confidence level of intervals over questions.
    least_coverage
        Share of the requested answers that must be scored for a rank.
    least_questions
        A cell with fewer scored questions is thin. It is left out of means and does not affect
        the choice of compared scenarios.
    draws
        Scoring round (primary key) → draw of its answers: ``drawn``, ``known`` (number with a
        probability) and ``stands_for`` (sum of 1 / probability).
    is_part
        Whether only some of the sheets are shown, so that draws represent more answers than those
        shown.
    version
        Version of the methods; boards that were frozen earlier have an earlier version.
    """

    column: str = TOTAL
    maximum: float
    parts: Mapping[str, float] = field(default_factory=dict)
    criteria: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    confidence: float = 0.95
    least_coverage: float = 0.8
    least_questions: int = 3
    draws: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    is_part: bool = False
    version: int = VERSION
