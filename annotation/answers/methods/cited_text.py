"""An answer in pieces, so that a page can link each cited number to its argument.

The pieces joined give the text back, character for character.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from .citations import Citation, find_citations

_NUMBER = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer.

    ``number`` is the cited number where the part is one, ``is_known`` whether
    the answer's list of arguments has it; ``is_generated`` marks brackets in
    which the writer says that an argument is its own. What ``is_sign`` says how
    the text is set, and what ``is_bold`` is set bold (`answer_blocks`).
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
        Numbers that stand for an argument.

    Returns
    -------
    list of Piece
        In order, none of them empty. Of a range only the ends are pieces.

    Examples
    --------
    >>> [(p.text, p.number, p.is_known) for p in split_citations("Fast [1, 9].", {1})]
    [('Fast ', None, False), ('[', None, False), ('1', 1, True), (', ', None, False), \
('9', 9, False), (']', None, False), ('.', None, False)]
    """
    citations = find_citations(text)
    pieces = []
    bounds = [0, *(place for found in citations for place in (found.start, found.end)), len(text)]
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
