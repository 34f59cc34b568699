"""Words of the glossary, looked up where they stand."""

import re
from itertools import count
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import conditional_escape, format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext

from cqa_site.web.pages import glossary

register = template.Library()


@register.simple_tag(takes_context=True)
def term(context: dict[str, Any], word: str, shown: str = "") -> SafeString:
    """A word with its sentence of the glossary behind it; ``shown`` is how the text bends it.

    The browser opens and closes it (``popover``) by mouse, touch and keyboard, without a script.
    """
    meaning = glossary()[word]
    # The same word may stand on a page twice.
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
    """A line of words that somebody new to the page may want to look up; nothing without any."""
    terms = [(term(context, word),) for word in (*words, *of)]
    if not terms:
        return SafeString("")
    line = format_html_join(" · ", "{}", terms)
    return format_html('<p class="small soft">{} {}</p>', gettext("Terms:"), line)


@register.filter
def rows_named(html: SafeString) -> SafeString:
    """Give rows of rendered Markdown the name of their first cell, that links can lead to."""

    def named(match: re.Match[str]) -> str:
        return f'<tr id="{slugify(strip_tags(match[1]))}">{match[0].removeprefix("<tr>")}'

    # Whatever was not cleaned is escaped here, and then holds no row.
    cleaned = conditional_escape(html)
    return mark_safe(re.sub(r"<tr>\s*<td>(.*?)</td>", named, cleaned))  # noqa: S308
