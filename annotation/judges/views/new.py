"""A new judge run over a campaign."""

import uuid

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from annotation.judges.forms.judging import RunForm
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.views.start import estimate, start_page


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def run_new(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Choose what is judged by what; start it."""
    campaign = _campaign(study, campaign_id)
    form = RunForm(request.POST or None, campaign=campaign, actor=request.user)
    by = [form["prompt"], form["batch_size"]]
    context = {"campaign": campaign, "has_things": True, "by": by}
    return start_page(request, study, form, "annotation/judges/new.html", context)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
@require_POST
def run_estimate(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the fragment with what the run, as the form stands now, would take."""
    form = RunForm(request.POST, campaign=_campaign(study, campaign_id), actor=request.user)
    context = {"study": study, "form": form} | (estimate(study, form) if form.is_valid() else {})
    return render(request, "runs/_kind_run_estimate.html", context)


def _campaign(study: Study, campaign_id: uuid.UUID) -> Campaign:
    return get_object_or_404(
        campaigns_of(study).select_related("guideline"), public_id=campaign_id
    )


BASE = "label-rounds/<uuid:campaign_id>/judges"
urlpatterns = [
    path(f"{BASE}/new/", run_new, name="run_new"),
    path(f"{BASE}/estimate/", run_estimate, name="run_estimate"),
]
