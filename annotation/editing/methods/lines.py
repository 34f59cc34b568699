"""Lines of two versions of a text side by side: the same ones, successors, and lone ones.

An editor rewrites a line and puts a new one next to it in one go. A plain comparison of lines
takes such a block as all removed and all added; here the lines that are alike are found in it,
so that only what changed inside them needs to be read.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

Pair = tuple[str | None, str | None]

# Of their words, two lines share at least this part to be taken for one another.
LEAST_ALIKE = 0.4
# Blocks with more pairs than this are not searched: 150 lines against 150.
MOST_PAIRS = 22_500


def align_lines(before: str, after: str) -> list[Pair]:
    """Lines of both texts in order; None stands where a line has no counterpart.

    Parameters
    ----------
    before, after : str
        Lines end with a line feed; an empty text is one empty line.

    Returns
    -------
    list of (old line or None, new line or None)
        All old lines and all new lines, each once and in their order. A pair of equal lines is
        unchanged, one of different lines is a rewritten line.

    Examples
    --------
    >>> align_lines("tea is warm\\nend", "new\\ntea is very warm\\nend")
    [(None, 'new'), ('tea is warm', 'tea is very warm'), ('end', 'end')]
    """
    old, new = before.split("\n"), after.split("\n")
    found: list[Pair] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found += zip(old[i1:i2], new[j1:j2], strict=True)
        else:
            found += _block(old[i1:i2], new[j1:j2])
    return found


def _block(old: Sequence[str], new: Sequence[str]) -> Iterator[Pair]:
    """The lines of one changed block: between two successors, removed lines before added ones."""
    i = j = 0
    for partner_old, partner_new in [*_successors(old, new), (len(old), len(new))]:
        yield from ((line, None) for line in old[i:partner_old])
        yield from ((None, line) for line in new[j:partner_new])
        if partner_old < len(old):
            yield old[partner_old], new[partner_new]
        i, j = partner_old + 1, partner_new + 1


def _successors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines taken for one another: in order on both sides, as alike in sum as can be."""
    if not old or not new or len(old) * len(new) > MOST_PAIRS:
        return []
    alike = _likeness(old, new)
    # best[i][j] is the most that lines from i and from j on can share.
    best = [[0.0] * (len(new) + 1) for _line in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            together = best[i + 1][j + 1] + alike[i][j]
            best[i][j] = max(best[i + 1][j], best[i][j + 1], together)
    found = []
    i = j = 0
    while i < len(old) and j < len(new):
        if alike[i][j] and best[i][j] == best[i + 1][j + 1] + alike[i][j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _likeness(old: Sequence[str], new: Sequence[str]) -> list[list[float]]:
    """Share of common words (Dice's coefficient over words with repeats); 0 below the least."""
    left = [Counter(line.casefold().split()) for line in old]
    right = [Counter(line.casefold().split()) for line in new]
    return [[_dice(a, b) for b in right] for a in left]


def _dice(first: Counter[str], second: Counter[str]) -> float:
    words = first.total() + second.total()
    share = 2 * (first & second).total() / words if words else 0.0
    return share if share >= LEAST_ALIKE else 0.0
