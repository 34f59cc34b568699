"""Contents of a stored leaderboard, without heavy imports so that pages can use them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from benchmark.leaderboard.methods.options import BoardOptions
from cqa_site.stats.estimate import BoundedMean, Standing, from_json, to_json
from cqa_site.stats.verdicts import RULES

# More digits differ between machines and are not meaningful.
DECIMALS = 9
# Larger numbers of questions are not realistic.
MOST_NEEDED = 100_000
# Fields that only boards of version 2 have, and their claims about systems without a test.
RESAMPLING = ("n_resamples", "seed")
UNTESTED = ("p_best", "rank_low", "rank_high", "tie_group")


class Mean(NamedTuple):
    """Mean over ``n`` answers with its interval; None if unknown."""

    mean: float | None
    n: int
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        """The mean, under the name that tables use for all figures."""
        return self.mean


class Cost(NamedTuple):
    """Mean cost in millionths and mean seconds over ``n`` answers or sheets; None if unknown."""

    micro: float | None
    seconds: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Costs of writing an answer by system, and of scoring it by judge."""

    systems: tuple[Cost, ...]
    judges: dict[str, Cost]


@dataclass(frozen=True, kw_only=True)
class BoardCounts:
    """Counts of the whole table."""

    sheets: int
    unscored: int
    answers: int
    questions: int


@dataclass(frozen=True, kw_only=True)
class BoardJudge:
    """A judge; the name of people is empty. ``reasons`` counts the reasons for unscored sheets."""

    key: str
    name: str
    kind: str
    raters: int
    sheets: int
    asked: int
    answers: int
    unscored: int
    reasons: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class BoardSystem:
    """A system that wrote answers, with their mean length."""

    id: str
    name: str
    kind: str
    model: str
    characters: float


@dataclass(frozen=True, kw_only=True)
class BoardQuestion:
    """A question of the board."""

    id: str
    object1: str
    object2: str
    aspect: str


@dataclass(frozen=True, kw_only=True)
class CommonScores:
    """Compared scores; ``values`` has one row per question and one column per system."""

    systems: tuple[int, ...]
    questions: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class CellCondition:
    """A condition under which a system has answers in one scenario.

    ``n_questions`` is the number of questions with a complete sheet; ``is_shown`` is True if the
    figures cover these answers.
    """

    system: int
    scenario: int
    id: str
    name: str
    is_plain: bool
    n_questions: int
    is_shown: bool


@dataclass(frozen=True, kw_only=True)
class ScoreCell(BoundedMean):
    """Figures of one system, scenario and judge.

    Attributes
    ----------
    judge, system, scenario
        Key of the judge, position of the system, number of the scenario.
    mean, low, high
        Mean over questions and its interval; if None, see ``reason``.
    sd
        Standard deviation over answers, ddof 1, as in the CompQA paper; not usable for intervals.
    n_answers, n_questions
        Counts of answers and questions with a score.
    asked
        Number of requested answers, including unscored answers.
    unscored
        Number of sheets without a value.
    worst, best
        The mean if all unscored answers had no points, or all points.
    is_low
        Whether too few of the requested answers have a score.
    is_thin
        Whether some questions have a score, but fewer than a mean needs. Such cells are shown
        separately and are not part of any mean.
    """

    judge: str
    system: int
    scenario: int
    sd: float | None
    n_answers: int
    n_questions: int
    asked: int
    unscored: int
    coverage: float
    worst: float
    best: float
    is_low: bool
    is_thin: bool
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class StandingRow(BoundedMean):
    """Figures of one system and judge.

    Attributes
    ----------
    mean, low, high
        For a ranked system, the mean over the common questions and the compared scenarios, so that
        differences between means match the differences in `SystemPairs`. For other systems, the
        mean over their own questions, in the compared scenarios if possible; it cannot be compared
        with other means.
    is_common
        Whether the mean is over the common questions.
    scenarios
        Scenarios of the mean; empty if there is no mean.
    n_used
        Number of questions in the mean.
    reason
        Reason for a missing mean or interval.
    n_answers, n_questions, asked, unscored
        Counts over all of its cells: scored answers and their questions, requested answers, and
        sheets without a value.
    is_low
        Whether the system has no rank because too few of the requested answers have a score.
    """

    judge: str
    system: int
    is_common: bool
    scenarios: tuple[int, ...]
    n_used: int
    reason: str | None = None
    n_answers: int
    n_questions: int
    asked: int
    unscored: int
    coverage: float
    is_low: bool


@dataclass(frozen=True, kw_only=True)
class RankedPair(BoundedMean):
    """The positions of two systems, and their `cqa_site.stats.means.PairDifference` in points."""

    first: int
    second: int
    p: float
    p_holm: float
    detectable: float | None


@dataclass(frozen=True, kw_only=True)
class SystemPairs:
    """All pairs of ranked systems, as columns of equal length, in the order of the board.

    The columns are those of `RankedPair`.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    p: tuple[float, ...]
    p_holm: tuple[float, ...]
    detectable: tuple[float | None, ...]

    def rows(self) -> list[RankedPair]:
        columns = vars(self)
        return [
            RankedPair(**dict(zip(columns, row, strict=True)))
            for row in zip(*columns.values(), strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class JudgeRanking:
    """Ranking by one judge.

    Attributes
    ----------
    scenarios
        Scenarios in which systems are compared; for systems without scenarios, their own answers
        count.
    standings
        Standings of the ranked systems, best first; ``system`` is the position as text.
    unranked
        Position of a system → reason for its missing rank.
    n_common, n_questions
        Number of questions that all ranked systems share; number of questions with any score.
    detectable
        Smallest difference between two systems that these questions can detect at a power of .8.
    reason
        Reason why no system is ranked.
    common
        Positions of the common questions.
    """

    judge: str
    scenarios: tuple[int, ...]
    standings: tuple[Standing, ...]
    unranked: dict[int, str]
    pairs: SystemPairs
    n_common: int
    n_questions: int
    detectable: float | None
    interval: str
    reason: str | None
    common: tuple[int, ...]

    def standing(self, system: int) -> Standing | None:
        """Return the standing of a system; None if it has no rank."""
        match = {candidate.system: candidate for candidate in self.standings}.get(str(system))
        return match if match and match.rank is not None else None

    def told_apart(self, confidence: float) -> set[tuple[int, int]]:
        """Return positions of pairs that the corrected tests separate, the better system first."""
        if not RULES["leader"].allows(self.n_common):
            return set()
        pairs = zip(self.pairs.first, self.pairs.second, self.pairs.p_holm, strict=True)
        return {(first, second) for first, second, p in pairs if p < 1 - confidence}

    def questions_needed(self, place: int) -> int | None:
        """Return how many common questions would show a pair's difference at a power of .8.

        With that number, the detectable difference is at most the observed difference, because the
        detectable difference falls at least as fast as the inverse square root of the number.
        """
        detectable, mean = self.pairs.detectable[place], abs(self.pairs.mean[place])
        if not detectable or not mean:
            return None
        needed = math.ceil(self.n_common * (detectable / mean) ** 2)
        return needed if needed <= MOST_NEEDED else None

    def top(self, confidence: float) -> tuple[list[Standing], list[Standing]]:
        """Return the top systems, and those that the tests do not separate from all top systems.

        The top systems share the highest mean.
        """
        ranked = [standing for standing in self.standings if standing.rank is not None]
        best = [standing for standing in ranked if standing.rank == 1]
        apart = self.told_apart(confidence)
        return best, [
            standing
            for standing in ranked[len(best) :]
            if not all((int(leader.system), int(standing.system)) in apart for leader in best)
        ]


@dataclass(frozen=True, kw_only=True)
class LengthSlope:
    """Change of points with length, for one judge.

    Attributes
    ----------
    slope, low, high
        Additional points per 100 characters, among answers to the same question under the same
        scenario; Student's t interval over questions.
    within_systems
        The same slope with systems as fixed effects: the effect of length within one system.
    means, bounds
        Position of a system → its mean if its answers had average length, and the interval:
        Student's t from each question's contribution to the mean and the slope (a sandwich
        estimate with questions as clusters).
    n_answers, n_questions
        Counts of answers and questions with a score.
    reason
        Reason for a missing slope.
    """

    judge: str
    slope: float | None = None
    low: float | None = None
    high: float | None = None
    within_systems: float | None = None
    means: dict[int, float]
    bounds: dict[int, tuple[float, float]] = field(default_factory=dict)
    n_answers: int
    n_questions: int
    reason: str | None = None

    @property
    def value(self) -> float | None:
        """The slope, under the name that tables use for all figures."""
        return self.slope


@dataclass(frozen=True, kw_only=True)
class CalibratedStanding(BoundedMean):
    """A system's mean calibrated with one judge's help, or the reason why it is missing.

    Attributes
    ----------
    mean, low, high
        Averages over the system's scenarios. Averaging the bounds assumes that the errors of
        scenarios are fully correlated, so the interval is too wide rather than too narrow.
    n_both
        Number of answers scored by both people and the judge.
    to_halve
        Number of further answers that people must score to halve the width of the interval.
    """

    judge: str
    system: int
    n_both: int = 0
    to_halve: int | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class HumanComparison:
    """Means of people and one judge over the same answers of a system and scenario.

    ``people`` and ``value`` are means over the ``n`` answers that both scored.
    """

    judge: str
    system: int
    scenario: int
    people: float
    value: float
    n: int


@dataclass(frozen=True, kw_only=True)
class PaperCell:
    """One system and scenario for one judge: mean and sd (ddof 1) over ``n`` sheets.

    ``dropped`` sheets lack a criterion and are left out; ``off_scale`` of the ``n`` sheets have
    points outside the rubric's scale.
    """

    judge: str
    system: int
    scenario: int
    mean: float | None
    sd: float | None
    n: int
    dropped: int
    off_scale: int


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """One system for one judge: mean of scenario means ± mean of their sds, over ``n`` sheets."""

    judge: str
    system: int
    mean: float | None
    sd: float | None
    cells: int
    n: int


@dataclass(frozen=True, kw_only=True)
class PaperRecipe:
    """Cells and rows computed as in the paper, sorted by judge, system, scenario.

    ``has_given`` is True if points outside the scale were available.
    """

    cells: tuple[PaperCell, ...]
    rows: tuple[PaperRow, ...]
    has_given: bool


@dataclass(frozen=True, kw_only=True)
class ScoreBoard:
    """All figures of a leaderboard; positions of systems refer to ``systems``.

    Attributes
    ----------
    options
        Options of the computation.
    judges, systems, questions
        Judges, systems and questions of the board, with ids, names and counts.
    conditions
        Shown and other conditions of each cell.
    cells, rows
        One cell for each judge, system and scenario; one row for each judge and system.
    rankings, lengths
        One ranking and one length effect for each judge.
    calibrated, why_not_calibrated
        One calibrated mean for each model judge and system, and a reason if all are missing.
    parts, profile, distributions
        By judge: means of groups and criteria, means of scenarios, counts of points by system.
    paper
        Cells and rows computed as in the CompQA paper.
    beside
        Means of people and judges on the same answers.
    costs
        Costs of answers and sheets, if known.
    scores
        Judge → compared scores.
    """

    options: BoardOptions
    counts: BoardCounts
    judges: tuple[BoardJudge, ...]
    systems: tuple[BoardSystem, ...]
    scenarios: tuple[int, ...]
    questions: tuple[BoardQuestion, ...]
    conditions: tuple[CellCondition, ...]
    cells: tuple[ScoreCell, ...]
    rows: tuple[StandingRow, ...]
    rankings: tuple[JudgeRanking, ...]
    lengths: tuple[LengthSlope, ...]
    calibrated: tuple[CalibratedStanding, ...]
    why_not_calibrated: str | None
    parts: dict[str, dict[str, tuple[Mean, ...]]]
    profile: dict[str, tuple[Mean, ...]]
    distributions: dict[str, tuple[tuple[int, ...], ...]]
    beside: tuple[HumanComparison, ...]
    paper: PaperRecipe
    costs: Costs
    scores: dict[str, CommonScores]

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ScoreBoard:
        """Read the result of `as_dict`, including version 2; raises `StoredError`."""
        content = dict(stored)
        version = content.pop("version")
        if version == 2:
            content = _of_version_2(content)
        content["options"] = {**content["options"], "version": version}
        return from_json(cls, content)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without NaN and with floats rounded to `DECIMALS`."""
        options = asdict(self.options)
        version = options.pop("version")
        return {"version": version, **to_json({**vars(self), "options": options}, DECIMALS)}


def _of_version_2(board: Mapping[str, Any]) -> dict[str, Any]:
    """Return a board of version 2 without its bootstrap settings and untested claims."""
    options = {key: value for key, value in board["options"].items() if key not in RESAMPLING}
    rankings = [
        {
            **ranking,
            "detectable": None,
            "pairs": {**ranking["pairs"], "detectable": [None] * len(ranking["pairs"]["first"])},
            "standings": [
                {key: value for key, value in standing.items() if key not in UNTESTED}
                for standing in ranking["standings"]
            ],
        }
        for ranking in board["rankings"]
    ]
    return {**board, "options": options, "rankings": rankings}
