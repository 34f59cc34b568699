"""Arguments copied whole into an answer, and statements an answer makes twice.

Source: relevance paper, section 4.1: arguments are merged and put in one's own words, nothing
is copied as a full sentence. The paper gives no threshold; those below are ours.
"""

from collections.abc import Iterable, Mapping

from rapidfuzz.distance import Levenshtein

from .citations import find_citations
from .layout import ARGUMENTS, find_sections
from .segments import Segment, sound_segments
from .words import Place, blanked, word_places, words_of

# "Ruby is slower than PHP" can hardly be put otherwise; five words or fewer are no copy.
LEAST_COPIED_WORDS = 6
# One changed word in ten leaves a copy a copy.
COPIED_LIKENESS = 0.9
# Statements that differ in one word of five say the same thing twice …
REPEATED_LIKENESS = 0.8
# … unless they are so short that one word is the point.
LEAST_REPEATED_WORDS = 5
# Every pair is compared; an answer of 300 words has some 20 statements.
MOST_COMPARED = 300


def copied_places(text: str, arguments: Mapping[int, str]) -> dict[int, list[Place]]:
    """Number of each argument copied whole → where; the closing list of arguments may copy.

    An argument is copied if all its words stand in order anywhere, or if a statement is the
    argument but for one word in ten; case and punctuation do not matter.
    """
    spans = _spans(text)
    words = [text[start:end].casefold() for start, end in spans]
    starts: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        starts.setdefault(word, []).append(index)
    segments = [(each, words_of(each.text)) for each in sound_segments(text)]
    found = {}
    for number, sentence in arguments.items():
        wanted = words_of(sentence)
        if len(wanted) < LEAST_COPIED_WORDS:
            continue
        size = len(wanted)
        places = [
            (spans[index][0], spans[index + size - 1][1])
            for index in starts.get(wanted[0], ())
            if words[index : index + size] == wanted
        ]
        places += _near_copies(wanted, segments, places)
        if places:
            found[number] = sorted(places)
    return found


def _near_copies(
    wanted: list[str], segments: Iterable[tuple[Segment, list[str]]], exact: list[Place]
) -> list[Place]:
    return [
        (segment.start, segment.end)
        for segment, words in segments
        if _likeness(wanted, words, COPIED_LIKENESS) >= COPIED_LIKENESS
        and not any(start < segment.end and segment.start < end for start, end in exact)
    ]


def _spans(text: str) -> list[Place]:
    """Words outside citations and the closing list of arguments."""
    left_out = [(each.start, each.end) for each in find_citations(text)]
    left_out += [(each.start, each.end) for each in find_sections(text) if each.kind == ARGUMENTS]
    return word_places(blanked(text, left_out))


def repeated_places(text: str) -> list[tuple[Place, Place]]:
    """Pairs of statements that are nearly the same, the earlier one first.

    Looks at the first 300 statements of at least five words.
    """
    segments = [(each, words_of(each.text)) for each in sound_segments(text)]
    long_enough = [each for each in segments if len(each[1]) >= LEAST_REPEATED_WORDS]
    long_enough = long_enough[:MOST_COMPARED]
    return [
        ((first.start, first.end), (second.start, second.end))
        for index, (first, words) in enumerate(long_enough)
        for second, others in long_enough[index + 1 :]
        if _likeness(words, others, REPEATED_LIKENESS) >= REPEATED_LIKENESS
    ]


def _likeness(first: list[str], second: list[str], least: float) -> float:
    """1 minus the share of changed words; 0 where it stays below ``least``."""
    shorter, longer = sorted((len(first), len(second)))
    if shorter < least * longer:
        return 0.0
    return Levenshtein.normalized_similarity(first, second, score_cutoff=least)
