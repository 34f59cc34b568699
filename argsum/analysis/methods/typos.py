"""Which words are likely typos: met in one statement, and almost a word that is met in many.

No dictionary is asked, so that names and other languages are treated alike.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
SHORTEST = 5
# From so many statements on a word is common.
COMMON = 5
# Where two words differ only among so many last letters, they are forms of one word.
ENDING = 2


class KnownWords:
    """The words of all statements of an analysis.

    Two words are near where leaving out one letter of either, or of both, makes them equal: one
    letter too few, too many or wrong, or two that changed places.

    Examples
    --------
    >>> known = KnownWords([f"The library is open on day {n}." for n in range(9)] + ["A libary."])
    >>> known.is_typo("libary"), known.is_typo("library")
    (True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.counts: Counter[str] = Counter()
        for text in texts:
            self.counts.update(set(WORD.findall(text.lower())))
        self._near: dict[str, list[str]] = {}
        for word, number in self.counts.items():
            if number >= COMMON and len(word) >= SHORTEST - 1:
                for key in _shortened(word):
                    self._near.setdefault(key, []).append(word)

    def is_typo(self, word: str) -> bool:
        """Whether a word, in small letters, is likely one."""
        if len(word) < SHORTEST or self.counts[word] > 1 or not word.isalpha():
            return False
        near = (each for key in _shortened(word) for each in self._near.get(key, ()))
        return any(_is_slip(word, each) for each in near)


def _shortened(word: str) -> Iterator[str]:
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _is_slip(word: str, common: str) -> bool:
    """Whether it is no form of the common word: "stops" and "stop" are two words."""
    if word == common or word[0] != common[0]:
        return False
    least = min(len(word), len(common)) - ENDING + 1
    return word[:least] != common[:least]
