"""Comparison of two texts by line, and by word within changed lines."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_LINES = 2_000
LONGEST_LINE = 4_000
AROUND = 2
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line in a text comparison.

    Parameters
    ----------
    mark
        "same", "removed", "added", or "gap" for unchanged lines that are left out.
    parts
        Pieces of the line, each with a flag that is True if it differs from the other side.
    """

    mark: str
    parts: list[tuple[str, bool]]


def compare_texts(before: str, after: str) -> list[DiffLine] | None:
    """Return changed lines with two lines of context, in order; empty if the texts are equal.

    Return None if the texts are too long to compare.

    Examples
    --------
    >>> [(line.mark, line.parts) for line in compare_texts("rate it", "rate this")]
    [('removed', [('rate ', False), ('it', True)]), ('added', [('rate ', False), ('this', True)])]
    """
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return None
    lines: list[DiffLine] = []
    end = 0
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(AROUND):
        if group[0][1] > end:
            lines.append(DiffLine("gap", []))
        for tag, i1, i2, j1, j2 in group:
            lines += _lines(tag, old[i1:i2], new[j1:j2])
            end = i2
    if lines and end < len(old):
        lines.append(DiffLine("gap", []))
    return lines


def _lines(tag: str, old: list[str], new: list[str]) -> list[DiffLine]:
    if tag == "equal":
        return [DiffLine("same", [(text, False)]) for text in old]
    if len(old) == len(new):
        return _changed(old, new)
    removed = [DiffLine("removed", [(text, True)]) for text in old]
    return removed + [DiffLine("added", [(text, True)]) for text in new]


def _changed(old: list[str], new: list[str]) -> list[DiffLine]:
    """Pair removed and added lines one to one, and compare their words."""
    pairs = [_words(*pair) for pair in zip(old, new, strict=True)]
    return [DiffLine("removed", removed) for removed, _added in pairs] + [
        DiffLine("added", added) for _removed, added in pairs
    ]


def _words(old: str, new: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    if max(len(old), len(new)) > LONGEST_LINE:
        return [(old, True)], [(new, True)]
    left, right = _WORDS.findall(old), _WORDS.findall(new)
    removed: list[tuple[str, bool]] = []
    added: list[tuple[str, bool]] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if i2 > i1:
            removed.append(("".join(left[i1:i2]), tag != "equal"))
        if j2 > j1:
            added.append(("".join(right[j1:j2]), tag != "equal"))
    return removed, added
