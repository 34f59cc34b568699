"""Texts that are the same but for case, punctuation and white space."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Letters and digits of a text, word by word, in lower case.

    Examples
    --------
    >>> words("It’s DEAR – isn't it?")
    ['it', 's', 'dear', 'isn', 't', 'it']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def plain(text: str) -> str:
    """The same for texts that differ in case, punctuation and white space alone.

    Examples
    --------
    >>> plain("Buses are   safe.") == plain("buses are safe")
    True
    """
    return " ".join(words(text))
