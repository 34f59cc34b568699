"""Pairs of answers: verdict names, candidates and balanced sides."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FIRST, SECOND, TIE, BOTH_BAD = "first", "second", "tie", "both_bad"
OUTCOMES = (FIRST, SECOND, TIE, BOTH_BAD)
LEFT, RIGHT, BOTH = "left", "right", "both"
SIDES = (LEFT, RIGHT, BOTH)
# Columns of counts: the first answer is better, the second is better, or neither is.
WIN, LOSS, DRAW = 0, 1, 2
# Verdict of a rater → outcome of a row with the first answer on the left.
OUTCOME_OF = {LEFT: FIRST, RIGHT: SECOND, TIE: TIE, BOTH_BAD: BOTH_BAD}

# Choice of two answers for two systems, by rotating questions and answers.
#
# For two systems, choose the question on which they were compared least often (if tied, the
# question used least often), and its answers that were shown least often. Any other ties are
# broken at random.

Key = int | str


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An answer that can be shown."""

    answer: Key
    question: Key
    system: str


class AnswerPairs:
    """Free pairs of answers to one question by two systems.

    Attributes
    ----------
    systems
        Systems with an answer, in random order; a pair of systems is a pair of positions here.
    n_asked
        Positions of two systems, the lower first → number of requested pairs of their answers.
    open_pairs : bool, shape (n_systems, n_systems)
        Whether any pair of answers is left; only above the diagonal.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        asked: Collection[frozenset[Key]],
        rng: random.Random,
    ) -> None:
        answers = sorted(candidates, key=lambda candidate: str(candidate.answer))
        rng.shuffle(answers)
        self.systems = tuple(dict.fromkeys(answer.system for answer in answers))
        self._places = {name: place for place, name in enumerate(self.systems)}
        self._answers: dict[tuple[int, Key], list[Candidate]] = defaultdict(list)
        for response in answers:
            self._answers[self._places[response.system], response.question].append(response)
        self._taken = set(asked)
        self._shown: Counter[Key] = Counter()
        self._on_question: Counter[Key] = Counter()
        self._met: Counter[tuple[int, int, Key]] = Counter()
        self.n_asked = self._count_asked({answer.answer: answer for answer in answers})
        self._left = self._count_left()
        n = len(self.systems)
        self.open_pairs: NDArray[np.bool_] = np.zeros((n, n), dtype=bool)
        for system, other in self._left:
            self.open_pairs[system, other] = True

    def take(self, system: int, other: int) -> tuple[Candidate, Candidate]:
        """Take a pair of answers by two systems; the lower position comes first."""
        left = self._left[system, other]
        question = min(
            left, key=lambda choice: (self._met[system, other, choice], self._on_question[choice])
        )
        first, second = min(
            (
                (first, second)
                for first in self._answers[system, question]
                for second in self._answers[other, question]
                if frozenset((first.answer, second.answer)) not in self._taken
            ),
            key=lambda pair: self._shown[pair[0].answer] + self._shown[pair[1].answer],
        )
        self._taken.add(frozenset((first.answer, second.answer)))
        self._count(system, other, first, second)
        left[question] -= 1
        if not left[question]:
            del left[question]
        self.open_pairs[system, other] = bool(left)
        return first, second

    def _count(self, system: int, other: int, first: Candidate, second: Candidate) -> None:
        self._met[system, other, first.question] += 1
        self._on_question[first.question] += 1
        self._shown.update((first.answer, second.answer))

    def _count_asked(self, known: dict[Key, Candidate]) -> Counter[tuple[int, int]]:
        counts: Counter[tuple[int, int]] = Counter()
        for pair in self._taken:
            candidates = sorted(
                (known[answer] for answer in pair if answer in known),
                key=lambda candidate: self._places[candidate.system],
            )
            # Pairs with an answer that is not a candidate do not link systems here.
            if len(candidates) == 2 and candidates[0].system != candidates[1].system:
                system, other = (self._places[candidate.system] for candidate in candidates)
                counts[system, other] += 1
                self._count(system, other, *candidates)
        return counts

    def _count_left(self) -> dict[tuple[int, int], dict[Key, int]]:
        """Return the number of free answer pairs for each system pair and question, shuffled."""
        by_question: dict[Key, list[int]] = defaultdict(list)
        for place, question in self._answers:
            by_question[question].append(place)
        left: dict[tuple[int, int], dict[Key, int]] = defaultdict(dict)
        for question, places in by_question.items():
            ordered = sorted(places)
            for at, system in enumerate(ordered):
                for other in ordered[at + 1 :]:
                    size = len(self._answers[system, question]) * len(
                        self._answers[other, question]
                    )
                    free = size - self._met[system, other, question]
                    if free:
                        left[system, other][question] = free
        return left


# Random but balanced sides: every system, and every pair of systems, left as often as right.
#
# A rater who always prefers the left answer then prefers no system, so position bias cancels out
# instead of helping the system that happened to be on the left.


def balance_sides(pairs: Sequence[tuple[Hashable, Hashable]], rng: random.Random) -> list[bool]:
    """Decide for each pair whether to swap its sides.

    Parameters
    ----------
    pairs
        Pairs of systems, left and right.
    rng
        Random generator that chooses among the balanced arrangements.

    Returns
    -------
    list of bool
        Whether to swap the sides. After swapping, every system, and each system in every pair of
        systems, is on the left as often as on the right, with a difference of one if the number is
        odd.

    Notes
    -----
    Each order is used in half of the comparisons of two systems. The remaining comparisons, at
    most one per pair of systems, form a graph of systems. Traversing it in closed walks, with the
    start node of each edge on the left, balances every system (Euler). Systems with an odd number
    of edges are linked to an additional node, whose edges are ignored.

    Examples
    --------
    >>> turned = balance_sides([("a", "b")] * 4, random.Random(1))
    >>> sum(turned)
    2
    """
    members: dict[frozenset[Hashable], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        members[frozenset(pair)].append(place)
    left: list[Hashable] = [None] * len(pairs)
    odd: list[int] = []
    for places in members.values():
        system, other = pairs[places[0]]
        drawn = rng.sample(places, len(places))
        if len(drawn) % 2:
            odd.append(drawn.pop())
        for at, place in enumerate(drawn):
            left[place] = system if at % 2 else other
    for place, node in _walk([pairs[index] for index in odd], rng).items():
        left[odd[place]] = node
    return [wanted != pair[0] for wanted, pair in zip(left, pairs, strict=True)]


def _walk(edges: list[tuple[Hashable, Hashable]], rng: random.Random) -> dict[int, Hashable]:
    """Map each edge to its start node in closed walks over all edges."""
    at_node: dict[Hashable, list[int]] = defaultdict(list)
    for place, (start, other) in enumerate(edges):
        at_node[start].append(place)
        at_node[other].append(place)
    ends = list(edges)
    meeting = object()
    for node in [vertex for vertex, places in at_node.items() if len(places) % 2]:
        at_node[node].append(len(ends))
        at_node[meeting].append(len(ends))
        ends.append((node, meeting))
    for places in at_node.values():
        rng.shuffle(places)
    walked: dict[int, Hashable] = {}
    nodes = list(at_node)
    rng.shuffle(nodes)
    for node in nodes:
        # Every node has an even number of edges, so a walk can only end where it began.
        while (edge := _next(at_node[node], walked)) is not None:
            walked[edge] = node
            start, other = ends[edge]
            node = other if node == start else start
    return {place: node for place, node in walked.items() if place < len(edges)}


def _next(places: list[int], walked: dict[int, Hashable]) -> int | None:
    while places and places[-1] in walked:
        places.pop()
    return places.pop() if places else None
