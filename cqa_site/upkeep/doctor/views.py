"""What is well and what is not, for administrators of the site."""

from django.http import HttpResponse
from django.shortcuts import render

from cqa_site.people.access import PersonRequest, administrator_page


@administrator_page
def site_state(request: PersonRequest) -> HttpResponse:
    """Everything that was examined, what is wrong first."""
    return render(request, "upkeep/state.html")
