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
# Size of every image in the documentation; see docs/pictures.py.
SIZE = 'width="1120" height="700"'

TAGS = {"p", "br", "hr", "h1", "h2", "h3", "h4", "ul", "ol", "li", "strong", "em", "code"}
TAGS |= {"pre", "blockquote", "a", "table", "thead", "tbody", "tr", "th", "td"}
# No images, because an image from another host would show that host who reads the page.
RENDERER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


@register.filter
def markdown(text: str) -> SafeString:
    """Render Markdown; HTML in the source becomes plain text, and only listed elements remain."""
    cleaned = nh3.clean(
        RENDERER.render(text),
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    # Wide tables scroll separately, also with the keyboard.
    label = conditional_escape(gettext("Table"))
    opening = f'<div class="table" tabindex="0" role="group" aria-label="{label}"><table>'
    cleaned = cleaned.replace("<table>", opening).replace("</table>", "</table></div>")
    return mark_safe(cleaned)  # noqa: S308  cleaned by an allow-list just above


# Markdown is rendered without images; in the site's own documents, they become links to files.
PICTURE = re.compile(r'!<a href="[./]*/static/(img/help/[a-z-]+\.webp)"[^>]*>([^<]*)</a>')


@register.filter
def pictures(html: SafeString) -> SafeString:
    """Show the images of the site's own documentation where rendered Markdown links to them."""
    cleaned = conditional_escape(html)

    def shown(match: re.Match[str]) -> str:
        return f'<img src="{static(match[1])}" alt="{match[2]}" loading="lazy" {SIZE}>'

    return mark_safe(PICTURE.sub(shown, cleaned))  # noqa: S308  cleaned, and the path matched


@register.filter
def anchors(html: SafeString) -> SafeString:
    """Add ids to the headings in rendered Markdown, for use as link targets."""

    def named(match: re.Match[str]) -> str:
        level, words = match[1], match[2]
        return f'<h{level} id="{slugify(strip_tags(words))}">{words}</h{level}>'

    # Text that was not cleaned is escaped here, and then contains no headings.
    cleaned = conditional_escape(html)
    return mark_safe(re.sub(r"<h([23])>(.*?)</h\1>", named, cleaned))  # noqa: S308
