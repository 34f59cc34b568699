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
    """Return the menu groups of the current member; none for a member who only annotates.

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
    """Whether the current page is in a group that the study's question does not need."""
    return any(group.is_current and not group.is_needed for group in groups)


@register.simple_tag(takes_context=True)
def help_address(context: dict[str, Any], groups: list[VisibleGroup]) -> str:
    """Return the address of the documentation about the current page."""
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
    """Return the tour stop at the current page, if the person takes a tour."""
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
    """Link a page of the study above the current one; ``asked`` is the query of its address."""
    address = reverse(
        page, args=[context["study"].public_id, *(thing.public_id for thing in things)]
    )
    query = f"?{urlencode(parameters)}" if parameters else ""
    return format_html('<li><a href="{}{}">{}</a></li>', address, query, text)


@register.simple_tag
def icon(name: str) -> SafeString:
    """Show an icon beside text of the same meaning, hidden from screen readers."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>',
        static("img/icons.svg"),
        name,
    )
