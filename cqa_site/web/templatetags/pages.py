"""Template tags for all pages: numbers, glossary terms, the menu of a study, folded fields."""

import math
import re
from itertools import count
from typing import Any
from urllib.parse import urlencode

from django import template
from django.forms import BaseForm, BoundField
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import conditional_escape, format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext, gettext as _

from cqa_site.web.navigation import (
    TOUR,
    Breadcrumb,
    Stop,
    VisibleGroup,
    first_stop,
    inside,
    menu_of,
    needed_groups,
    place_of,
    stop_at,
)
from cqa_site.web.pages import glossary
from cqa_site.web.tables import interval_text, text_of

register = template.Library()
register.filter("interval", interval_text)
HEATS = 5

# The start of a paragraph with a name: "How sure: ...".
NAMED = re.compile(r"([A-Z][a-z]+(?: [a-z]+){0,2}): (.+)", re.S)


@register.filter
def paragraphs(text: Any) -> list[tuple[str, str]]:
    """Split a text into paragraphs, each with its name, or with an empty name."""
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
    """Format both bounds of the interval for a share as percentages."""
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
    """Return the shade of a share, 0 to 5; only a share of 0 has the shade 0."""
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
    """Return the short name (`Rater.pseudonym`) for a rater's public id, given as text."""
    return f"R-{rater_id.replace('-', '')[:6]}"


# Glossary terms with their meanings, shown in the text.


@register.simple_tag(takes_context=True)
def term(context: dict[str, Any], word: str, shown: str = "") -> SafeString:
    """Show a term with its glossary sentence.

    ``shown`` is its form in the text, such as a plural.

    The browser opens and closes the sentence (``popover``) by mouse, touch and keyboard, without a
    script.
    """
    meaning = glossary()[word]
    # The same term may occur twice on a page.
    numbers = vars(context["request"]).setdefault("glossary_terms", count(1))
    return format_html(
        '<button type="button" class="term" popovertarget="term-{number}">{shown}</button>'
        '<span class="term-note" id="term-{number}" popover><strong>{words}</strong> {text}. '
        '<a href="{page}#{anchor}">{glossary}</a></span>',
        number=next(numbers),
        shown=shown or gettext(word),
        words=meaning.words,
        text=meaning.text,
        page=reverse("help_page", args=["glossary"]),
        anchor=meaning.anchor,
        glossary=gettext("Glossary"),
    )


@register.simple_tag(takes_context=True)
def words_here(context: dict[str, Any], *words: str, of: tuple[str, ...] = ()) -> SafeString:
    """Show a line of terms that newcomers to the page may look up, if there are any."""
    terms = [(term(context, word),) for word in (*words, *of)]
    if not terms:
        return SafeString("")
    line = format_html_join(" · ", "{}", terms)
    return format_html('<p class="small soft">{} {}</p>', gettext("Terms:"), line)


@register.filter
def rows_named(html: SafeString) -> SafeString:
    """Add ids based on the first cell to table rows in rendered Markdown, as link targets."""

    def named(match: re.Match[str]) -> str:
        return f'<tr id="{slugify(strip_tags(match[1]))}">{match[0].removeprefix("<tr>")}'

    # Text that was not cleaned is escaped here, and then contains no rows.
    cleaned = conditional_escape(html)
    return mark_safe(re.sub(r"<tr>\s*<td>(.*?)</td>", named, cleaned))  # noqa: S308


# The menu of a study, and icons from the site's sprite.


@register.simple_tag(takes_context=True)
def study_menu(context: dict[str, Any]) -> list[VisibleGroup]:
    """Return the menu groups of the current member; no groups for members who only annotate.

    A page that belongs to a list elsewhere gives the name of that list as ``home_name``.
    """
    request, study = context["request"], context.get("study")
    membership = getattr(request, "membership", None)
    if study is None or membership is None:
        return []
    home = context.get("home_name")
    path = reverse(home, args=[study.public_id]) if home else request.path
    needed = needed_groups(study.goal)
    return menu_of(study.public_id, membership.role, inside(path), needed)


@register.filter
def others_hold_this_page(groups: list[VisibleGroup]) -> bool:
    """Return whether the current page is in a group that the study's question does not need."""
    return any(group.is_current and not group.is_needed for group in groups)


@register.simple_tag(takes_context=True)
def help_address(context: dict[str, Any], groups: list[VisibleGroup]) -> str:
    """Return the address of the documentation for the current page."""
    membership = getattr(context["request"], "membership", None)
    if membership is not None and not groups:
        return reverse("help_page", args=["annotator-guide"])
    for group in groups:
        if group.is_current:
            return reverse("help_page", args=[group.group.help])
    return reverse("help")


@register.simple_tag(takes_context=True)
def you_are_here(context: dict[str, Any], groups: list[VisibleGroup]) -> Breadcrumb | None:
    """Return the location of the current page, for members with a menu."""
    address = context["request"].path
    return place_of(address, context["study"].public_id, groups) if groups else None


@register.simple_tag(takes_context=True)
def tour_stop(context: dict[str, Any], groups: list[VisibleGroup]) -> Stop | None:
    """Return the tour stop at the current page, if the person is taking a tour."""
    request = context["request"]
    return stop_at(groups, request.path) if TOUR in request.GET else None


@register.simple_tag
def tour_start(groups: list[VisibleGroup]) -> str:
    """Return the address where a tour of the study begins."""
    return first_stop(groups)


@register.simple_tag(takes_context=True)
def crumb(
    context: dict[str, Any], text: object, page: str, *things: Any, **parameters: Any
) -> str:
    """Return a link to a study page above the current page; ``asked`` is its query string."""
    address = reverse(
        page, args=[context["study"].public_id, *(thing.public_id for thing in things)]
    )
    query = f"?{urlencode(parameters)}" if parameters else ""
    return format_html('<li><a href="{}{}">{}</a></li>', address, query, text)


@register.simple_tag
def icon(name: str) -> SafeString:
    """Show an icon next to text of the same meaning, hidden from screen readers."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>',
        static("img/icons.svg"),
        name,
    )


# Forms with the required decisions visible and fields with defaults folded below.
# The form class lists these fields in ``advanced``, in display order.


@register.filter
def without_advanced(form: BaseForm) -> list[BoundField]:
    """Return the visible fields that are not folded."""
    names = getattr(form, "advanced", ())
    return [field for field in form.visible_fields() if field.name not in names]


@register.inclusion_tag("forms/advanced.html")
def advanced(form: BaseForm, css: str = "") -> dict[str, Any]:
    """Render a form's folded fields, unfolded if one is invalid or differs from its default."""
    names = [name for name in getattr(form, "advanced", ()) if name in form.fields]
    unoffered = getattr(form, "unoffered", ())
    fields = [form[name] for name in names if name not in unoffered and not form[name].is_hidden]
    usual = _usual_values(form) if fields else {}
    unusual = [field for field in fields if _is_unusual(field, usual.get(field.name))]
    return {"fields": fields, "unusual": unusual, "css": css}


def _usual_values(form: Any) -> dict[str, Any]:
    """Return a form's default values; for a stored object, these are the object's values."""
    if getattr(form, "round", None):
        # Each round draws its own seed.
        return form.begun(form.study) | {"seed": form["seed"].initial}
    has_stored = getattr(getattr(form, "instance", None), "pk", None) is not None
    fields = form.fields.items()
    return {name: field.initial if has_stored else form[name].initial for name, field in fields}


def _is_unusual(field: BoundField, usual: Any) -> bool:
    value = field.data if field.form.is_bound else field.value()
    # A value proposed only for this form comes back as text.
    return bool(field.errors) or (value != usual and field.field.has_changed(usual, value))
