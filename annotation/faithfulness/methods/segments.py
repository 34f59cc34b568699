"""Segments of an answer held against its numbered arguments: Jaccard, Levenshtein, cosine.

Recipe of the relevance paper, section 5.1, as its released evaluation computes it: each segment
takes the closest argument by each figure. The two modes are described in `faithfulness`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from annotation.answers.methods.citations import find_citations
from annotation.answers.methods.layout import ARGUMENTS, find_sections
from annotation.answers.methods.segments import paper_segments, sound_segments
from annotation.answers.methods.words import blanked, words_of

PAPER, SOUND = MODES = ("paper", "sound")
# Why a segment is not measured: no citation, a tag for a made-up argument, no such argument.
UNCITED, GENERATED, NONEXISTENT = "uncited", "generated", "nonexistent"

Vectors = Callable[[Sequence[str]], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class MeasuredSegment:
    """A segment with its words and the numbers of the arguments it is held against."""

    text: str
    words: list[str]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Segments:
    """Segments to measure, how many there are in all, and why the others are left out."""

    measured: list[MeasuredSegment]
    total: int
    left_out: Counter[str]


def segments_of(text: str, arguments: Mapping[int, str], mode: str) -> Segments:
    """Segments that can be measured.

    The paper holds every segment against every argument, whatever its bracket says. In sound
    mode a segment is held against the arguments it cites.
    """
    if mode == PAPER:
        found = paper_segments(text)
        numbers = tuple(arguments)
        whole = [MeasuredSegment(each, each.split(), numbers) for each in found if numbers]
        return Segments(whole, len(found), Counter())
    measured: list[MeasuredSegment] = []
    left_out: Counter[str] = Counter()
    statements = sound_segments(text)
    for each in statements:
        numbers = tuple(number for number in each.numbers if number in arguments)
        if numbers:
            measured.append(MeasuredSegment(each.text, words_of(each.text), numbers))
        elif each.numbers:
            left_out[NONEXISTENT] += 1
        else:
            left_out[GENERATED if each.is_generated else UNCITED] += 1
    return Segments(measured, len(statements), left_out)


def jaccard_text(text: str, arguments: Mapping[int, str], mode: str) -> float | None:
    """Words that the answer shares with all arguments together; None without arguments.

    The paper counts the numbers in front of the arguments, citations and the closing list of
    arguments as words; sound mode does not.
    """
    if not arguments:
        return None
    words = {word for each in _shown(arguments, mode).values() for word in _tokens(each, mode)}
    said = text if mode == PAPER else _said(text)
    return _jaccard(words, set(_tokens(said, mode)))


def distances(
    measured: Sequence[MeasuredSegment], arguments: Mapping[int, str], mode: str
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Largest Jaccard similarity and smallest Levenshtein distance of each segment."""
    words = {number: _tokens(sentence, mode) for number, sentence in arguments.items()}
    sets = {number: set(tokens) for number, tokens in words.items()}
    jaccard, levenshtein = [], []
    for each in measured:
        own = set(each.words)
        jaccard.append(max(_jaccard(sets[number], own) for number in each.numbers))
        closest = min(Levenshtein.distance(words[number], each.words) for number in each.numbers)
        levenshtein.append(float(closest))
    return tuple(jaccard), tuple(levenshtein)


def embedded_texts(
    measured: Sequence[MeasuredSegment], arguments: Mapping[int, str], mode: str
) -> list[str]:
    """The distinct texts that `similarities` needs vectors of, segments first.

    The paper embeds arguments with their numbers in front. That alone lowers the mean of the
    released subset from .744 to .691 (all-MiniLM-L6-v2).
    """
    shown = _shown(arguments, mode)
    numbers = dict.fromkeys(number for each in measured for number in each.numbers)
    return list(dict.fromkeys([each.text for each in measured] + [shown[n] for n in numbers]))


def similarities(
    measured: Sequence[MeasuredSegment],
    arguments: Mapping[int, str],
    mode: str,
    vectors: Vectors,
) -> tuple[float, ...]:
    """Cosine of each segment with the closest of its arguments; ``vectors`` is asked once."""
    texts = embedded_texts(measured, arguments, mode)
    if not texts:
        return ()
    rows = np.array(vectors(texts), dtype=np.float64)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    row = dict(zip(texts, rows, strict=True))
    shown = _shown(arguments, mode)
    return tuple(
        float(max(row[each.text] @ row[shown[number]] for number in each.numbers))
        for each in measured
    )


def _tokens(text: str, mode: str) -> list[str]:
    return text.split() if mode == PAPER else words_of(text)


def _shown(arguments: Mapping[int, str], mode: str) -> dict[int, str]:
    """Arguments as whole texts are compared and embedded: the paper keeps the numbers."""
    if mode == PAPER:
        return {number: f"{number}. {sentence}" for number, sentence in arguments.items()}
    return dict(arguments)


def _jaccard(first: set[str], second: set[str]) -> float:
    """Shared over all; 0 for two empty sets, which share nothing."""
    return len(first & second) / len(first | second) if first or second else 0.0


def _said(text: str) -> str:
    """The answer without citations and without the list of arguments it closes with."""
    lists = [(each.start, each.end) for each in find_sections(text) if each.kind == ARGUMENTS]
    return blanked(text, [*lists, *((each.start, each.end) for each in find_citations(text))])
