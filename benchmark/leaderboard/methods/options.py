"""Options of a leaderboard. Imports nothing, so that pages can name the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# All people are one judge of a board; each model is its own.
PEOPLE = "people"
PEOPLE_KINDS = ("person", "expert", "reference")
TOTAL = "total"
# What a board of this version means stands in `benchmark.leaderboard.methods.board`.
VERSION = 3


@dataclass(frozen=True, kw_only=True)
class BoardOptions:
    """Which figures are computed, and how.

    Attributes
    ----------
    column
        "total", the key of a group, or the key of a criterion.
    maximum
        Most points that column can hold.
    parts
        Columns shown beside it (groups and criteria) with their maxima.
    criteria
        Total and groups → keys of the criteria that they are the sum of.
    confidence
        Of intervals over questions.
    least_coverage
        Share of the asked answers that have to be scored for a rank.
    least_questions
        A cell with fewer scored questions is thin: in no mean of a system, and no reason to
        compare systems on its scenario.
    draws
        Scoring round (key of its row) → how its answers were drawn: ``drawn``, ``known``
        (how many have a probability) and ``stands_for`` (sum of 1 / probability).
    is_part
        Whether only some of the sheets are shown, so that draws stand for more than those.
    version
        Of the methods; an earlier one on boards that were frozen by it.
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
