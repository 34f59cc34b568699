"""What a study holds: comparisons, sentences, guidelines."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from annotation.actions.guidelines import save_version
from annotation.models import Argument, Comparison, Guideline
from annotation.models.scales import ScaleNotValid
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.problems import invalid_on

from . import filters, inputs, serializers


class ComparisonViews(StudyViews):
    """The pairs of objects of a study."""

    queryset = Comparison.objects.none()
    serializer_class = serializers.ComparisonSerializer
    filterset_class = filters.ComparisonFilter

    def rows(self) -> QuerySet:
        """Comparisons by object."""
        return self.study.comparisons.all()


class ArgumentViews(StudyViews):
    """The sentences of a study."""

    queryset = Argument.objects.none()
    serializer_class = serializers.ArgumentSerializer
    filterset_class = filters.ArgumentFilter

    def rows(self) -> QuerySet:
        """Arguments in the order they came in."""
        return self.study.arguments.select_related("comparison", "origin").order_by("pk")


class GuidelineViews(StudyViews):
    """The versions of the guideline."""

    queryset = Guideline.objects.none()
    serializer_class = serializers.GuidelineSerializer

    def rows(self) -> QuerySet:
        """Newest version first."""
        return self.study.guidelines.all()

    @extend_schema(request=inputs.GuidelineInput, responses={201: serializers.GuidelineSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Write the next version."""
        given = self.read(inputs.GuidelineInput)
        with invalid_on("levels", ScaleNotValid):
            version = save_version(study=self.study, actor=request.user, **given)
        return self.shown(version, 201)
