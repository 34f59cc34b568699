"""Addresses of corpora, the CAM service, and what is taken from them."""

from django.db.models import QuerySet

from annotation.corpus.models.questions import Argument, Comparison
from annotation.retrieval.api.bodies import ArgumentSerializer, ComparisonSerializer
from annotation.retrieval.api.filters import ArgumentFilter, ComparisonFilter
from cqa_site.api.views import StudyViews


class ComparisonViews(StudyViews):
    """The pairs of objects of a study."""

    queryset = Comparison.objects.none()
    serializer_class = ComparisonSerializer
    filterset_class = ComparisonFilter

    def rows(self) -> QuerySet:
        """Comparisons by object."""
        return self.study.comparisons.all()


class ArgumentViews(StudyViews):
    """The sentences of a study."""

    queryset = Argument.objects.none()
    serializer_class = ArgumentSerializer
    filterset_class = ArgumentFilter

    def rows(self) -> QuerySet:
        """Arguments in the order they came in."""
        return self.study.arguments.select_related("comparison", "origin").order_by("pk")
