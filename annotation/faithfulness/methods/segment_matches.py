"""Segments of one answer beside the arguments they are closest to, for people who look closer.

`faithfulness.measure` keeps one number a segment; here stands which argument it comes from, and
whether another one, which the segment does not cite, would be closer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from annotation.answers.methods.citations import Citation
from annotation.answers.methods.segments import paper_segments, sound_segments
from annotation.answers.methods.words import words_of


@dataclass(frozen=True, slots=True)
class Match:
    """One argument beside a segment.

    Attributes
    ----------
    number : int
    jaccard : float
        Shared words over all words of both, 0 to 1.
    levenshtein : int
        Words to put in, take out or replace.
    """

    number: int
    jaccard: float
    levenshtein: int


@dataclass(frozen=True, slots=True)
class Matched:
    """A segment, what it cites, and what it is close to.

    Attributes
    ----------
    text : str
        What was compared.
    place : tuple of int, or None
        Where the segment stands in the answer; None in paper mode.
    citations : tuple of Citation
        Empty in paper mode, which does not ask what a segment cites.
    cited : tuple of Match
        Cited arguments that exist, the closest first.
    closest : Match or None
        The closest of all arguments, cited or not; None without arguments.
    """

    text: str
    place: tuple[int, int] | None
    citations: tuple[Citation, ...]
    cited: tuple[Match, ...]
    closest: Match | None

    @property
    def numbers(self) -> tuple[int, ...]:
        """Cited numbers, each once, in the order cited."""
        return tuple(dict.fromkeys(number for each in self.citations for number in each.numbers))

    @property
    def is_generated(self) -> bool:
        """Whether the writer says that an argument of its own is meant."""
        return any(each.is_generated for each in self.citations)

    @property
    def has_closer(self) -> bool:
        """Whether an argument that is not cited shares more words than every cited one."""
        if not self.cited or self.closest is None:
            return False
        return self.closest.jaccard > self.cited[0].jaccard


def match_segments(text: str, arguments: Mapping[int, str], *, mode: str) -> list[Matched]:
    """Every segment of an answer in reading order; ``mode`` as in `faithfulness.measure`."""
    if mode == "paper":
        tokens = {number: sentence.split() for number, sentence in arguments.items()}
        return [_matched(each, each.split(), tokens) for each in paper_segments(text)]
    tokens = {number: words_of(sentence) for number, sentence in arguments.items()}
    return [
        _matched(each.text, words_of(each.text), tokens, (each.start, each.end), each.citations)
        for each in sound_segments(text)
    ]


def _matched(
    text: str,
    words: list[str],
    tokens: Mapping[int, list[str]],
    place: tuple[int, int] | None = None,
    citations: tuple[Citation, ...] = (),
) -> Matched:
    matches = [_match(number, words, sentence) for number, sentence in tokens.items()]
    numbers = {number for each in citations for number in each.numbers}
    cited = [each for each in matches if each.number in numbers]
    return Matched(text, place, citations, _closest_first(cited), _first(matches))


def _match(number: int, words: Sequence[str], sentence: Sequence[str]) -> Match:
    own, others = set(words), set(sentence)
    jaccard = len(own & others) / len(own | others) if own or others else 0.0
    return Match(number, jaccard, Levenshtein.distance(words, sentence))


def _closest_first(matches: Sequence[Match]) -> tuple[Match, ...]:
    return tuple(sorted(matches, key=lambda each: (-each.jaccard, each.levenshtein, each.number)))


def _first(matches: Sequence[Match]) -> Match | None:
    return _closest_first(matches)[0] if matches else None


def word_distance(before: str, after: str) -> int:
    """Words to put in, take out or replace to make one text of the other.

    Words are what stands between white space, case and punctuation included.

    Examples
    --------
    >>> word_distance("Tea is cheap.", "Green tea is cheap.")
    2
    """
    return Levenshtein.distance(before.split(), after.split())
