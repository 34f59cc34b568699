"""Whether a judge pays for length, and how systems stand once length is taken out.

Source: Dubois, Galambosi, Liang and Hashimoto (2024), Length-Controlled AlpacaEval, whose
regression is done here on points, with system and question as fixed effects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from benchmark.leaderboard.methods.data import FloatArray, IntArray, Scored
from benchmark.leaderboard.methods.figures import LengthSlope
from benchmark.leaderboard.methods.intervals import ratio_interval
from benchmark.leaderboard.methods.options import BoardOptions
from cqa_site.stats.verdicts import RULES

PER = 100
NO_LENGTHS = "answers to the same question do not differ in length"
LEAST_QUESTIONS = 3
_ROUNDS = 200
_SETTLED = 1e-10


@dataclass(frozen=True, eq=False)
class _Slope:
    """A slope, and what each answer adds to it, shape (n,)."""

    value: float
    influence: FloatArray


def length_slope(scored: Scored, judge: str, options: BoardOptions) -> LengthSlope:
    """Slope of points on characters, and length-controlled means of systems."""
    rows = np.flatnonzero(scored.of_judge(judge) & ~np.isnan(scored.value))
    points, length = scored.value[rows], scored.characters[rows] / PER
    question, system = scored.question[rows], scored.system[rows]
    prompt = question * len(scored.scenarios) + scored.scenario[rows]
    n_questions = len(np.unique(question))
    y, x = _centred(points, prompt), _centred(length, prompt)
    if n_questions < LEAST_QUESTIONS or not _varies(x, length):
        return LengthSlope(
            judge=judge,
            means={},
            bounds={},
            n_answers=len(rows),
            n_questions=n_questions,
            reason=NO_LENGTHS,
        )
    low, high = _interval(y, x, question, len(scored.questions), options)
    within = _two_way(points, length, prompt, system)
    means, bounds = _controlled(points, length, system, question, within, options)
    return LengthSlope(
        judge=judge,
        slope=float(x @ y / (x @ x)),
        low=low,
        high=high,
        within_systems=within.value if within else None,
        means=means,
        bounds=bounds,
        n_answers=len(rows),
        n_questions=n_questions,
    )


def _interval(
    y: FloatArray, x: FloatArray, question: IntArray, n: int, options: BoardOptions
) -> tuple[float | None, float | None]:
    """Of a ratio of sums; sums of a question are kept together."""
    known = np.bincount(question, minlength=n) > 0
    sums = np.array([np.bincount(question, weights=each, minlength=n) for each in (x * y, x * x)])
    return ratio_interval(sums[0, known], sums[1, known], options)[:2]


def _two_way(
    points: FloatArray, length: FloatArray, prompt: IntArray, system: IntArray
) -> _Slope | None:
    """Slope with prompt and system as fixed effects, by projecting out both in turn."""
    y, x = (_without_both(each, prompt, system) for each in (points, length))
    if not _varies(x, length):
        return None
    value = float(x @ y / (x @ x))
    return _Slope(value=value, influence=x * (y - value * x) / float(x @ x))


def _without_both(values: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    left = _centred(values, one)
    for _round in range(_ROUNDS):
        before = left
        left = _centred(_centred(left, other), one)
        if np.abs(left - before).max(initial=0.0) < _SETTLED:
            break
    return left


def _centred(values: FloatArray, group: IntArray) -> FloatArray:
    count = np.maximum(np.bincount(group), 1)
    return np.asarray(values - (np.bincount(group, weights=values) / count)[group])


def _varies(left: FloatArray, length: FloatArray) -> bool:
    scale = float(length @ length) if len(length) else 0.0
    return bool(float(left @ left) > 1e-12 * max(scale, 1e-300))


def _controlled(
    points: FloatArray,
    length: FloatArray,
    system: IntArray,
    question: IntArray,
    slope: _Slope | None,
    options: BoardOptions,
) -> tuple[dict[int, float], dict[int, tuple[float, float]]]:
    """Means of systems at the length of the average answer, with their intervals."""
    if slope is None:
        return {}, {}
    found, place = np.unique(system, return_inverse=True)
    codes = np.unique(question, return_inverse=True)[1]
    counts = np.bincount(place).astype(float)
    lengths = np.bincount(place, weights=length) / counts
    means = np.bincount(place, weights=points) / counts
    apart = lengths - lengths.mean()
    shifted = means - slope.value * apart
    # What each question adds: to the mean at its own length, to the average length, to the slope.
    left = (points - means[place] - slope.value * (length - lengths[place])) / counts[place]
    shape = (int(codes.max()) + 1, len(found))
    own = np.bincount(codes * shape[1] + place, weights=left, minlength=shape[0] * shape[1])
    average = np.bincount(codes, weights=(length - lengths[place]) / counts[place]) / len(found)
    tilt = np.bincount(codes, weights=slope.influence)
    added = own.reshape(shape) + slope.value * average[:, None] - tilt[:, None] * apart
    error = np.sqrt((added**2).sum(axis=0) * shape[0] / (shape[0] - 1))
    reach = special.stdtrit(shape[0] - 1, (1 + options.confidence) / 2) * error
    shown = {int(each): float(mean) for each, mean in zip(found, shifted, strict=True)}
    if not RULES["mean"].allows(shape[0]):
        return shown, {}
    bounds = zip(found, shifted, reach, strict=True)
    return shown, {int(each): (float(mean - far), float(mean + far)) for each, mean, far in bounds}
