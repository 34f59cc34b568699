"""Whose final labels a study uses wherever it needs one label for a sentence."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.actions.preferred_labels import prefer_labels
from annotation.consensus.api.bodies import PreferredLabelsSerializer
from annotation.consensus.api.inputs import PreferredLabelsInput
from annotation.consensus.models import PreferredLabels
from annotation.consensus.reports import label_source
from annotation.labelling.models.campaigns import campaigns_of
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews


class PreferredLabelsViews(StudyViews):
    """The round whose final labels lists, filters, faithfulness and the desk use."""

    queryset = PreferredLabels.objects.none()
    serializer_class = PreferredLabelsSerializer

    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Its id; null: of each sentence the label of the newest round that has one."""
        return Response(self._shown())

    @extend_schema(request=PreferredLabelsInput, responses=PreferredLabelsSerializer)
    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        """Choose a round, or with null each sentence's newest label."""
        given = self.read(PreferredLabelsInput, partial=True)
        if "label_round" not in given:
            return Response(self._shown())
        wanted = given["label_round"]
        campaign = campaigns_of(self.study).filter(public_id=wanted).first() if wanted else None
        if wanted and campaign is None:
            raise ValidationError({"label_round": ["No such round in this study."]})
        prefer_labels(study=self.study, campaign=campaign, actor=request.user)
        return Response(self._shown())

    def _shown(self) -> dict[str, Any]:
        campaign = label_source(self.study)
        shown = {
            "label_round": campaign and campaign.public_id,
            "name": campaign and campaign.name,
        }
        return PreferredLabelsSerializer(shown).data
