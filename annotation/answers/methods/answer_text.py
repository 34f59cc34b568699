"""Find the words, citations and sections of an answer, and count its words."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")

Place = tuple[int, int]


def word_places(text: str, start: int = 0, stop: int | None = None) -> list[Place]:
    """Return the spans of words: letters and digits, joined by an apostrophe, hyphen or point.

    Parameters
    ----------
    text : str
        Any text.
    start, stop : int
        Part of the text to read; spans still count from the beginning of the text.

    Examples
    --------
    >>> word_places("It's a 3.5-inch disk.")
    [(0, 4), (5, 6), (7, 15), (16, 20)]
    """
    end = len(text) if stop is None else stop
    return [match.span() for match in _WORD.finditer(text, start, end)]


def words_of(text: str) -> list[str]:
    """Return the words in reading order, in lower case."""
    return [word.casefold() for word in _WORD.findall(text)]


def blanked(text: str, places: Iterable[Place]) -> str:
    """Replace the given spans with spaces, so that all other offsets stay the same."""
    parts, end = [], 0
    for start, stop in sorted(places):
        begin = max(start, end)
        parts += [text[end:begin], " " * (stop - begin)]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def trimmed(text: str, start: int, end: int) -> Place:
    """Return the span without surrounding white space; for blank text, an empty span at its start.

    Examples
    --------
    >>> trimmed("Oak:  elm  ", 4, 11), trimmed("Oak: ", 4, 5)
    ((6, 9), (4, 4))
    """
    part = text[start:end]
    content = part.strip()
    first = start + (part.index(content) if content else 0)
    return first, first + len(content)


# Citations of numbered arguments in an answer: ``[3]``, ``[1, 2]``, ``[2-5]``, ``[generated]``.
#
# The parser accepts any form with a clear meaning (``[Argument 3]``, ``[3; 4]``, ``[1-3, 5-6]``,
# ``[3, generated]``, ``[2 and 7]``) and never guesses. Other bracketed text is not a citation, and
# apparent failed citations are listed separately. Cited numbers are not checked for existence.
#
# Source: relevance paper, appendix B (numbers in square brackets right after the use, a tag for
# arguments the writer made up). Departure: the paper's own parser understands fewer forms; see
# ``faithfulness.paper_numbers``.

# No list of arguments is this long; "[1-2000]" is a typing error or a range of years.
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
    """One pair of brackets.

    ``text`` runs from ``start`` to ``end``, including the brackets.

    Attributes
    ----------
    numbers : tuple of int
        Cited numbers as written, without repeats and with ranges expanded; empty for a bare
        ``[generated]``.
    is_generated : bool
        Whether the writer marked the argument as its own.
    """

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]
    is_generated: bool

    @property
    def generated(self) -> int:
        """Number of arguments that the writer declares as its own: 3 for ``[generated x3]``."""
        counted = _TIMES.search(self.text)
        return int(counted[1]) if counted else int(self.is_generated)


def find_citations(text: str) -> list[Citation]:
    """Return the citations in reading order.

    Examples
    --------
    >>> [found.numbers for found in find_citations("Fast [1-3, 7]. In [Paris] too [Argument 2].")]
    [(1, 2, 3, 7), (2,)]
    """
    citations = []
    for match in _BRACKETS.finditer(text):
        read = _read(match[1])
        if read is not None:
            numbers, is_generated = read
            citations.append(Citation(match.start(), match.end(), match[0], numbers, is_generated))
    return citations


def find_malformed(text: str) -> list[str]:
    """Return bracketed texts that look like failed citations, verbatim and in reading order.

    Examples
    --------
    >>> find_malformed("Fast [3, see above], cheap [], light [4 and loud [Paris].")
    ['[3, see above]', '[]', '[4']
    """
    return [text[start:end] for start, end in malformed_places(text)]


def malformed_places(text: str) -> list[tuple[int, int]]:
    """Return the spans of the texts that ``find_malformed`` returns."""
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


# Cached because the same few brackets occur again and again.
@lru_cache(maxsize=1024)
def _read(inside: str) -> tuple[tuple[int, ...], bool] | None:
    """Return the cited numbers and whether “generated” is declared; None for invalid citations."""
    numbers: dict[int, None] = {}
    is_generated = False
    pieces = [piece for piece in _SEPARATOR.split(inside.strip()) if piece]
    for piece in pieces:
        match = _PIECE.fullmatch(piece)
        if match is None:
            return None
        is_generated = is_generated or match["generated"] is not None
        if match["first"] is not None:
            low, high = int(match["first"]), int(match["last"] or match["first"])
            spanned = range(low, high + 1) if high - low < LONGEST_RANGE else range(0)
            if not spanned:
                return None
            numbers |= dict.fromkeys(spanned)
    return (tuple(numbers), is_generated) if pieces else None


# Sections of a comparative answer, and the bullets and lines in them.
#
# Answers are in Markdown, in plain lines, or (if edited) without any line break. A heading is
# recognized by its wording and its surroundings, a bullet by its mark at the start of a line or
# after the end of a statement.
#
# Source: relevance paper, appendix B: summary, main aspects, best option in one word, numbered
# list of the arguments used.

SUMMARY, BODY, CHOICE, ARGUMENTS = "summary", "body", "choice", "arguments"
KINDS = (SUMMARY, BODY, CHOICE, ARGUMENTS)
MOST_NAME_WORDS = 8

_HEADING = re.compile(
    r"""
    (?: (?P<line> ^[ \t"“'>]{0,20}) | (?<=[.!?\])*"”][ \t]) [ \t]{0,20} | (?<=[ \t]{2}) )
    (?P<marks> (?:\#{1,6}[ \t]{0,9})? (?:\*{1,3}|_{1,3})? (?:\d{1,2}[.)][ \t])? [ \t]{0,9} )
    (?:
        (?P<summary> (?:(?:short|brief|introductory|executive|overall)\ )?
            (?:summary|introduction|overview) )
      | (?P<body> (?:bullet[- ]?point(?:s|ed)?\ list\ of\ )? (?:the\ )?
            (?:(?:main|key|detailed|important)\ )*
            (?:aspects?|points?|differences|comparisons?|analysis|bullet[- ]?point(?:ed)?\ list)
            (?:\ (?:of|between|aspects|points)\b[^:\n.*\[\]]{0,80})? )
      | (?P<choice> (?:the\ |my\ )? (?:final\ |overall\ )?
            (?:(?:best|better)\ (?:option|choice|pick|overall|one) | verdict | conclusion
              | winner | recommendation | result | outcome | choice | decision)
            (?:,?\ (?:for|considering|based|is)\b[^:.\n*\[\]]{0,100})? )
      | (?P<arguments> (?:the\ )? (?:numbered\ )? (?:list\ of\ )? (?:the\ )? (?:numbered\ )?
            (?:(?:used|cited)\ )? arguments (?:\ (?:used|cited))? (?:\ list)? | references )
    )
    (?:[ \t]{0,9}\([^()\n]{0,40}\))?
    (?P<end> [ \t]{0,9} :? [ \t]{0,9} [*_]{0,3} [ \t]{0,9} :? ) (?![\w'’-])
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"[-+•–—](?:[ \t]+|(?=\*\*|\[))|•|\*[ \t]+|\d{1,3}[.)][ \t]+")
# In running text, a dash opens a bullet only between the end of a statement and a capital letter.
_INNER_BULLET = re.compile(
    r"(?:(?<=[.!?:;\])*\"”])[ \t]+|[ \t]{2,})(?=[-•–][ \t]*(?:\*\*|[\"“])?[A-Z])"
)
_LEADING_CITATIONS = re.compile(r"(?:\[[^\[\]\n]{0,300}\][ \t]*)+(?:[-•–:][ \t]+)?")
_NAME = re.compile(
    r"(?:\#{1,6}[ \t]*)?(?P<marks>\*{1,3}|_{1,2}|[\"“])?"
    r"(?P<name>[^\s*_:\[\]\"“”\#][^*:\n\[\]\"“”]{0,79})"
    r"(?P<end>[ \t]*:?[*_\"”]{0,3}[ \t]*[:–-]?)(?=\s|$)"
)


@dataclass(frozen=True, slots=True)
class AnswerSection:
    """A section of an answer; ``kind`` is one of `KINDS`. The heading ends at ``text_start``."""

    kind: str
    start: int
    text_start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """One bullet, or one line that is not a bullet.

    Attributes
    ----------
    section : str
        One of `KINDS`, or empty outside all sections.
    start, text_start, end : int
        Offsets after the bullet mark, after the named aspect, and at the end. The text from
        ``text_start`` to ``end`` is empty if the block consists only of the name. Citations
        before the name or text belong to the block.
    name : str
        The aspect that the block names; empty if it does not name an aspect.
    """

    section: str
    start: int
    text_start: int
    end: int
    name: str
    is_bullet: bool


# Cached because checks and figures of one answer call it several times in a row.
@lru_cache(maxsize=16)
def find_sections(text: str) -> tuple[AnswerSection, ...]:
    """Return the sections in order; empty if the text has no heading.

    Text before the first heading is the summary unless the summary has its own heading.
    Bullets under the summary are the body unless the body has its own heading.
    """
    headings = list(_headings(text))
    if not headings:
        return ()
    kinds = {kind for kind, _start, _end in headings}
    if SUMMARY not in kinds and text[: headings[0][1]].strip():
        headings.insert(0, (SUMMARY, 0, 0))
    ends = [start for _kind, start, _end in headings[1:]] + [len(text)]
    sections = tuple(
        AnswerSection(kind, start, text_start, end)
        for (kind, start, text_start), end in zip(headings, ends, strict=True)
    )
    if BODY in kinds:
        return sections
    return tuple(part for section in sections for part in _split_at_bullets(text, section))


def find_blocks(text: str) -> list[AnswerBlock]:
    """Return bullets and lines in order, excluding headings and lines that have no words."""
    sections = find_sections(text)
    blocks = list(_blocks(text, 0, sections[0].start if sections else len(text), ""))
    for section in sections:
        blocks += _blocks(text, section.text_start, section.end, section.kind)
    return blocks


def _headings(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, start and end of every heading."""
    for match in _HEADING.finditer(text):
        if _is_heading(text, match):
            kind = next(kind for kind in KINDS if match[kind])
            yield kind, match.start("marks"), match.end()


def _is_heading(text: str, match: re.Match[str]) -> bool:
    """Return whether the marks, or the text that follows, make the wording a heading.

    Within a line, a heading needs a mark and a capital letter; the pattern has already checked
    the text before it.
    """
    is_bold = match["marks"].strip() != "" and match["end"].strip(" \t:") != ""
    is_marked = is_bold or ":" in match["end"]
    if match["line"] is None:
        return is_marked and text[match.end("marks")].isupper()
    rest = text[match.end() : match.end() + 40].partition("\n")[0]
    return is_marked or not rest.strip()


def _split_at_bullets(text: str, section: AnswerSection) -> list[AnswerSection]:
    """Split a section into the summary, up to its first bullet, and the body after it."""
    blocks = _blocks(text, section.text_start, section.end, section.kind)
    first = next((block for block in blocks if block.is_bullet), None)
    if section.kind != SUMMARY or first is None:
        return [section]
    start = max(section.text_start, text.rfind("\n", 0, first.start) + 1)
    return [
        AnswerSection(SUMMARY, section.start, section.text_start, start),
        AnswerSection(BODY, start, start, section.end),
    ]


def _blocks(text: str, start: int, end: int, kind: str) -> Iterator[AnswerBlock]:
    while start < end:
        line_end = text.find("\n", start, end)
        line_end = end if line_end < 0 else line_end
        for piece_start, piece_end in _pieces(text, start, line_end):
            block = _block(text, piece_start, piece_end, kind)
            if block is not None:
                yield block
        start = line_end + 1


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a line, each with at most one bullet."""
    opened = _opening(text, start, end)[1]
    for match in _INNER_BULLET.finditer(text, opened, end):
        yield start, match.start()
        start = match.end()
    yield start, end


def _opening(text: str, start: int, end: int) -> tuple[int, int, bool]:
    """Return offsets after the bullet mark and leading citations, and whether it is a bullet."""
    start += len(text[start:end]) - len(text[start:end].lstrip())
    bullet = _BULLET.match(text, start, end)
    start = bullet.end() if bullet else start
    citations = _LEADING_CITATIONS.match(text, start, end)
    is_bullet = bullet is not None or (citations is not None and "- " in citations[0][-3:])
    return start, citations.end() if citations else start, is_bullet


def _block(text: str, start: int, end: int, kind: str) -> AnswerBlock | None:
    start, opened, is_bullet = _opening(text, start, end)
    end = start + len(text[start:end].rstrip())
    if not any(letter.isalnum() for letter in text[opened:end]):
        return None
    named = _NAME.match(text, opened, end) if is_bullet or kind == BODY else None
    if named is None or not _is_name(named):
        return AnswerBlock(kind, start, opened, max(opened, end), "", is_bullet)
    return AnswerBlock(
        kind, start, named.end(), max(named.end(), end), named["name"].strip(), is_bullet
    )


def _is_name(match: re.Match[str]) -> bool:
    is_bold = match["marks"] not in (None, '"', "“") and match["end"].strip(" \t:–-") != ""
    is_title = match[0].startswith("#")
    is_short = len(match["name"].split()) <= MOST_NAME_WORDS
    return is_short and (":" in match["end"] or is_bold or is_title)


# Length of an answer: the number of words shown on the desk, in the history and with answers
#
# Only the writer's own words count. Citations and marks such as ``[3]`` and ``[generated]`` do not
# count, because otherwise citing more would make an answer longer. The closing list of arguments
# does not count either, because it repeats the input.


def said(text: str, sections: Iterable[AnswerSection], citations: Iterable[Citation]) -> str:
    """Return the text with citations and the closing list of arguments replaced by spaces.

    Parameters
    ----------
    text : str
        The answer; any text.
    sections, citations
        Results of `find_sections` and `find_citations` for the text.

    Returns
    -------
    str
        As long as ``text``, so that all offsets stay the same.
    """
    lists = [(section.start, section.end) for section in sections if section.kind == ARGUMENTS]
    return blanked(text, [*lists, *((citation.start, citation.end) for citation in citations)])


def count_words(text: str) -> int:
    """Return the number of words, without citations and the closing list of arguments.

    Examples
    --------
    >>> count_words("Tea is calmer [3, 4], well-known and cheap [generated].")
    6
    """
    return len(word_places(said(text, find_sections(text), find_citations(text))))
