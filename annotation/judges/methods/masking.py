"""Comparative sentences without the names of what they compare.

The objects are replaced by two fixed words in the order of their first mention, so neither
their names nor the order in which the comparison lists them reach a model: it cannot learn
that one pair is often relevant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.corpus.methods.comparison_words import is_comparing
from annotation.corpus.methods.highlight import split_sentence

Spans = tuple[tuple[int, int], ...]

# Two short everyday words, fixed before any model was fitted: embedders know them well.
STAND_INS = ("cats", "dogs")
_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")


@dataclass(frozen=True)
class MaskedSentence:
    """A sentence whose objects are replaced by `STAND_INS`.

    Attributes
    ----------
    text : str
    first, second, comparison : tuple of (start, stop)
        Where `text` mentions the object named first, the one named second, and a word
        that compares; empty tuples where it does not.
    """

    text: str
    first: Spans
    second: Spans
    comparison: Spans


def mask_objects(sentence: str, object1: str, object2: str) -> MaskedSentence:
    """Replace the objects by `STAND_INS` in the order of their first mention.

    Examples
    --------
    >>> mask_objects("Tea is milder than coffee.", "coffee", "tea").text
    'cats is milder than dogs.'
    """
    text, spans = replace_objects(sentence, object1, object2, STAND_INS)
    comparing = tuple(
        found.span() for found in _WORD.finditer(text) if is_comparing(found[0].lower())
    )
    return MaskedSentence(text, tuple(spans[0]), tuple(spans[1]), comparing)


def replace_objects(
    sentence: str, object1: str, object2: str, names: tuple[str, str]
) -> tuple[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
    """The text with ``names`` in the order of first mention, and where each one stands."""
    order: list[int] = []
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    text = ""
    for part in split_sentence(sentence, object1, object2):
        if part.mark is None:
            text += part.text
            continue
        if part.mark not in order:
            order.append(part.mark)
        slot = order.index(part.mark)
        spans[slot].append((len(text), len(text) + len(names[slot])))
        text += names[slot]
    return text, spans
