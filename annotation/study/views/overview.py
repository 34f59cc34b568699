"""The first page of a study: for each role, what to do next.

Annotators get nothing but their own work: no totals, no names, no controls.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.consensus.actions.adjudication import disputed_campaigns
from annotation.labelling.models.campaigns import Campaign, Slot, campaigns_of
from annotation.labelling.models.votes import Assignment
from cqa_site.files.models import ImportFile
from cqa_site.people.access import EVERYONE, StudyRequest, study_page
from cqa_site.people.models import Role, Study
from cqa_site.rounds.own_work import waiting_for
from cqa_site.rounds.progress import count_of
from cqa_site.runs.kinds import about
from cqa_site.runs.models import Run

SHOWN = 6


@dataclass(frozen=True)
class Step:
    """One step of a study, with where it stands and the page where it is done."""

    title: str
    text: str
    button: str
    url: str
    is_done: bool


@study_page(*EVERYONE)
def overview(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the page of the member's role."""
    if request.membership.is_researcher:
        return _researcher_page(request, study)
    if request.membership.role == Role.EXPERT:
        return _expert_page(request, study)
    return _annotator_page(request, study)


def _annotator_page(request: StudyRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "waiting": waiting_for(request.membership),
    }
    return render(request, "annotation/study/overview_annotator.html", context)


def _expert_page(request: StudyRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "queues": disputed_campaigns(study),
        "waiting": waiting_for(request.membership),
    }
    return render(request, "annotation/study/overview_expert.html", context)


def _researcher_page(request: StudyRequest, study: Study) -> HttpResponse:
    campaigns = list(_with_progress(campaigns_of(study))[:SHOWN])
    steps = _steps(study, campaigns)
    context = {
        "study": study,
        "campaigns": campaigns,
        "steps": steps,
        "next_step": next((step for step in steps if not step.is_done), None),
        "queues": disputed_campaigns(study),
        "waiting_runs": _waiting_runs(study),
        "waiting_imports": study.import_files.filter(state=ImportFile.State.CHECKED).count(),
    }
    return render(request, "annotation/study/overview_researcher.html", context)


def _waiting_runs(study: Study) -> list[Run]:
    """The newest runs that do nothing until somebody decides; each gets ``about``."""
    waiting = (Run.State.CHECKED, Run.State.PAUSED)
    runs = study.runs.filter(state__in=waiting).select_related("relevance__campaign")
    found = list(runs[:SHOWN])
    for run in found:
        vars(run).update(about=about(run))
    return found


def _with_progress(campaigns: QuerySet[Campaign]) -> QuerySet[Campaign]:
    """Campaigns with ``done``, ``wanted`` and ``has_votes``."""
    slots = Slot.objects.filter(campaign=OuterRef("pk"))
    votes = Assignment.objects.filter(campaign=OuterRef("pk"), state=Assignment.State.ANSWERED)
    return campaigns.annotate(
        wanted=count_of(slots, "campaign"),
        done=count_of(slots.filter(state=Slot.State.DONE), "campaign"),
        has_votes=Exists(votes),
    )


def _steps(study: Study, campaigns: list[Any]) -> list[Step]:
    """From an empty study to its figures."""
    voted = next((campaign for campaign in campaigns if campaign.has_votes), None)
    return [
        _import_step(study),
        _campaign_step(study, campaigns),
        _people_step(study, is_imported=bool(voted and not voted.is_live)),
        _figures_step(study, voted),
    ]


def _import_step(study: Study) -> Step:
    count = study.arguments.count()
    found = ngettext("%(count)s argument is here.", "%(count)s arguments are here.", count)
    return Step(
        title=_("Import arguments"),
        text=found % {"count": f"{count:,}"}
        if count
        else _(
            "Upload a table, JSON or workbook; you see what is in it before anything is stored."
        ),
        button=_("Import more") if count else _("Import arguments"),
        url=reverse("imports", args=[study.public_id]),
        is_done=count > 0,
    )


def _campaign_step(study: Study, campaigns: list[Campaign]) -> Step:
    draft = next((one for one in campaigns if one.state == Campaign.State.DRAFT), None)
    is_done = any(one.state != Campaign.State.DRAFT for one in campaigns)
    if draft and not is_done:
        return Step(
            title=_("Open a campaign"),
            text=_("“%s” is a draft: choose its items and control items, then open it.") % draft,
            button=_("Go on with the draft"),
            url=reverse("campaign", args=[study.public_id, draft.public_id]),
            is_done=False,
        )
    return Step(
        title=_("Open a campaign"),
        text=_("A campaign says which arguments get how many labels, under which guideline."),
        button=_("New campaign"),
        url=reverse("campaign_new", args=[study.public_id]),
        is_done=is_done,
    )


def _people_step(study: Study, *, is_imported: bool) -> Step:
    people = study.memberships.filter(
        role__in=(Role.ANNOTATOR, Role.EXPERT), is_active=True
    ).count()
    found = ngettext("%(count)s person can label.", "%(count)s people can label.", people)
    return Step(
        title=_("Bring in annotators"),
        text=found % {"count": f"{people:,}"}
        if people
        else _(
            "Invite people you know, or make a link for a crowd platform on the campaign's page."
        ),
        button=_("People"),
        url=reverse("members", args=[study.public_id]),
        is_done=people > 0 or is_imported,
    )


def _figures_step(study: Study, voted: Campaign | None) -> Step:
    if voted is None:
        return Step(
            title=_("Read the figures"),
            text=_("Agreement, accuracy on control items and final labels, once labels come in."),
            button=_("Campaigns"),
            url=reverse("campaigns", args=[study.public_id]),
            is_done=False,
        )
    return Step(
        title=_("Read the figures"),
        text=_("Agreement, accuracy on control items and final labels of “%s”.") % voted,
        button=_("Figures"),
        url=reverse("figures", args=[study.public_id, voted.public_id]),
        is_done=True,
    )


urlpatterns = [path("", overview, name="study")]
