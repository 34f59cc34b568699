"""What a page of results says first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext as _

from cqa_site.stats.reliability.marks import FIRM, TENTATIVE
from cqa_site.web.tables import text_of

from .boards import bounds_of

# Names that a sentence can hold.
MOST_NAMES = 4
# Letters of a name in a sentence; the table below it has the whole.
LONGEST_NAME = 40


@dataclass(frozen=True)
class Finding:
    """What was found in one sentence, how sure that is, and how good it is.

    Attributes
    ----------
    mark
        A class of badges: good, warn, bad; empty for a finding that is neither.
    terms
        Words of it that the glossary explains.
    way
        The words and the address of a link to what would make more of it.
    """

    says: str
    sure: str = ""
    mark: str = ""
    terms: tuple[str, ...] = ()
    way: tuple[str, str] | None = None


class Bounded(Protocol):
    """An estimate, of whatever kind."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def in_words(found: Bounded, decimals: int = 2) -> str:
    """A value with its interval; a dash where it is not defined."""
    if found.value is None:
        return "–"
    value = text_of(float(found.value), decimals)
    if found.low is None or found.high is None:
        return value
    return f"{value} {bounds_of(found.low, found.high, decimals)}"


def level_of(alpha: Bounded) -> tuple[str, str]:
    """How much an alpha allows to conclude, in words, and its mark.

    Where there is an interval its lower bound decides: what may as well lie below a mark has not
    reached it. That more is possible is said as well, but is no better mark.
    """
    value = alpha.value or 0.0
    least = value if alpha.low is None else alpha.low
    most = value if alpha.high is None else alpha.high
    if least >= FIRM:
        return _("well enough for firm conclusions"), "good"
    if least >= TENTATIVE:
        return _("well enough for tentative conclusions"), ""
    if value >= TENTATIVE:
        return _("to an extent that may be too little for conclusions"), "warn"
    if most >= TENTATIVE:
        return _("too little for conclusions, though more is possible"), "warn"
    return _("too little for conclusions"), "warn"


def why_less(alpha: Bounded) -> str:
    """That the lower bound decided, where the value alone would have allowed for more."""
    value, least = alpha.value or 0.0, alpha.low
    passed = next((mark for mark in (FIRM, TENTATIVE) if value >= mark), None)
    if least is None or passed is None or least >= passed:
        return ""
    text = _("The interval's lower bound decides: %(low)s is below %(mark)s.")
    return text % {"low": text_of(least, 2), "mark": text_of(passed, 3)}


def short(name: str) -> str:
    """A name that leaves room for its sentence: beginning and end of a long one."""
    if len(name) <= LONGEST_NAME:
        return name
    end = LONGEST_NAME // 3
    return f"{name[: LONGEST_NAME - end - 1].rstrip()}…{name[-end:].lstrip()}"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; of many the first."""
    shown, more = [short(name) for name in names[:MOST_NAMES]], len(names) - MOST_NAMES
    if more > 0:
        return _("%(names)s and %(n)d more") % {"names": ", ".join(shown), "n": more}
    if len(shown) == 1:
        return shown[0]
    return _("%(names)s and %(last)s") % {"names": ", ".join(shown[:-1]), "last": shown[-1]}
