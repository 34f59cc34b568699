"""Figures of judges, kept for the state that they show."""

import hashlib
from typing import Any

from django.core.cache import cache

from annotation.labelling.models.campaigns import Campaign

from .versions import Choice

KEPT_SECONDS = 24 * 3600


def figures_of(campaign: Campaign, choice: Choice, state: str) -> dict[str, Any]:
    """The figures of a choice in this state, computed now or kept from an earlier time."""
    key = f"judges:{campaign.pk}:{state}:{hashlib.sha256(choice.query.encode()).hexdigest()}"
    figures = cache.get(key)
    if figures is None:
        from .figures import compute_figures

        figures = compute_figures(campaign, choice)
        cache.set(key, figures, KEPT_SECONDS)
    return figures
