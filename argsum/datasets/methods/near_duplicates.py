"""Near-duplicate comments such as form letters, found by MinHash and verified exactly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Two comments are near-duplicates if at least half of the longer one's runs of five characters
# occur in the other. This ignores the order of paragraphs and works alike in every language.
# `benchmarks.near_duplicates` has the measurements behind these numbers.
SHINGLE = 5
LEAST_SHARED = 0.5
# Shorter equal comments, such as "Very good.", are different voices and not a form letter. Counted
# in letters and digits; a Chinese, Japanese or Korean character counts as three.
LEAST_LENGTH = 100
DENSE = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# 64 bands of 4 find a pair with a Jaccard similarity of .5 with probability .984, and a pair with
# .05 with probability .0004; a form letter is found through any pair of its variants.
BANDS, ROWS = 64, 4
# An estimate from 256 permutations can be this far below the lowest Jaccard similarity, 1/3.
LEAST_ESTIMATE = 0.22
# After a group of at least this size, the most central remaining texts are determined again.
LARGE = 64
PIECE = 500
# Maximum number of texts whose shingles are cached for the comparison.
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
        Index of the text that the other texts resemble.
    members
        Indices of all texts of the group, ascending; without the centre if it was known before.
    shared
        Similarity of each member to the centre, 0–1; see `shared_of`.
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
    """Return groups of near-duplicate texts, ordered by their first members.

    Every member is compared exactly with the group's centre, so no text joins a group because of
    an estimate or a chain of other texts. Identical input gives identical output.

    Parameters
    ----------
    texts
        Texts in any language; texts shorter than `LEAST_LENGTH` are not grouped.
    known
        Indices of the centres of earlier groups, which are extended before new groups are made.
    settled
        Indices of texts that join no group, because they were grouped before.
    progress
        Called with the number of texts read so far and the total number of texts.
    """
    # Equal texts are compared only once.
    same: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        plain = plain_text(text)
        if is_long_enough(plain):
            same.setdefault(plain, []).append(at)
    plains, indices = list(same), list(same.values())
    if not plains:
        return []
    place = {at: row for row, own in enumerate(indices) for at in own}
    free = [[at for at in own if at not in settled] for own in indices]
    stars = _Stars(plains, _signatures(plains, progress), free)
    earlier = [(place[centre], centre) for centre in known if centre in place]
    groups = [group for row, centre in earlier if (group := stars.around(row, centre))]
    groups += stars.new()
    return sorted(groups, key=lambda group: group.members[0])


def plain_text(text: str) -> str:
    """Return a text in lower case, replacing everything but letters and digits with spaces."""
    return _NOT_WORD.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def is_long_enough(plain: str) -> bool:
    """Return whether a plain text is long enough to be a form letter."""
    letters = len(plain) - plain.count(" ")
    return letters >= LEAST_LENGTH or letters + 2 * len(DENSE.findall(plain)) >= LEAST_LENGTH


def shingles_of(plain: str) -> Shingles:
    """Return the distinct runs of `SHINGLE` characters of a plain text as sorted 64-bit hashes."""
    codes = np.frombuffer(plain.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(codes, SHINGLE)
    hashed = np.zeros(len(windows), dtype=np.uint64)
    for column in range(SHINGLE):
        hashed = _mixed(hashed, windows[:, column])
    return np.unique(hashed)


def _mixed(hashed: NDArray[np.uint64], values: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """Combine 64-bit hashes with values into new hashes."""
    hashed = hashed * np.uint64(0x9E3779B97F4A7C15) + values
    return hashed ^ (hashed >> np.uint64(29))


def shared_of(first: Shingles, second: Shingles) -> float:
    """Return the share of the longer text's shingles that occur in both texts, 0–1."""
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / max(len(first), len(second))


def _signatures(plains: Sequence[str], progress: Progress) -> NDArray[np.uint32]:
    """Return MinHash signatures, shape (n, permutations)."""
    from datasketch import MinHash

    signatures = np.empty((len(plains), BANDS * ROWS), dtype=np.uint32)
    # The shingles are already hashes; the library mixes their bits again.
    words = ((shingles_of(plain) >> np.uint64(32)).tolist() for plain in plains)
    hashes = MinHash.generator(words, num_perm=BANDS * ROWS, seed=1, hashfunc=int)
    for row, minhash in enumerate(hashes):
        signatures[row] = minhash.hashvalues
        if row % PIECE == 0:
            progress(row, len(plains))
    return signatures


class _Stars:
    """Groups around central texts, whose members are taken from the ungrouped texts.

    A bucket contains the rows with equal signatures in a band. Buckets are formed by sorting,
    because datasketch's tables need 20 kB per text, or 2 GB for 100,000 texts.
    """

    def __init__(
        self, plains: Sequence[str], signatures: NDArray[np.uint32], free: list[list[int]]
    ) -> None:
        self.signatures, self.free = signatures, free
        self.shingles = lru_cache(MOST_KEPT)(lambda row: shingles_of(plains[row]))
        # Shape (bands, n); equal rows of different bands are in different buckets.
        hashes = np.tile(np.arange(BANDS, dtype=np.uint64)[:, None], len(plains))
        for column in range(ROWS):
            hashes = _mixed(hashes, signatures[:, column::ROWS].T)
        _values, buckets = np.unique(hashes.ravel(), return_inverse=True)
        self.buckets = buckets.reshape(hashes.shape)
        self.rows = np.argsort(buckets, kind="stable") % len(plains)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(buckets))])

    def new(self) -> Iterator[NearDuplicates]:
        """Yield disjoint groups, starting with the texts that share the most buckets."""
        size = LARGE
        while size >= LARGE:
            size = 0
            for row in self._most_central():
                if size < LARGE and self.free[row]:
                    group = self.around(row, self.free[row][0])
                    self.free[row] = []
                    if group:
                        size = len(group.members)
                        yield group

    def around(self, row: int, centre: int) -> NearDuplicates | None:
        """Return a centre's group, or None if it is empty, and mark its members as grouped."""
        shares: dict[int, float] = {row: 1.0}
        tried = {row}
        reached = [row]
        # Neighbours of members are tried, too: a variant may share no bucket with the centre.
        for _step in range(2):
            near = self._near(row, reached)
            others = [other for other in near if other not in tried and self.free[other]]
            tried.update(others)
            own = {at: shared_of(self.shingles(row), self.shingles(at)) for at in others}
            reached = [other for other in others if own[other] >= LEAST_SHARED]
            if not reached:
                break
            shares |= {other: own[other] for other in reached}
        shared = {at: share for other, share in shares.items() for at in self.free[other]}
        if len(shared) < 1 + (centre in shared):
            return None
        for other in shares:
            self.free[other] = []
        members = tuple(sorted(shared))
        return NearDuplicates(centre, members, tuple(shared[at] for at in members))

    def _most_central(self) -> list[int]:
        """Return the ungrouped rows, starting with those that share the most buckets."""
        counts = np.array([len(own) for own in self.free])
        inside = np.bincount(
            self.buckets.ravel(), weights=np.broadcast_to(counts, self.buckets.shape).ravel()
        )
        degrees = inside[self.buckets].sum(axis=0)
        order = np.argsort(-degrees, kind="stable")
        return [row for row in order.tolist() if self.free[row]]

    def _near(self, row: int, reached: Sequence[int]) -> list[int]:
        """Return likely near-duplicates of a row that share a bucket with a reached row."""
        buckets = np.unique(self.buckets[:, list(reached)])
        parts = [self.rows[self.starts[at] : self.starts[at + 1]] for at in buckets]
        rows = np.unique(np.concatenate(parts))
        estimates = (self.signatures[rows] == self.signatures[row]).mean(axis=1)
        near: list[int] = rows[estimates >= LEAST_ESTIMATE].tolist()
        return near
