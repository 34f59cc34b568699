"""What code can count in an answer while a person scores it: hints, never points by themselves.

Only the length has a verdict, because the rubric puts it in numbers. Everything else is shown
with its places and left to the rater.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from annotation.answers.methods.citations import find_citations
from annotation.answers.methods.layout import ARGUMENTS, find_sections
from annotation.answers.methods.repeats import repeated_places
from annotation.answers.methods.words import Place, blanked, word_places
from benchmark.rubrics.methods.rubric import HINTS

from .sentence_count import length_points, sentence_places

# Shorter runs come back in any text on two things. Of the answers that people scored for CompQA,
# a third has a run of six words twice and a seventh one of eight; those lost more points.
LEAST_RUN = 8


@dataclass(frozen=True, slots=True)
class Hint:
    """One thing counted.

    Attributes
    ----------
    name : str
        One of `rubric.HINTS`.
    counted : int
        How many.
    shown : str
        The count in plain English.
    points : int or None
        What the rubric gives for the count, where it says so.
    places : tuple of (start, end)
        The passages meant, in reading order.
    """

    name: str
    counted: int
    shown: str
    points: int | None = None
    places: tuple[Place, ...] = ()


def score_hints(text: str, names: Iterable[str] = HINTS) -> list[Hint]:
    """The hints asked for, in that order; KeyError for an unknown name.

    Examples
    --------
    >>> for found in score_hints("Oak lasts longer [1]. Elm bends well [2, 3]."):
    ...     print(found.name, found.shown, found.points, sep=": ")
    sentences: 2 sentences: 0
    repeats: no repetition: None
    citations: 2 citations of 3 arguments: None
    words: 6 words: None
    """
    return [_COUNTS[name](text) for name in names]


def repeated_runs(text: str, least: int = LEAST_RUN) -> list[tuple[Place, Place]]:
    """Runs of at least ``least`` words that came before, with the earlier place first.

    Runs are as long as possible and do not overlap what they repeat; case and punctuation do not
    matter. Citations and the closing list of arguments are left out.
    """
    spans = word_places(_said(text))
    words = [text[start:end].casefold() for start, end in spans]
    first_at: dict[tuple[str, ...], int] = {}
    found: list[tuple[Place, Place]] = []
    at = indexed = 0
    while at + least <= len(words):
        # Only runs that end before this word can be repeated by it.
        for earlier in range(indexed, at - least + 1):
            first_at.setdefault(tuple(words[earlier : earlier + least]), earlier)
        indexed = max(indexed, at - least + 1)
        start = first_at.get(tuple(words[at : at + least]))
        if start is None:
            at += 1
            continue
        size = _run_length(words, start, at)
        found.append((_place(spans, start, size), _place(spans, at, size)))
        at += size
    return found


def _run_length(words: list[str], start: int, at: int) -> int:
    size = 0
    while at + size < len(words) and start + size < at and words[start + size] == words[at + size]:
        size += 1
    return size


def _place(spans: list[Place], start: int, size: int) -> Place:
    return spans[start][0], spans[start + size - 1][1]


def _said(text: str) -> str:
    """The text with spaces for citations and for the closing list of arguments."""
    left_out = [(each.start, each.end) for each in find_citations(text)]
    left_out += [(each.start, each.end) for each in find_sections(text) if each.kind == ARGUMENTS]
    return blanked(text, left_out)


def _sentences(text: str) -> Hint:
    places = sentence_places(text)
    counted = len(places)
    shown = _number(counted, "sentence")
    return Hint("sentences", counted, shown, length_points(counted), tuple(places))


def _repeats(text: str) -> Hint:
    pairs = repeated_runs(text)
    # A statement made twice often is a run as well; that is one finding.
    pairs += [
        pair for pair in repeated_places(text) if not any(_is_same(pair, run) for run in pairs)
    ]
    places = tuple(sorted({place for pair in pairs for place in pair}))
    shown = _number(len(pairs), "repetition") if pairs else "no repetition"
    return Hint("repeats", len(pairs), shown, None, places)


def _is_same(pair: tuple[Place, Place], run: tuple[Place, Place]) -> bool:
    """Whether both places overlap those of the other."""
    return all(one[0] < two[1] and two[0] < one[1] for one, two in zip(pair, run, strict=True))


def _citations(text: str) -> Hint:
    found = find_citations(text)
    cited = {number for each in found for number in each.numbers}
    places = tuple((each.start, each.end) for each in found)
    shown = f"{_number(len(found), 'citation')} of {_number(len(cited), 'argument')}"
    return Hint("citations", len(found), shown, None, places)


def _words(text: str) -> Hint:
    counted = len(word_places(_said(text)))
    return Hint("words", counted, _number(counted, "word"))


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


_COUNTS: dict[str, Callable[[str], Hint]] = {
    "sentences": _sentences,
    "repeats": _repeats,
    "citations": _citations,
    "words": _words,
}
