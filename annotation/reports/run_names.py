"""What runs of the relevance judge are about."""

from cqa_site.runs.models import Run


def campaign_of(run: Run) -> str:
    """The campaign of a run."""
    name: str = run.relevance.campaign.name
    return name
