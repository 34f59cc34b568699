"""Which answers a scoring round takes, and which of them several people score.

All draws are seeded, so that the same answers and the same seed give the same round.
"""

import math
import random
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence


def draw_answers(
    strata: Mapping[int, Hashable], size: int | None, *, seed: int
) -> dict[int, float | None]:
    """Draw answers at random, the same number from every stratum as far as it has them.

    Parameters
    ----------
    strata
        Answer → stratum, for example its system and scenario; one value for all draws simply.
    size
        How many; None, or as many as there are, takes all.
    seed
        Of the draw and of the order.

    Returns
    -------
    dict
        Answer → probability with which it was drawn, in a random order. All have 1.0 if all were
        taken: then nothing was left to chance.

    Examples
    --------
    >>> draw_answers({1: "a", 2: "a", 3: "b"}, 2, seed=1)
    {3: 1.0, 1: 0.5}
    """
    rng = random.Random(seed)  # noqa: S311  an order, not a secret
    if size is None or size >= len(strata):
        return dict.fromkeys(rng.sample(sorted(strata), len(strata)), 1.0)
    members: dict[Hashable, list[int]] = defaultdict(list)
    for answer in sorted(strata):
        members[strata[answer]].append(answer)
    wanted = _allocate({name: len(each) for name, each in members.items()}, size)
    drawn = {
        answer: wanted[name] / len(each)
        for name, each in members.items()
        for answer in rng.sample(each, wanted[name])
    }
    return {answer: drawn[answer] for answer in rng.sample(sorted(drawn), len(drawn))}


def overlap_of(answers: int, share: float) -> int:
    """How many of so many answers several people score: the share of them, rounded up.

    Examples
    --------
    >>> overlap_of(10, 0.25), overlap_of(10, 0.3)
    (3, 3)
    """
    # 0.3 of 10 is 3 and not 4, whatever floating point makes of it.
    return math.ceil(round(answers * share, 9))


def draw_overlap(answers: Sequence[int], share: float, *, seed: int) -> set[int]:
    """Answers that several people score: ``share`` of them, rounded up.

    Examples
    --------
    >>> len(draw_overlap(range(10), 0.25, seed=1))
    3
    """
    rng = random.Random(f"overlap:{seed}")  # noqa: S311  a draw, not a secret
    return set(rng.sample(sorted(answers), overlap_of(len(answers), share)))


def _allocate(sizes: Mapping[Hashable, int], size: int) -> dict[Hashable, int]:
    """Share ``size`` out in equal parts; what a small stratum lacks the others get."""
    wanted: dict[Hashable, int] = {}
    left = size
    # The smallest first: what they cannot fill, and remainders, go to those that follow.
    for place, name in enumerate(sorted(sizes, key=lambda each: (sizes[each], str(each)))):
        wanted[name] = min(sizes[name], left // (len(sizes) - place))
        left -= wanted[name]
    return wanted
