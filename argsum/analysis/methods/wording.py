"""Which of the statements of a group is put best: it stands for the others as their key point.

Without a language model a key point is one of the statements. The most central one may be half a
sentence, a question, or begin with "It": so length and wording count as well.
"""

import re
from collections.abc import Sequence

import numpy as np

from cqa_site.stats.arrays import FloatArray

from .typos import WORD, KnownWords

# Words of a statement that reads well by itself.
FEWEST_WORDS, MOST_WORDS = 4, 16
# What such a word refers to stands in another sentence.
_LEANING = frozenset(
    """
    it its it's this that these those they them their he she his her him who which and but or so
    because then also too however although though since as if yes no not only same
    """.split()  # noqa: SIM905
)
# Said to somebody rather than about something; some only with a comma, or before a subject.
_OPENERS = re.compile(
    r"""^(?:(?:
        (?: (?:quite\ )?(?:honestly|frankly) | (?:to|let['’]?s)\ be\ (?:honest|frank|fair)
          | in\ (?:all\ )?(?:general|fairness|short|my\ (?:humble\ )?(?:opinion|view|experience))
          | tbh | tbf | imo | imho | overall | also | and | but | personally | for\ me | i\ mean
          | actually | basically | sadly | unfortunately | btw | by\ the\ way | first\ of\ all
          | (?:apart|aside)\ from\ that | other\ than\ that | on\ top\ of\ that | in\ addition
          | (?:ok|okay|and|but)\ so | plus(?!\ size|\ point|\ one|\ \d) )\b
      | (?:well|so|look|listen|yes|yeah|yep|no|nope|sure|okay|ok|anyway|again|still|besides
          |oh|hey|hi|hello|just\ saying|(?:having\ )?(?:said\ that|that\ said)
          |(?:one\ more|another)\ thing)\b(?=\s*[,:;.!…–—])
      | so\b(?=\s+(?:the|a|an|there|it|they|we|i|you|this|that|my|our|please)\b)
    )[\s,:;.!…–—-]*)+""",
    re.IGNORECASE | re.VERBOSE,
)
# What trails off behind what is said: smileys, signs, and words to whoever reads it.
_TRAILS = re.compile(
    r"(?:[\s,;:–—-]+(?:tbh|tbf|imo|imho|lol|rofl|haha+|just\ saying)\b"
    r"| ?(?:[:;=]-?[)(dp/|]+|<3|[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d]+))[.!… ]*$",
    re.IGNORECASE,
)
_DASHES = " ,;:–—-"
# Cost of each, in standard deviations of how central the statements of a group are.
LEANS, ASKS, SPEAKS_OF_SELF, IS_LOUD = 1.0, 1.0, 0.4, 0.4
HAS_TYPO, IS_NO_SENTENCE, OPENS_OR_TRAILS = 1.0, 0.3, 0.2
PER_WORD = 0.15
MOST_LENGTH = 2.0
QUALITY = 0.4


def wording_cost(text: str, known: KnownWords | None = None) -> float:
    """What speaks against a text as a key point, at least 0; ``known`` finds its typos.

    Examples
    --------
    >>> wording_cost("The ticket machines are often broken.")
    0.0
    >>> wording_cost("It is.") > wording_cost("Is it often broken, and who repairs it then?") > 0
    True
    """
    whole = " ".join(text.split())
    plain = bare(whole)
    words = [word.lower() for word in WORD.findall(plain)]
    if not words:
        return 10.0
    away = max(FEWEST_WORDS - len(words), 0) * 3 + max(len(words) - MOST_WORDS, 0)
    cost = min(MOST_LENGTH, PER_WORD * away)
    cost += LEANS * (words[0] in _LEANING)
    cost += ASKS * ("?" in text)
    cost += SPEAKS_OF_SELF * any(word in ("i", "i'm", "i've", "my", "me") for word in words)
    cost += IS_LOUD * ("!!" in text or "..." in text or "…" in text or text.isupper())
    cost += HAS_TYPO * (known is not None and any(map(known.is_typo, words)))
    cost += IS_NO_SENTENCE * ((plain[0].islower() and plain == whole) or plain[-1] not in ".!?")
    cost += OPENS_OR_TRAILS * (plain != whole)
    return round(cost, 6)


def bare(text: str) -> str:
    """Without what only opens it or trails off.

    Examples
    --------
    >>> bare("Honestly, the food was cold, tbh :(")
    'the food was cold'
    """
    whole = " ".join(text.split())
    plain = _OPENERS.sub("", whole)
    while (shorter := _TRAILS.sub("", plain.rstrip(_DASHES))) != plain:
        plain = shorter
    return plain if WORD.search(plain) else whole


def as_sentence(text: str) -> str:
    """As it stands on a page: bare, with a capital letter and one full stop.

    Examples
    --------
    >>> as_sentence("honestly,  the food was cold!!")
    'The food was cold.'
    >>> as_sentence("iPads for all!")
    'iPads for all!'
    """
    plain = bare(text)
    if not WORD.search(plain):
        return plain or text
    said = plain.rstrip(" .!?…")
    end = plain[len(said) :].replace(" ", "")
    if said.split()[0].islower():
        said = said[0].upper() + said[1:]
    return said + ("?" if "?" in end else "!" if end == "!" else ".")


def best_put(
    texts: Sequence[str],
    central: Sequence[float],
    quality: Sequence[float],
    known: KnownWords | None = None,
) -> int:
    """Place of the statement that stands for a group; the first of equal ones.

    Parameters
    ----------
    texts : n texts
        Of the group.
    central : length n
        Mean match score with the others.
    quality : length n
        0–1; nan where unknown, which counts as the group's mean.
    known
        The words of all statements, which tell likely typos.
    """
    scores = _standard(np.asarray(central, dtype=np.float64))
    scores = scores + QUALITY * _standard(np.asarray(quality, dtype=np.float64))
    costs = np.array([wording_cost(text, known) for text in texts])
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
