"""The order in which a rater sees the items of a round, and blind repeats.

All draws are seeded, so that the same items and the same seed give the same order.
"""

import math
from collections.abc import Sequence

from cqa_site.judging.chat import digest

# A repeat comes after at least this many other items, so that the first look is not remembered.
LEAST_GAP = 5


def own_order(candidates: Sequence[int], *, seed: int, rater: int) -> list[int]:
    """Return the candidates in a rater's random order, the same on every call.

    The order of those that are left does not depend on those that are gone.
    """
    return sorted(candidates, key=lambda candidate: digest([seed, rater, candidate]))


def repeat_due(firsts: int, repeats: int, share: float, *, is_last: bool = False) -> bool:
    """Whether an item should be repeated now.

    Repeats keep up with the items judged so far; at the end what is missing to the share
    follows.

    Examples
    --------
    >>> repeat_due(10, 0, 0.1), repeat_due(9, 0, 0.1), repeat_due(10, 1, 0.1)
    (True, False, False)
    >>> repeat_due(6, 0, 0.1, is_last=True)
    True
    """
    wanted = firsts * share
    if firsts <= LEAST_GAP:
        return False
    return repeats < (math.ceil(round(wanted, 9)) if is_last else math.floor(round(wanted, 9)))


def repeats_of(firsts: int, share: float) -> int:
    """Count the repeated items after this number of first answers.

    Examples
    --------
    >>> repeats_of(20, 0.1), repeats_of(21, 0.1), repeats_of(5, 0.1), repeats_of(6, 0.5)
    (2, 3, 0, 1)
    """
    return max(0, min(math.ceil(round(firsts * share, 9)), firsts - LEAST_GAP))


def choose_repeat(
    judged: Sequence[int], repeated: set[int], *, seed: int, rater: int
) -> int | None:
    """Choose a random item to repeat among those judged long enough ago.

    ``judged`` is in the order of judging; None if there is none to choose.
    """
    old = [
        candidate for candidate in judged[: len(judged) - LEAST_GAP] if candidate not in repeated
    ]
    if len(judged) <= LEAST_GAP or not old:
        return None
    return own_order(old, seed=seed, rater=-rater - 1)[0]
