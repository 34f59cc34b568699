"""Final labels: the table, the rule behind it, and what feeds it."""

import uuid
from collections import Counter
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.consensus.actions import adoption, consensus
from annotation.consensus.actions.preferred_labels import prefer_labels
from annotation.consensus.finding import labels_finding
from annotation.consensus.forms import AdoptForm, ConsensusForm
from annotation.consensus.models import Adoption, FinalLabel
from annotation.consensus.reports import label_source
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
FLAGS = {"tied": "is_tied", "differ": "methods_differ"}


@study_page(*RESEARCHERS)
def final_labels(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List every argument with its final label and where it comes from."""
    campaign = _campaign(study, campaign_id)
    return _page(request, study, campaign)


@study_page(*RESEARCHERS)
@require_POST
def final_labels_settings(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID
) -> HttpResponse:
    """Change how votes become labels and whose labels overrule them."""
    campaign = _campaign(study, campaign_id)
    form = ConsensusForm(request.POST, instance=campaign)
    if not form.is_valid():
        return _page(request, study, campaign, settings_form=form, status=422)
    consensus.set_consensus(
        campaign=_campaign(study, campaign_id),
        aggregator=form.cleaned_data["aggregator"],
        overridden_by=form.cleaned_data["overridden_by"],
        actor=request.user,
    )
    messages.success(request, _("Saved. The labels are being recomputed."))
    return redirect("final_labels", study.public_id, campaign.public_id)


@study_page(*RESEARCHERS)
@require_POST
def final_labels_adopt(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID
) -> HttpResponse:
    """Show what taking another campaign's labels as decisions would change; then do it."""
    campaign = _campaign(study, campaign_id)
    form = AdoptForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _page(request, study, campaign, adopt_form=form, status=422)
    source, rater = form.chosen
    asked = {
        "campaign": campaign,
        "source": get_object_or_404(campaigns_of(study), public_id=source),
        "rater": get_object_or_404(study.raters, public_id=rater),
        "only_tied": form.cleaned_data["only_tied"],
    }
    if "confirmed" not in request.POST:
        preview = adoption.preview_adoption(**asked)
        return _page(request, study, campaign, adopt_form=form, preview=preview)
    adoption.adopt_labels(**asked, actor=request.user)
    messages.success(request, _("Adopted. The labels are being recomputed."))
    return redirect("final_labels", study.public_id, campaign.public_id)


@study_page(*RESEARCHERS)
@require_POST
def final_labels_withdraw(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, adoption_id: uuid.UUID
) -> HttpResponse:
    """Take an adoption back."""
    campaign = _campaign(study, campaign_id)
    row = get_object_or_404(campaign.adoptions.all(), public_id=adoption_id)
    if adoption.withdraw_adoption(adoption=row, actor=request.user):
        messages.success(request, _("Withdrawn. The labels are being recomputed."))
    return redirect("final_labels", study.public_id, campaign.public_id)


@study_page(*RESEARCHERS)
@require_POST
def final_labels_recompute(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID
) -> HttpResponse:
    """Recompute in the background."""
    campaign = _campaign(study, campaign_id)
    consensus.request_final_labels(campaign=campaign, actor=request.user)
    return redirect("final_labels", study.public_id, campaign.public_id)


@study_page(*RESEARCHERS)
@require_POST
def labels_preferred(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Use this campaign's final labels wherever the study needs one, or each sentence's newest."""
    campaign = _campaign(study, campaign_id)
    chosen = campaign if request.POST.get("use") == "this" else None
    prefer_labels(study=study, campaign=chosen, actor=request.user)
    messages.success(request, _("Chosen. Figures made from other labels are out of date now."))
    return redirect("final_labels", study.public_id, campaign.public_id)


def _page(
    request: StudyRequest,
    study: Study,
    campaign: Campaign,
    *,
    settings_form: ConsensusForm | None = None,
    adopt_form: AdoptForm | None = None,
    preview: adoption.AdoptionPreview | None = None,
    status: int = 200,
) -> HttpResponse:
    rows, summary = _filtered(campaign, request), _summary(campaign)
    if summary["is_stale"]:
        consensus.keep_current(campaign, request.user)
    context = {
        "study": study,
        "campaign": campaign,
        "summary": summary,
        "finding": labels_finding(summary["labels"], campaign.guideline),
        "provenances": FinalLabel.Provenance.choices,
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "job": consensus.active_job(campaign),
        "settings_form": settings_form or ConsensusForm(instance=campaign),
        "adopt_form": adopt_form or AdoptForm(campaign=campaign),
        "preview": preview,
        "adoptions": _adoptions(campaign),
        "preferred": label_source(study),
        "has_errors": status == 422,
    }
    return render(request, "annotation/consensus/final_labels.html", context, status=status)


def _campaign(study: Study, campaign_id: uuid.UUID) -> Campaign:
    return get_object_or_404(
        campaigns_of(study).select_related("guideline"), public_id=campaign_id
    )


def _adoptions(campaign: Campaign) -> QuerySet[Adoption]:
    rows = campaign.adoptions.filter(withdrawn_at__isnull=True)
    return rows.select_related("source", "rater", "created_by")


def _filtered(campaign: Campaign, request: StudyRequest) -> QuerySet[FinalLabel]:
    """Rows left by the filters; values that do not exist filter nothing."""
    rows = campaign.final_labels.select_related("argument__comparison").order_by("pk")
    if request.GET.get("provenance") in FinalLabel.Provenance.values:
        rows = rows.filter(provenance=request.GET["provenance"])
    if request.GET.get("label", "") in map(str, campaign.guideline.values):
        rows = rows.filter(label=int(request.GET["label"]))
    if request.GET.get("flag") in FLAGS:
        rows = rows.filter(**{FLAGS[request.GET["flag"]]: True})
    return rows


def _summary(campaign: Campaign) -> dict[str, Any]:
    """Arguments by provenance and by label, and whether votes came or went since."""
    groups = campaign.final_labels.values_list("provenance", "label").order_by()
    by_provenance: Counter[str] = Counter()
    by_label: Counter[int | None] = Counter()
    for provenance, label, count in groups.annotate(count=Count("pk")):
        by_provenance[provenance] += count
        by_label[label] += count
    return {
        "labels": by_label,
        "total": by_provenance.total(),
        "provenances": [
            {"name": name, "title": title, "count": by_provenance[name]}
            for name, title in FinalLabel.Provenance.choices
        ],
        "is_stale": consensus.is_stale(campaign),
    }


urlpatterns = [
    path("label-rounds/<uuid:campaign_id>/labels/", final_labels, name="final_labels"),
    path(
        "label-rounds/<uuid:campaign_id>/labels/settings/",
        final_labels_settings,
        name="final_labels_settings",
    ),
    path(
        "label-rounds/<uuid:campaign_id>/labels/adopt/",
        final_labels_adopt,
        name="final_labels_adopt",
    ),
    path(
        "label-rounds/<uuid:campaign_id>/labels/adoptions/<uuid:adoption_id>/withdraw/",
        final_labels_withdraw,
        name="final_labels_withdraw",
    ),
    path(
        "label-rounds/<uuid:campaign_id>/labels/prefer/", labels_preferred, name="labels_preferred"
    ),
    path(
        "label-rounds/<uuid:campaign_id>/labels/recompute/",
        final_labels_recompute,
        name="final_labels_recompute",
    ),
]
