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
# After a group of this size or more, the most central remaining texts are determined again.
LARGE = 64
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
        hashed = _mixed(hashed, windows[:, column])
    return np.unique(hashed)


def _mixed(hashed: NDArray[np.uint64], values: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """Return 64-bit hashes that also depend on the values."""
    hashed = hashed * np.uint64(0x9E3779B97F4A7C15) + values
    return hashed ^ (hashed >> np.uint64(29))


def shared_of(first: Shingles, second: Shingles) -> float:
    """Return the share of the longer text's shingles that occur in both, 0–1."""
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared / max(len(first), len(second))


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


class _Stars:
    """Groups around central texts, which take their members from the texts that are free.

    A bucket has the rows whose signatures are equal in a band. Buckets come from sorting: the
    library's tables take 20 kB for each text, 2 GB for 100,000.
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
        """Yield groups around texts that share most buckets with others; a text is in one."""
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
        """Return the group of a centre, if there is one, and take its members."""
        shares: dict[int, float] = {row: 1.0}
        tried = {row}
        reached = [row]
        # Members of members too: a variation may have no bucket in common with the centre.
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
        """Return the free rows, those first that share most buckets with other texts."""
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
