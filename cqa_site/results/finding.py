"""What a page of results says first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from cqa_site.stats.paired_tests import MOST_UNITS
from cqa_site.stats.reliability.marks import FIRM, TENTATIVE
from cqa_site.stats.verdicts import reliability_of
from cqa_site.web.tables import text_of

from .boards import bounds_of

# Names that a sentence can hold.
MOST_NAMES = 4
SMALLEST_P = 0.001
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


class Reasoned(Bounded, Protocol):
    """An estimate that says why it has no interval."""

    @property
    def reason(self) -> str | None: ...


def in_words(found: Bounded, decimals: int = 2) -> str:
    """A value with its interval; a dash where it is not defined."""
    if found.value is None:
        return "–"
    value = text_of(float(found.value), decimals)
    if found.low is None or found.high is None:
        return value
    return f"{value} {bounds_of(found.low, found.high, decimals)}"


LEVELS = {
    "firm": (lazy("%s well enough for firm conclusions"), "good"),
    "tentative": (lazy("%s well enough for tentative conclusions"), ""),
    "not_shown": (lazy("%s to an extent that may be too little for conclusions"), "warn"),
    "too_little": (lazy("%s too little for conclusions"), "warn"),
    "no_interval": (lazy("how far %s, these data cannot say"), "warn"),
}


def after_holm(p: float) -> str:
    """A p after Holm's correction; very small ones by their bound alone."""
    value = f"< {SMALLEST_P}" if p < SMALLEST_P else f"= {text_of(p, 3)}"
    return _("p %s after Holm") % value


def level_of(agreement: str, alpha: Bounded) -> tuple[str, str]:
    """How much an alpha of "people agree" allows to conclude, and its mark; "reliability"."""
    words, mark = LEVELS[reliability_of(alpha)]
    return capfirst(words % agreement), mark


def why_less(alpha: Reasoned) -> str:
    """The reason for a verdict below what the value alone would allow; empty if there is none."""
    value, least = alpha.value or 0.0, alpha.low
    if least is None:
        return _("No verdict without an interval: %s.") % (alpha.reason or _("there is none"))
    passed = next((mark for mark in (FIRM, TENTATIVE) if value >= mark), None)
    if passed is None or least >= passed:
        return ""
    text = _("The interval's lower bound decides: %(low)s is below %(mark)s.")
    return text % {"low": text_of(least, 2), "mark": text_of(passed, 3)}


def short(name: str) -> str:
    """A name that leaves room for its sentence: beginning and end of a long one."""
    if len(name) <= LONGEST_NAME:
        return name
    end = LONGEST_NAME // 3
    return f"{name[: LONGEST_NAME - end - 1].rstrip()}…{name[-end:].lstrip()}"


def would_show(enough: int | None, units: str, what: str) -> str:
    """How many units would show something, where it can be said: else more than anybody plans."""
    text = _("%(about)s %(n)s %(units)s would be needed to show %(what)s (80 %% power).")
    said = {"about": _("About") if enough else _("Over"), "units": units, "what": what}
    return text % (said | {"n": f"{enough or MOST_UNITS:,}"})


def listed(names: Sequence[str], shortened: Callable[[str], str] = short) -> str:
    """Names in a sentence; of many the first."""
    shown, more = [shortened(name) for name in names[:MOST_NAMES]], len(names) - MOST_NAMES
    if more > 0:
        return _("%(names)s and %(n)d more") % {"names": ", ".join(shown), "n": more}
    if len(shown) == 1:
        return shown[0]
    return _("%(names)s and %(last)s") % {"names": ", ".join(shown[:-1]), "last": shown[-1]}
