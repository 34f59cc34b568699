"""Shares, differences and p values as sentences and cells say them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from cqa_site.web.tables import text_of

if TYPE_CHECKING:
    from argsum.analysis.methods.shares import Difference, Share

# Letters of a key point in a sentence.
LONGEST = 90


def percents(share: Share, decimals: int = 0) -> str:
    """A share in percent."""
    return "–" if share.value is None else f"{text_of(100 * share.value, decimals)} %"


def bounds(share: Share) -> str:
    """Its interval in percent."""
    if share.low is None or share.high is None:
        return ""
    return f"[{text_of(100 * share.low, 0)}, {text_of(100 * share.high, 0)}]"


def points_of(difference: Difference | None, decimals: int = 0) -> str:
    """A difference in percentage points, with its sign."""
    if difference is None:
        return "–"
    text = text_of(100 * difference.value, decimals)
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"


def points_bounds(difference: Difference | None) -> str:
    """Its interval in percentage points."""
    if difference is None or difference.low is None or difference.high is None:
        return ""
    return f"[{text_of(100 * difference.low, 0)}, {text_of(100 * difference.high, 0)}]"


def p_value(p: float | None) -> str:
    """A p value; the smallest only as what they are below."""
    if p is None:
        return _("not tested")
    return "< 0.001" if p < 0.001 else text_of(p, 3)


def quoted(text: str) -> str:
    """A key point inside a sentence; a long one loses its end."""
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
    return f"“{short}”"


def within_intervals(what: str, differences: Iterable[Difference | None]) -> str:
    """How large differences may still be where none is shown; empty without an interval."""
    known = [each for each in differences if each and each.low is not None]
    if not known:
        return ""
    bounds = [bound for each in known for bound in (each.low, each.high) if bound is not None]
    text = _("%(what)s of up to %(n)s percentage points lie inside the intervals.")
    return text % {"what": what, "n": text_of(100 * max(abs(bound) for bound in bounds), 0)}
