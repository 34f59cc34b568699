"""How often key points are mentioned in groups of comments, and whether groups differ.

The prevalence of a key point in a group is the share of the group's comments of which at least
one statement stands behind the point. Comments are the unit: a comment that says a thing twice
counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.ratings import IntArray
from cqa_site.stats.verdicts import LEVEL, RULES

from .shares import Difference, Share, equal_shares, share_difference

# Groups of fewer comments are shown, and enter no test.
LEAST = RULES["groups"].least


@dataclass(frozen=True)
class InGroup:
    """A key point in one group.

    Attributes
    ----------
    other, difference
        What it is compared with and how far it is from that: the other group where two are
        compared, else all others together. None in a group that is too small.
    p
        That the difference is none, corrected together with all others (Holm); None where
        nothing was tested.
    """

    share: Share
    other: Share | None = None
    difference: Difference | None = None
    p: float | None = None

    @property
    def distance(self) -> float:
        """The difference in percentage points, with its sign; 0 where nothing is compared."""
        return 0.0 if self.difference is None else 100 * self.difference.value

    @property
    def differs(self) -> bool:
        """Whether it is shown to differ."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True)
class PointByGroup:
    """A key point in all groups.

    Attributes
    ----------
    all
        Over the comments of all groups.
    groups
        In the order of the groups.
    p_alone, p
        That all tested groups mention it equally often: by itself, and corrected over all key
        points (Holm). None where nothing was tested.
    test
        Which test that was.
    """

    point: int
    all: Share
    groups: Sequence[InGroup]
    p_alone: float | None
    p: float | None
    test: str

    @property
    def differs(self) -> bool:
        """Whether groups are shown to differ."""
        return self.p is not None and self.p < LEVEL

    @property
    def widest(self) -> int | None:
        """The group that differs most from the others, by its number."""
        known = [at for at, each in enumerate(self.groups) if each.difference is not None]
        return max(known, key=lambda at: abs(self.groups[at].distance)) if known else None


def compare_groups(sizes: Sequence[int], counts: Sequence[Sequence[int]]) -> list[PointByGroup]:
    """Compare the prevalence of every key point between groups.

    Parameters
    ----------
    sizes : length g
        Comments of each group.
    counts : shape (points, g)
        Of these, those that mention the key point.

    Returns
    -------
    One for each key point, in their order. Of two groups the difference is the first minus the
    second, and its p is that of the key point. Of more, each is compared with all others
    together: these p values are corrected over all key points and groups at once, and the
    intervals of a key point hold together (Bonferroni), because pages show the widest difference.
    Groups of fewer than `LEAST` comments are left out of both.
    """
    n = np.asarray(sizes, dtype=np.int64)
    k = np.asarray(counts, dtype=np.int64).reshape(len(counts), len(n))
    kept = np.flatnonzero(n >= LEAST)
    tests = [equal_shares(row[kept], n[kept]) for row in k]
    alone = [None if each is None else each.p for each in tests]
    corrected = _holm(alone)
    groups = _two(k, n, kept, corrected) if len(kept) == 2 else _each_and_rest(k, n, kept)
    return [
        PointByGroup(
            point=at,
            all=Share(int(row.sum()), int(n.sum())),
            groups=groups[at],
            p_alone=alone[at],
            p=corrected[at],
            test="" if (tested := tests[at]) is None else tested.test,
        )
        for at, row in enumerate(k)
    ]


def _two(
    k: IntArray, n: IntArray, kept: IntArray, p: Sequence[float | None]
) -> list[list[InGroup]]:
    """Two groups that are large enough: each minus the other."""
    made = []
    for row, corrected in zip(k, p, strict=True):
        groups = [InGroup(_share(row, n, at)) for at in range(len(n))]
        for one, other in (kept, kept[::-1]):
            mine, theirs = _share(row, n, one), _share(row, n, other)
            groups[int(one)] = InGroup(mine, theirs, share_difference(mine, theirs), corrected)
        made.append(groups)
    return made


def _each_and_rest(k: IntArray, n: IntArray, kept: IntArray) -> list[list[InGroup]]:
    """Each group against all others that are large enough."""
    if len(kept) < 2:
        return [[InGroup(_share(row, n, at)) for at in range(len(n))] for row in k]
    rest_n = n[kept].sum() - n
    p: list[float | None] = []
    for row in k:
        rest_k = row[kept].sum() - row
        for at in kept:
            tested = equal_shares(np.array([row[at], rest_k[at]]), np.array([n[at], rest_n[at]]))
            p.append(None if tested is None else tested.p)
    corrected = iter(_holm(p))
    made = []
    for row in k:
        rest_k = row[kept].sum() - row
        groups = [InGroup(_share(row, n, at)) for at in range(len(n))]
        for at in kept:
            mine, rest = _share(row, n, at), Share(int(rest_k[at]), int(rest_n[at]))
            difference = share_difference(mine, rest, 1 - LEVEL / len(kept))
            groups[int(at)] = InGroup(mine, rest, difference, next(corrected))
        made.append(groups)
    return made


def _share(row: IntArray, n: IntArray, at: int) -> Share:
    return Share(int(row[at]), int(n[at]))


def _holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values; what was not tested takes no part."""
    known = [value for value in p if value is not None]
    adjusted = iter(holm(np.array(known)) if known else ())
    return [None if value is None else float(next(adjusted)) for value in p]
