"""Two runs of a campaign side by side."""

import uuid

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.labelling.models.campaigns import campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.web.strict_query import whole_number

OFFERED = 100


@study_page(*RESEARCHERS)
def run_compare(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Choose two runs of the campaign and see how far they agree."""
    campaign = get_object_or_404(campaigns_of(study), public_id=campaign_id)
    runs = study.runs.filter(relevance__campaign=campaign).exclude(state=Run.State.DRAFT)
    runs = runs.select_related("prompt", "endpoint")
    offered = list(runs[:OFFERED])
    first, second = (_chosen(runs, request.GET.get(name)) for name in ("a", "b"))
    compared = None
    if first and second and first != second:
        from annotation.judges.reports.compare import compare_runs

        compared = compare_runs(first, second)
    context = {
        "study": study,
        "campaign": campaign,
        "runs": offered,
        "a": first or (offered[1] if len(offered) > 1 else None),
        "b": second or (offered[0] if offered else None),
        "is_same": first is not None and first == second,
        "compared": compared,
    }
    return render(request, "annotation/judges/compare.html", context)


def _chosen(runs, number: str | None) -> Run | None:
    if not number:
        return None
    return get_object_or_404(runs, number=whole_number(number))


urlpatterns = [
    path("label-rounds/<uuid:campaign_id>/judges/compare/", run_compare, name="run_compare")
]
