"""What the pages of all kinds of runs show alike."""

from typing import Any

from django.db.models import Count

from cqa_site.people.models import Study
from cqa_site.runs.forms.endpoints import LimitsForm
from cqa_site.runs.kinds import kind_of, prompt_kinds
from cqa_site.runs.models import Run
from cqa_site.runs.views.control import progress_context

BATCHES = 20


def home_of(run: Run) -> dict[str, Any]:
    """The section of a run, and the list that it is found in."""
    home = kind_of(run).home
    return {"home_name": home.route, "home_title": home.title}


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
