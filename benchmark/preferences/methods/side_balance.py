"""Sides by chance, and yet even: every system, and every two, left as often as right.

Who always prefers the left answer then prefers nobody, so position bias cancels instead of
helping whoever happened to stand on the left.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence


def balance_sides(pairs: Sequence[tuple[Hashable, Hashable]], rng: random.Random) -> list[bool]:
    """Decide which pairs to turn around.

    Parameters
    ----------
    pairs
        Two systems each, left and right.
    rng
        Decides among the balanced ways.

    Returns
    -------
    list of bool
        Whether to exchange the sides. Then every two systems, and every system by itself, stand
        left as often as right; once more on one side where the number is odd.

    Notes
    -----
    Of the comparisons of two systems half are put either way. What is left over, one comparison
    at most of every two, is a graph of systems: walking it in circles and putting left whatever
    is walked from balances every system (Euler). Systems with an odd number meet in one node
    more, whose edges are nobody's.

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
        one, other = pairs[places[0]]
        drawn = rng.sample(places, len(places))
        if len(drawn) % 2:
            odd.append(drawn.pop())
        for at, place in enumerate(drawn):
            left[place] = one if at % 2 else other
    for place, node in _walk([pairs[each] for each in odd], rng).items():
        left[odd[place]] = node
    return [wanted != pair[0] for wanted, pair in zip(left, pairs, strict=True)]


def _walk(edges: list[tuple[Hashable, Hashable]], rng: random.Random) -> dict[int, Hashable]:
    """Edge → the node from which it is walked, along closed walks over all edges."""
    at_node: dict[Hashable, list[int]] = defaultdict(list)
    for place, (one, other) in enumerate(edges):
        at_node[one].append(place)
        at_node[other].append(place)
    ends = list(edges)
    meeting = object()
    for node in [each for each, places in at_node.items() if len(places) % 2]:
        at_node[node].append(len(ends))
        at_node[meeting].append(len(ends))
        ends.append((node, meeting))
    for places in at_node.values():
        rng.shuffle(places)
    walked: dict[int, Hashable] = {}
    nodes = list(at_node)
    rng.shuffle(nodes)
    for node in nodes:
        # Every node has an even number of edges, so a walk only ends where it began.
        while (edge := _next(at_node[node], walked)) is not None:
            walked[edge] = node
            one, other = ends[edge]
            node = other if node == one else one
    return {place: node for place, node in walked.items() if place < len(edges)}


def _next(places: list[int], walked: dict[int, Hashable]) -> int | None:
    while places and places[-1] in walked:
        places.pop()
    return places.pop() if places else None
