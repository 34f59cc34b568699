"""What people would give a system, from all scores of a judge and a random part by people.

Offered only where the answers that people scored were drawn at random with stored
probabilities and all of them have been scored: otherwise the judge's error on them says
nothing certain about the others. Source: see `cqa_site.stats.calibrated_mean`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmark.leaderboard.methods.data import FloatArray, IntArray, Scored
from benchmark.leaderboard.methods.figures import Calibrated
from benchmark.leaderboard.methods.options import PEOPLE, BoardOptions
from cqa_site.stats.calibrated_mean import calibrated_mean

NO_PEOPLE = "no person has scored an answer"
NO_DRAW = "not all answers that people scored were drawn at random with a known probability"
SEVERAL_ROUNDS = "people's scores come from several rounds, whose draws cannot be put together"
UNFINISHED = "not all answers that were drawn have points by people yet"
OTHER_ANSWERS = "the answers that were drawn do not stand for the ones this judge scored"
UNEQUAL = "answers of one system and scenario were drawn with different probabilities"
PART = "answers were drawn for the whole board, and this is a part of it"
EVERYTHING = "people scored every answer: take their own mean"
NO_CELL = "too few answers of a scenario carry scores of both"
# How far the number of answers a draw stands for may lie from the number that the judge scored.
TOLERANCE = 0.1


def why_not_calibrated(scored: Scored, options: BoardOptions) -> str | None:
    """Why no judge can be calibrated on the people of this board; None if it can be tried."""
    if PEOPLE not in scored.judges:
        return NO_PEOPLE
    rows = scored.of_judge(PEOPLE)
    rounds = set(scored.round[rows].tolist())
    if rounds & {0, -1} or np.isnan(scored.probability[rows]).any():
        return SEVERAL_ROUNDS if -1 in rounds else NO_DRAW
    if len(rounds) > 1:
        return SEVERAL_ROUNDS
    draw = options.draws.get(rounds.pop())
    if not draw or draw["known"] < draw["drawn"]:
        return NO_DRAW
    if options.is_part:
        return PART
    n_scored = int((~np.isnan(scored.value[rows])).sum())
    if n_scored < draw["drawn"]:
        return UNFINISHED
    return EVERYTHING if (scored.probability[rows] >= 1).all() else None


def calibrate(
    scored: Scored,
    judge: str,
    options: BoardOptions,
    scenarios: Mapping[int, tuple[int, ...]],
) -> tuple[Calibrated, ...]:
    """Calibrated mean of every system that this judge scored.

    ``scenarios``: place of a system → those that its mean on the board is over, all where it has
    none. Several answers to one question count as one cluster.
    """
    why = why_not_calibrated(scored, options) or _other_answers(scored, judge, options)
    rows = np.flatnonzero(scored.of_judge(judge))
    systems = np.unique(scored.system[rows])
    if why:
        return tuple(Calibrated(judge=judge, system=int(each), reason=why) for each in systems)
    people = _people_by_answer(scored)
    made = []
    for each in map(int, systems):
        mine = rows[scored.system[rows] == each]
        numbers = np.array(scored.scenarios)[scored.scenario[mine]]
        over = scenarios.get(each)
        kept = mine[np.isin(numbers, over)] if over else mine
        made.append(_of_system(scored, judge, kept, each, people, options))
    return tuple(made)


def _other_answers(scored: Scored, judge: str, options: BoardOptions) -> str | None:
    """Whether the draw was made from about as many answers as the judge scored there."""
    people = scored.of_judge(PEOPLE)
    stands_for = options.draws[int(scored.round[people][0])]["stands_for"]
    places = {(s, n) for s, n in zip(scored.system[people], scored.scenario[people], strict=True)}
    mine = scored.of_judge(judge)
    pairs = zip(scored.system[mine], scored.scenario[mine], strict=True)
    n = sum(pair in places for pair in pairs)
    return None if n and abs(stands_for / n - 1) <= TOLERANCE else OTHER_ANSWERS


def _people_by_answer(scored: Scored) -> tuple[FloatArray, FloatArray]:
    """Score and probability by number of the answer; NaN for answers nobody was asked for."""
    n = int(scored.answer.max(initial=-1)) + 1
    rows = scored.of_judge(PEOPLE)
    score, chance = np.full(n, np.nan), np.full(n, np.nan)
    score[scored.answer[rows]] = scored.value[rows]
    chance[scored.answer[rows]] = scored.probability[rows]
    return score, chance


def _of_system(
    scored: Scored,
    judge: str,
    mine: IntArray,
    system: int,
    people: tuple[FloatArray, FloatArray],
    options: BoardOptions,
) -> Calibrated:
    found = []
    for scenario in np.unique(scored.scenario[mine]):
        cell = mine[scored.scenario[mine] == scenario]
        answers = scored.answer[cell]
        human, chance = people[0][answers], people[1][answers]
        known = np.unique(chance[~np.isnan(chance)])
        has_several = len(np.unique(scored.question[cell])) < len(cell)
        if len(known) != 1 or known[0] >= 1:
            why = UNEQUAL if len(known) > 1 else NO_CELL
            return Calibrated(judge=judge, system=system, reason=why)
        clusters = scored.question[cell] if has_several else None
        found.append(
            calibrated_mean(
                scored.value[cell],
                human,
                float(known[0]),
                clusters=clusters,
            )
        )
    estimates = [each.estimate for each in found]
    if any(each.low is None for each in estimates):
        return Calibrated(judge=judge, system=system, reason=NO_CELL)
    bounds = [(each.value, each.low, each.high) for each in estimates]
    mean, low, high = np.array(bounds, dtype=float).mean(axis=0).tolist()
    more = [each.labels_to_halve for each in found]
    return Calibrated(
        judge=judge,
        system=system,
        mean=mean,
        low=low,
        high=high,
        n_both=sum(each.n_pairable_items for each in estimates),
        to_halve=None if None in more else sum(each for each in more if each),
    )
