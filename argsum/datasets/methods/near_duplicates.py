"""Near-duplicate comments: form letters and campaigns, found by MinHash and verified exactly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Two comments are near-duplicates if at least half of the longer one's runs of five characters
# occur in the other: insensitive to the order of paragraphs, and the same in every language.
# `benchmarks.near_duplicates` has the measurements behind these numbers.
SHINGLE = 5
LEAST_SHARED = 0.5
# Below this, equal comments are different voices: "Very good." is no letter. In letters and
# digits; a Chinese, Japanese or Korean one counts as three.
LEAST_LENGTH = 100
DENSE = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# 64 bands of 4 find a pair with a Jaccard similarity of .5 with probability .984, one of .05 with
# .0004; a letter is found through any pair of its variations.
BANDS, ROWS = 64, 4
# An estimate from 256 permutations may be so far below the least Jaccard similarity, 1/3.
LEAST_ESTIMATE = 0.22
# Variations whose similarity to all others is estimated to find the most central one, and the
# permutations that are enough for this.
SAMPLE, ENOUGH = 64, 64
PIECE = 500
# Texts whose shingles are kept while they are compared.
MOST_KEPT = 20_000

Shingles = NDArray[np.uint64]
Progress = Callable[[int, int], object]
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class NearDuplicates:
    """One text with its near-duplicates.

    Attributes
    ----------
    centre
        Index of the text that the others resemble.
    members
        Indices of all texts of the group, ascending; with the centre unless it was known before.
    shared
        Of each member: the share of the longer text's runs of characters that occur in both, 0–1.
    """

    centre: int
    members: tuple[int, ...]
    shared: tuple[float, ...]


def find_near_duplicates(
    texts: Sequence[str],
    *,
    known: Sequence[int] = (),
    settled: frozenset[int] = frozenset(),
    progress: Progress = lambda done, total: None,
) -> list[NearDuplicates]:
    """Return groups of near-duplicate texts, by their first member.

    Every member was compared exactly with the group's centre, so no member is there by an
    estimate or through a chain of other texts. Equal input gives equal output.

    Parameters
    ----------
    texts
        Texts in any languages; those shorter than `LEAST_LENGTH` are in no group.
    known
        Indices of the centres of earlier groups, which are joined before new groups are made.
    settled
        Indices of texts that are in no group: centres or members from before.
    progress
        Called with the number of texts read, and of all texts.
    """
    # Equal texts are compared once.
    same: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        plain = plain_text(text)
        if is_long_enough(plain):
            same.setdefault(plain, []).append(at)
    plains, indices = list(same), list(same.values())
    shingles = lru_cache(MOST_KEPT)(lambda row: shingles_of(plains[row]))
    place = {at: row for row, own in enumerate(indices) for at in own}
    free = [[at for at in own if at not in settled] for own in indices]
    groups: list[NearDuplicates] = []
    components = _components(plains, progress) if len(plains) > 1 else []
    own_part = {row: part for part in components for row in part.rows.tolist()}
    for centre in known:
        if (row := place.get(centre)) is not None:
            part = own_part.get(row)
            near = np.array([row]) if part is None else part.near(row)
            groups += _taken(centre, row, near, shingles, free)
    for part in components:
        groups += _stars(part, shingles, free)
    # Without near neighbours: only equal texts.
    alone = [row for row in range(len(plains)) if row not in own_part and len(free[row]) > 1]
    for row in alone:
        groups.append(NearDuplicates(free[row][0], tuple(free[row]), (1.0,) * len(free[row])))
    return sorted(groups, key=lambda group: group.members[0])


def plain_text(text: str) -> str:
    """Return a text in lower case, with one space for everything but letters and digits."""
    return _NOT_WORD.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def is_long_enough(plain: str) -> bool:
    """Whether a plain text is long enough to be a letter."""
    letters = len(plain) - plain.count(" ")
    return letters >= LEAST_LENGTH or letters + 2 * len(DENSE.findall(plain)) >= LEAST_LENGTH


def shingles_of(plain: str) -> Shingles:
    """Return the distinct runs of `SHINGLE` characters of a plain text as sorted 64-bit hashes."""
    codes = np.frombuffer(plain.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(codes, SHINGLE)
    hashed = np.zeros(len(windows), dtype=np.uint64)
    for column in range(SHINGLE):
        hashed = hashed * np.uint64(0x9E3779B97F4A7C15) + windows[:, column]
        hashed ^= hashed >> np.uint64(29)
    return np.unique(hashed)


def shared_of(first: Shingles, second: Shingles) -> float:
    """Return the share of the longer text's shingles that occur in both, 0–1."""
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / max(len(first), len(second))


@dataclass(frozen=True)
class _Part:
    """Texts connected by estimates: their rows, ascending, and their signatures."""

    rows: NDArray[np.int64]
    signatures: NDArray[np.uint32]

    def near(self, row: int) -> NDArray[np.int64]:
        """Return the rows that may be similar enough to one of them, itself included."""
        own = self.signatures[np.searchsorted(self.rows, row)]
        rows: NDArray[np.int64] = self.rows[
            (self.signatures == own).mean(axis=1) >= LEAST_ESTIMATE
        ]
        return rows


def _components(plains: Sequence[str], progress: Progress) -> list[_Part]:
    """Return parts of two texts or more that are connected by estimated similarities."""
    signatures = _signatures(plains, progress)
    parent = list(range(len(plains)))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row

    for rows in _buckets(signatures):
        while len(rows) > 1:
            first, rows = rows[0], rows[1:]
            near = (signatures[rows] == signatures[first]).mean(axis=1) >= LEAST_ESTIMATE
            for row in rows[near].tolist():
                low, high = sorted((root(int(first)), root(row)))
                parent[high] = low
            rows = rows[~near]
    parts: dict[int, list[int]] = {}
    for row in range(len(plains)):
        parts.setdefault(root(row), []).append(row)
    return [_Part(np.array(rows), signatures[rows]) for rows in parts.values() if len(rows) > 1]


def _signatures(plains: Sequence[str], progress: Progress) -> NDArray[np.uint32]:
    """Return MinHash signatures, shape (n, permutations)."""
    from datasketch import MinHash

    signatures = np.empty((len(plains), BANDS * ROWS), dtype=np.uint32)
    # The shingles are hashes already; the library mixes their bits again.
    words = ((shingles_of(plain) >> np.uint64(32)).tolist() for plain in plains)
    hashes = MinHash.generator(words, num_perm=BANDS * ROWS, seed=1, hashfunc=int)
    for row, minhash in enumerate(hashes):
        signatures[row] = minhash.hashvalues
        if row % PIECE == 0:
            progress(row, len(plains))
    return signatures


def _buckets(signatures: NDArray[np.uint32]) -> Iterator[NDArray[np.int64]]:
    """Yield the rows that are equal in a band, ascending.

    By sorting: the library's tables take 20 kB for each text, 2 GB for 100,000.
    """
    for band in range(BANDS):
        own = signatures[:, band * ROWS : (band + 1) * ROWS]
        order = np.lexsort(own.T[::-1])
        starts = np.flatnonzero((own[order[1:]] != own[order[:-1]]).any(axis=1)) + 1
        yield from (rows for rows in np.split(order, starts) if len(rows) > 1)


def _stars(
    part: _Part, shingles: Callable[[int], Shingles], free: list[list[int]]
) -> Iterator[NearDuplicates]:
    """Yield groups around the most central texts of a part; each text is in one group."""
    left = np.array([at for at, row in enumerate(part.rows) if free[row]], dtype=np.int64)
    while len(left) > 1:
        rows, signatures = part.rows[left], part.signatures[left, :ENOUGH]
        sample = np.unique(np.linspace(0, len(left) - 1, SAMPLE).astype(np.int64))
        weights = [len(free[row]) for row in rows[sample]]
        near = sum(
            weight * (signatures == signatures[at]).mean(axis=1)
            for at, weight in zip(sample, weights, strict=True)
        )
        row = int(rows[np.argmax(near)])
        yield from _taken(free[row][0], row, part.near(row), shingles, free)
        free[row] = []
        left = np.array([at for at in left if free[part.rows[at]]], dtype=np.int64)


def _taken(
    centre: int,
    row: int,
    rows: NDArray[np.int64],
    shingles: Callable[[int], Shingles],
    free: list[list[int]],
) -> list[NearDuplicates]:
    """Return the group of a centre, if there is one, and take its members from the free texts."""
    shared: dict[int, float] = {}
    for other in rows.tolist():
        if not free[other]:
            continue
        share = 1.0 if other == row else shared_of(shingles(row), shingles(other))
        if share >= LEAST_SHARED:
            shared |= dict.fromkeys(free[other], share)
    is_new = centre in shared
    if len(shared) < 1 + is_new:
        return []
    for other in rows.tolist():
        free[other] = [at for at in free[other] if at not in shared]
    members = tuple(sorted(shared))
    return [NearDuplicates(centre, members, tuple(shared[at] for at in members))]
