"""Template tag that names the labels a page uses."""

from typing import Any

from django import template

from annotation.consensus.reports import label_source

register = template.Library()


@register.inclusion_tag("annotation/labelling/_label_source.html", takes_context=True)
def labels_used(context: dict[str, Any]) -> dict[str, Any]:
    """Name the round whose final labels the page shows, and link to the choice."""
    study, request = context["study"], context.get("request")
    membership = getattr(request, "membership", None)
    # Whoever tries a work page sees it as those do who may not choose.
    is_researcher = membership is not None and membership.is_researcher
    return {
        "study": study,
        "round": label_source(study),
        "may_choose": is_researcher and "trial" not in context,
    }
