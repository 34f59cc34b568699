"""Where a sentence names the two objects of its comparison.

A row is one sentence with its two objects. Matching ignores case, takes whole
words only and accepts a simple plural or possessive; the longer name is looked
for first, so "Model B2" is not shown as "Model B". The text itself never
changes: the parts joined give the sentence back, character for character.
"""

import re
from dataclasses import dataclass

POSSESSIVE = r"(?:['’]s)?"
HISSING = ("s", "x", "z", "ch", "sh", "o")


@dataclass(frozen=True)
class Segment:
    """A part of a sentence; ``mark`` is 1 or 2 where it names that object, else None."""

    text: str
    mark: int | None


def split_sentence(text: str, object1: str, object2: str) -> list[Segment]:
    """Split a sentence at the names of its two objects.

    Parameters
    ----------
    text : str
        The sentence; may be empty.
    object1, object2 : str
        Names in the order of the comparison; a blank name marks nothing. Of
        two names equal but for case the first one takes every occurrence.

    Returns
    -------
    list of Segment
        In order, none of them empty; no segment for an empty sentence.

    Examples
    --------
    >>> [(part.text, part.mark) for part in split_sentence("Cats beat a dog.", "cat", "dog")]
    [('Cats', 1), (' beat a ', None), ('dog', 2), ('.', None)]
    """
    segments = []
    end = 0
    for start, stop, mark in _occurrences(text, object1, object2):
        if start > end:
            segments.append(Segment(text[end:start], None))
        segments.append(Segment(text[start:stop], mark))
        end = stop
    if end < len(text):
        segments.append(Segment(text[end:], None))
    return segments


def _occurrences(text: str, object1: str, object2: str) -> list[tuple[int, int, int]]:
    """Start, stop and mark of every name; a longer name leaves no part to the shorter one."""
    named = [(name.split(), mark) for name, mark in ((object1, 1), (object2, 2)) if name.strip()]
    named.sort(key=lambda entry: -len(" ".join(entry[0])))
    is_taken = bytearray(len(text))
    found = []
    for words, mark in named:
        for match in _pattern(words).finditer(text):
            start, stop = match.span()
            if any(is_taken[start:stop]):
                continue
            is_taken[start:stop] = b"\x01" * (stop - start)
            found.append((start, stop, mark))
    return sorted(found)


def _pattern(words: list[str]) -> re.Pattern[str]:
    name = r"\s+".join(re.escape(word) for word in words)
    last = words[-1]
    plural = ""
    if len(last) > 1 and last[-1].isalpha():
        plural = "(?:s|es)?" if last.lower().endswith(HISSING) else "s?"
    # One letter is matched as it is written: "A" is an object, "a" an article.
    flags = re.NOFLAG if len(words) == 1 and len(last) == 1 else re.IGNORECASE
    # "C" is not named by "C++" or "C#".
    return re.compile(rf"(?<!\w){name}{plural}{POSSESSIVE}(?![\w+#])", flags)
