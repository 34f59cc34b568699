"""Addresses below one campaign."""

from typing import Any

from django.shortcuts import get_object_or_404

from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.api.requests import AnyRequest
from cqa_site.api.views import StudyViews


class CampaignViews(StudyViews):
    """Addresses below ``campaigns/<campaign_id>/``."""

    campaign: Campaign

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the campaign inside the study."""
        super().initial(request, *args, **kwargs)
        self.campaign = get_object_or_404(
            campaigns_of(self.study).select_related("guideline"),
            public_id=kwargs["campaign_id"],
        )
