"""The option an answer names as the better one, and whether it is a word for one of the objects.

Source: relevance paper, appendix B: the best option in one word. Edited answers also decline in
one word ("Subjective", "Both"), so that is a choice too.
"""

from dataclasses import dataclass

from .citations import find_citations
from .layout import CHOICE, find_sections
from .words import Place, blanked, words_of

# Beginnings of words by which answers decline to choose.
DECLINING = (
    "subjectiv",
    "depend",
    "prefer",
    "personal",
    "individual",
    "context",
    "situation",
    "var",
    "both",
    "neither",
    "either",
    "equal",
    "tie",
    "draw",
    "balanced",
    "undecided",
    "inconclusive",
)
_ARTICLES = ("the", "a", "an")


@dataclass(frozen=True, slots=True)
class Choice:
    """What stands under the heading of the best option, first line only.

    ``meant`` is 1 or 2 for an object, 0 where the answer declines, None where it names neither;
    ``is_one_word`` also holds for the full name of an object of several words.
    """

    place: Place
    text: str
    words: int
    meant: int | None
    is_one_word: bool


def find_choice(text: str, object1: str, object2: str) -> Choice | None:
    """The choice, or None without a heading or without a word under it.

    Examples
    --------
    >>> found = find_choice("Best Option: **Google**", "Google search", "Yahoo search")
    >>> found.text, found.meant, found.is_one_word
    ('Google', 1, True)
    """
    place = _place(text)
    if place is None:
        return None
    cited = [(each.start, each.end) for each in find_citations(text)]
    said = blanked(text, cited)[slice(*place)].strip(" \t*_#.,:;\"'“”()")
    words = [word for word in words_of(said) if word not in _ARTICLES]
    if not words:
        return None
    names = [
        [word for word in words_of(each) if word not in _ARTICLES] for each in (object1, object2)
    ]
    meant = _meant(words, names[0], names[1])
    is_name = meant in (1, 2) and _plain(words) == _plain(names[meant - 1])
    return Choice(place, said, len(words), meant, len(words) == 1 or is_name)


def _place(text: str) -> Place | None:
    """Where the first line with a letter under the heading stands."""
    for section in find_sections(text):
        if section.kind != CHOICE:
            continue
        start = section.text_start
        for line in text[start : section.end].splitlines(keepends=True):
            if any(letter.isalnum() for letter in line):
                begin = start + len(line) - len(line.lstrip(" \t*_"))
                return begin, start + len(line.rstrip())
            start += len(line)
    return None


def _meant(words: list[str], first: list[str], second: list[str]) -> int | None:
    is_first, is_second = _names(words, first, second), _names(words, second, first)
    if is_first != is_second:
        return 1 if is_first else 2
    if is_first or any(word.startswith(DECLINING) for word in words):
        return 0
    return None


def _names(words: list[str], name: list[str], other: list[str]) -> bool:
    """Whether the words hold a word of one name that the other does not have."""
    own = {_singular(word) for word in name} - {_singular(word) for word in other}
    return bool(own & {_singular(word) for word in words}) or _plain(words) == _plain(name)


def _plain(words: list[str]) -> str:
    """Letters and digits alone, so that "Cellphone" is "cell phone"."""
    return _singular("".join(letter for word in words for letter in word if letter.isalnum()))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
