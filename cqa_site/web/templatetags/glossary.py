"""Glossary terms with their meanings, shown in the text."""

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
    """Show a term with its glossary sentence.

    ``shown`` is its inflected form in the text.

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
    """Show a line of terms that newcomers to the page may look up; empty without terms."""
    terms = [(term(context, word),) for word in (*words, *of)]
    if not terms:
        return SafeString("")
    line = format_html_join(" · ", "{}", terms)
    return format_html('<p class="small soft">{} {}</p>', gettext("Terms:"), line)


@register.filter
def rows_named(html: SafeString) -> SafeString:
    """Name the rows of rendered Markdown after their first cell, as link targets."""

    def named(match: re.Match[str]) -> str:
        return f'<tr id="{slugify(strip_tags(match[1]))}">{match[0].removeprefix("<tr>")}'

    # Whatever was not cleaned is escaped here, and then holds no row.
    cleaned = conditional_escape(html)
    return mark_safe(re.sub(r"<tr>\s*<td>(.*?)</td>", named, cleaned))  # noqa: S308
