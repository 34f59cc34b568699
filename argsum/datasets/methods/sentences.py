"""Sentences of debate arguments: a splitter of a few rules, without a model or a download.

A sentence ends at ``.``, ``!`` or ``?`` (and any quotes or brackets that close there) when white
space and more text follow. It does not end after a lone letter or capital initials (``U.S.``,
``u. s``), nor at two or more dots before a small letter. A line break alone ends nothing.

The rules are those that reproduce, argument by argument, which arguments of ArgKP-2021 were kept
as a single sentence in the released data of the argument summarization paper (section 4.1):
3,287 of 3,778 in train, 537 of 604 in dev, 428 of 454 in test. That reading counts ``e.g.``,
``i.e.`` and ``etc.`` in mid-sentence as ends, as it was done there.
"""

import re
from itertools import pairwise

# Letters count in any script; digits and the underscore are no letters.
_LETTER = r"[^\W\d_]"
_MORE_THAN_DOTS = re.compile(r"[^\s.!?…]")
# Every alternative begins where a run of marks begins, so that long runs take linear time.
_END = re.compile(
    rf"""
    (?: (?<![\w.])(?P<initial>{_LETTER})\.           # a lone letter: "u. s", "J. Smith"
      | (?<![\w.])(?P<initials>(?:[A-Z]\.){{2,}}+)    # "U.S."
      | (?<![.!?…])(?P<dots>\.{{2,}}+|…)(?![.!?…])    # "and so on.. later"
      | (?<![.!?…])(?P<mark>[.!?…]++)
    )
    (?P<close>["'’”»)\]]*) \s+ (?P<next>\S)
    """,
    re.VERBOSE,
)


def sentences(text: str) -> list[str]:
    """Split a text.

    Parameters
    ----------
    text : str
        Any text; outer white space does not count.

    Returns
    -------
    list of str
        In order, without outer white space; a lone full stop after a sentence is none.

    Examples
    --------
    >>> sentences("It costs too much. Who pays?")
    ['It costs too much.', 'Who pays?']
    >>> sentences("The U.S. pays.. and nobody else.")
    ['The U.S. pays.. and nobody else.']
    """
    whole = text.strip()
    starts = [0]
    at = 0
    while found := _END.search(whole, at):
        # What follows may itself begin a mark, as in ". ." at the end of a text.
        at = found.start("next")
        if _ends_sentence(found):
            starts.append(at)
    bounds = [*starts, len(whole)]
    pieces = (whole[one:two].strip() for one, two in pairwise(bounds))
    return [piece for piece in pieces if _MORE_THAN_DOTS.search(piece)]


def is_one_sentence(text: str) -> bool:
    """Whether a text is exactly one sentence; a blank text is none.

    Examples
    --------
    >>> is_one_sentence("Free buses help everybody"), is_one_sentence("No. They do not.")
    (True, False)
    """
    return len(sentences(text)) == 1


def _ends_sentence(found: re.Match[str]) -> bool:
    if found["initial"] or found["initials"]:
        return False
    return not (found["dots"] and found["next"].islower())
