"""The count on the last line of a language model's reply.

Source: argument summarization paper, section 3.4 and appendix B: a reply explains, then counts.
"""

import re

from cqa_site.judging.extraction import ReplyNotUsable
from cqa_site.judging.parsing import parse_prose

# Increased with every change that may read a reply differently.
READER_VERSION = 1
NO_COUNT, NO_HALF_STEP = "no_count", "no_half_step"
_MARKS = r"[\s*_`#>\"'“”]*"
_LINE = re.compile(
    rf"^(?:[-•]\s)?{_MARKS}count{_MARKS}[:=]{_MARKS}(\d{{1,6}}(?:[.,]\d{{1,4}})?)"
    rf"(?:\s*(?:/|of|out of)\s*\d{{1,6}})?{_MARKS}\.?{_MARKS}$",
    re.IGNORECASE,
)


class NoCount(Exception):
    """A reply without a usable count; ``reason`` is a short name."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def read_count(text: str, finish_reason: str = "stop", *, refusal: str = "") -> float:
    """The count that a reply ends with, in half steps; not clipped to what is possible.

    Parameters
    ----------
    text
        Of the reply. Reasoning between its marks is no part of it.
    finish_reason, refusal
        As the endpoint gave them.

    Returns
    -------
    float
        Of the last line that has the form ``Count: 2.5``. Marks of emphasis around it, a decimal
        comma and ``of 4`` behind it are read; words behind it are not.

    Raises
    ------
    NoCount
        ``empty``, ``truncated``, ``refused``, ``no_count``, or ``no_half_step``: a number such
        as 2.3 is not rounded.

    Examples
    --------
    >>> read_count("Two are covered, count: 9 is wrong.\\n**Count: 2,5**")
    2.5
    """
    try:
        prose = parse_prose(text, finish_reason, refusal=refusal)
    except ReplyNotUsable as problem:
        raise NoCount(problem.reason.value) from None
    found = [match for line in prose.splitlines() if (match := _LINE.match(line))]
    if not found:
        raise NoCount(NO_COUNT)
    value = float(found[-1][1].replace(",", "."))
    if (2 * value) % 1:
        raise NoCount(NO_HALF_STEP)
    return value
