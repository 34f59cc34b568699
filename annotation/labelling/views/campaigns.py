"""Pages of campaigns, their items and their guidelines, for researchers."""

import random
import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.corpus.models import Argument
from annotation.labelling.actions import campaigns as actions
from annotation.labelling.actions.blocks import retire_item
from annotation.labelling.actions.campaigns import default_draft, save_version
from annotation.labelling.forms import (
    ControlForm,
    GuidelineForm,
    LabelRoundForm,
    NewCampaignForm,
    PickForm,
    agreed_on,
    proposed_controls,
)
from annotation.labelling.models.campaigns import Assignment, Campaign, Item
from annotation.labelling.reports import skipped_by_all
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.pages.rounds import PER_PAGE, ListColumn, RoundPages, round_in, round_urls

# Campaigns for researchers; items are picked, and control items marked, one by one.


def _more(campaign: Campaign) -> dict[str, Any]:
    kinds = campaign.items.aggregate(
        ordinary=Count("pk", filter=Item.ORDINARY),
        controls=Count("pk", filter=Q(control_label__isnull=False)),
    )
    votes = campaign.assignments.filter(state=Assignment.State.ANSWERED)
    people = votes.aggregate(people=Count("rater", distinct=True))
    return {"campaign": campaign, **kinds, **people}


def _initial(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return a ready-to-open plan, with control items if people agreed on labels."""
    known = agreed_on(study, study.guidelines.first())
    return proposed_controls(study.arguments.count(), len(known))


# Which items the page lists.
ONLY = {
    "ordinary": Q(control_label__isnull=True),
    "controls": Q(control_label__isnull=False),
    "retired": Q(is_retired=True),
}

FACE = RoundPages(
    form=LabelRoundForm,
    new_form=NewCampaignForm,
    initial=_initial,
    template="annotation/labelling/campaign.html",
    far="annotation/labelling/_campaign_far.html",
    more=_more,
    picks_page="campaign_items",
    is_ready=lambda study: study.arguments.exists(),
    needs=lazy(
        "Import arguments, or the votes of a finished crowd project. Then open a round here."
    ),
    columns=(
        ListColumn(lazy("Origin"), lambda row: row.get_origin_display()),
        ListColumn(lazy("Labels given"), lambda row: row.votes, css="number"),
    ),
    related=("guideline",),
    decisions=(),
)


@study_page(*RESEARCHERS)
def campaign_items(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the campaign's items; in a draft, also select arguments and mark controls."""
    campaign = round_in(FACE, study, campaign_id)
    is_running = campaign.is_live and campaign.state in actions.RUNNING
    # A round to which arguments are added takes the new ones by default.
    form = PickForm(request.POST or None, study=study, initial={"only_new": is_running})
    if request.method == "POST" and form.is_valid():
        return _add(request, study, campaign, form.cleaned_data)
    only = request.GET.get("only", "")
    rows = campaign.items.filter(ONLY.get(only, Q()))
    broken = skipped_by_all(campaign)
    items = broken if only == "skipped" else rows
    items = items.select_related("argument__comparison").order_by("pk")
    is_live = campaign.is_live
    context = {
        "study": study,
        "campaign": campaign,
        "form": form,
        "only": only,
        "page": Paginator(items, PER_PAGE).get_page(request.GET.get("page")),
        "is_draft": campaign.state == Campaign.State.DRAFT and is_live,
        "is_running": is_running,
        "broken": broken.count(),
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
def campaign_item_retire(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, argument_id: uuid.UUID
) -> HttpResponse:
    """Retire an item of a running round, or restore it."""
    campaign = round_in(FACE, study, campaign_id)
    item = get_object_or_404(campaign.items, external_id=str(argument_id))
    is_retired = request.POST.get("is_retired") == "on"
    try:
        retire_item(campaign=campaign, item=item, is_retired=is_retired, actor=request.user)
    except RoundNotReady as reason:
        messages.error(request, str(reason))
    else:
        done = (
            _("The item is retired: it is no longer served.")
            if is_retired
            else _("The item is served again.")
        )
        messages.success(request, done)
    back = redirect("campaign_items", study.public_id, campaign.public_id)
    back.headers["Location"] += "?only=skipped" if "skipped" in request.POST else ""
    return back


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


campaign_urls = [
    *round_urls(FACE, "label-rounds/", "campaign_id"),
    path("label-rounds/<uuid:campaign_id>/items/", campaign_items, name="campaign_items"),
    path(
        "label-rounds/<uuid:campaign_id>/items/<uuid:argument_id>/control/",
        campaign_control,
        name="campaign_control",
    ),
    path(
        "label-rounds/<uuid:campaign_id>/items/<uuid:argument_id>/retire/",
        campaign_item_retire,
        name="campaign_item_retire",
    ),
]


# Guideline versions: read, compare, write a new one.


@study_page(*RESEARCHERS)
def guidelines(request: StudyRequest, study: Study) -> HttpResponse:
    """List the versions with the campaigns that use them."""
    context = {
        "study": study,
        "guidelines": study.guidelines.prefetch_related("campaigns"),
    }
    return render(request, "annotation/labelling/guidelines.html", context)


@study_page(*RESEARCHERS)
def guideline(request: StudyRequest, study: Study, number: int) -> HttpResponse:
    """Show one version as annotators see it."""
    version = get_object_or_404(study.guidelines, number=number)
    context = {"study": study, "guideline": version}
    return render(request, "annotation/labelling/guideline.html", context)


@study_page(*RESEARCHERS)
def guideline_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Write the next version, starting from the newest."""
    newest = default_draft(study)
    form = GuidelineForm(
        request.POST or None,
        levels=newest.levels,
        initial={"title": newest.title, "body": newest.body},
    )
    if request.method == "POST" and form.is_valid():
        version = save_version(
            study=study,
            title=form.cleaned_data["title"],
            body=form.cleaned_data["body"],
            levels=form.cleaned_data["levels"],
            actor=request.user,
        )
        return redirect("guideline", study.public_id, version.number)
    context = {"study": study, "form": form, "newest": newest}
    status = 422 if form.errors else 200
    return render(request, "annotation/labelling/guideline_form.html", context, status=status)


guideline_urls = [
    path("guidelines/", guidelines, name="guidelines"),
    path("guidelines/new/", guideline_new, name="guideline_new"),
    path("guidelines/<int:number>/", guideline, name="guideline"),
]
