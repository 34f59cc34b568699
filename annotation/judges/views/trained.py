"""The trained judge of a campaign: its versions, training a new one, and model cards."""

import uuid

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.judges.actions import trained_judge as actions
from annotation.judges.forms.training import TrainingForm
from annotation.judges.models import TrainedJudge
from annotation.judges.reports.finding import trained_finding
from annotation.judges.reports.found import TrainedFigures
from annotation.judges.reports.model_cards import model_card, recipe_rows
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.stats.as_json import from_json

from .judges import campaign_or_404


@study_page(*RESEARCHERS)
def trained_judges(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the versions with their figures; train the next one."""
    campaign = campaign_or_404(study, campaign_id)
    versions = campaign.trained_judges.select_related("created_by").defer("model")
    context = {
        "study": study,
        "campaign": campaign,
        "versions": [(each, from_json(TrainedFigures, each.figures)) for each in versions],
        "form": TrainingForm(campaign=campaign),
        "job": actions.latest_job(campaign),
        "worker_alive": is_worker_alive(),
    }
    return render(request, "annotation/judges/trained_judges.html", context)


@study_page(*RESEARCHERS)
@require_POST
def train_judge(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Train the next version in the background."""
    campaign = campaign_or_404(study, campaign_id)
    form = TrainingForm(request.POST, campaign=campaign)
    if not form.is_valid():
        messages.error(request, _("Choose a round of this study with the same label scale."))
    else:
        actions.request_training(
            campaign=campaign, source=form.cleaned_data["source"], actor=request.user
        )
        messages.success(request, _("The judge is being trained. Its figures will appear here."))
    return redirect("trained_judges", study.public_id, campaign.public_id)


@study_page(*RESEARCHERS)
@require_POST
def train_cancel(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Stop a training that waits or runs; nothing of it is kept."""
    campaign = campaign_or_404(study, campaign_id)
    if actions.cancel_training(campaign=campaign, actor=request.user):
        messages.success(request, _("The training was cancelled."))
    else:
        messages.error(request, _("No training is waiting or running."))
    return redirect("trained_judges", study.public_id, campaign.public_id)


@study_page(*RESEARCHERS)
def trained_judge(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """One version: what it was trained on, how, and how far it agrees out of fold."""
    version = _version_or_404(study, campaign_id, number)
    figures = from_json(TrainedFigures, version.figures)
    context = {
        "study": study,
        "campaign": version.campaign,
        "version": version,
        "figures": figures,
        "finding": trained_finding(figures, version.number),
        "recipe": recipe_rows(version),
    }
    return render(request, "annotation/judges/trained_judge.html", context)


@study_page(*RESEARCHERS)
def trained_judge_card(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """Send the model card of one version as JSON."""
    version = _version_or_404(study, campaign_id, number)
    response = JsonResponse(model_card(version), json_dumps_params={"indent": 2})
    name = f"trained-judge-v{version.number}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _version_or_404(study: Study, campaign_id: uuid.UUID, number: int) -> TrainedJudge:
    versions = TrainedJudge.objects.select_related("campaign__guideline", "rater", "created_by")
    return get_object_or_404(
        versions.defer("model"),
        campaign__study=study,
        campaign__public_id=campaign_id,
        number=number,
    )


BASE = "label-rounds/<uuid:campaign_id>/judges/trained"
urlpatterns = [
    path(f"{BASE}/", trained_judges, name="trained_judges"),
    path(f"{BASE}/train/", train_judge, name="train_judge"),
    path(f"{BASE}/cancel/", train_cancel, name="train_cancel"),
    path(f"{BASE}/<int:number>/", trained_judge, name="trained_judge"),
    path(f"{BASE}/<int:number>/card.json", trained_judge_card, name="trained_judge_card"),
]
