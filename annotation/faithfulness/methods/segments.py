"""Segments of an answer compared with its arguments, and their closest matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.answers.methods.answer_text import (
    ARGUMENTS,
    Citation,
    blanked,
    find_citations,
    find_sections,
    words_of,
)
from annotation.answers.methods.segments import paper_segments, sound_segments

# Comparison of an answer's segments with its numbered arguments: Jaccard, Levenshtein, cosine
#
# The recipe of the relevance paper, section 5.1, as in its released evaluation: for each figure, a
# segment is compared with its closest argument. The two modes are described in `faithfulness`.

PAPER, SOUND = MODES = ("paper", "sound")
# Reasons to skip a segment: no citation, a tag for a made-up argument, no such argument.
UNCITED, GENERATED, NONEXISTENT = "uncited", "generated", "nonexistent"

Vectors = Callable[[Sequence[str]], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class MeasuredSegment:
    """A segment with its words and the numbers of the arguments it is compared with."""

    text: str
    words: list[str]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Segments:
    """Segments to measure, the number of all segments, and the reasons for leaving some out."""

    measured: list[MeasuredSegment]
    total: int
    left_out: Counter[str]


def segments_of(text: str, arguments: Mapping[int, str], mode: str) -> Segments:
    """Return the segments that can be measured.

    The paper compares every segment with every argument, regardless of its bracket. Sound mode
    compares a segment with the arguments it cites.
    """
    if mode == PAPER:
        segments = paper_segments(text)
        numbers = tuple(arguments)
        whole = [
            MeasuredSegment(segment, segment.split(), numbers) for segment in segments if numbers
        ]
        return Segments(whole, len(segments), Counter())
    measured: list[MeasuredSegment] = []
    left_out: Counter[str] = Counter()
    statements = sound_segments(text)
    for statement in statements:
        numbers = tuple(number for number in statement.numbers if number in arguments)
        if numbers:
            measured.append(MeasuredSegment(statement.text, words_of(statement.text), numbers))
        elif statement.numbers:
            left_out[NONEXISTENT] += 1
        else:
            left_out[GENERATED if statement.is_generated else UNCITED] += 1
    return Segments(measured, len(statements), left_out)


def jaccard_text(text: str, arguments: Mapping[int, str], mode: str) -> float | None:
    """Return the word overlap of the answer with all arguments together; None if there are none.

    The paper counts the numbers in front of arguments, the citations and the closing list of
    arguments as words; sound mode does not.
    """
    if not arguments:
        return None
    words = {
        word for sentence in _shown(arguments, mode).values() for word in _tokens(sentence, mode)
    }
    answer_text = text if mode == PAPER else _said(text)
    return _jaccard(words, set(_tokens(answer_text, mode)))


def distances(
    measured: Sequence[MeasuredSegment], arguments: Mapping[int, str], mode: str
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the largest Jaccard similarity and smallest Levenshtein distance per segment."""
    words = {number: _tokens(sentence, mode) for number, sentence in arguments.items()}
    sets = {number: set(tokens) for number, tokens in words.items()}
    jaccard, levenshtein = [], []
    for segment in measured:
        own = set(segment.words)
        jaccard.append(max(_jaccard(sets[number], own) for number in segment.numbers))
        closest = min(_count_edits(words[number], segment.words) for number in segment.numbers)
        levenshtein.append(float(closest))
    return tuple(jaccard), tuple(levenshtein)


def embedded_texts(
    measured: Sequence[MeasuredSegment], arguments: Mapping[int, str], mode: str
) -> list[str]:
    """Return the distinct texts whose vectors `similarities` requires, segments first.

    The paper embeds arguments with their numbers in front. This alone reduces the mean of the
    released subset from .744 to .691 (all-MiniLM-L6-v2).
    """
    argument_texts = _shown(arguments, mode)
    numbers = dict.fromkeys(number for segment in measured for number in segment.numbers)
    return list(
        dict.fromkeys(
            [segment.text for segment in measured] + [argument_texts[n] for n in numbers]
        )
    )


def similarities(
    measured: Sequence[MeasuredSegment], arguments: Mapping[int, str], mode: str, vectors: Vectors
) -> tuple[float, ...]:
    """Return each segment's cosine with its closest argument; calls ``vectors`` at most once."""
    texts = embedded_texts(measured, arguments, mode)
    if not texts:
        return ()
    rows = np.array(vectors(texts), dtype=np.float64)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    row = dict(zip(texts, rows, strict=True))
    argument_texts = _shown(arguments, mode)
    return tuple(
        float(max(row[segment.text] @ row[argument_texts[number]] for number in segment.numbers))
        for segment in measured
    )


def _tokens(text: str, mode: str) -> list[str]:
    return text.split() if mode == PAPER else words_of(text)


def _shown(arguments: Mapping[int, str], mode: str) -> dict[int, str]:
    """Return the arguments as compared and embedded; paper mode keeps the numbers."""
    if mode == PAPER:
        return {number: f"{number}. {sentence}" for number, sentence in arguments.items()}
    return dict(arguments)


def _jaccard(first: set[str], second: set[str]) -> float:
    """Return the share of words that occur in both sets; 0 if both are empty."""
    return len(first & second) / len(first | second) if first or second else 0.0


def _said(text: str) -> str:
    """Return the answer without citations and the closing list of arguments."""
    lists = [
        (section.start, section.end)
        for section in find_sections(text)
        if section.kind == ARGUMENTS
    ]
    return blanked(
        text, [*lists, *((citation.start, citation.end) for citation in find_citations(text))]
    )


# Segments of one answer with their closest arguments
#
# `faithfulness.measure` keeps one number per segment. This part returns the argument behind that
# number, and any closer argument that the segment does not cite.


@dataclass(frozen=True, slots=True)
class Match:
    """One argument compared with a segment.

    Attributes
    ----------
    number : int
    jaccard : float
        Shared words divided by all words in both, 0 to 1.
    levenshtein : int
        Number of words to insert, delete or replace.
    """

    number: int
    jaccard: float
    levenshtein: int


@dataclass(frozen=True, slots=True)
class SegmentMatches:
    """A segment, its citations, and its closest arguments.

    Attributes
    ----------
    text : str
        The compared text.
    place : tuple of int, or None
        Start and end of the segment in the answer; None in paper mode.
    citations : tuple of Citation
        Empty in paper mode, which ignores the citations of a segment.
    cited : tuple of Match
        Cited arguments that exist, closest first.
    closest : Match or None
        The closest argument, cited or not; None if there are no arguments.
    """

    text: str
    place: tuple[int, int] | None
    citations: tuple[Citation, ...]
    cited: tuple[Match, ...]
    closest: Match | None

    @property
    def numbers(self) -> tuple[int, ...]:
        """Cited numbers without duplicates, in citation order."""
        return tuple(
            dict.fromkeys(number for citation in self.citations for number in citation.numbers)
        )

    @property
    def is_generated(self) -> bool:
        """Whether the author marks an argument as its own."""
        return any(citation.is_generated for citation in self.citations)

    @property
    def has_closer(self) -> bool:
        """Whether an uncited argument shares more words with the segment than any cited one."""
        if not self.cited or self.closest is None:
            return False
        return self.closest.jaccard > self.cited[0].jaccard


def match_segments(text: str, arguments: Mapping[int, str], *, mode: str) -> list[SegmentMatches]:
    """Return an answer's segments in reading order; for ``mode`` see `faithfulness.measure`."""
    if mode == "paper":
        tokens = {number: sentence.split() for number, sentence in arguments.items()}
        return [_matched(segment, segment.split(), tokens) for segment in paper_segments(text)]
    tokens = {number: words_of(sentence) for number, sentence in arguments.items()}
    return [
        _matched(
            segment.text,
            words_of(segment.text),
            tokens,
            (segment.start, segment.end),
            segment.citations,
        )
        for segment in sound_segments(text)
    ]


def _matched(
    text: str,
    words: list[str],
    tokens: Mapping[int, list[str]],
    place: tuple[int, int] | None = None,
    citations: tuple[Citation, ...] = (),
) -> SegmentMatches:
    matches = [_match(number, words, sentence) for number, sentence in tokens.items()]
    numbers = {number for citation in citations for number in citation.numbers}
    cited = [match for match in matches if match.number in numbers]
    return SegmentMatches(text, place, citations, _closest_first(cited), _first(matches))


def _match(number: int, words: Sequence[str], sentence: Sequence[str]) -> Match:
    own, others = set(words), set(sentence)
    jaccard = len(own & others) / len(own | others) if own or others else 0.0
    return Match(number, jaccard, _count_edits(words, sentence))


def _closest_first(matches: Sequence[Match]) -> tuple[Match, ...]:
    return tuple(
        sorted(matches, key=lambda match: (-match.jaccard, match.levenshtein, match.number))
    )


def _first(matches: Sequence[Match]) -> Match | None:
    return _closest_first(matches)[0] if matches else None


def word_distance(before: str, after: str) -> int:
    """Count the words to insert, delete or replace to turn one text into another.

    Words are separated by white space; case and punctuation matter.

    Examples
    --------
    >>> word_distance("Tea is cheap.", "Green tea is cheap.")
    2
    """
    return _count_edits(before.split(), after.split())


def _count_edits(before: Sequence[str], after: Sequence[str]) -> int:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(before, after)
