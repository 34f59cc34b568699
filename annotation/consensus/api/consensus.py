"""How votes become final labels, and whose labels overrule them."""

from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.actions import consensus as actions
from annotation.consensus.api.bodies import ConsensusSerializer
from annotation.consensus.api.inputs import ConsensusInput
from annotation.labelling.api.campaigns import CampaignViews
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.api.requests import Request
from cqa_site.web.rest.problems import invalid_on


class ConsensusViews(CampaignViews):
    """The consensus settings of a round."""

    queryset = Campaign.objects.none()
    serializer_class = ConsensusSerializer

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """The method, and the rounds whose labels overrule the votes."""
        return self.shown(self.campaign)

    @extend_schema(request=ConsensusInput, responses=ConsensusSerializer)
    @transaction.atomic
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Change the settings; what is left out keeps its value. Labels are recomputed after."""
        given = self.read(ConsensusInput, partial=True)
        # Locked, so that of two changes at once neither writes back what the other replaced.
        rows = campaigns_of(self.study).select_for_update(of=("self",), no_key=True)
        campaign = get_object_or_404(rows.select_related("study"), pk=self.campaign.pk)
        with invalid_on("overridden_by", actions.SourceNotValid):
            actions.set_consensus(
                campaign=campaign,
                aggregator=given.get("aggregator", campaign.aggregator),
                overridden_by=self._sources(campaign, given),
                actor=request.user,
            )
        return self.shown(campaign)

    def _sources(self, campaign: Campaign, given: dict[str, Any]) -> list[Campaign]:
        if "overridden_by" not in given:
            return list(campaign.overridden_by.all())
        wanted = set(given["overridden_by"])
        sources = list(campaigns_of(self.study).filter(public_id__in=wanted))
        if len(sources) < len(wanted):
            raise ValidationError({"overridden_by": ["Some are no rounds of this study."]})
        return sources
