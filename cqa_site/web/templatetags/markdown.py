"""Conversion of researchers' Markdown to safe HTML."""

import re

import nh3
from django import template
from django.templatetags.static import static
from django.utils.html import conditional_escape, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext
from markdown_it import MarkdownIt

register = template.Library()
# Size of every picture of the documentation; see docs/pictures.py.
SIZE = 'width="1120" height="700"'

TAGS = {"p", "br", "hr", "h1", "h2", "h3", "h4", "ul", "ol", "li", "strong", "em", "code"}
TAGS |= {"pre", "blockquote", "a", "table", "thead", "tbody", "tr", "th", "td"}
# No images: a picture on another host would tell that host who reads the page.
RENDERER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


@register.filter
def markdown(text: str) -> SafeString:
    """Render Markdown; HTML in it stays plain text, and only listed elements remain."""
    cleaned = nh3.clean(
        RENDERER.render(text),
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    # A wide table is scrolled by itself, with the keyboard, too.
    label = conditional_escape(gettext("Table"))
    opening = f'<div class="table" tabindex="0" role="group" aria-label="{label}"><table>'
    cleaned = cleaned.replace("<table>", opening).replace("</table>", "</table></div>")
    return mark_safe(cleaned)  # noqa: S308  cleaned by an allow-list just above


# Pictures are no part of Markdown here; those of the site's own documents are links to its files.
PICTURE = re.compile(r'!<a href="[./]*/static/(img/help/[a-z-]+\.webp)"[^>]*>([^<]*)</a>')


@register.filter
def pictures(html: SafeString) -> SafeString:
    """Show the site's own documentation pictures where rendered Markdown links to them."""
    cleaned = conditional_escape(html)

    def shown(match: re.Match[str]) -> str:
        return f'<img src="{static(match[1])}" alt="{match[2]}" loading="lazy" {SIZE}>'

    return mark_safe(PICTURE.sub(shown, cleaned))  # noqa: S308  cleaned, and the path matched


@register.filter
def anchors(html: SafeString) -> SafeString:
    """Give headings of rendered Markdown names as link targets."""

    def named(match: re.Match[str]) -> str:
        level, words = match[1], match[2]
        return f'<h{level} id="{slugify(strip_tags(words))}">{words}</h{level}>'

    # Whatever was not cleaned is escaped here, and then holds no heading.
    cleaned = conditional_escape(html)
    return mark_safe(re.sub(r"<h([23])>(.*?)</h\1>", named, cleaned))  # noqa: S308
