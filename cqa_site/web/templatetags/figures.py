"""Formats of numbers on pages; undefined values are marked as such."""

import math
import re
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from cqa_site.web.pages import interval_text, text_of

register = template.Library()
register.filter("interval", interval_text)
HEATS = 5

# How a paragraph begins that has a name: "How sure: ...".
NAMED = re.compile(r"([A-Z][a-z]+(?: [a-z]+){0,2}): (.+)", re.S)


@register.filter
def paragraphs(text: Any) -> list[tuple[str, str]]:
    """Split a text into paragraphs in order, each with its name; empty for one without a name."""
    parts = [" ".join(part.split()) for part in str(text).split("\n\n")]
    named = [(NAMED.fullmatch(part), part) for part in parts if part]
    if len(named) == 1:
        return [("", named[0][1])]
    return [(match[1], match[2]) if match else ("", part) for match, part in named]


@register.filter
def decimals(value: float | None, places: int = 3) -> str:
    """Format a number with this many decimals and a real minus sign."""
    return _("not defined") if value is None else text_of(float(value), places)


@register.filter
def percent(share: float | None, places: int = 0) -> str:
    return "–" if share is None else f"{text_of(100 * share, places)} %"


@register.filter
def percent_interval(share: Any, places: int = 0) -> str:
    """Format both bounds of a share as percent."""
    return interval_text(share, places, 100, " %")


@register.filter
def points(difference: float) -> str:
    """Format a difference of shares in percentage points."""
    return text_of(100 * difference, 0)


@register.filter
def cell(value: Any) -> SafeString | str:
    """Format one cell of a table."""
    if value is None:
        return format_html('<span class="soft">{}</span>', _("not defined"))
    if hasattr(value, "bounds"):
        template = '{} <div class="soft small nowrap">{}</div>'
        return format_html(template, value.text, value.bounds)
    return text_of(value)


@register.filter
def heat(share: float | None) -> int:
    """Return the shade of a share, 0 to 5; every share above 0 has a shade."""
    if share is None or share <= 0:
        return 0
    return min(HEATS, math.ceil(share * HEATS))


@register.filter
def at(row: list[Any], place: int) -> Any:
    """Return the element at an index."""
    return row[place]


@register.filter
def lookup(table: dict[str, Any], key: str) -> Any:
    """Return the value under a key, or None."""
    return table.get(key)


@register.filter
def pseudonym(rater_id: str) -> str:
    """Return `Rater.pseudonym`, the short name, from the rater's public id as text."""
    return f"R-{rater_id.replace('-', '')[:6]}"
