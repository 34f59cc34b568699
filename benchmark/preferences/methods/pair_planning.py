"""Planning of the pairs of a round, and control pairs with known verdicts."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmark.preferences.methods.davidson import Strengths, information
from benchmark.preferences.methods.pairs import (
    BOTH_BAD,
    FIRST,
    LEFT,
    OUTCOMES,
    RIGHT,
    SECOND,
    TIE,
    AnswerPairs,
    Candidate,
    Key,
    balance_sides,
)
from benchmark.preferences.methods.verdict_tables import strong_components
from cqa_site.stats.arrays import FloatArray

# Choice of pairs: first those that link all systems, then the most informative pairs.
#
# The gain from comparing two systems is the information about the difference of their log
# strengths, times the current variance of that difference. A pair of close systems adds the most
# information; a pair already compared a hundred times adds little. This is a greedy search for a
# D-optimal design: each step raises the determinant of the information matrix the most.
#
# Source of the criterion: Graßhoff and Schwabe (2008), Optimal design for the Bradley-Terry paired
# comparison model. The information is that of Davidson's model with a fixed tie parameter (see
# `davidson.information`).

LINKS, UNCERTAIN = "links systems", "uncertain"
FEWER = "no more pairs of answers by two systems to the same question are left"
# Without any verdicts, assume equal systems and ties in a third of the comparisons.
_UNKNOWN_LOG_NU = 0.0


class PlanError(ValueError):
    """Raised if no plan can meet the request; the message gives the reason."""


@dataclass(frozen=True, kw_only=True)
class PlannedPair:
    """Two answers to one question, and the side of each.

    ``why`` is `LINKS` or `UNCERTAIN`; raters never see it.
    """

    question: Key
    left: Key
    right: Key
    left_system: str
    right_system: str
    why: str

    @property
    def key(self) -> frozenset[Key]:
        """The two answers, regardless of their order."""
        return frozenset((self.left, self.right))

    def swapped(self) -> PlannedPair:
        """Return the same pair with the sides swapped."""
        return replace(
            self,
            left=self.right,
            right=self.left,
            left_system=self.right_system,
            right_system=self.left_system,
        )


@dataclass(frozen=True, kw_only=True)
class PairPlan:
    """Pairs in the order in which they are shown, and the reason if there are too few."""

    pairs: tuple[PlannedPair, ...]
    reason: str | None = None


def plan_pairs(
    candidates: Sequence[Candidate],
    size: int,
    *,
    seed: int,
    asked: Collection[frozenset[Key]] = (),
    strengths: Strengths | None = None,
) -> PairPlan:
    """Choose pairs of answers to the same question by two systems.

    Parameters
    ----------
    candidates
        Answers that can be shown.
    size
        Number of pairs.
    seed
        Random seed; the same candidates, seed and earlier pairs give the same plan.
    asked
        Pairs of answers requested before. They are not drawn again, so that no rater sees a pair
        twice, and they count as comparisons already made.
    strengths
        Strengths from earlier verdicts; systems without a strength count as average.

    Returns
    -------
    PairPlan
        First the pairs that link unlinked systems, then the most informative pairs. Every system,
        and each system in every pair of systems, is on the left as often as on the right, with a
        difference of at most one.

    Raises
    ------
    PlanError
        If there are fewer than two systems, if no question links some of them, or if ``size`` is
        too small to link them all.
    """
    # Sampling, not security.
    rng = random.Random(seed)  # noqa: S311
    answers = AnswerPairs(candidates, asked, rng)
    n = len(answers.systems)
    if n < 2:
        raise PlanError("preferences need answers from at least two systems to the same question")
    design = _Design(answers, strengths)
    tree = _tree(answers, design)
    if len(tree) > size:
        raise PlanError(f"{len(tree)} pairs are needed to link {n} systems, more than {size}")
    chosen = [_take(answers, design, system, other, LINKS) for system, other in tree]
    design.invert()
    while len(chosen) < size and (best := design.best()) is not None:
        chosen.append(_take(answers, design, *best, UNCERTAIN))
    return PairPlan(pairs=_with_sides(chosen, rng), reason=FEWER if len(chosen) < size else None)


class _Design:
    """Information about the log strengths from past and planned comparisons."""

    def __init__(self, answers: AnswerPairs, strengths: Strengths | None) -> None:
        self.answers = answers
        n = len(answers.systems)
        known = {} if strengths is None else strengths.by_system()
        values = np.array([known.get(name, 0.0) for name in answers.systems])
        log_nu = _UNKNOWN_LOG_NU
        if strengths is not None and strengths.nu is not None:
            log_nu = strengths.log_nu
        self.tells = information(values[:, None] - values[None, :], np.array(log_nu))
        self.laplacian = np.zeros((n, n))
        for (system, other), times in answers.n_asked.items():
            self.laplacian += times * self.tells[system, other] * _contrast(n, system, other)
        self.covariance: FloatArray | None = None

    def add(self, system: int, other: int) -> None:
        n, tells = len(self.tells), self.tells[system, other]
        if self.covariance is None:
            self.laplacian += tells * _contrast(n, system, other)
            return
        # The Sherman–Morrison formula adds a comparison without a new inversion.
        change = self.covariance[:, system] - self.covariance[:, other]
        shrink = tells / (1 + tells * (change[system] - change[other]))
        self.covariance -= shrink * np.outer(change, change)

    def invert(self) -> None:
        n = len(self.laplacian)
        # All systems are linked, so only their common level is undetermined; 1/n fixes it.
        self.covariance = np.linalg.inv(self.laplacian + 1 / n).astype(float)

    def best(self) -> tuple[int, int] | None:
        """Return the two systems whose comparison is most informative; None if no pair is left."""
        open_pairs = self.answers.open_pairs
        if self.covariance is None or not open_pairs.any():
            return None
        own = np.diag(self.covariance)
        gain = self.tells * (own[:, None] + own[None, :] - 2 * self.covariance)
        # Rounded, so that equal gains are equal on every machine; the first one wins.
        place = np.where(open_pairs, np.round(gain, 9), -1.0).argmax()
        system, other = divmod(int(place), len(own))
        return system, other


def _contrast(n: int, system: int, other: int) -> FloatArray:
    row = np.zeros(n)
    row[system], row[other] = 1.0, -1.0
    return np.outer(row, row)


def _tree(answers: AnswerPairs, design: _Design) -> list[tuple[int, int]]:
    """Return pairs that link unconnected systems, the most informative first."""
    n = len(answers.systems)
    linked = np.zeros((n, n), dtype=bool)
    for system, other in answers.n_asked:
        linked[system, other] = linked[other, system] = True
    group = np.empty(n, dtype=np.int64)
    for number, part in enumerate(strong_components(linked)):
        group[part] = number
    tree = []
    ones, others = np.nonzero(np.triu(answers.open_pairs))
    for place in np.argsort(-np.round(design.tells[ones, others], 9), kind="stable"):
        system, other = int(ones[place]), int(others[place])
        if group[system] != group[other]:
            group[group == group[other]] = group[system]
            tree.append((system, other))
    if len(set(group)) > 1:
        parts = [[answers.systems[at] for at in np.flatnonzero(group == g)] for g in set(group)]
        words = "; ".join(", ".join(sorted(part)) for part in sorted(parts))
        raise PlanError(f"no question was answered by systems of both groups: {words}")
    return tree


def _take(answers: AnswerPairs, design: _Design, system: int, other: int, why: str) -> PlannedPair:
    first, second = answers.take(system, other)
    design.add(system, other)
    return PlannedPair(
        question=first.question,
        left=first.answer,
        right=second.answer,
        left_system=first.system,
        right_system=second.system,
        why=why,
    )


def _with_sides(pairs: Sequence[PlannedPair], rng: random.Random) -> tuple[PlannedPair, ...]:
    turned = balance_sides([(pair.left_system, pair.right_system) for pair in pairs], rng)
    return tuple(
        pair.swapped() if turn else pair for pair, turn in zip(pairs, turned, strict=True)
    )


# Pairs with a known verdict, drawn so that no fixed habit can pass.
#
# The better answer is on the left as often as on the right, so a rater who always chooses one side
# gets half of the decided pairs right.


@dataclass(frozen=True, kw_only=True)
class KnownPair:
    """Two answers to one question with a known outcome (one of `OUTCOMES`)."""

    question: Key
    first: Key
    second: Key
    outcome: str


@dataclass(frozen=True, kw_only=True)
class ControlPair:
    """A known pair as shown; ``expected`` is left, right, tie or both_bad."""

    question: Key
    left: Key
    right: Key
    expected: str


def draw_controls(known: Sequence[KnownPair], size: int, *, seed: int) -> tuple[ControlPair, ...]:
    """Draw control pairs.

    Parameters
    ----------
    known
        Known pairs to draw from.
    size
        Number of pairs to draw.
    seed
        Seed for the draw and the sides.

    Raises
    ------
    PlanError
        If there are too few known pairs, or an outcome is invalid.

    Examples
    --------
    >>> known = [KnownPair(question=q, first=1, second=2, outcome="first") for q in range(4)]
    >>> sorted(each.expected for each in draw_controls(known, 4, seed=1))
    ['left', 'left', 'right', 'right']
    """
    unknown = {pair.outcome for pair in known} - set(OUTCOMES)
    if unknown:
        raise PlanError(f"an outcome must be one of {', '.join(OUTCOMES)}, not {min(unknown)!r}")
    if size > len(known):
        raise PlanError(f"{size} control pairs were requested, but only {len(known)} are known")
    rng = random.Random(seed)  # noqa: S311  a draw, not a secret
    ordered = sorted(
        known, key=lambda pair: (str(pair.question), str(pair.first), str(pair.second))
    )
    drawn = rng.sample(ordered, size)
    decided = [place for place, pair in enumerate(drawn) if pair.outcome in (FIRST, SECOND)]
    start = rng.randrange(2)
    sides = {place: (start + at) % 2 for at, place in enumerate(rng.sample(decided, len(decided)))}
    return tuple(
        _shown(pair, is_left=bool(sides.get(place, rng.randrange(2))))
        for place, pair in enumerate(drawn)
    )


def _shown(known: KnownPair, *, is_left: bool) -> ControlPair:
    """Place the better answer, or the first if neither is better, on the left or right."""
    better, worse = known.first, known.second
    if known.outcome == SECOND:
        better, worse = worse, better
    undecided = known.outcome if known.outcome in (TIE, BOTH_BAD) else None
    return ControlPair(
        question=known.question,
        left=better if is_left else worse,
        right=worse if is_left else better,
        expected=undecided or (LEFT if is_left else RIGHT),
    )
