"""Campaigns for researchers; items are picked, and control items marked, one by one."""

import random
import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.corpus.models.questions import Argument
from annotation.labelling.actions import campaigns as actions
from annotation.labelling.forms.campaigns import (
    CampaignForm,
    ControlForm,
    NewCampaignForm,
    PickForm,
    agreed_on,
    proposed_controls,
)
from annotation.labelling.models.campaigns import Campaign
from annotation.labelling.models.votes import Assignment
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.pages.rounds import PER_PAGE, Column, RoundFace, round_in, round_urls


def _more(campaign: Campaign) -> dict[str, Any]:
    kinds = campaign.items.aggregate(
        ordinary=Count("pk", filter=Q(control_label__isnull=True)),
        controls=Count("pk", filter=Q(control_label__isnull=False)),
    )
    votes = campaign.assignments.filter(state=Assignment.State.ANSWERED)
    people = votes.aggregate(people=Count("rater", distinct=True))
    return {"campaign": campaign, **kinds, **people}


def _initial(request: HttpRequest, study: Study) -> dict[str, Any]:
    """A plan that can be opened as it is, with control items where people agreed, or none."""
    known = agreed_on(study, study.guidelines.first())
    return proposed_controls(study.arguments.count(), len(known))


FACE = RoundFace(
    form=CampaignForm,
    new_form=NewCampaignForm,
    initial=_initial,
    template="annotation/labelling/campaign.html",
    more=_more,
    picks_page="campaign_items",
    is_ready=lambda study: study.arguments.exists(),
    needs=lazy(
        "Import arguments first, or import the votes of a finished crowd project. Then open a "
        "round here."
    ),
    columns=(
        Column(lazy("Origin"), lambda row: row.get_origin_display()),
        Column(lazy("Labels given"), lambda row: row.votes, css="number"),
    ),
    related=("guideline",),
    decisions=(),
)


@study_page(*RESEARCHERS)
def campaign_items(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Items of the campaign; in a draft also picking arguments and marking controls."""
    campaign = round_in(FACE, study, campaign_id)
    form = PickForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        return _add(request, study, campaign, form.cleaned_data)
    only = request.GET.get("only", "")
    items = campaign.items.select_related("argument__comparison").order_by("pk")
    if only in ("controls", "ordinary"):
        items = items.filter(control_label__isnull=only == "ordinary")
    context = {
        "study": study,
        "campaign": campaign,
        "form": form,
        "only": only,
        "page": Paginator(items, PER_PAGE).get_page(request.GET.get("page")),
        "is_draft": campaign.state == Campaign.State.DRAFT and campaign.is_live,
        "controls": campaign.items.filter(control_label__isnull=False).count(),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/labelling/campaign_items.html", context, status=status)


def _add(request: StudyRequest, study: Study, campaign: Campaign, wanted: dict) -> HttpResponse:
    ids = list(_matching(study, wanted).order_by("pk").values_list("pk", flat=True))
    if wanted["sample"]:
        ids = random.Random(campaign.seed).sample(ids, min(wanted["sample"], len(ids)))  # noqa: S311
    try:
        added = actions.add_items(campaign=campaign, argument_ids=ids)
    except RoundNotReady as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, ngettext("%d item added.", "%d items added.", added) % added)
    return redirect("campaign_items", study.public_id, campaign.public_id)


def _matching(study: Study, wanted: dict) -> QuerySet[Argument]:
    which = actions.NEW if wanted["only_new"] else actions.EVERY
    arguments = actions.arguments_of(study, which)
    if wanted["comparisons"]:
        arguments = arguments.filter(comparison__in=wanted["comparisons"])
    if wanted["search"]:
        arguments = arguments.filter(text__icontains=wanted["search"])
    return arguments


@study_page(*RESEARCHERS)
@require_POST
def campaign_control(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, argument_id: uuid.UUID
) -> HttpResponse:
    """Mark one item of a draft as a control item, or as an ordinary one."""
    campaign = round_in(FACE, study, campaign_id)
    item = get_object_or_404(
        campaign.items.select_related("argument__comparison"), external_id=str(argument_id)
    )
    form = ControlForm(request.POST, values=campaign.guideline.values)
    if form.is_valid():
        try:
            actions.set_control(campaign=campaign, item=item, label=form.cleaned_data["label"])
            item.control_label = form.cleaned_data["label"]
        except RoundNotReady as reason:
            messages.error(request, str(reason))
    if not request.htmx:
        return redirect("campaign_items", study.public_id, campaign.public_id)
    context = {"study": study, "campaign": campaign, "item": item, "is_draft": True}
    return render(request, "annotation/labelling/_campaign_item.html", context)


urlpatterns = [
    *round_urls(FACE, "label-rounds/", "campaign_id"),
    path("label-rounds/<uuid:campaign_id>/items/", campaign_items, name="campaign_items"),
    path(
        "label-rounds/<uuid:campaign_id>/items/<uuid:argument_id>/control/",
        campaign_control,
        name="campaign_control",
    ),
]
