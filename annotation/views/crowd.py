"""Crowd links of a campaign, and the page where a participation ends."""

import uuid

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.actions import participation as actions
from annotation.models import Campaign
from cqa_site.people.access import RESEARCHERS, memberships_of, study_page
from cqa_site.people.actions.participants import (
    close_link,
    create_link,
    links_of,
    placeholders,
)
from cqa_site.people.forms import ParticipantLinkForm
from cqa_site.people.models import Participant, Study

PAGE_SIZE = 50
SHOWN_LINKS = 100


class FaultForm(forms.Form):
    """What went wrong."""

    comment = forms.CharField(
        label=gettext_lazy("What does not work?"),
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


@study_page(*RESEARCHERS)
def crowd_links(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the links of a campaign and who came by them; a POST makes a link."""
    campaign = get_object_or_404(study.campaigns, public_id=campaign_id)
    form = ParticipantLinkForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.errors else 200
        return _links_page(request, study, campaign, status=status, form=form)
    link, secret = create_link(
        study=study,
        campaign_ref=campaign.public_id,
        campaign_name=campaign.name,
        actor=request.user,
        **form.link_fields(),
    )
    address = request.build_absolute_uri(reverse("join", kwargs={"secret": secret}))
    return _links_page(
        request,
        study,
        campaign,
        form=ParticipantLinkForm(),
        new_link=link,
        address=f"{address}?{placeholders(link)}",
    )


@study_page(*RESEARCHERS)
@require_POST
def crowd_link_close(
    request: HttpRequest, study: Study, campaign_id: uuid.UUID, link_id: uuid.UUID
) -> HttpResponse:
    """Let nobody new in by this link."""
    link = get_object_or_404(study.participant_links, public_id=link_id, campaign_ref=campaign_id)
    close_link(link=link, actor=request.user)
    messages.success(request, _("Link closed. People who are in may finish."))
    return redirect("crowd_links", study_id=study.public_id, campaign_id=campaign_id)


@login_required
def participation_end(request: HttpRequest) -> HttpResponse:
    """Show the completion code once the participation is over, else what is left to do."""
    participant = _participant(request)
    if participant.outcome != Participant.Outcome.RUNNING:
        context = {"participant": participant, "code": actions.completion_code(participant)}
        return render(request, "annotation/participation_ended.html", context)
    if request.method == "POST" and not actions.finish_participation(participant=participant):
        messages.info(request, _("There are items left for you."))
    elif request.method == "POST":
        return redirect("participation_end")
    return _running_page(request, participant, FaultForm())


@login_required
@require_POST
def participation_fault(request: HttpRequest) -> HttpResponse:
    """End the participation because something does not work."""
    participant = _participant(request)
    form = FaultForm(request.POST)
    if not form.is_valid():
        return _running_page(request, participant, form)
    actions.report_fault(participant=participant, comment=form.cleaned_data["comment"])
    return redirect("participation_end")


def _participant(request: HttpRequest) -> Participant:
    """The signed-in person's participation, as long as their membership counts."""
    participant = get_object_or_404(
        Participant.objects.select_related("study", "link", "user"), user=request.user
    )
    if not memberships_of(request.user).filter(study=participant.study).exists():
        raise Http404
    return participant


def _running_page(request: HttpRequest, participant: Participant, form: FaultForm) -> HttpResponse:
    context = {
        "campaign": actions.campaign_of(participant),
        "participant": participant,
        "standing": actions.standing_of(participant),
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/participation_running.html", context, status=status)


def _links_page(
    request: HttpRequest, study: Study, campaign: Campaign, status: int = 200, **context: object
) -> HttpResponse:
    people = (
        study.participants.filter(link__campaign_ref=campaign.public_id)
        .select_related("user", "link")
        .order_by("-created_at", "-pk")
    )
    page = Paginator(people, PAGE_SIZE).get_page(request.GET.get("page"))
    fixed = {
        "study": study,
        "campaign": campaign,
        "section": "campaigns",
        "links": links_of(study=study, campaign_ref=campaign.public_id)[:SHOWN_LINKS],
        "page": page,
    }
    return render(request, "annotation/crowd_links.html", fixed | context, status=status)


urlpatterns = [
    path("campaigns/<uuid:campaign_id>/crowd/", crowd_links, name="crowd_links"),
    path(
        "campaigns/<uuid:campaign_id>/crowd/<uuid:link_id>/close/",
        crowd_link_close,
        name="crowd_link_close",
    ),
]
participant_urlpatterns = [
    path("join/done/", participation_end, name="participation_end"),
    path("join/fault/", participation_fault, name="participation_fault"),
]
