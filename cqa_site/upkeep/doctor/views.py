"""The site state page for administrators."""

from itertools import groupby
from operator import attrgetter

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from cqa_site.people.access import PersonRequest, administrator_page
from . import examinations  # noqa: F401  they register themselves
from .examination import examine
from .findings import CheckState, Result, grouped

# Time limit for the page; the command waits longer.
SECONDS = 1.5
TROUBLES = (
    (CheckState.WRONG, _("Problems"), "bad"),
    (CheckState.LOOK, _("Warnings"), "warn"),
    (CheckState.UNKNOWN, _("Not checked"), ""),
)


@require_safe
@administrator_page
def site_state(request: PersonRequest) -> HttpResponse:
    """Show all findings, faults first."""
    results = examine(SECONDS)
    troubles = [
        (title, mark, len(_in_state(results, state)), groups)
        for state, title, mark in TROUBLES
        if (groups := grouped(results, state))
    ]
    well = _in_state(results, CheckState.WELL)
    families = [
        (family, ", ".join(member.name for member in members), members)
        for family, group in groupby(well, key=attrgetter("family"))
        if (members := list(group))
    ]
    context = {
        "count": len(results),
        "troubles": troubles,
        "families": families,
        "wrong": len(_in_state(results, CheckState.WRONG)),
        "unknown": len(_in_state(results, CheckState.UNKNOWN)),
        "well": len(well),
    }
    return render(request, "upkeep/state.html", context)


def _in_state(results: list[Result], state: CheckState) -> list[Result]:
    return [result for result in results if result.finding.state == state]
