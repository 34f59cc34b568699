"""Background work of a study, read only."""

from django.db.models import QuerySet

from cqa_site.api.views import StudyViews
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.runs.api.filters import JobFilter
from cqa_site.runs.models import Job


class JobViews(StudyViews):
    """Background work of a study."""

    queryset = Job.objects.none()
    serializer_class = JobSerializer
    filterset_class = JobFilter

    def rows(self) -> QuerySet[Job]:
        """Newest first."""
        return self.study.jobs.order_by("-created_at", "-pk")
