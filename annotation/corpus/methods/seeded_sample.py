"""Samples that the same seed draws again."""

import random


def seeded_places(n: int, size: int, seed: int) -> list[int]:
    """Draw ``size`` of the places 0 … n − 1 without repetition, in ascending order.

    All of them where there are no more than ``size``.

    Examples
    --------
    >>> seeded_places(3, 5, seed=1)
    [0, 1, 2]
    >>> seeded_places(100, 3, seed=1) == seeded_places(100, 3, seed=1)
    True
    """
    if n <= size:
        return list(range(n))
    return sorted(random.Random(seed).sample(range(n), size))  # noqa: S311 - not a secret
