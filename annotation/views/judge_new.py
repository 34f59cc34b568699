"""A new judge run over a campaign: the form, what it will take, and a yes before money."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from annotation.forms.judging import RunForm
from annotation.models import Campaign
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study
from cqa_site.runs.actions import runs as actions
from cqa_site.runs.planning import estimate_run


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def run_new(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Choose what is judged by what; start, after a look at the price where there is one."""
    campaign = _campaign(study, campaign_id)
    form = RunForm(request.POST or None, campaign=campaign, actor=request.user)
    context = {
        "study": study,
        "section": "judges",
        "campaign": campaign,
        "form": form,
        "has_endpoint": study.endpoints.filter(is_archived=False).exists(),
    }
    if request.method != "POST":
        return render(request, "annotation/judge_new.html", context)
    if not form.is_valid():
        return render(request, "annotation/judge_new.html", context, status=422)
    found = _estimate(study, form)
    is_agreed = not found["cost_micro"] or request.POST.get("agreed") == found["agreement"]
    if "look" in request.POST or not is_agreed:
        _carry_secret(form)
        found["asks"] = "look" not in request.POST
        return render(request, "annotation/judge_new.html", context | found)
    return _start(request, study, form, context)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
@require_POST
def run_estimate(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the fragment with what the run, as the form stands now, would take."""
    form = RunForm(request.POST, campaign=_campaign(study, campaign_id), actor=request.user)
    context = {"study": study, "form": form} | (_estimate(study, form) if form.is_valid() else {})
    return render(request, "annotation/_judge_estimate.html", context)


def _campaign(study: Study, campaign_id: uuid.UUID) -> Campaign:
    return get_object_or_404(study.campaigns.select_related("guideline"), public_id=campaign_id)


def _estimate(study: Study, form: RunForm) -> dict[str, Any]:
    """What the run would take; ``agreement`` names exactly this plan at this price."""
    run = actions.draft(form.plan, study)
    found, is_sampled = estimate_run(run)
    cap = form.plan.cap_micro
    return {
        "tokens_wanted": form.tokens_wanted,
        "estimate": found,
        "cost_micro": found.cost_micro,
        "is_sampled": is_sampled,
        "passes_cap": cap is not None and found.cost_micro > cap,
        "cap_micro": cap,
        "agreement": f"{run.spec_hash}:{found.cost_micro}:{cap}",
    }


def _carry_secret(form: RunForm) -> None:
    """The browser gets no password back; its encrypted form goes along in the page."""
    form.data = form.data.copy()
    form.data["webhook_sealed"] = form.sealed_secret


def _start(
    request: HttpRequest, study: Study, form: RunForm, context: dict[str, Any]
) -> HttpResponse:
    try:
        run = actions.start_run(study=study, actor=request.user, plan=form.plan)
    except actions.RunRefused as reason:
        form.add_error(None, str(reason))
        return render(request, "annotation/judge_new.html", context, status=422)
    messages.success(request, _("Run #%d is being prepared.") % run.number)
    return redirect("run", study.public_id, run.public_id)


BASE = "campaigns/<uuid:campaign_id>/judges"
urlpatterns = [
    path(f"{BASE}/new/", run_new, name="run_new"),
    path(f"{BASE}/estimate/", run_estimate, name="run_estimate"),
]
