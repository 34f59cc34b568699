"""How long an answer is: the one count of words that desk, history and pages of answers show.

What a writer says in its own words counts. Citations and marks such as ``[3]`` and ``[generated]``
do not, and neither does the closing list of arguments, which repeats what was given: otherwise
citing more would make an answer longer.
"""

from collections.abc import Iterable

from .citations import Citation, find_citations
from .layout import ARGUMENTS, Section, find_sections
from .words import blanked, word_places


def said(text: str, sections: Iterable[Section], citations: Iterable[Citation]) -> str:
    """The text with spaces for citations and for the closing list of arguments.

    Parameters
    ----------
    text : str
        The answer; any text.
    sections, citations
        What `find_sections` and `find_citations` find in it.

    Returns
    -------
    str
        As long as ``text``, so that all places stay the same.
    """
    lists = [(each.start, each.end) for each in sections if each.kind == ARGUMENTS]
    return blanked(text, [*lists, *((each.start, each.end) for each in citations)])


def count_words(text: str) -> int:
    """Words of an answer without its citations and its closing list of arguments.

    Examples
    --------
    >>> count_words("Tea is calmer [3, 4], well-known and cheap [generated].")
    6
    """
    return len(word_places(said(text, find_sections(text), find_citations(text))))
