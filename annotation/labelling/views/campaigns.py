"""Campaign pages: list, draft, items, state, overview."""

import random
import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.corpus.models.questions import Argument
from annotation.labelling.actions import campaigns as actions
from annotation.labelling.actions.guidelines import default_guideline
from annotation.labelling.actions.kind import LABELS
from annotation.labelling.forms.campaigns import CampaignForm, ControlForm, PickForm
from annotation.labelling.models.campaigns import Campaign, Item, campaigns_of
from annotation.labelling.models.votes import Assignment
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.pages.rounds import move_urls
from cqa_site.rounds.progress import count_of

PER_PAGE = 50


@study_page(*RESEARCHERS)
def campaigns(request: StudyRequest, study: Study) -> HttpResponse:
    """List the campaigns of the study with how far each is."""
    items = Item.objects.filter(campaign=OuterRef("pk"))
    votes = Assignment.objects.filter(campaign=OuterRef("pk"), state=Assignment.State.ANSWERED)
    rows = campaigns_of(study).annotate(
        item_count=count_of(items, "campaign"), vote_count=count_of(votes, "campaign")
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"study": study, "section": "campaigns", "page": page}
    return render(request, "annotation/labelling/campaigns.html", context)


@study_page(*RESEARCHERS)
def campaign_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Create a draft campaign."""
    seed = random.randrange(10**9)  # noqa: S311  an order, not a secret
    initial = Campaign.USUAL | {"guideline": study.guidelines.first(), "seed": seed}
    form = CampaignForm(request.POST or None, study=study, initial=initial)
    if request.method == "POST" and form.is_valid():
        form.instance.created_by = request.user
        if form.cleaned_data["guideline"] is None:
            form.instance.guideline = default_guideline(study, actor=request.user)
        campaign = form.save()
        return redirect("campaign_items", study.public_id, campaign.public_id)
    context = {"study": study, "section": "campaigns", "form": form}
    status = 422 if form.errors else 200
    return render(request, "annotation/labelling/campaign_form.html", context, status=status)


@study_page(*RESEARCHERS)
def campaign_edit(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Change a draft; an opened campaign keeps what its labels were collected under."""
    campaign = get_object_or_404(campaigns_of(study), public_id=campaign_id)
    if campaign.state != Campaign.State.DRAFT:
        messages.error(request, _("Only a draft can be changed."))
        return redirect("campaign", study.public_id, campaign.public_id)
    form = CampaignForm(request.POST or None, study=study, instance=campaign)
    if request.method == "POST" and form.is_valid():
        try:
            actions.save_draft(campaign=campaign, save=form.save)
        except RoundNotReady as reason:
            messages.error(request, str(reason))
        return redirect("campaign", study.public_id, campaign.public_id)
    context = {"study": study, "section": "campaigns", "form": form, "campaign": campaign}
    status = 422 if form.errors else 200
    return render(request, "annotation/labelling/campaign_form.html", context, status=status)


@study_page(*RESEARCHERS)
def campaign(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Overview: settings, progress and the way to every other page of the campaign."""
    campaign = get_object_or_404(
        campaigns_of(study).select_related("guideline"), public_id=campaign_id
    )
    slots = dict(campaign.slots.values_list("state").annotate(Count("pk")).order_by())
    kinds = campaign.items.aggregate(
        ordinary=Count("pk", filter=Q(control_label__isnull=True)),
        controls=Count("pk", filter=Q(control_label__isnull=False)),
    )
    votes = campaign.assignments.filter(state=Assignment.State.ANSWERED)
    context = {
        "study": study,
        "section": "campaigns",
        "campaign": campaign,
        "ordinary": kinds["ordinary"],
        "controls": kinds["controls"],
        "slots_done": slots.get("done", 0),
        "slots_all": sum(slots.values()),
        "votes": votes.count(),
        "raters": votes.values("rater").distinct().count(),
    }
    return render(request, "annotation/labelling/campaign.html", context)


@study_page(*RESEARCHERS)
def campaign_items(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Items of the campaign; in a draft also picking arguments and marking controls."""
    campaign = get_object_or_404(
        campaigns_of(study).select_related("guideline"), public_id=campaign_id
    )
    form = PickForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        return _add(request, study, campaign, form.cleaned_data)
    only = request.GET.get("only", "")
    items = campaign.items.select_related("argument__comparison").order_by("pk")
    if only in ("controls", "ordinary"):
        items = items.filter(control_label__isnull=only == "ordinary")
    context = {
        "study": study,
        "section": "campaigns",
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
    arguments = study.arguments.all()
    if wanted["comparisons"]:
        arguments = arguments.filter(comparison__in=wanted["comparisons"])
    if wanted["search"]:
        arguments = arguments.filter(text__icontains=wanted["search"])
    if wanted["only_new"]:
        arguments = arguments.filter(~Exists(Item.objects.filter(argument=OuterRef("pk"))))
    return arguments


@study_page(*RESEARCHERS)
@require_POST
def campaign_control(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, argument_id: uuid.UUID
) -> HttpResponse:
    """Mark one item of a draft as a control item, or as an ordinary one."""
    campaign = get_object_or_404(
        campaigns_of(study).select_related("guideline"), public_id=campaign_id
    )
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
    path("campaigns/", campaigns, name="campaigns"),
    path("campaigns/new/", campaign_new, name="campaign_new"),
    path("campaigns/<uuid:campaign_id>/", campaign, name="campaign"),
    path("campaigns/<uuid:campaign_id>/edit/", campaign_edit, name="campaign_edit"),
    path("campaigns/<uuid:campaign_id>/items/", campaign_items, name="campaign_items"),
    path(
        "campaigns/<uuid:campaign_id>/items/<uuid:argument_id>/control/",
        campaign_control,
        name="campaign_control",
    ),
    *move_urls(LABELS, "campaigns/<uuid:campaign_id>/", "campaign_id", ("open", "pause", "close")),
]
