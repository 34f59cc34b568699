"""Which of the statements of a group is put best: it stands for the others as their key point.

Without a language model a key point is one of the statements. The most central one may be half a
sentence, a question, or begin with "It": so length and wording count as well.
"""

import re
from collections.abc import Sequence

import numpy as np

from cqa_site.stats.arrays import FloatArray

# Words of a statement that reads well by itself.
FEWEST_WORDS, MOST_WORDS = 4, 16
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# What such a word refers to stands in another sentence.
_LEANING = frozenset(
    """
    it its it's this that these those they them their he she his her him who which and but or so
    because then also too however although though since as if yes no not only same
    """.split()  # noqa: SIM905
)
# Said to somebody rather than about something.
_OPENERS = re.compile(
    r"^(?:(?:honestly|to be honest|tbh|frankly|overall|in general|well|also|and|but|so|plus|"
    r"in my opinion|imo|personally|for me|actually|basically|sadly|unfortunately)\b[\s,:-]*)+",
    re.IGNORECASE,
)
# Cost of each, in standard deviations of how central the statements of a group are.
LEANS, ASKS, SPEAKS_OF_SELF, IS_LOUD = 1.0, 1.0, 0.4, 0.4
PER_WORD = 0.15
MOST_LENGTH = 2.0
QUALITY = 0.4


def wording_cost(text: str) -> float:
    """What speaks against a text as a key point, at least 0.

    Examples
    --------
    >>> wording_cost("The ticket machines are often broken.")
    0.0
    >>> wording_cost("It is.") > wording_cost("Is it often broken, and who repairs it then?") > 0
    True
    """
    words = [word.lower() for word in _WORD.findall(bare(text))]
    if not words:
        return 10.0
    away = max(FEWEST_WORDS - len(words), 0) * 3 + max(len(words) - MOST_WORDS, 0)
    cost = min(MOST_LENGTH, PER_WORD * away)
    cost += LEANS * (words[0] in _LEANING)
    cost += ASKS * ("?" in text)
    cost += SPEAKS_OF_SELF * any(word in ("i", "i'm", "i've", "my", "me") for word in words)
    cost += IS_LOUD * ("!!" in text or "..." in text or text.isupper())
    return round(cost, 6)


def bare(text: str) -> str:
    """Without what only opens it: "Honestly, the food was cold" → "the food was cold"."""
    return _OPENERS.sub("", text.strip()) or text.strip()


def as_sentence(text: str) -> str:
    """As it stands on a page: without its opener, with a capital letter and a full stop.

    Examples
    --------
    >>> as_sentence("honestly,  the food was cold")
    'The food was cold.'
    >>> as_sentence("iPads for all!")
    'iPads for all!'
    """
    plain = " ".join(bare(text).split())
    if not plain:
        return text
    first = plain.split()[0]
    if first.islower():
        plain = plain[0].upper() + plain[1:]
    return plain if plain[-1] in ".!?…" else plain.rstrip(",;:-") + "."


def best_put(texts: Sequence[str], central: Sequence[float], quality: Sequence[float]) -> int:
    """Place of the statement that stands for a group; the first of equal ones.

    Parameters
    ----------
    texts : n texts
        Of the group.
    central : length n
        Mean match score with the others.
    quality : length n
        0–1; nan where unknown, which counts as the group's mean.
    """
    scores = _standard(np.asarray(central, dtype=np.float64))
    scores = scores + QUALITY * _standard(np.asarray(quality, dtype=np.float64))
    costs = np.array([wording_cost(text) for text in texts])
    return int((scores - costs).round(9).argmax())


def _standard(values: FloatArray) -> FloatArray:
    """In standard deviations from the mean; 0 where unknown, or where all are equal."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(len(values))
    size = values[known].std()
    if size <= 1e-9:
        return np.zeros(len(values))
    away: FloatArray = (values - values[known].mean()) / size
    return np.where(known, away, 0.0)
