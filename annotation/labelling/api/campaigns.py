"""Rounds: make a draft, open, pause, close; and addresses below one."""

from annotation.labelling.api.bodies import CampaignSerializer
from annotation.labelling.api.filters import CampaignFilter
from annotation.labelling.api.inputs import CampaignInput
from annotation.labelling.models.campaigns import Campaign
from cqa_site.rounds.api import RoundApi, round_views

ROUNDS = round_views(
    RoundApi(
        plan=CampaignInput,
        shown=CampaignSerializer,
        related=("guideline",),
        filters=CampaignFilter,
    ),
    "campaign_id",
)


class CampaignViews(ROUNDS.part):  # type: ignore[name-defined]
    """Addresses below ``campaigns/<campaign_id>/``."""

    @property
    def campaign(self) -> Campaign:
        """The round of the address."""
        return self.round
