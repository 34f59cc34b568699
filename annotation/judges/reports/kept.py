"""Figures of judges, kept for the state that they show."""

import hashlib

from django.core.cache import cache

from annotation.labelling.models.campaigns import Campaign

from .found import Figures
from .versions import Choice

KEPT_SECONDS = 24 * 3600


def figures_of(campaign: Campaign, choice: Choice, state: str) -> Figures:
    """The figures of a choice in this state, computed now or kept from an earlier time."""
    key = (
        f"judge-figures:{campaign.pk}:{state}:{hashlib.sha256(choice.query.encode()).hexdigest()}"
    )
    figures: Figures | None = cache.get(key)
    if figures is None:
        from .figures import compute_figures

        figures = compute_figures(campaign, choice)
        cache.set(key, figures, KEPT_SECONDS)
    return figures
