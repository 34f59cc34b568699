"""What is computed from the votes of a campaign, kept for as long as these stand."""

import hashlib
from collections.abc import Callable
from typing import Any

from django.core.cache import cache

from annotation.figures.reports.snapshots import marker
from annotation.labelling.models.campaigns import Campaign

KEPT_SECONDS = 24 * 3600


def kept(name: str, campaign: Campaign, state: str, compute: Callable[[], Any]) -> Any:
    """What was computed for the votes in this state, computed once."""
    key = f"quality-{name}:{campaign.public_id}:{state}"
    return cache.get_or_set(key, compute, KEPT_SECONDS)


def state_of(campaign: Campaign) -> str:
    """A short name that changes with every vote, exclusion and known label."""
    return hashlib.sha256(f"quality 1 {marker(campaign)}".encode()).hexdigest()[:16]
