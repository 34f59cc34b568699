"""Judges of scores: verdicts on replacing people and on the closest judge, and intervals.

Each study has totals of 0 to 19 points by three people. Answers to the same question resemble
each other, people disagree more about some questions than about others, and totals are rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from benchmark.agreement.methods.agreement import column_verdict, judge_differences, ranked
from benchmark.agreement.methods.figures import AgreementFigure, JudgeRow, RuleOutcome, is_closest
from benchmark.agreement.methods.grid import PEOPLE, PointsGrid, SheetRater, nan_mean
from benchmark.agreement.methods.jackknife import (
    Jackknife,
    across_sums,
    alpha_figure,
    alpha_of,
    figure,
    within_sums,
)
from benchmark.agreement.methods.pairs import column_figures, correlations
from benchmark.agreement.methods.raters import length_figures, self_consistency, self_preference
from benchmark.agreement.methods.replacement import (
    Levels,
    alpha_difference,
    alternative,
    by_agreement,
    by_alternative,
    by_bias,
    by_consistency,
    by_unscored,
    leniency,
    unscored_of,
)
from benchmarks.verdicts.simulating import Simulation, Study
from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.correlation import REACH, bland_altman
from cqa_site.stats.means import clustered_mean
from cqa_site.stats.verdicts import direction_of

MOST, EACH, EPSILON = 19, 4, 0.15
COLUMNS = 19
DRAWS = Jackknife()
PERSONS = ("p0", "p1", "p2")


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Parameters of totals; noise and shift apply to the judge, in sd and in points."""

    noise: float = 1.0
    shift: float = 0.0
    is_skewed: bool = False
    judges: int = 1
    most: int = MOST


def points(truth: Truth, n_questions: int, rng: np.random.Generator) -> FloatArray:
    """Return the points of three people and the judges, shape (3 + judges, n)."""
    n = n_questions * EACH
    at = np.repeat(np.arange(n_questions), EACH)
    quality = 0.7 * rng.normal(size=n_questions)[at] + rng.normal(size=n)
    hardness = np.exp(0.4 * rng.normal(size=n_questions))[at]
    scales = np.r_[np.ones(3), np.full(truth.judges, truth.noise)]
    values = quality + 0.6 * scales[:, None] * hardness * rng.normal(size=(len(scales), n))
    values = 3 * np.exp(0.6 * values) if truth.is_skewed else truth.most * (0.5 + values / 6)
    values[3:] += truth.shift
    return np.clip(np.round(values), 0, truth.most)


def study_of(values: FloatArray) -> PointsGrid:
    """Return points by three people and judges in the form that pages use, with one column."""
    n = values.shape[1]
    names = [*PERSONS, *(f"j{place}" for place in range(len(values) - 3))]
    grids = {name: own[:, None] for name, own in zip(names, values, strict=True)}
    grids[PEOPLE] = nan_mean([grids[name] for name in PERSONS], (n, 1))
    raters = (
        SheetRater(key=name, name=name, kind="person" if name in PERSONS else "model", sheets=n)
        for name in names
    )
    families = np.array(["gpt" if place % EACH == 0 else None for place in range(n)], dtype=object)
    return PointsGrid(
        columns=("total",), maxima=(float(MOST),), criteria=(), answers=np.arange(n),
        questions=np.repeat(np.arange(n // EACH), EACH), systems=np.array(["s"] * n, dtype=object),
        families=families, has_aspect=np.zeros(n, dtype=bool), characters=np.zeros(n),
        raters=tuple(raters), values=grids,
    )  # fmt: skip


def solved(target: float, low: float, high: float, value: Callable[[float], float]) -> float:
    """Find by bisection where a monotonic function reaches the target."""
    is_rising = value(high) > value(low)
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if (value(middle) > target) == is_rising else (middle, high)
    return (low + high) / 2


def many(truth: Truth, n: int = 20_000) -> FloatArray:
    """Return the points of a study so large that its figures count as the truth."""
    return points(truth, n, np.random.default_rng(7))


def difference_of(values: FloatArray) -> float:
    """Return the alpha of the first judge with people minus the alpha of people."""
    people, codes = values[:3].T, np.zeros(values.shape[1], dtype=np.int64)
    sums = across_sums(people, values[3], codes, 1), within_sums(people, codes, 1)
    return float(alpha_of(sums[0][:, 0]) - alpha_of(sums[1][:, 0]))


def edge_of(values: FloatArray) -> float:
    """Return how much more often a person is closer to the others than the judge is."""
    edges = []
    for place in range(3):
        others = np.delete(values[:3], place, axis=0)
        person, judge = (((others - own) ** 2).sum(axis=0) for own in (values[place], values[3]))
        edges.append(np.mean((person <= judge).astype(float) - (judge <= person)))
    return float(np.mean(edges))


@cache
def at_margin(kind: str, is_skewed: bool) -> Truth:
    """Return a judge that is exactly at the margin of a rule."""
    base = Truth(is_skewed=is_skewed)
    if kind == "bias":

        def shift(points_more: float) -> float:
            values = many(replace(base, shift=points_more))
            return float((values[3] - values[:3].mean(axis=0)).mean()) / MOST

        return replace(base, shift=solved(0.05, 0, 4, shift))
    value, target = (edge_of, EPSILON) if kind == "alternative" else (difference_of, -0.1)
    return replace(
        base, noise=solved(target, 1, 6, lambda noise: value(many(replace(base, noise=noise))))
    )


def outcome_of(rule: str, grid: PointsGrid, levels: Levels) -> RuleOutcome:
    """Return the result of one rule for the first judge, as in an agreement report."""
    judge = grid.judges[0]
    if rule == "alternative":
        return by_alternative(alternative(grid, judge, EPSILON)["total"], 3, levels)
    if rule == "agreement":
        difference = alpha_difference(grid, grid.column(judge.key, "total"), "total", DRAWS)
        return by_agreement(difference, levels)
    return by_bias(leniency(grid, judge, "total", DRAWS), levels)


def rule_at_margin(rule: str, is_skewed: bool, results: tuple[str, ...]) -> Study:
    def study(n: int, rng: np.random.Generator) -> bool:
        grid = study_of(points(at_margin(rule, is_skewed), n, rng))
        return outcome_of(rule, grid, Levels.of("total", COLUMNS, 1)).result in results

    return study


def headline(truth: Truth, lost: float, n_replicates: int = 2) -> Callable[..., str]:
    """Return a function that draws the verdict on totals, with replicates and lost replies."""

    def result(n: int, rng: np.random.Generator) -> str:
        values = points(truth, n, rng)
        grid = study_of(values)
        again = values[3] + np.round(rng.normal(0, 1.0, (n_replicates, values.shape[1])))
        judge = replace(
            grid.judges[0], unscored=int(rng.binomial(values.shape[1], lost)),
            replicates=1,
        )  # fmt: skip
        verdict = column_verdict(
            grid, judge, "total", Levels.of("total", COLUMNS, 1),
            test=alternative(grid, judge, EPSILON)["total"],
            difference=alpha_difference(grid, values[3], "total", DRAWS),
            bias=leniency(grid, judge, "total", DRAWS),
            repeats=self_consistency(sheets(again, grid.questions), ("total",), DRAWS),
        )  # fmt: skip
        return verdict.result

    return result


def sheets(values: FloatArray, questions: np.ndarray) -> pd.DataFrame:
    """Return several sheets (rows) of each answer (columns) as a table."""
    k, n = values.shape
    return pd.DataFrame(
        {
            "answer": np.tile(np.arange(n), k),
            "question": np.tile(questions, k),
            "total": values.ravel(),
        }
    )


def is_no(truth: Truth, lost: float = 0.0) -> Study:
    result = headline(truth, lost)
    return lambda n, rng: result(n, rng) == "no"


@cache
def worst_null() -> Truth:
    """Return a judge that is at the margins of both bias and the alternative annotator."""
    base = at_margin("bias", is_skewed=False)
    return replace(
        base,
        noise=solved(EPSILON, 0.2, 6, lambda noise: edge_of(many(replace(base, noise=noise)))),
    )


def all_margins(n: int, rng: np.random.Generator) -> bool:
    return headline(worst_null(), 0.05)(n, rng) == "no"


@cache
def clearly_worse() -> Truth:
    """Return a judge whose rank correlation with people is .3; that between people is .75."""

    def rank(noise: float) -> float:
        values = many(Truth(noise=noise), 2_000)
        return float(pd.Series(values[3]).corr(pd.Series(values[0]), method="spearman"))

    return Truth(noise=solved(0.3, 1, 20, rank))


def found_worse(n: int, rng: np.random.Generator) -> bool:
    return headline(clearly_worse(), 0.0)(n, rng) == "no"


def repeated(n_questions: int, reliability: float, rng: np.random.Generator, *, is_rare: bool):
    """Draw two sheets of each answer; disagreement is rare and large, or always present."""
    n = n_questions * EACH
    quality = rng.normal(size=n)
    if is_rare:
        anew = rng.random((2, n)) < 1 - reliability**0.5
        return np.where(anew, rng.normal(size=(2, n)), quality)
    hardness = np.repeat(np.exp(0.4 * rng.normal(size=n_questions)), EACH) / np.exp(0.16)
    noise = (1 / reliability - 1) ** 0.5
    return quality + noise * hardness * rng.normal(size=(2, n))


def consistency(mark: float, result: str, *, is_rare: bool) -> Study:
    single = mark / (2 - mark)

    def study(n: int, rng: np.random.Generator) -> bool:
        values = repeated(n, single, rng, is_rare=is_rare)
        found = self_consistency(sheets(values, np.repeat(np.arange(n), EACH)), ("total",), DRAWS)
        return by_consistency(found, "total", Levels.of("total", COLUMNS, 1)).result == result

    return study


def covers_reliability(n: int, rng: np.random.Generator) -> bool | None:
    values = repeated(n, 0.7, rng, is_rare=False)
    found = self_consistency(sheets(values, np.repeat(np.arange(n), EACH)), ("total",), DRAWS)
    return holds(found.columns["total"].reliability, 0.7)


def unscored(n: int, rng: np.random.Generator) -> bool:
    lost = 3 * int(rng.binomial(n, 0.05))
    levels = Levels.of("total", COLUMNS, 1)
    return by_unscored(lost, 3 * n, levels, 3).result != "not_shown"


def covers_unscored(n: int, rng: np.random.Generator) -> bool:
    found = unscored_of(3 * int(rng.binomial(n, 0.05)), 3 * n, 3)
    return (found.low or 0.0) <= 0.05 <= (found.high or 0.0)


def rows_of(grid: PointsGrid) -> list[JudgeRow]:
    people = np.column_stack([grid.column(key, "total") for key in PERSONS])
    nothing = figure(None, n=0)
    rows = []
    for judge in grid.judges:
        sums = across_sums(
            people, grid.column(judge.key, "total"), grid.questions, len(people) // EACH
        )
        rows.append(
            JudgeRow(
                key=judge.key,
                name=judge.name,
                kind="model",
                family=None,
                sheets=1,
                answers=1,
                agreement=figure(float(alpha_of(sums.sum(axis=1))), n=len(people)),
                pearson=nothing,
                within=nothing,
                bias=nothing,
                rho=None,
                omega=None,
                consistency=nothing,
                exact=None,
                replicates=None,
                unscored=unscored_of(0, 0),
                length_slope=nothing,
                cost=None,
                seconds=None,
            )
        )
    return rows


def closest(judges: int) -> Study:
    """Whether any of several equal judges is said to be better than another."""

    def study(n: int, rng: np.random.Generator) -> bool:
        grid = study_of(points(Truth(judges=judges, is_skewed=True), n, rng))
        rows = ranked(rows_of(grid), judge_differences(grid, grid.judges, DRAWS))
        return is_closest(rows) or any((row.rank_low or 1) > 1 for row in rows)

    return study


def best_of(judges: int) -> Study:
    """Whether the closest of several judges at the margin of agreement is said to be within it."""

    def study(n: int, rng: np.random.Generator) -> bool:
        truth = replace(at_margin("agreement", is_skewed=False), judges=judges)
        grid = study_of(points(truth, n, rng))
        levels = Levels.of("total", COLUMNS, judges)
        differences = [
            alpha_difference(grid, grid.column(each.key, "total"), "total", DRAWS)
            for each in grid.judges
        ]
        best = max(differences, key=lambda each: each.value or -1.0)
        return by_agreement(best, levels).result == "yes"

    return study


def swapped(n: int, rng: np.random.Generator) -> bool:
    changes = rng.exponential(1.0, n)[:, None] + rng.normal(size=(n, 2)) - 1.0
    questions = np.repeat(np.arange(n), 2).tolist()
    found = clustered_mean(questions, changes.ravel().tolist(), [1] * len(questions))
    return direction_of(found) != "not_shown"


def holds(found: AgreementFigure, truth: float) -> bool | None:
    if found.low is None or found.high is None:
        return None
    return found.low <= truth <= found.high


@cache
def truths(is_skewed: bool) -> dict[str, float]:
    values = many(Truth(noise=1.5, shift=0.7, is_skewed=is_skewed))
    people = values[:3].T
    codes = np.zeros(values.shape[1], dtype=np.int64)
    pair = pd.DataFrame({"x": values[3], "y": people.mean(axis=1)})
    small = pair.iloc[:8_000]
    apart = pair["x"] - pair["y"]
    return {
        "people": float(alpha_of(within_sums(people, codes, 1)[:, 0])),
        "judge": float(alpha_of(across_sums(people, values[3], codes, 1)[:, 0])),
        "pair": float(alpha_of(across_sums(people[:, :1], values[3], codes, 1)[:, 0])),
        "difference": difference_of(values),
        "bias": float(apart.mean()) / MOST,
        "pearson": float(pair["x"].corr(pair["y"])),
        "spearman": float(pair["x"].corr(pair["y"], method="spearman")),
        "kendall": float(small["x"].corr(small["y"], method="kendall")),
        "upper": float(apart.mean() + REACH * apart.std()),
        "lower": float(apart.mean() - REACH * apart.std()),
    }


def covers(name: str, is_skewed: bool) -> Study:
    def study(n: int, rng: np.random.Generator) -> bool | None:
        values = points(Truth(noise=1.5, shift=0.7, is_skewed=is_skewed), n, rng)
        people, codes, truth = values[:3].T, np.repeat(np.arange(n), EACH), truths(is_skewed)
        if name == "people":
            found = alpha_figure(within_sums(people, codes, n), n, DRAWS, people)
        elif name == "judge":
            found = alpha_figure(across_sums(people, values[3], codes, n), n, DRAWS, people)
        elif name == "difference":
            found = alpha_difference(study_of(values), values[3], "total", DRAWS)
        elif name in ("lower", "upper"):
            plot = bland_altman(values[3].tolist(), people.mean(axis=1).tolist(), codes.tolist())
            found = getattr(plot, name)
        elif name == "bias":
            grid = study_of(values)
            found = leniency(grid, grid.judges[0], "total", DRAWS)
        else:
            found = correlations(values[3], people.mean(axis=1), codes, DRAWS, (name,))[name]
        return holds(found, truth[name])

    return study


def covers_criterion(n: int, rng: np.random.Generator) -> bool | None:
    """Leniency on one criterion with 0, 1 or 2 points, mostly 2."""
    truth = np.repeat(rng.random(n) < 0.85, EACH)
    first, second = (
        np.where(rng.random(n * EACH) < chance, rng.integers(0, 3, n * EACH), 2 * truth)
        for chance in (0.3, 0.15)
    )
    codes = np.repeat(np.arange(n), EACH)
    found = column_figures(first.astype(float), second.astype(float), codes, 2, DRAWS)
    return holds(found.leniency, (0.3 - 0.15) * (1 - 2 * 0.85) / 2)


def covers_surplus(n: int, rng: np.random.Generator) -> bool | None:
    grid = study_of(points(Truth(is_skewed=True), n, rng))
    judge = replace(grid.judges[0], family="gpt")
    return holds(self_preference(grid, judge, DRAWS).against_people, 0.0)


def covers_slope(n: int, rng: np.random.Generator) -> bool | None:
    grid = study_of(points(Truth(is_skewed=True), n, rng))
    grid = replace(grid, characters=np.round(500 * np.exp(0.4 * rng.normal(size=n * EACH))))
    return holds(length_figures(grid, "j0", DRAWS).own.slope, 0.0)


SKEW = ((False, "even"), (True, "skewed"))
PRINTED = "totals of three people, "
SIMULATIONS: tuple[Simulation, ...] = (
    *(
        Simulation(
            says=f"rule “{rule}”: {result}", rule=key,
            truth=f"exactly at its margin, {words} totals", counts="false",
            sizes=sizes, unit="questions", quick=25, full=full,
            study=rule_at_margin(rule, skew, (result,)),
        )
        for rule, key, sizes, full in (
            ("alternative", "judge as a person", (10, 25, 60), 600),
            ("agreement", "agreement of a judge", (25, 40, 80), 2000),
            ("bias", "mean of a judge", (10, 25, 60), 2000),
        )
        for result in ("yes", "no")
        for skew, words in SKEW
    ),
    *(
        Simulation(
            says=f"rule “consistency”: {result}", rule="consistency of a judge",
            truth=f"reliability exactly {mark}, {words}", counts="false", sizes=(20, 30, 60),
            unit="questions", quick=20, full=400, study=consistency(mark, result, is_rare=rare),
        )
        for mark, result in ((0.8, "yes"), (2 / 3, "no"))
        for rare, words in ((False, "noise everywhere"), (True, "few answers judged anew"))
    ),
    Simulation(
        says="rule “unscored”: yes or no", rule="unscored replies", counts="false",
        truth="5 % of the answers lost with all three replicates", sizes=(30, 80, 300),
        unit="answers", quick=400, full=8000, study=unscored,
    ),
    Simulation(
        says="No: cannot replace a person", rule="judge as a person", counts="false",
        truth="the judge is one more person", sizes=(10, 25, 60), unit="questions", quick=25,
        full=400, study=is_no(Truth()),
    ),
    Simulation(
        says="No: cannot replace a person, any rule", rule="agreement of a judge",
        truth="at the margins of a person's place, bias and lost replies at once", counts="false",
        sizes=(20, 40, 80), unit="questions", quick=20, full=400, study=all_margins,
    ),
    Simulation(
        says="No: cannot replace a person, where it is so", rule="judge as a person",
        truth="rank correlation with people .3 where theirs is .75", counts="found",
        sizes=(25, 40), unit="questions", quick=20, full=400, study=found_worse,
    ),
    *(
        Simulation(
            says=f"agrees with people most, rank ranges of {judges} judges", rule="closest judge",
            truth="all agree with people alike", counts="false", sizes=(20, 40, 80),
            unit="questions", quick=25, full=600, study=closest(judges),
        )
        for judges in (2, 4, 8)
    ),
    Simulation(
        says="closest of 8 judges: agreement within .1", rule="agreement of a judge",
        truth="all 8 exactly at the margin", counts="false", sizes=(20, 40, 80), unit="questions",
        quick=25, full=1000, study=best_of(8),
    ),
    Simulation(
        says="the order of the objects changes points", rule="objects swapped", counts="false",
        truth="mean change 0, skewed", sizes=(10, 20, 60), unit="questions", quick=200, full=6000,
        study=swapped,
    ),
    *(
        Simulation(
            says=f"interval: {name} of totals", rule="interval", truth=f"{words} totals",
            counts="covered", sizes=sizes, unit="questions", quick=quick, full=full,
            study=covers(name, skew),
        )
        for name, sizes, quick, full in (
            ("people", (20, 40, 80), 100, 3000), ("judge", (20, 40, 80), 100, 3000),
            ("difference", (25, 40, 80), 60, 2000), ("bias", (10, 20, 30), 60, 3000),
            ("pearson", (20, 40, 80), 25, 400), ("spearman", (20, 40, 80), 25, 400),
            ("kendall", (20, 30, 40), 20, 200), ("lower", (20, 40, 80), 25, 1000),
            ("upper", (20, 40, 80), 25, 1000),
        )
        for skew, words in SKEW
    ),
    Simulation(
        says="interval: reliability of one sheet", rule="interval", truth="reliability .7",
        counts="covered", sizes=(20, 40, 80), unit="questions", quick=20, full=400,
        study=covers_reliability,
    ),
    Simulation(
        says="interval: share of unscored replies", rule="interval", counts="covered",
        truth="5 % of the answers lost with all three replicates", sizes=(10, 30, 100),
        unit="answers", quick=400, full=8000, study=covers_unscored,
    ),
    Simulation(
        says="interval: leniency of a criterion", rule="interval", counts="covered",
        truth="0, 1 or 2 points, nearly all of them 2", sizes=(10, 20, 60), unit="questions",
        quick=20, full=400, study=covers_criterion,
    ),
    Simulation(
        says="interval: surplus for its own family", rule="interval", truth="none, skewed totals",
        counts="covered", sizes=(10, 20, 60), unit="questions", quick=40, full=2000,
        study=covers_surplus,
    ),
    Simulation(
        says="interval: points per 100 characters", rule="interval",
        truth="no slope, skewed totals", counts="covered", sizes=(10, 20, 60), unit="questions",
        quick=20, full=300,
        study=covers_slope,
    ),
)  # fmt: skip
