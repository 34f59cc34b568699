"""The notice about missing packages, for use on pages."""

from typing import Any

from django import template

from cqa_site.judging import packages
from cqa_site.runs.models import Endpoint

register = template.Library()


@register.inclusion_tag("runs/_packages.html", takes_context=True)
def needs_packages(context: dict[str, Any], part: str) -> dict[str, Any]:
    """Show the state of packages that the study uses, unless they are installed."""
    study, state = context["study"], packages.state(packages.PackagePart(part))
    hidden = state.is_there or (
        state.part == packages.PackagePart.MODEL
        and not study.endpoints.filter(kind=Endpoint.Kind.EMBEDDED).exists()
    )
    return {} if hidden else {"study": study, "state": state}
