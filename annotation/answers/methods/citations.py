"""Citations of numbered arguments in an answer: ``[3]``, ``[1, 2]``, ``[2-5]``, ``[generated]``.

The reader is tolerant where the meaning is plain (``[Argument 3]``, ``[3; 4]``, ``[1-3, 5-6]``,
``[3, generated]``, ``[2 and 7]``) and never guesses: other bracketed text is no citation, and
what seems to be a failed one is listed apart. Whether a cited number exists is not asked here.

Source: relevance paper, appendix B (numbers in square brackets right after the use, a tag for
arguments the writer made up). Departure: the paper's own reader understands fewer forms; see
``faithfulness.paper_numbers``.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

# No list of arguments is as long; "[1-2000]" is a slip or a span of years.
LONGEST_RANGE = 100

_BRACKETS = re.compile(r"\[([^\[\]\n]{0,300})\]")
_SEPARATOR = re.compile(r"\s*(?:[,;&/]|\band\b)\s*", re.IGNORECASE)
_PIECE = re.compile(
    r"""
    (?:
        (?:(?:arguments?|args?\.?|no\.?)\s*)?\#?
        (?P<first>[0-9]{1,4})(?:\s*[-–—]\s*(?P<last>[0-9]{1,4}))?
    )?
    \s*
    (?P<generated>generated(?:\ arguments?)?(?:\s*x?\ ?[0-9]{1,2})?)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TIMES = re.compile(r"generated(?:\ arguments?)?\s*x\ ?([0-9]{1,2})", re.IGNORECASE)
_FAILED = re.compile(
    r"""\s*$ | \s*["'“(#]?\s*[0-9] | .*\b(?:arguments?|args?|generated?|citations?|cite)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_UNCLOSED = re.compile(
    r"\[\s*(?:(?:arguments?|args?\.?)?\s*[0-9][0-9, -]{0,40}|generated)"
    r"(?=[^\[\]\n]{0,300}(?:\[|\n|\Z))",
    re.IGNORECASE,
)
_OTHER_BRACKETS = re.compile(r"【[^【】\n]{0,300}】")


@dataclass(frozen=True, slots=True)
class Citation:
    """One pair of brackets; ``text`` is what stands from ``start`` to ``end``, brackets included.

    Attributes
    ----------
    numbers : tuple of int
        Cited numbers as written, ranges filled in, each once; empty for a bare ``[generated]``.
    is_generated : bool
        Whether the writer says that the argument is its own.
    """

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]
    is_generated: bool

    @property
    def generated(self) -> int:
        """How many arguments it says are the writer's own: 3 for ``[generated x3]``."""
        counted = _TIMES.search(self.text)
        return int(counted[1]) if counted else int(self.is_generated)


def find_citations(text: str) -> list[Citation]:
    """Citations in reading order.

    Examples
    --------
    >>> [found.numbers for found in find_citations("Fast [1-3, 7]. In [Paris] too [Argument 2].")]
    [(1, 2, 3, 7), (2,)]
    """
    found = []
    for match in _BRACKETS.finditer(text):
        read = _read(match[1])
        if read is not None:
            numbers, is_generated = read
            found.append(Citation(match.start(), match.end(), match[0], numbers, is_generated))
    return found


def find_malformed(text: str) -> list[str]:
    """Bracketed text that seems to be a failed citation, as written, in reading order.

    Examples
    --------
    >>> find_malformed("Fast [3, see above], cheap [], light [4 and loud [Paris].")
    ['[3, see above]', '[]', '[4']
    """
    return [text[start:end] for start, end in malformed_places(text)]


def malformed_places(text: str) -> list[tuple[int, int]]:
    """Where ``find_malformed`` found something."""
    closed = [
        match.span()
        for match in _BRACKETS.finditer(text)
        if _read(match[1]) is None and _FAILED.match(match[1])
    ]
    unclosed = [
        (match.start(), match.start() + len(match[0].rstrip(" ,-")))
        for match in _UNCLOSED.finditer(text)
    ]
    others = [match.span() for match in _OTHER_BRACKETS.finditer(text)]
    return sorted([*closed, *unclosed, *others])


# The same few brackets come again and again.
@lru_cache(maxsize=1024)
def _read(inside: str) -> tuple[tuple[int, ...], bool] | None:
    """Numbers and whether something is generated; None if this is no citation."""
    numbers: dict[int, None] = {}
    is_generated = False
    pieces = [piece for piece in _SEPARATOR.split(inside.strip()) if piece]
    for piece in pieces:
        match = _PIECE.fullmatch(piece)
        if match is None:
            return None
        is_generated = is_generated or match["generated"] is not None
        if match["first"] is not None:
            spanned = _span(match["first"], match["last"])
            if not spanned:
                return None
            numbers |= dict.fromkeys(spanned)
    return (tuple(numbers), is_generated) if pieces else None


def _span(first: str, last: str | None) -> range:
    """Numbers of a range; none if it runs backwards or is too long."""
    low, high = int(first), int(last or first)
    return range(low, high + 1) if high - low < LONGEST_RANGE else range(0)
