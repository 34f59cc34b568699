"""Split an answer into headings, lists and paragraphs with linked citations, for web pages."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from .answer_text import AnswerSection, Citation, find_citations, find_sections

# Pieces of an answer, so that a page can link each cited number to its argument
#
# Joining the pieces gives exactly the original text.

_NUMBER = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of an answer.

    ``number`` is the cited number if the part is a number, and ``is_known`` is true if the list of
    arguments contains that number. ``is_generated`` marks brackets in which the writer declares
    an argument as its own. ``is_sign`` marks Markdown syntax, and ``is_bold`` marks bold text.
    """

    text: str
    number: int | None = None
    is_known: bool = False
    is_generated: bool = False
    is_sign: bool = False
    is_bold: bool = False


def split_citations(text: str, numbers: Collection[int]) -> list[Piece]:
    """Split a text at the numbers it cites.

    Parameters
    ----------
    text : str
        The answer; may be empty.
    numbers : collection of int
        Numbers of existing arguments.

    Returns
    -------
    list of Piece
        In order, without empty pieces. In a range, only the first and last numbers are pieces.

    Examples
    --------
    >>> [(p.text, p.number, p.is_known) for p in split_citations("Fast [1, 9].", {1})]
    [('Fast ', None, False), ('[', None, False), ('1', 1, True), (', ', None, False), \
('9', 9, False), (']', None, False), ('.', None, False)]
    """
    citations = find_citations(text)
    pieces = []
    bounds = [
        0,
        *(place for citation in citations for place in (citation.start, citation.end)),
        len(text),
    ]
    for at, (start, end) in enumerate(pairwise(bounds)):
        if at % 2:
            pieces += _in_brackets(citations[at // 2], numbers)
        else:
            pieces.append(Piece(text[start:end]))
    return [piece for piece in pieces if piece.text]


def _in_brackets(citation: Citation, numbers: Collection[int]) -> list[Piece]:
    if not citation.numbers:
        return [Piece(citation.text, is_generated=citation.is_generated)]
    parts = _NUMBER.split(citation.text)
    pieces = []
    for at, part in enumerate(parts):
        number = int(part) if at % 2 else None
        if number in citation.numbers:
            pieces.append(Piece(part, number, number in numbers))
        else:
            pieces.append(Piece(part, is_generated="generated" in part.casefold()))
    return pieces


# Headings, lists and paragraphs of an answer, for display on a page
#
# Joining the texts of all blocks and the gaps after them gives exactly the answer, because offsets
# refer to the stored text. Signs that a page displays differently (``**``, ``##``, ``-``) are
# separate pieces.

HEADING, BULLET, NUMBER, TEXT = "heading", "bullet", "number", "text"
ITEMS = (BULLET, NUMBER)
Span = tuple[int, int]

_BLANK = " \t\r\n"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BOLD = re.compile(r"(\*\*)(?=[^\s*])[^*\n]{1,300}(?<=\S)(\*\*)")
_HEADING = re.compile(r"[ \t]*(#{1,6}[ \t]+)?")
_ITEM = re.compile(r"([ \t]*[-+*•–][ \t]+)|[ \t]*\d{1,3}[.)][ \t]+")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A heading, list item or paragraph, with the white space after it."""

    kind: str
    pieces: list[Piece]
    gap: str


def find_answer_blocks(pieces: Sequence[Piece]) -> list[TextBlock]:
    """Group the pieces from `split_citations` into blocks.

    Pieces are cut where a block ends, and where bold text or Markdown syntax begins or ends.

    Examples
    --------
    >>> found = find_answer_blocks([Piece("Summary:\\nTea **wins**.\\n\\n- calm")])
    >>> [(block.kind, "".join(each.text for each in block.pieces)) for block in found]
    [('heading', 'Summary:'), ('text', 'Tea **wins**.'), ('bullet', '- calm')]
    """
    text = "".join(piece.text for piece in pieces)
    headings = [part for part in find_sections(text) if _is_heading(text, part)]
    blocks = list(_blocks(text, headings))
    bold = [(part.start, part.text_start) for part in headings]
    signs = [_sign(text, kind, start) for kind, start, _end, _after in blocks]
    for match in _BOLD.finditer(text):
        bold.append(match.span())
        signs += [match.span(1), match.span(2)]
    edges = {place for span in (*bold, *signs) for place in span}
    edges |= {place for _kind, *places in blocks for place in places}
    parts = [
        (at, replace(part, is_sign=_is_within(at, signs), is_bold=_is_within(at, bold)))
        for at, part in _cut(pieces, edges)
    ]
    return [
        TextBlock(kind, [part for at, part in parts if start <= at < end], text[end:after])
        for kind, start, end, after in blocks
    ]


def _is_heading(text: str, part: AnswerSection) -> bool:
    """Return whether a section has a heading at the start of a line."""
    before = text[text.rfind("\n", 0, part.start) + 1 : part.start]
    return part.text_start > part.start and not before.strip(_BLANK)


def _blocks(text: str, headings: list[AnswerSection]) -> Iterator[tuple[str, int, int, int]]:
    """Yield the kind, start and end of every block, and the start of the next block."""
    kind, start, end, after = "", 0, 0, 0
    for line in _LINE.finditer(text):
        own_end = line.start() + len(line[0].rstrip(_BLANK))
        own = _kind(text, line.start(), own_end, headings)
        is_paragraph = own == kind == TEXT and text.count("\n", end, line.start()) < 2
        is_blank = not line[0].strip(_BLANK)
        if not is_blank and not is_paragraph:
            if after:
                yield kind, start, end, after
            kind, start = own, line.start()
        end, after = end if is_blank else own_end, line.end()
    if after:
        yield kind, start, end, after


def _kind(text: str, start: int, end: int, headings: list[AnswerSection]) -> str:
    is_title = _sign(text, HEADING, start) != (start, start)
    is_section = any(start <= part.start < end <= part.text_start for part in headings)
    bold = _BOLD.match(text, start + len(text[start:end]) - len(text[start:end].lstrip(_BLANK)))
    is_bold = bold is not None and text[bold.end() : end].strip(_BLANK) in ("", ":")
    if is_title or is_section or is_bold:
        return HEADING
    item = _ITEM.match(text, start, end)
    if item is None or item.end() == end:
        return TEXT
    return BULLET if item[1] else NUMBER


def _sign(text: str, kind: str, start: int) -> Span:
    """Return the span of the mark at the start of a block; empty if the block has no mark."""
    pattern = {HEADING: _HEADING, BULLET: _ITEM}.get(kind)
    match = pattern.match(text, start) if pattern else None
    return match.span() if match and match[1] else (start, start)


def _is_within(at: int, spans: Collection[Span]) -> bool:
    return any(start <= at < end for start, end in spans)


def _cut(pieces: Sequence[Piece], edges: set[int]) -> Iterator[tuple[int, Piece]]:
    """Yield pieces with their start, split so that no piece extends past an edge."""
    start = 0
    for piece in pieces:
        end = start + len(piece.text)
        places = [start, *sorted(edge for edge in edges if start < edge < end), end]
        for left, right in pairwise(places):
            yield left, replace(piece, text=piece.text[left - start : right - start])
        start = end
