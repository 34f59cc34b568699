"""Samples of answers for a round, and automatic counts shown to raters as hints."""

import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.answers.methods.answer_text import (
    ARGUMENTS,
    AnswerBlock,
    Place,
    blanked,
    find_blocks,
    find_citations,
    find_sections,
    word_places,
)
from annotation.answers.methods.segments import LEAST_WORDS, repeated_places
from benchmark.rubrics.methods.rubric import FEWEST_SENTENCES, HINTS, MOST_SENTENCES

# Answers of a scoring round, and those that several people score.
#
# All draws are seeded, so that the same answers and the same seed give the same round.


def draw_answers(
    strata: Mapping[int, Hashable], size: int | None, *, seed: int
) -> dict[int, float | None]:
    """Draw answers at random, the same number from every stratum that has enough.

    Parameters
    ----------
    strata
        Answer → stratum, for example its system and scenario; the same value for all answers gives
        a simple random sample.
    size
        Number of answers to draw; None or a number above their count draws all answers.
    seed
        Seed for the draw and the order.

    Returns
    -------
    dict
        Answer → probability of being drawn, in random order. Every probability is 1.0 if all
        answers were drawn.

    Examples
    --------
    >>> draw_answers({1: "a", 2: "a", 3: "b"}, 2, seed=1)
    {3: 1.0, 1: 0.5}
    """
    rng = random.Random(seed)  # noqa: S311  an order, not a secret
    if size is None or size >= len(strata):
        return dict.fromkeys(rng.sample(sorted(strata), len(strata)), 1.0)
    members: dict[Hashable, list[int]] = defaultdict(list)
    for answer in sorted(strata):
        members[strata[answer]].append(answer)
    wanted = _allocate({name: len(member) for name, member in members.items()}, size)
    drawn = {
        answer: wanted[name] / len(member)
        for name, member in members.items()
        for answer in rng.sample(member, wanted[name])
    }
    return {answer: drawn[answer] for answer in rng.sample(sorted(drawn), len(drawn))}


def overlap_of(answers: int, share: float) -> int:
    """Return the number of answers that several people score: the share, rounded up.

    Examples
    --------
    >>> overlap_of(10, 0.25), overlap_of(10, 0.3)
    (3, 3)
    """
    # Rounded first, so that 0.3 of 10 is 3, not 4 because of floating-point error.
    return math.ceil(round(answers * share, 9))


def draw_overlap(answers: Sequence[int], share: float, *, seed: int) -> set[int]:
    """Draw the answers that several people score.

    The number drawn is ``share`` of all answers, rounded up.

    Examples
    --------
    >>> len(draw_overlap(range(10), 0.25, seed=1))
    3
    """
    rng = random.Random(f"overlap:{seed}")  # noqa: S311  a draw, not a secret
    return set(rng.sample(sorted(answers), overlap_of(len(answers), share)))


def _allocate(sizes: Mapping[Hashable, int], size: int) -> dict[Hashable, int]:
    """Divide ``size`` into equal parts; other strata make up the shortfall of a small stratum."""
    wanted: dict[Hashable, int] = {}
    left = size
    # The smallest first: their shortfalls, and remainders, pass to the next strata.
    for place, name in enumerate(
        sorted(sizes, key=lambda stratum: (sizes[stratum], str(stratum)))
    ):
        wanted[name] = min(sizes[name], left // (len(sizes) - place))
        left -= wanted[name]
    return wanted


# Sentences in an answer, counted as a person would for "12 to 20 sentences".
#
# A sentence ends at its full stop or at the end of its line or bullet. Headings, bare names of
# aspects, one-word choices, citations and the closing list of arguments are not sentences.
#
# Source: CompQA paper, section 2 (12 to 20 sentences). The paper does not define a sentence; for
# 279 of the 367 answers that people scored, this count gives the same points for length.

_END = re.compile(r"[.!?…]+[\"'”’)*_]*(?=\s)")
_TITLE = re.compile(r"#{1,6}[ \t].*|\*\*[^*]*[^*.!?]\*\*[ \t]*:?")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|nos|dr|mr|mrs|ms|st|jr|cf|inc|ltd|co)|\b[a-z])\.\Z",
    re.IGNORECASE,
)


def sentence_places(text: str) -> list[Place]:
    """Return the positions of the sentences, in reading order.

    Examples
    --------
    >>> text = "Kayaks are fast. Canoes, e.g. ours, are not [2].\\n\\n- Load: a canoe holds more"
    >>> [text[start:end] for start, end in sentence_places(text)]
    ['Kayaks are fast.', 'Canoes, e.g. ours, are not [2].', 'Load: a canoe holds more']
    """
    prose = blanked(text, [(citation.start, citation.end) for citation in find_citations(text)])
    places: list[Place] = []
    for block in find_blocks(text):
        if block.section == ARGUMENTS or _is_title(text, prose, block):
            continue
        start = block.start
        for end in [*_ends(prose, block.start, block.end), block.end]:
            if len(word_places(prose, start, end)) >= LEAST_WORDS:
                part = text[start:end]
                places.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
            start = end
    return places


def length_points(sentences: int) -> int:
    """Return the points for an answer's length: 1 for 12 to 20 sentences, else 0."""
    return int(FEWEST_SENTENCES <= sentences <= MOST_SENTENCES)


def _is_title(text: str, prose: str, block: AnswerBlock) -> bool:
    """Return whether a line is a heading, or names an aspect without making a statement."""
    if block.name and not word_places(prose, block.text_start, block.end):
        return True
    return _TITLE.fullmatch(text[block.start : block.end].strip()) is not None


def _ends(prose: str, start: int, end: int) -> list[int]:
    return [
        match.end()
        for match in _END.finditer(prose, start, end)
        if not prose[match.end() : end].lstrip()[:1].islower()
        and not (
            match[0] == "."
            and _ABBREVIATED.search(prose, max(start, match.end() - 10), match.end())
        )
    ]


# Automatic counts shown while a person scores an answer: hints only, never points.
#
# Only the length gets suggested points, because the rubric defines it in numbers. For everything
# else, the positions are shown and the rater decides.

# Shorter runs are repeated in any text about two objects. Of the answers that people scored for
# CompQA, a third repeat a run of six words, and a seventh a run of eight; these lost more points.
LEAST_RUN = 8


@dataclass(frozen=True, slots=True)
class Hint:
    """One automatic count, shown as a hint.

    Attributes
    ----------
    name : str
        One of `rubric.HINTS`.
    counted : int
        Number counted.
    shown : str
        The count as English text.
    points : int or None
        Points that the rubric gives for the count, if it defines them.
    places : tuple of (start, end)
        The counted passages, in reading order.
    """

    name: str
    counted: int
    shown: str
    points: int | None = None
    places: tuple[Place, ...] = ()


def score_hints(text: str, names: Iterable[str] = HINTS) -> list[Hint]:
    """Return the hints in the order of ``names``; raise KeyError if a name is unknown.

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
    """Return repeated runs of at least ``least`` words, with the earlier position first.

    Runs are as long as possible and do not overlap the passages that they repeat; case and
    punctuation are ignored. Citations and the closing list of arguments are left out.
    """
    spans = word_places(_said(text))
    words = [text[start:end].casefold() for start, end in spans]
    first_at: dict[tuple[str, ...], int] = {}
    runs: list[tuple[Place, Place]] = []
    at = indexed = 0
    while at + least <= len(words):
        # Only runs that end before this word can be repeated here.
        for earlier in range(indexed, at - least + 1):
            first_at.setdefault(tuple(words[earlier : earlier + least]), earlier)
        indexed = max(indexed, at - least + 1)
        start = first_at.get(tuple(words[at : at + least]))
        if start is None:
            at += 1
            continue
        size = _run_length(words, start, at)
        runs.append((_place(spans, start, size), _place(spans, at, size)))
        at += size
    return runs


def _run_length(words: list[str], start: int, at: int) -> int:
    size = 0
    while at + size < len(words) and start + size < at and words[start + size] == words[at + size]:
        size += 1
    return size


def _place(spans: list[Place], start: int, size: int) -> Place:
    return spans[start][0], spans[start + size - 1][1]


def _said(text: str) -> str:
    """Return the text with citations and the closing list of arguments replaced by spaces."""
    left_out = [(citation.start, citation.end) for citation in find_citations(text)]
    left_out += [
        (section.start, section.end)
        for section in find_sections(text)
        if section.kind == ARGUMENTS
    ]
    return blanked(text, left_out)


def _sentences(text: str) -> Hint:
    places = sentence_places(text)
    counted = len(places)
    number = _number(counted, "sentence")
    return Hint("sentences", counted, number, length_points(counted), tuple(places))


def _repeats(text: str) -> Hint:
    pairs = repeated_runs(text)
    # A repeated statement is often a repeated run as well; it counts only once.
    pairs += [
        pair for pair in repeated_places(text) if not any(_is_same(pair, run) for run in pairs)
    ]
    places = tuple(sorted({place for pair in pairs for place in pair}))
    number = _number(len(pairs), "repetition") if pairs else "no repetition"
    return Hint("repeats", len(pairs), number, None, places)


def _is_same(pair: tuple[Place, Place], run: tuple[Place, Place]) -> bool:
    """Return whether both passages overlap those of the other pair."""
    return all(
        place[0] < other[1] and other[0] < place[1] for place, other in zip(pair, run, strict=True)
    )


def _citations(text: str) -> Hint:
    citations = find_citations(text)
    cited = {number for citation in citations for number in citation.numbers}
    places = tuple((citation.start, citation.end) for citation in citations)
    summary = f"{_number(len(citations), 'citation')} of {_number(len(cited), 'argument')}"
    return Hint("citations", len(citations), summary, None, places)


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

SIZES = (1, 2, 3, 5, 10)
