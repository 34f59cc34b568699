"""Quotations of a key point: the best fitting ones that do not say the same words again."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Of two statements, the share of common words from which they count as the same.
ALIKE = 0.5
_WORD = re.compile(r"\w+")


def different(texts: Sequence[str], most: int) -> list[int]:
    """Positions of up to ``most`` texts, the first first, each unlike those before it.

    Where too few are unlike, the first of the others fill up. Two texts are alike if half of
    the words of both together are in both (Jaccard), without regard to case.

    >>> different(["The bus is late.", "The bus is late!", "Trains are loud."], 2)
    [0, 2]
    """
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    taken: list[int] = []
    for at in range(len(texts)):
        if len(taken) < most and all(_likeness(words[at], words[one]) < ALIKE for one in taken):
            taken.append(at)
    rest = (at for at in range(len(texts)) if at not in set(taken))
    return sorted([*taken, *(at for at, _n in zip(rest, range(most - len(taken)), strict=False))])


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one | other)
    return len(one & other) / both if both else 1.0
