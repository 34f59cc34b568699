"""Leaderboards of scores: leaders, rank ranges, groups, intervals, and detectable differences."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmark.leaderboard.methods.data import mean_intervals
from benchmark.leaderboard.methods.figures import JudgeRanking
from benchmark.leaderboard.methods.options import BoardOptions
from benchmark.leaderboard.methods.parts import length_slope
from benchmark.leaderboard.methods.ranks import Ground, rank_by_judge
from benchmarks.verdicts.simulating import Simulation, Study
from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.calibrated_mean import calibrated_mean
from cqa_site.stats.ranking import within_and_across

Generator = np.random.Generator
# Scores of systems (columns) on n questions (rows).
Draw = Callable[[int, Generator], FloatArray]
OPTIONS = BoardOptions(maximum=19.0, least_questions=5)
SIZES = (10, 20, 60)
MANY = 400_000


def points(latent: FloatArray) -> FloatArray:
    """Return whole points from 0 to 19."""
    return np.clip(np.round(latent), 0, 19)


def alike(n_systems: int, centre: float = 16.0) -> Draw:
    """Equally good systems; hard questions are hard for all, and many reach the maximum."""

    def draw(n: int, generator: Generator) -> FloatArray:
        hard = 2 * generator.normal(size=(n, 1))
        return points(centre + hard + 2 * generator.normal(size=(n, n_systems)))

    return draw


def criterion(n_systems: int, share: float) -> Draw:
    """A criterion that all systems meet equally often, with a shared effect of each question."""

    def draw(n: int, generator: Generator) -> FloatArray:
        suits = generator.normal(size=(n, 1))
        own = generator.normal(size=(n, n_systems))
        return ((suits + own) / 2**0.5 > _threshold(share)).astype(float)

    return draw


@cache
def _threshold(share: float) -> float:
    from scipy import special

    return float(special.ndtri(1 - share))


def unsteady(n: int, generator: Generator) -> FloatArray:
    """Three systems with equal means: two vary up to the maximum, the third hardly varies."""
    hard = generator.normal(size=(n, 1))
    steady = _mean_at_ceiling() + hard + 0.5 * generator.normal(size=(n, 1))
    return np.hstack([hard + _ceiling(n, 2, generator), steady])


def _ceiling(n: int, columns: int, generator: Generator) -> FloatArray:
    return points(17 + 3 * generator.normal(size=(n, columns)))


@cache
def _mean_at_ceiling() -> float:
    return float(_ceiling(MANY, 1, np.random.default_rng(5)).mean())


def ranking_of(scores: FloatArray) -> JudgeRanking:
    """Return a judge's ranking from complete scores."""
    systems = np.arange(scores.shape[1])
    return rank_by_judge(Ground(scores, (1,), systems, {}), "J", OPTIONS)


def leads(draw: Draw) -> Study:
    """Whether one of several equally good systems is said to lead."""

    def study(n: int, generator: Generator) -> bool:
        best, level = ranking_of(draw(n, generator)).top(OPTIONS.confidence)
        return len(best) == 1 and not level

    return study


def excludes_a_rank(draw: Draw) -> Study:
    """Whether the range of any of several equally good systems excludes a rank."""

    def study(n: int, generator: Generator) -> bool:
        standings = ranking_of(draw(n, generator)).standings
        return any((each.rank_low, each.rank_high) != (1, len(standings)) for each in standings)

    return study


def wrong_range(n: int, generator: Generator) -> bool:
    """Whether a range excludes the true rank: one best, three equal, two far below."""
    shifts = np.array([1.5, 0, 0, 0, -8, -8])
    scores = points(10 + shifts + 2 * generator.normal(size=(n, 6)))
    truth = [(1, 1), *[(2, 4)] * 3, *[(5, 6)] * 2]
    return any(
        (each.rank_low or 1) > truth[int(each.system)][0]
        or (each.rank_high or 6) < truth[int(each.system)][1]
        for each in ranking_of(scores).standings
    )


def divided_group(n: int, generator: Generator) -> bool:
    """Whether two systems of the same group are distinguished."""
    scores = points(np.linspace(13, 10, 8) + 2.5 * generator.normal(size=(n, 8)))
    ranking = ranking_of(scores)
    groups = {int(each.system): each.tie_group for each in ranking.standings}
    return any(groups[one] == groups[other] for one, other in ranking.told_apart(0.95))


def mean_holds(draw: Draw, truth: Callable[[], float]) -> Study:
    """Whether the interval of a system's mean covers its true mean."""

    def study(n: int, generator: Generator) -> bool | None:
        (found,) = mean_intervals(draw(n, generator)[:, :1], [[0]], OPTIONS, OPTIONS.maximum)
        return _held(found, truth())

    return study


def _held(found: Any, truth: float) -> bool | None:
    return None if found.low is None else bool(found.low <= truth <= found.high)


@cache
def _mean_of_alike() -> float:
    return float(alike(1)(MANY, np.random.default_rng(6)).mean())


def skewed(n: int, generator: Generator) -> FloatArray:
    """Mostly low and rarely high points; mean 2."""
    return 2 * generator.exponential(size=(n, 1))


def two_scenarios(n: int, generator: Generator) -> bool | None:
    """The mean over two scenarios, one of which lacks questions of the other."""
    hard = 2 * generator.normal(size=(2 * n, 1))
    values = 10 + hard + 2 * generator.normal(size=(2 * n, 2))
    values[n:, 1] = np.nan
    (found,) = mean_intervals(values, [[0, 1]], OPTIONS, OPTIONS.maximum)
    return _held(found, 10.0)


def difference_holds(draw: Draw) -> Study:
    """Whether the interval of the difference between equal systems covers 0."""

    def study(n: int, generator: Generator) -> bool | None:
        pairs = ranking_of(draw(n, generator)).pairs
        if pairs.low[0] is None or pairs.high[0] is None:
            return None
        return pairs.low[0] <= 0 <= pairs.high[0]

    return study


def detected(n_systems: int) -> Study:
    """Whether a new study shows the difference that an earlier one called detectable."""

    def study(n: int, generator: Generator) -> bool:
        scores = 8 + generator.normal(size=(n, n_systems))
        again = 8 + generator.normal(size=(n, n_systems))
        again[:, 0] += ranking_of(scores).detectable or 0.0
        return (0, 1) in ranking_of(again).told_apart(OPTIONS.confidence)

    return study


def shown_by_more(n: int, generator: Generator) -> bool:
    """Whether the required number of questions shows a difference as large as an observed one."""
    needed = None
    while needed is None or needed > 400:
        first = ranking_of(8 + generator.normal(size=(n, 4)))
        needed = first.questions_needed(0)
    scores = 8 + generator.normal(size=(max(needed, n), 4))
    scores[:, 0] += first.pairs.mean[0]
    return (0, 1) in ranking_of(scores).told_apart(OPTIONS.confidence)


def calibrated(kind: str, choices: int = 1) -> Study:
    """Whether a calibrated mean's interval covers the mean human score; n of 4 n have labels."""

    def study(n: int, generator: Generator) -> bool | None:
        size = 4 * n
        question = np.arange(size) // choices
        error = generator.normal(size=size) + 1.5 * generator.normal(size=size)[question]
        human = _human(kind, error)
        judge = 0.6 * human + human.std() * 0.8 * generator.normal(size=size)
        drawn = np.zeros(size, dtype=bool)
        drawn[generator.permutation(size)[:n]] = True
        clusters = question.tolist() if choices > 1 else None
        labels = np.where(drawn, human, np.nan).tolist()
        return _held(
            calibrated_mean(judge.tolist(), labels, 0.25, clusters=clusters).estimate, _true(kind)
        )

    return study


def _human(kind: str, error: FloatArray) -> FloatArray:
    return points(17 + 2 * error) if kind == "points" else (error > 1).astype(float)


@cache
def _true(kind: str) -> float:
    error = 3.25**0.5 * np.random.default_rng(7).normal(size=MANY)
    return float(_human(kind, error).mean())


def across(kind: Any, is_apart: bool = False) -> Study:
    """Whether the interval of a correlation across n systems covers the value for all systems."""

    def study(n: int, generator: Generator) -> bool | None:
        import pandas as pd

        found = _two_raters(n, 5, generator, is_apart)
        rows = np.indices((n, 5)).reshape(2, -1)
        columns = ("system", "question", "x", "y")
        table = pd.DataFrame(dict(zip(columns, (*rows, *(e.ravel() for e in found)), strict=True)))
        return _held(within_and_across(table, kind).across, _across(kind, is_apart))

    return study


def _two_raters(
    n: int, n_questions: int, generator: Generator, is_apart: bool
) -> list[FloatArray]:
    """Return both raters' scores, which share three quarters of their view of a system."""
    shared, *own = generator.normal(size=(3, n, 1))
    hard = generator.normal(size=(1, n_questions))
    noise = generator.normal(size=(2, n, n_questions))
    # Some systems are far worse than the others.
    failing = -3.0 * (generator.random((n, 1)) < 0.3) if is_apart else 0.0
    return [
        failing + 0.75**0.5 * shared + 0.5 * each + hard + one
        for each, one in zip(own, noise, strict=True)
    ]


@cache
def _across(kind: str, is_apart: bool) -> float:
    from scipy import stats

    means = [
        each.mean(axis=1) for each in _two_raters(20_000, 5, np.random.default_rng(8), is_apart)
    ]
    known = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return float(known[kind](*means)[0])


def _lengths(n: int, n_systems: int, generator: Generator) -> Any:
    """Answers of systems that write different lengths, with half a point per 100 characters."""
    question, system = np.repeat(np.arange(n), n_systems), np.tile(np.arange(n_systems), n)
    length = 300 + 60 * system + 80 * generator.normal(size=n * n_systems)
    hard = 2 * generator.normal(size=n)[question]
    value = 10 + system + hard + 0.005 * (length - 300)
    return SimpleNamespace(
        of_judge=lambda judge: np.ones(n * n_systems, dtype=bool),
        value=value + 1.5 * generator.normal(size=n * n_systems),
        characters=length,
        question=question,
        system=system,
        scenario=np.zeros(n * n_systems, dtype=int),
        scenarios=(1,),
        questions=tuple(range(n)),
    )


def slope_holds(n_systems: int) -> Study:
    """Whether the interval of points per 100 characters covers the value for many questions."""

    def study(n: int, generator: Generator) -> bool | None:
        found = length_slope(_lengths(n, n_systems, generator), "J", OPTIONS)
        return _held(found, _slope(n_systems))

    return study


@cache
def _slope(n_systems: int) -> float:
    lengths = _lengths(10_000, n_systems, np.random.default_rng(9))
    return length_slope(lengths, "J", OPTIONS).slope or 0.0


def controlled_holds(n: int, generator: Generator) -> bool | None:
    """Whether the interval of a mean at equal length covers the true mean."""
    bounds = length_slope(_lengths(n, 4, generator), "J", OPTIONS).bounds.get(0)
    # The average answer is 90 characters longer than the first system's answers.
    return None if bounds is None else bool(bounds[0] <= 10 + 0.45 <= bounds[1])


def _of(
    says: str, rule: str, counts: Any, cases: dict[str, Study], **more: Any
) -> list[Simulation]:
    about: dict[str, Any] = {"sizes": SIZES, "unit": "questions", "quick": 24, "full": 500} | more
    return [
        Simulation(says=says, rule=rule, truth=truth, counts=counts, study=study, **about)
        for truth, study in cases.items()
    ]


SIMULATIONS = (
    *_of(
        "A leads with … points",
        "leader",
        "false",
        {
            "2 equal systems, points up to the maximum": leads(alike(2)),
            "2 equal systems, a 0/1 criterion at .2": leads(criterion(2, 0.2)),
            "6 equal systems": leads(alike(6)),
            "3 equal means, one much steadier": leads(unsteady),
        },
    ),
    *_of(
        "Rank 1–n, told apart",
        "leader",
        "false",
        {
            "2 equal systems": excludes_a_rank(alike(2)),
            "6 equal systems": excludes_a_rank(alike(6)),
            "4 equal systems, a 0/1 criterion at .5": excludes_a_rank(criterion(4, 0.5)),
            "3 equal means, one much steadier": excludes_a_rank(unsteady),
            "one best, three equal, two far below": wrong_range,
        },
    ),
    *_of(
        "No two systems of a group can be told apart",
        "leader",
        "false",
        {"8 systems in steps": divided_group},
    ),
    *_of(
        "Mean [low, high] of a system",
        "mean",
        "covered",
        {
            "points up to the maximum": mean_holds(alike(1), _mean_of_alike),
            "a 0/1 criterion at .1": mean_holds(criterion(1, 0.1), lambda: 0.1),
            "skewed points (exponential)": mean_holds(skewed, lambda: 2.0),
            "two scenarios, one with half the questions": two_scenarios,
        },
    ),
    *_of(
        "95 % interval of the difference",
        "leader",
        "covered",
        {
            "2 equal systems, points up to the maximum": difference_holds(alike(2)),
            "2 equal systems, a 0/1 criterion at .2": difference_holds(criterion(2, 0.2)),
            "equal means, one much steadier": difference_holds(unsteady),
        },
    ),
    *_of(
        "With 80 % power, these questions can detect a difference of …",
        "leader",
        "found",
        {"2 systems": detected(2), "4 systems, Holm over 6 pairs": detected(4)},
    ),
    *_of(
        "About n questions would show the difference",
        "leader",
        "found",
        {"4 systems, a difference as large as one found": shown_by_more},
        quick=10,
        full=300,
    ),
    *_of(
        "Calibrated to people [low, high]",
        "interval",
        "covered",
        {
            "points up to the maximum": calibrated("points"),
            "a 0/1 criterion": calibrated("0/1"),
            "three answers to a question": calibrated("points", choices=3),
        },
        sizes=(10, 20, 60),
        unit="labels",
    ),
    *_of(
        "Correlation across systems [low, high]",
        "systems",
        "covered",
        {
            "Pearson": across("pearson"),
            "Spearman": across("spearman"),
            "Kendall": across("kendall"),
            "Pearson, some systems far below": across("pearson", is_apart=True),
        },
        sizes=(8, 12, 30),
        unit="systems",
        quick=12,
    ),
    *_of(
        "Points for 100 characters [low, high]",
        "mean",
        "covered",
        {"2 systems": slope_holds(2), "4 systems": slope_holds(4)},
    ),
    *_of(
        "Mean at equal length [low, high]",
        "mean",
        "covered",
        {"4 systems": controlled_holds},
    ),
)
