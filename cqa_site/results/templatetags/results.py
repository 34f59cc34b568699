"""Charts on pages, and the files in which figures go away."""

from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from cqa_site.results import figures
from cqa_site.results.files import PICTURES, TABLES

register = template.Library()


@register.inclusion_tag("results/_chart.html")
def chart(view: str, *ids: Any, version: str, alt: str, query: str = "") -> dict[str, Any]:
    """A chart, light or dark, wide or narrow, as the page is."""
    return {"picture": figures.picture(view, ids, version, alt, query)}


@register.simple_tag
def table_files(view: str, *ids: Any, query: str = "") -> SafeString:
    """Links to a table in all its forms."""
    return downloads(figures.links(view, ids, TABLES, query))


@register.simple_tag
def chart_files(view: str, *ids: Any, query: str = "") -> SafeString:
    """Links to a chart in all its forms."""
    return downloads(figures.links(view, ids, PICTURES, query))


@register.filter
def downloads(links: list[figures.Link]) -> SafeString:
    """Links to files, one beside the other."""
    rows = ((address, words) for words, address in links)
    return format_html_join(" ", '<a download href="{}">{}</a>', rows)
