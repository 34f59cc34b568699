"""Pairs with a known verdict, drawn so that no habit passes them.

The better answer stands left as often as right, so that whoever always takes one side gets half
of the decided ones right.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.preferences.methods.answer_pairs import Key
from benchmark.preferences.methods.pair_planning import PlanError
from benchmark.preferences.methods.verdicts import (
    BOTH_BAD,
    FIRST,
    LEFT,
    OUTCOMES,
    RIGHT,
    SECOND,
    TIE,
)


@dataclass(frozen=True, kw_only=True)
class KnownPair:
    """Two answers to one question of which it is known which is better (one of `OUTCOMES`)."""

    question: Key
    first: Key
    second: Key
    outcome: str


@dataclass(frozen=True, kw_only=True)
class ControlPair:
    """A known pair as it is shown; ``expected`` is left, right, tie or both_bad."""

    question: Key
    left: Key
    right: Key
    expected: str


def draw_controls(known: Sequence[KnownPair], size: int, *, seed: int) -> tuple[ControlPair, ...]:
    """Draw control pairs.

    Parameters
    ----------
    known
        What to draw from.
    size
        How many.
    seed
        Of draw and sides.

    Raises
    ------
    PlanError
        There are not as many, or an outcome is none.

    Examples
    --------
    >>> known = [KnownPair(question=q, first=1, second=2, outcome="first") for q in range(4)]
    >>> sorted(each.expected for each in draw_controls(known, 4, seed=1))
    ['left', 'left', 'right', 'right']
    """
    unknown = {each.outcome for each in known} - set(OUTCOMES)
    if unknown:
        raise PlanError(f"an outcome is one of {', '.join(OUTCOMES)}, not {min(unknown)!r}")
    if size > len(known):
        raise PlanError(f"{size} control pairs are wanted, but only {len(known)} are known")
    rng = random.Random(seed)  # noqa: S311  a draw, not a secret
    ordered = sorted(
        known, key=lambda each: (str(each.question), str(each.first), str(each.second))
    )
    drawn = rng.sample(ordered, size)
    decided = [place for place, each in enumerate(drawn) if each.outcome in (FIRST, SECOND)]
    start = rng.randrange(2)
    sides = {place: (start + at) % 2 for at, place in enumerate(rng.sample(decided, len(decided)))}
    return tuple(
        _shown(each, is_left=bool(sides.get(place, rng.randrange(2))))
        for place, each in enumerate(drawn)
    )


def _shown(known: KnownPair, *, is_left: bool) -> ControlPair:
    """Put the better answer left or right; of two alike, the first."""
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
