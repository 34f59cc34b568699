"""Which two answers stand for two systems: questions and answers take turns.

Of two systems the question is taken on which they met least often, then the one asked about
least; of its answers those shown least. Chance decides the rest.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Key = int | str


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An answer that may be shown."""

    answer: Key
    question: Key
    system: str


class AnswerPairs:
    """The pairs of answers to one question by two systems that are still free.

    Attributes
    ----------
    systems
        Those with an answer, in random order; pairs of systems are pairs of places here.
    n_asked
        Places of two systems, the lower first → pairs of their answers asked before.
    open_pairs : bool, shape (n_systems, n_systems)
        Whether a pair of answers is left, above the diagonal.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        asked: Collection[frozenset[Key]],
        rng: random.Random,
    ) -> None:
        answers = sorted(candidates, key=lambda each: str(each.answer))
        rng.shuffle(answers)
        self.systems = tuple(dict.fromkeys(each.system for each in answers))
        self._places = {name: place for place, name in enumerate(self.systems)}
        self._answers: dict[tuple[int, Key], list[Candidate]] = defaultdict(list)
        for each in answers:
            self._answers[self._places[each.system], each.question].append(each)
        self._taken = set(asked)
        self._shown: Counter[Key] = Counter()
        self._on_question: Counter[Key] = Counter()
        self._met: Counter[tuple[int, int, Key]] = Counter()
        self.n_asked = self._count_asked({each.answer: each for each in answers})
        self._left = self._count_left()
        n = len(self.systems)
        self.open_pairs: NDArray[np.bool_] = np.zeros((n, n), dtype=bool)
        for one, other in self._left:
            self.open_pairs[one, other] = True

    def take(self, one: int, other: int) -> tuple[Candidate, Candidate]:
        """Use up a pair of answers of two systems; the lower place comes first."""
        left = self._left[one, other]
        question = min(
            left, key=lambda each: (self._met[one, other, each], self._on_question[each])
        )
        first, second = min(
            (
                (first, second)
                for first in self._answers[one, question]
                for second in self._answers[other, question]
                if frozenset((first.answer, second.answer)) not in self._taken
            ),
            key=lambda pair: self._shown[pair[0].answer] + self._shown[pair[1].answer],
        )
        self._taken.add(frozenset((first.answer, second.answer)))
        self._count(one, other, first, second)
        left[question] -= 1
        if not left[question]:
            del left[question]
        self.open_pairs[one, other] = bool(left)
        return first, second

    def _count(self, one: int, other: int, first: Candidate, second: Candidate) -> None:
        self._met[one, other, first.question] += 1
        self._on_question[first.question] += 1
        self._shown.update((first.answer, second.answer))

    def _count_asked(self, known: dict[Key, Candidate]) -> Counter[tuple[int, int]]:
        counts: Counter[tuple[int, int]] = Counter()
        for pair in self._taken:
            found = sorted(
                (known[each] for each in pair if each in known),
                key=lambda each: self._places[each.system],
            )
            # Pairs with an answer that is no candidate link nothing here.
            if len(found) == 2 and found[0].system != found[1].system:
                one, other = (self._places[each.system] for each in found)
                counts[one, other] += 1
                self._count(one, other, *found)
        return counts

    def _count_left(self) -> dict[tuple[int, int], dict[Key, int]]:
        """Free pairs of answers by pair of systems and question, questions in random order."""
        by_question: dict[Key, list[int]] = defaultdict(list)
        for place, question in self._answers:
            by_question[question].append(place)
        left: dict[tuple[int, int], dict[Key, int]] = defaultdict(dict)
        for question, places in by_question.items():
            ordered = sorted(places)
            for at, one in enumerate(ordered):
                for other in ordered[at + 1 :]:
                    size = len(self._answers[one, question]) * len(self._answers[other, question])
                    free = size - self._met[one, other, question]
                    if free:
                        left[one, other][question] = free
        return left
