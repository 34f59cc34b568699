"""The half of the arguments of every key point, drawn by a seed: one part to test, one to choose.

The argument summarization paper kept 50 % of the arguments of each reason of Debate and did not
say which. Here a seed says it, so that anybody draws the same ones, and what the test half leaves
is the dev half.
"""

import random
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

TEST, DEV = "test", "dev"
PARTS = (TEST, DEV)
LARGEST_SEED = 2**31 - 1


class Half(NamedTuple):
    """Which part, and the seed that draws it."""

    part: str
    seed: int = 1


def half_of(arguments: Iterable[tuple[str, str]], half: Half) -> set[int]:
    """Positions of the arguments that belong to a part.

    Of each group the test part has half, rounded to the even number as published, but at least
    one; the dev part has the others. The draw depends on seed, group and texts alone, not on the
    order of the arguments or on other groups.

    Parameters
    ----------
    arguments
        Group (such as topic, stance and key point) and text of each.
    half
        Part and seed.

    Raises
    ------
    ValueError
        For another part.

    Examples
    --------
    >>> cell = [("cost", "a"), ("cost", "b"), ("cost", "c"), ("noise", "d")]
    >>> test, dev = (half_of(cell, Half(part, seed=7)) for part in PARTS)
    >>> len(test), len(dev), sorted(test | dev)
    (3, 1, [0, 1, 2, 3])
    """
    if half.part not in PARTS:
        raise ValueError(f"{half.part!a} is none of {', '.join(PARTS)}")
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for place, (group, text) in enumerate(arguments):
        groups[group].append((text, place))
    found = set()
    for group, members in groups.items():
        draw = random.Random(f"{half.seed}\n{group}")  # noqa: S311  repeatable, nothing secret
        places = [place for _text, place in draw.sample(sorted(members), len(members))]
        size = max(1, round(len(places) / 2))
        found.update(places[:size] if half.part == TEST else places[size:])
    return found
