"""What the pages of all kinds of runs show alike."""

from collections import defaultdict
from typing import Any

from django.core.paginator import Page
from django.db.models import Count, QuerySet

from cqa_site.people.models import Study
from cqa_site.runs.forms import LimitsForm
from cqa_site.runs.kind_parts import PARTS, prompt_kinds
from cqa_site.runs.models import Call, Run
from cqa_site.runs.views.control import progress_context

BATCHES = 20


def home_of(run: Run) -> dict[str, Any]:
    """The section of a run, and the list that it is found in."""
    home = PARTS[run.kind].home
    return {"section": home.section, "home_name": home.route, "home_title": home.title}


def run_context(study: Study, run: Run) -> dict[str, Any]:
    """What the page of any run shows."""
    return {
        "study": study,
        **home_of(run),
        "kind_name": prompt_kinds()[run.prompt.kind].name,
        "limits": LimitsForm.of(run),
        "batches": run.batches.annotate(size=Count("calls")).order_by("-pk")[:BATCHES],
        **progress_context(run),
    }


def add_counts(page: Page) -> None:
    """Give each run ``done``, ``unscored`` and ``ended``: one query for all of them."""
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for pk, state, count in _states([run.pk for run in page]):
        counts[pk][state] = count
    for run in page:
        found = counts[run.pk]
        run.done = found.get(Call.State.DONE, 0)
        run.unscored = found.get(Call.State.UNSCORED, 0)
        run.ended = run.done + run.unscored + found.get(Call.State.CANCELLED, 0)


def _states(ids: list[int]) -> QuerySet:
    rows = Call.objects.filter(run__in=ids).order_by()
    return rows.values_list("run", "state").annotate(Count("pk"))
