"""What kinds of runs are called on pages."""

from django.utils.translation import gettext_lazy as lazy

from cqa_site.runs.models import Run

KINDS = {"answers": lazy("Generated answers"), "coherence": lazy("Coherence of citations")}


def about(run: Run) -> str:
    """What a run is about, in a few words: its campaign, or the name of its kind."""
    if run.kind == "relevance":
        return run.relevance.campaign.name
    return str(KINDS.get(run.kind, run.kind))
