"""Rounds: make a draft, open, pause, close; and addresses below one."""

from annotation.labelling.api.bodies import LabelRoundSerializer
from annotation.labelling.api.filters import LabelRoundFilter
from annotation.labelling.api.inputs import LabelRoundInput
from annotation.labelling.models.campaigns import Campaign
from cqa_site.rounds.api.rounds import RoundApi, round_views

ROUNDS = round_views(
    RoundApi(
        plan=LabelRoundInput,
        shown=LabelRoundSerializer,
        related=("guideline",),
        filters=LabelRoundFilter,
    ),
    "label_round_id",
)


class CampaignViews(ROUNDS.part):  # type: ignore[name-defined]
    """Addresses below ``label-rounds/<label_round_id>/``."""

    @property
    def campaign(self) -> Campaign:
        """The round of the address."""
        return self.round
