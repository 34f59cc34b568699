"""Addresses of guidelines, rounds and their items."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from annotation.labelling.actions.guidelines import save_version
from annotation.labelling.api.bodies import GuidelineSerializer
from annotation.labelling.api.inputs import GuidelineInput
from annotation.labelling.models.campaigns import Guideline
from annotation.labelling.models.scales import ScaleNotValid
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.problems import invalid_on


class GuidelineViews(StudyViews):
    """The versions of the guideline."""

    queryset = Guideline.objects.none()
    serializer_class = GuidelineSerializer

    def rows(self) -> QuerySet:
        """Newest version first."""
        return self.study.guidelines.all()

    @extend_schema(request=GuidelineInput, responses={201: GuidelineSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Write the next version."""
        given = self.read(GuidelineInput)
        with invalid_on("levels", ScaleNotValid):
            version = save_version(study=self.study, actor=request.user, **given)
        return self.shown(version, 201)
