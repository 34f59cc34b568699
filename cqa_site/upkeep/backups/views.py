"""Backups that are here, for administrators of the site."""

from django.http import HttpResponse
from django.shortcuts import render

from cqa_site.people.access import PersonRequest, administrator_page


@administrator_page
def site_backups(request: PersonRequest) -> HttpResponse:
    """The backups that are here, newest first."""
    return render(request, "upkeep/backups.html")
