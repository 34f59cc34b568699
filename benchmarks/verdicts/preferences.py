"""Preferences under their nulls: who leads, which systems are distinguished, and all intervals.

Each question favours some systems (a normal draw for each system), so verdicts on the same
question resemble each other. The truth is the fit to infinitely many questions.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from benchmark.preferences.finding import level_with_first
from benchmark.preferences.methods.consistency import left_share
from benchmark.preferences.methods.davidson import chances, maximise
from benchmark.preferences.methods.ranking import (
    PreferenceRanking,
    PreferenceStanding,
    rank_by_preference,
)
from benchmark.preferences.methods.verdict_tables import Verdicts
from benchmarks.verdicts.simulating import Counted, Simulation, Study

NU, OF_QUESTION = 0.7, 0.7
SIZES = (10, 20, 40)
EQUAL = (0.0, 0.0)
FIVE = (2.0, 1.0, 0.0, -1.0, -2.0)
LOPSIDED = (1.5, -1.5)


def moved(strength: tuple[float, ...], n: int, generator: np.random.Generator) -> np.ndarray:
    """Return the log strengths on each of n questions."""
    return np.array(strength) + OF_QUESTION * generator.normal(size=(n, len(strength)))


def verdicts(
    strength: tuple[float, ...], n: int, each: int, generator: np.random.Generator
) -> Verdicts:
    """Draw ``each`` verdicts on every question, about random pairs of systems."""
    k, rows = len(strength), n * each
    question = np.repeat(np.arange(n), each)
    on_question = moved(strength, n, generator)
    pairs = np.stack(np.triu_indices(k, k=1), axis=1)
    first, second = pairs[generator.integers(0, len(pairs), rows)].T
    gaps = on_question[question, first] - on_question[question, second]
    win, loss, _tie = chances(gaps, np.log(NU))
    lot = generator.random(rows)
    outcome = np.select([lot < win, lot < win + loss], ["first", "second"], "tie")
    names = np.array([f"s{place}" for place in range(k)])
    side = generator.choice(["left", "right"], rows)
    table = {"question": question, "first": names[first], "second": names[second]}
    about = {"outcome": outcome, "pair": np.arange(rows), "rater": "r", "side": side}
    frame = pd.DataFrame({**table, **about, "weight": 1.0})
    # Built like the result of `Verdicts.from_frame`, whose checks take longer than the ranking.
    seen = tuple(str(names[place]) for place in np.unique([first, second]))
    return Verdicts(frame, seen, tuple(range(n)))


@cache
def truth(strength: tuple[float, ...]) -> tuple[dict[str, float], dict[str, float]]:
    """Return log strength and win rate of each system over very many questions."""
    first, second = np.triu_indices(len(strength), k=1)
    on_question = moved(strength, 100_000, np.random.default_rng(0))
    on_question = np.concatenate([on_question, 2 * np.array(strength) - on_question])
    gaps = on_question[:, first] - on_question[:, second]
    shares = np.stack([each.mean(axis=0) for each in chances(gaps, np.log(NU))], axis=1)
    values = maximise(first, second, shares[None]).log_strengths[0]
    scores = shares[:, 0] + shares[:, 2] / 2
    won = np.bincount(first, scores, len(strength)) + np.bincount(
        second, 1 - scores, len(strength)
    )
    names = [f"s{place}" for place in range(len(strength))]
    rates = won / (len(strength) - 1)
    return dict(zip(names, values, strict=True)), dict(zip(names, rates, strict=True))


def is_known_better(strength: tuple[float, ...], one: str, other: str) -> bool:
    return strength[int(one[1:])] > strength[int(other[1:])]


def leads_falsely(strength: tuple[float, ...], each: int) -> Study:
    """Whether one of several systems that share the first place is said to lead."""

    def study(n: int, generator: np.random.Generator) -> bool:
        found = rank_by_preference(verdicts(strength, n, each, generator))
        if not found.pairs or level_with_first(found):
            return False
        first, *others = [each.system for each in found.standings]
        return not all(is_known_better(strength, first, other) for other in others)

    return study


def tells_apart_falsely(strength: tuple[float, ...], each: int) -> Study:
    """Whether a pair whose first system is not better is distinguished.

    Ranges and groups depend on these pairs.
    """

    def study(n: int, generator: np.random.Generator) -> bool:
        found = rank_by_preference(verdicts(strength, n, each, generator))
        return any(
            pair.is_separable and not is_known_better(strength, pair.first, pair.second)
            for pair in found.pairs
        )

    return study


def covers_strength(strength: tuple[float, ...], each: int) -> Study:
    """Whether the interval of a random system's strength covers the truth."""

    def study(n: int, generator: np.random.Generator) -> bool | None:
        found = rank_by_preference(verdicts(strength, n, each, generator))
        standing = _any(found, strength, generator)
        if standing is None or standing.low is None or standing.high is None:
            return None
        return bool(standing.low <= truth(strength)[0][standing.system] <= standing.high)

    return study


def covers_win_rate(strength: tuple[float, ...], each: int) -> Study:
    def study(n: int, generator: np.random.Generator) -> bool | None:
        found = rank_by_preference(verdicts(strength, n, each, generator))
        standing = _any(found, strength, generator)
        if standing is None:
            return None
        low, high = standing.win_rate.low, standing.win_rate.high
        if low is None or high is None:
            return None
        return bool(low <= truth(strength)[1][standing.system] <= high)

    return study


def covers_difference(strength: tuple[float, ...], each: int) -> Study:
    def study(n: int, generator: np.random.Generator) -> bool | None:
        found = rank_by_preference(verdicts(strength, n, each, generator))
        if not found.pairs or found.strengths.is_penalized:
            return None
        pair = found.pairs[int(generator.integers(len(found.pairs)))]
        if pair.low is None or pair.high is None:
            return None
        values = truth(strength)[0]
        return bool(pair.low <= values[pair.first] - values[pair.second] <= pair.high)

    return study


def _any(
    found: PreferenceRanking, strength: tuple[float, ...], generator: np.random.Generator
) -> PreferenceStanding | None:
    wanted = f"s{int(generator.integers(len(strength)))}"
    return next((each for each in found.standings if each.system == wanted), None)


def covers_left(n: int, generator: np.random.Generator) -> bool | None:
    found = left_share(verdicts((0.0, 0.0, 0.0), n, 3, generator))
    if found.low is None or found.high is None:
        return None
    return bool(found.low <= 0.5 <= found.high)


def finds_what_it_says(each: int) -> Study:
    """Whether a new study finds the win rate that a study of equal systems calls detectable."""

    def study(n: int, generator: np.random.Generator) -> bool | None:
        stated = None
        while stated is None:
            stated = rank_by_preference(verdicts(EQUAL, n, each, generator)).detectable
        found = rank_by_preference(verdicts((_gap(stated), 0.0), n, each, generator))
        return bool(found.pairs and found.pairs[0].is_separable and found.pairs[0].first == "s0")

    return study


_GAPS = np.linspace(0, 12, 121)


@cache
def _rates() -> np.ndarray:
    apart = np.random.default_rng(1).normal(size=20_000) * OF_QUESTION * 2**0.5
    expected = [chances(gap + apart, np.array(np.log(NU))) for gap in _GAPS]
    return np.array([(win + tie / 2).mean() for win, _loss, tie in expected])


def _gap(rate: float) -> float:
    """Return the difference of log strengths that gives this win rate over questions."""
    return float(np.interp(rate, _rates(), _GAPS))


def _simulation(
    says: str,
    truth_: str,
    counts: Counted,
    study: Study,
    *,
    rule: str = "preference",
    sizes: tuple[int, ...] = SIZES,
) -> Simulation:
    return Simulation(
        says=says,
        rule=rule,
        truth=truth_,
        counts=counts,
        sizes=sizes,
        unit="questions",
        study=study,
        quick=8,
        full=200,
    )


LEADS = "X leads: it is preferred to each of the n other systems"
APART = "preferences: two systems are told apart (rank ranges, groups)"
STRENGTH = "interval of a log strength"
DIFFERENCE = "interval of a difference of log strengths"
WIN_RATE = "interval of a win rate"

SIMULATIONS: tuple[Simulation, ...] = (
    _simulation(LEADS, "two equal, 4 verdicts each", "false", leads_falsely(EQUAL, 4)),
    _simulation(
        LEADS, "two best of five, 6 verdicts each", "false", leads_falsely((1, 1, -2, -2, -2), 6)
    ),
    _simulation(APART, "three equal, 1 verdict each", "false", tells_apart_falsely((0,) * 3, 1)),
    _simulation(
        APART,
        "ten equal, 20 verdicts each",
        "false",
        tells_apart_falsely((0,) * 10, 20),
        sizes=(12, 20, 40),
    ),
    _simulation(APART, "five equal, 20 verdicts each", "false", tells_apart_falsely((0,) * 5, 20)),
    _simulation(
        APART,
        "four equal, one far below, 5 verdicts each",
        "false",
        tells_apart_falsely((0, 0, 0, 0, -3), 5),
    ),
    *(
        _simulation(says, truth_, "covered", made(strength, each), rule="interval")
        for says, made, truth_, strength, each in (
            (STRENGTH, covers_strength, "three equal, 1 verdict each", (0.0,) * 3, 1),
            (STRENGTH, covers_strength, "five apart, 5 verdicts each", FIVE, 5),
            (STRENGTH, covers_strength, "two far apart, 2 verdicts each", LOPSIDED, 2),
            (DIFFERENCE, covers_difference, "five apart, 5 verdicts each", FIVE, 5),
            (WIN_RATE, covers_win_rate, "three equal, 6 verdicts each", (0.0,) * 3, 6),
        )
    ),
    _simulation(
        "interval of the share of left", "no bias, 3 verdicts each", "covered", covers_left,
        rule="interval",
    ),
    _simulation(
        "with 80 % power, these questions can detect a win rate of …",
        "two systems with that win rate, 3 verdicts each",
        "found",
        finds_what_it_says(3),
    ),
)  # fmt: skip
