"""Find an answer's repeated passages, and the segments to compare with their citations."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .answer_text import (
    ARGUMENTS,
    AnswerBlock,
    Citation,
    Place,
    blanked,
    find_blocks,
    find_citations,
    find_sections,
    malformed_places,
    trimmed,
    word_places,
    words_of,
)

# Parts of an answer that can be compared with the arguments they cite
#
# There are two methods: ``paper_segments`` splits like the paper's own evaluation, artefacts
# included; ``sound_segments`` respects bullets, sentences and the position of citations.

# A shorter piece is not a statement: "According to [3]", "respectively".
LEAST_WORDS = 3

_CAPITAL = re.compile(r"[A-Z]")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)*_]*(?=\s)")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|nos|dr|mr|mrs|ms|st|jr|cf|fig|inc|ltd|co|al)|\b[a-z])\.\Z",
    re.IGNORECASE,
)
_BETWEEN_CITATIONS = re.compile(r"[ \t,;&]*(?:and\b)?[ \t,;&]*")
_BEHIND_CITATIONS = re.compile(r"[.,;:!?)*_\"”]*")
_MARKS = re.compile(r"[*_#`]+")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Segment:
    """One statement in an answer with the citations that belong to it.

    Attributes
    ----------
    start, end : int
        Its position in the answer, including citations.
    text : str
        Its words, without citations, bullet mark, named aspect or Markdown syntax.
    citations : tuple of Citation
        In reading order; offsets refer to the answer.
    """

    start: int
    end: int
    text: str
    citations: tuple[Citation, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Cited numbers without duplicates, in citation order."""
        return tuple(dict.fromkeys(n for citation in self.citations for n in citation.numbers))

    @property
    def is_generated(self) -> bool:
        """Whether the writer marks an argument as its own."""
        return any(citation.is_generated for citation in self.citations)


def paper_segments(text: str) -> list[str]:
    """Return the paper's segments, each from a capital letter to the next bracket.

    Segments do not cross lines, and text without a following bracket is dropped. Artefacts kept on
    purpose: text before the first capital letter is lost, a segment continues past the end of a
    sentence, any bracket ends it (even ``[Paris]``), and ``[5]`` in ``[3][5]`` ends no segment.

    Examples
    --------
    >>> paper_segments("- Speed: PHP leads [3][5], but ruby wins here [7].")
    ['Speed: PHP leads ']
    """
    return [segment for segment, _inside in paper_pairs(text)]


def paper_pairs(text: str) -> list[tuple[str, str]]:
    """Return the paper's segments, each with the content of the bracket that ends it."""
    pairs = []
    for line in text.split("\n"):
        place = 0
        while (capital := _CAPITAL.search(line, place)) is not None:
            # At least one character must be between letter and bracket, and inside the bracket.
            opening = line.find("[", capital.start() + 2)
            closing = line.find("]", opening + 2) if opening >= 0 else -1
            if closing < 0:
                break
            pairs.append((line[capital.start() : opening], line[opening + 1 : closing]))
            place = closing + 1
    return pairs


def sound_segments(text: str) -> list[Segment]:
    """Return the statements in reading order, with or without citations.

    A statement ends with its sentence, with its bullet, or after citations in the middle of a
    sentence: "Dogs are smarter [1] but cats are easier to train [2]." contains two statements.
    Adjacent brackets are read together, even after the full stop. A bracket at the start of a
    bullet or sentence belongs to the text after it. Headings, names of aspects and the closing
    list of used arguments are left out, as is a recommended option of fewer than three words.

    Examples
    --------
    >>> for found in sound_segments("- Speed: PHP leads here. [3][5]\\n- Ruby is nicer to write."):
    ...     print(found.text, found.numbers)
    PHP leads here. (3, 5)
    Ruby is nicer to write. ()
    """
    citations = find_citations(text)
    masked = blanked(text, [*_groups(text, citations), *malformed_places(text)])
    segments: list[Segment] = []
    for block in find_blocks(text):
        if block.section == ARGUMENTS:
            continue
        inside = [
            citation
            for citation in citations
            if block.start <= citation.start and citation.end <= block.end
        ]
        segments += _statements(text, masked, block, inside)
    return segments


@dataclass(slots=True)
class _Piece:
    """Part of a block up to the next cut; ``words`` excludes citations."""

    start: int
    end: int
    words: int
    is_sentence_end: bool


def _statements(
    text: str, masked: str, block: AnswerBlock, citations: list[Citation]
) -> Iterator[Segment]:
    for piece in _joined(list(_pieces(text, masked, block, citations))):
        own = tuple(
            citation for citation in citations if piece.start <= citation.start < piece.end
        )
        if piece.words < LEAST_WORDS and not own:
            continue
        start = max(piece.start, block.text_start)
        statement = _cleaned(masked[start : piece.end]) or block.name
        if statement:
            start, end = trimmed(text, piece.start, piece.end)
            yield Segment(start, end, statement, own)


def _pieces(
    text: str, masked: str, block: AnswerBlock, citations: list[Citation]
) -> Iterator[_Piece]:
    """Yield the block's pieces in order, cut after citations and sentences."""
    cuts = dict(_sentence_cuts(text, masked, block, citations))
    cuts |= dict(_citation_cuts(text, block, citations))
    start = block.start
    for end in sorted(cuts):
        begin = max(start, block.text_start)
        yield _Piece(start, end, len(word_places(masked, begin, end)), cuts[end])
        start = end
    if text[start : block.end].strip():
        begin = max(start, block.text_start)
        yield _Piece(start, block.end, len(word_places(masked, begin, block.end)), True)


def _sentence_cuts(
    text: str, masked: str, block: AnswerBlock, citations: list[Citation]
) -> Iterator[tuple[int, bool]]:
    opened = {citation.start for citation in citations}
    for match in _SENTENCE_END.finditer(masked, block.text_start, block.end):
        end = match.end()
        following = end + len(text[end : block.end]) - len(text[end : block.end].lstrip())
        next_character = text[following : following + 1]
        if following in opened or next_character.islower() or following >= block.end:
            continue
        if match[0] == "." and _ABBREVIATED.search(text, max(0, end - 10), end):
            continue
        yield end, True


def _citation_cuts(
    text: str, block: AnswerBlock, citations: list[Citation]
) -> Iterator[tuple[int, bool]]:
    """Yield a cut after each group of adjacent citations and the punctuation that follows."""
    for start, end in _groups(
        text, [citation for citation in citations if citation.start >= block.text_start]
    ):
        behind = _BEHIND_CITATIONS.match(text, end, block.end)
        cut = behind.end() if behind else end
        closes = text[max(0, start - 3) : start].rstrip()[-1:]
        yield cut, any(mark in text[end:cut] + closes for mark in ".!?")


def _groups(text: str, citations: list[Citation]) -> list[Place]:
    """Return the spans of groups of adjacent citations, such as "[3][5]" or "[1], [2] and [4]"."""
    groups: list[Place] = []
    for citation in citations:
        if groups and _BETWEEN_CITATIONS.fullmatch(text, groups[-1][1], citation.start):
            groups[-1] = (groups[-1][0], citation.end)
        else:
            groups.append((citation.start, citation.end))
    return groups


def _joined(pieces: list[_Piece]) -> list[_Piece]:
    """Join pieces with too few words to a neighbour in their sentence, preferably the next."""
    statements: list[_Piece] = []
    for index, piece in enumerate(pieces):
        has_next = index + 1 < len(pieces)
        if (
            statements
            and not statements[-1].is_sentence_end
            and statements[-1].words < LEAST_WORDS
        ):
            statements[-1] = _both(statements[-1], piece)
        elif (
            statements
            and piece.words < LEAST_WORDS
            and not (has_next and not piece.is_sentence_end)
        ):
            if piece.words == 0 or not statements[-1].is_sentence_end:
                statements[-1] = _both(statements[-1], piece)
            else:
                statements.append(piece)
        else:
            statements.append(piece)
    return statements


def _both(first: _Piece, second: _Piece) -> _Piece:
    return _Piece(first.start, second.end, first.words + second.words, second.is_sentence_end)


def _cleaned(text: str) -> str:
    """Return the words on one line, without marks and empty brackets."""
    plain = re.sub(r"\(\s*\)", " ", _MARKS.sub("", text))
    plain = re.sub(r"\s+([.,;:!?)])", r"\1", _SPACES.sub(" ", plain))
    return plain.strip(' ,;:-–—"“”')


# Arguments copied in full into an answer, and statements that an answer makes twice
#
# Source: relevance paper, section 4.1: arguments are merged and put in one's own words, and no
# full sentence is copied. The paper gives no thresholds; those below are ours.

# "Ruby is slower than PHP" can hardly be put differently; five words or fewer are not a copy.
LEAST_COPIED_WORDS = 6
# A copy with one changed word in ten is still a copy.
COPIED_LIKENESS = 0.9
# Statements that differ in one word in five repeat each other …
REPEATED_LIKENESS = 0.8
# … unless they are so short that one word changes their meaning.
LEAST_REPEATED_WORDS = 5
# Every pair is compared; an answer of 300 words has about 20 statements.
MOST_COMPARED = 300


def copied_places(text: str, arguments: Mapping[int, str]) -> dict[int, list[Place]]:
    """Map each argument copied in full to its spans, ignoring the closing list of arguments.

    An argument is copied if all its words occur somewhere in order, or if a statement matches the
    argument in all but one word in ten; case and punctuation do not matter.
    """
    spans = _spans(text)
    words = [text[start:end].casefold() for start, end in spans]
    starts: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        starts.setdefault(word, []).append(index)
    segments = [(segment, words_of(segment.text)) for segment in sound_segments(text)]
    copies = {}
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
            copies[number] = sorted(places)
    return copies


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
    """Return the spans of words outside citations and the closing list of arguments."""
    left_out = [(citation.start, citation.end) for citation in find_citations(text)]
    left_out += [
        (section.start, section.end)
        for section in find_sections(text)
        if section.kind == ARGUMENTS
    ]
    return word_places(blanked(text, left_out))


def repeated_places(text: str) -> list[tuple[Place, Place]]:
    """Return pairs of nearly identical statements, the earlier one first.

    Only the first 300 statements of at least five words are compared.
    """
    segments = [(segment, words_of(segment.text)) for segment in sound_segments(text)]
    long_enough = [segment for segment in segments if len(segment[1]) >= LEAST_REPEATED_WORDS]
    long_enough = long_enough[:MOST_COMPARED]
    return [
        ((first.start, first.end), (second.start, second.end))
        for index, (first, words) in enumerate(long_enough)
        for second, others in long_enough[index + 1 :]
        if _likeness(words, others, REPEATED_LIKENESS) >= REPEATED_LIKENESS
    ]


def _likeness(first: list[str], second: list[str], least: float) -> float:
    """Return 1 minus the share of changed words, or 0 if the result is below ``least``."""
    shorter, longer = sorted((len(first), len(second)))
    if shorter < least * longer:
        return 0.0
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(first, second, score_cutoff=least)
