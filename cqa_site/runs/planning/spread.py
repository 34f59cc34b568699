"""What a handful of sample replies has in common: a value too often, a text again and again.

The rule, on which pages and documents agree: a value *dominates* where at least ten were given on
its scale and it makes up the share that its kind of run names (four in five, if it names none
else). For prose there is no scale: texts are *alike* where, of at least five, four in five share
four fifths of their different words with one of them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ENOUGH_VALUES = 10
ENOUGH_TEXTS = 5
MOST = 0.8
SHARED_WORDS = 0.8


@dataclass(frozen=True, slots=True)
class Dominant:
    """A value that was given ``count`` times among the ``of`` values of its scale."""

    label: str
    count: int
    of: int


def dominant(values: Mapping[str, int]) -> Dominant | None:
    """The most frequent value, where it stands furthest out of its scale; None without values.

    Parameters
    ----------
    values
        Value → how often it was given. Values of several scales carry the name of theirs before a
        colon and a space, and are held against that scale alone.

    Examples
    --------
    >>> dominant({"1": 19, "2": 1})
    Dominant(label='1', count=19, of=20)
    """
    sizes: dict[str, int] = defaultdict(int)
    for label, count in values.items():
        sizes[_scale(label)] += count
    found = [Dominant(label, count, sizes[_scale(label)]) for label, count in values.items()]
    return max(found, key=lambda one: (one.count / one.of, one.of), default=None)


def dominates(one: Dominant | None, share: float = MOST) -> bool:
    """Whether that is too much of one value to go on without a look."""
    return one is not None and one.of >= ENOUGH_VALUES and one.count >= share * one.of


def alike(texts: Sequence[str]) -> int:
    """How many texts are (nearly) the one that most others repeat; itself counts.

    Examples
    --------
    >>> alike(["I cannot say.", "I cannot say!", "Tea, because it is warm."])
    2
    """
    sets = [frozenset(_letters(text).split()) for text in texts]
    return max((sum(_near(one, other) for other in sets) for one in sets), default=0)


def are_alike(texts: Sequence[str]) -> bool:
    """Whether a model that was asked different things wrote one text again and again."""
    return len(texts) >= ENOUGH_TEXTS and alike(texts) >= MOST * len(texts)


def _scale(label: str) -> str:
    return label.rpartition(": ")[0]


def _letters(text: str) -> str:
    return "".join(each if each.isalnum() else " " for each in text.casefold())


def _near(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SHARED_WORDS * max(1, len(one | other))
