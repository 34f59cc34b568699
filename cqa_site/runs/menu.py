"""Runs of every kind in the menu of a study, and what they need."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.utils.translation import gettext_lazy as _

from cqa_site.runs.kind_parts import Home
from cqa_site.runs.kinds import KINDS
from cqa_site.runs.models import Run
from cqa_site.web.navigation.menu import Entry
from cqa_site.web.navigation.search import Finder

RUNS = Finder(
    kind=_("Run"),
    rows=lambda study: Run.objects.filter(study=study).select_related("prompt"),
    fields=("name", "number", "prompt__name"),
    page="run",
    name=lambda run: f"#{run.number} {run.name or run.prompt.name}",
)


def run_entries() -> Iterator[Entry]:
    """The list of each kind of run, then prompts and endpoints."""
    for home in {kind.home for kind in KINDS.values()}:
        yield Entry(home.section, home.title, home.route, 40, waits=partial(_waiting, home))
    yield Entry("judges", _("Prompts"), "prompts", place=80)
    tour = _(
        "Language models are connected here; a small one is built in, so that everything can be "
        "tried without a key."
    )
    yield Entry("judges", _("Endpoints"), "endpoints", place=90, tour=tour)


def _waiting(home: Home, study: Any) -> int:
    """Runs of a list that do nothing until somebody decides."""
    listed = [name for name, kind in KINDS.items() if kind.home == home]
    return Run.objects.filter(study=study, kind__in=listed, state__in=Run.WAITING).count()
