"""The menu of a study, and icons from the site's sprite."""

from typing import Any
from urllib.parse import urlencode

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

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

register = template.Library()


@register.simple_tag(takes_context=True)
def study_menu(context: dict[str, Any]) -> list[VisibleGroup]:
    """The groups of the member who asks; none for somebody who only works.

    A page that belongs to a list elsewhere says its name as ``home_name``.
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
    """Whether the page at hand stands among groups that the study's question does not need."""
    return any(group.is_current and not group.is_needed for group in groups)


@register.simple_tag(takes_context=True)
def help_address(context: dict[str, Any], groups: list[VisibleGroup]) -> str:
    """The part of the documentation that is about the page at hand."""
    membership = getattr(context["request"], "membership", None)
    if membership is not None and not groups:
        return reverse("help_page", args=["annotator-guide"])
    for group in groups:
        if group.is_current:
            return reverse("help_page", args=[group.group.help])
    return reverse("help")


@register.simple_tag(takes_context=True)
def you_are_here(context: dict[str, Any], groups: list[VisibleGroup]) -> Breadcrumb | None:
    """The way to the page at hand, for those who have a menu."""
    address = context["request"].path
    return place_of(address, context["study"].public_id, groups) if groups else None


@register.simple_tag(takes_context=True)
def tour_stop(context: dict[str, Any], groups: list[VisibleGroup]) -> Stop | None:
    """The stop of a tour that the page at hand is, if somebody takes one."""
    request = context["request"]
    return stop_at(groups, request.path) if TOUR in request.GET else None


@register.simple_tag
def tour_start(groups: list[VisibleGroup]) -> str:
    """Where a tour of the study begins."""
    return first_stop(groups)


@register.simple_tag(takes_context=True)
def crumb(
    context: dict[str, Any], text: object, page: str, *things: Any, **parameters: Any
) -> str:
    """Return a breadcrumb: a link to a page of the study, with the query ``parameters``."""
    address = reverse(
        page, args=[context["study"].public_id, *(thing.public_id for thing in things)]
    )
    query = f"?{urlencode(parameters)}" if parameters else ""
    return format_html('<li><a href="{}{}">{}</a></li>', address, query, text)


@register.simple_tag
def icon(name: str) -> SafeString:
    """A picture beside words that say the same, so that screen readers leave it out."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>',
        static("img/icons.svg"),
        name,
    )
