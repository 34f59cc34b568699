"""The adjudication queue: one sentence at a time, nobody's labels and nobody's names."""

import uuid
from itertools import pairwise
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.consensus.actions import adjudication as actions
from annotation.consensus.actions.consensus import keep_current
from annotation.consensus.forms import AdjudicationForm
from annotation.consensus.models import Adjudication
from annotation.corpus.methods.highlight import split_sentence
from annotation.corpus.models.questions import Argument
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.access import EXPERTS, StudyRequest, study_page
from cqa_site.people.actions.raters import rater_for
from cqa_site.people.models import Rater, Study
from cqa_site.rounds.how_far import HowFar, pace
from cqa_site.rounds.pages.offline import kept_offline
from cqa_site.web.replies import wants_json
from cqa_site.web.strict_query import id_from

TEMPLATE = "annotation/consensus/adjudication.html"
PER_PAGE = 20
MAX_SKIPPED = 500
# So many of the last decisions tell somebody's pace; what took longer (in seconds) was a pause.
PACED, LONGEST_PAUSE = 50, 300


@study_page(*EXPERTS)
def adjudication(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Show the next disputed sentence and take the expert's label; ?unit= reopens a decision."""
    campaign = _campaign(study, campaign_id)
    form = AdjudicationForm(request.POST or None, campaign=campaign)
    if request.method == "POST" and form.is_valid():
        return _decide(request, study, campaign, form)
    if form.errors and wants_json(request):
        detail = " ".join(str(text) for texts in form.errors.values() for text in texts)
        return JsonResponse({"detail": detail}, status=422)
    context = _page(request, study, campaign) | {"form": form}
    reply = render(request, TEMPLATE, context, status=422 if form.errors else 200)
    return kept_offline(reply, request)


def _decide(
    request: StudyRequest, study: Study, campaign: Campaign, form: AdjudicationForm
) -> HttpResponse:
    """Store the decision, or show it beside the one that came in between."""
    given = form.cleaned_data
    argument = get_object_or_404(_arguments(campaign), public_id=given.pop("argument"))
    rater = rater_for(membership=request.membership)
    try:
        decision = actions.adjudicate(campaign=campaign, argument=argument, rater=rater, **given)
    except actions.DecidedMeanwhile as late:
        told = {"detail": str(late), "stored": late.stored, "mine": given, "argument": argument}
        context = _page(request, study, campaign) | {"form": form, "conflict": told}
        if not wants_json(request):
            return render(request, TEMPLATE, context, status=409)
        card = render_to_string("annotation/consensus/_conflict.html", context, request)
        known = late.stored.created_at.isoformat() if late.stored else ""
        body = {"detail": str(late), "known": known, "card": card}
        return JsonResponse(body, status=409)
    if not wants_json(request):
        return redirect(_queue(request, study, campaign))
    saved = {"argument": str(argument.public_id), "known": decision.created_at.isoformat()}
    key = request.POST.get("client_key", "")
    return JsonResponse({"saved": saved | {"comment": decision.comment, "client_key": key}})


@study_page(*EXPERTS)
@require_POST
def adjudication_skip(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Put a sentence at the end of this person's queue until they sign out."""
    campaign = _campaign(study, campaign_id)
    argument = get_object_or_404(
        _arguments(campaign), public_id=id_from(request.POST.get("argument"))
    )
    skipped = [pk for pk in _skipped(request, campaign) if pk != argument.pk]
    request.session[_session_key(campaign)] = [*skipped, argument.pk][-MAX_SKIPPED:]
    return redirect(_queue(request, study, campaign))


@study_page(*EXPERTS)
@require_POST
def adjudication_undo(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Take the person's last decision back and show its sentence again."""
    campaign = _campaign(study, campaign_id)
    rater = rater_for(membership=request.membership)
    undone = actions.undo_last(campaign=campaign, rater=rater)
    address = reverse("adjudication", args=[study.public_id, campaign.public_id])
    if undone is None:
        messages.info(request, _("There is no decision of yours to take back."))
        return redirect(address)
    messages.success(request, _("Taken back: %d. Decide again, or go on.") % undone.label)
    return redirect(f"{address}?unit={undone.argument.public_id}")


def _page(request: StudyRequest, study: Study, campaign: Campaign) -> dict[str, Any]:
    """Everything on the page: an allow-list without votes, labels or names of others."""
    rater = Rater.objects.filter(study=study, user=request.user).first()
    undecided_only = request.GET.get("scope") != "mine"
    argument = _wanted(request, campaign)
    if argument is None:
        row = actions.next_in_queue(
            campaign,
            rater=rater,
            undecided_only=undecided_only,
            skipped=_skipped(request, campaign),
        )
        argument = row.argument if row else None
    job = keep_current(campaign, request.user) if argument is None else None
    own = _own_decisions(campaign, rater)
    decided = Paginator(
        own.filter(superseded_at__isnull=True).select_related("argument__comparison"), PER_PAGE
    ).get_page(request.GET.get("page"))
    left = actions.queue(campaign, rater=rater, undecided_only=undecided_only).count()
    earlier = _decisions_about(campaign, rater, argument) if argument else []
    return {
        "decision": next((one for one in earlier if one.superseded_at is None), None),
        "queue": _queue(request, study, campaign),
        "ways": {"answers": "#decisions"},
        "job": job if job and job.is_active else None,
        "study": study,
        "campaign": campaign,
        "argument": argument,
        "segments": _segments(argument),
        "far": HowFar(decided.paginator.count, left, _pace(own)),
        "undecided_only": undecided_only,
        "earlier": earlier,
        "decided": decided,
    }


def _campaign(study: Study, campaign_id: uuid.UUID) -> Campaign:
    return get_object_or_404(
        campaigns_of(study).select_related("guideline"), public_id=campaign_id
    )


def _arguments(campaign: Campaign) -> QuerySet[Argument]:
    return Argument.objects.filter(pk__in=campaign.items.values("argument")).select_related(
        "comparison"
    )


def _wanted(request: StudyRequest, campaign: Campaign) -> Argument | None:
    """The sentence named in the address or, after a form with errors, in the form."""
    unit = request.POST.get("argument") or request.GET.get("unit")
    if not unit:
        return None
    return get_object_or_404(_arguments(campaign), public_id=id_from(unit))


def _segments(argument: Argument | None) -> list[Any]:
    if argument is None:
        return []
    comparison = argument.comparison
    return split_sentence(argument.text, comparison.object1, comparison.object2)


def _own_decisions(campaign: Campaign, rater: Rater | None) -> QuerySet[Adjudication]:
    """The person's decisions in the queue, newest first; superseded ones included."""
    return Adjudication.objects.filter(
        campaign=campaign, rater=rater, source=Adjudication.Source.QUEUE
    ).order_by("-pk")


def _decisions_about(
    campaign: Campaign, rater: Rater | None, argument: Argument
) -> list[Adjudication]:
    """The person's last decisions about one sentence; the one in force, if any, comes first."""
    rows = Adjudication.objects.filter(campaign=campaign, rater=rater, argument=argument)
    return list(rows.order_by(F("superseded_at").desc(nulls_first=True), "-pk")[:10])


def _pace(own: QuerySet[Adjudication]) -> float | None:
    """Seconds from one of the last decisions to the next, without pauses."""
    times = list(own.values_list("created_at", flat=True)[:PACED])
    gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(times)]
    return pace([gap for gap in gaps if gap <= LONGEST_PAUSE])


def _session_key(campaign: Campaign) -> str:
    return f"skipped:{campaign.public_id}"


def _skipped(request: StudyRequest, campaign: Campaign) -> list[int]:
    return request.session.get(_session_key(campaign), [])


def _queue(request: StudyRequest, study: Study, campaign: Campaign) -> str:
    address = reverse("adjudication", args=[study.public_id, campaign.public_id])
    mine = request.GET.get("scope") == "mine"
    return f"{address}?scope=mine" if mine else address


urlpatterns = [
    path("label-rounds/<uuid:campaign_id>/adjudicate/", adjudication, name="adjudication"),
    path(
        "label-rounds/<uuid:campaign_id>/adjudicate/skip/",
        adjudication_skip,
        name="adjudication_skip",
    ),
    path(
        "label-rounds/<uuid:campaign_id>/adjudicate/undo/",
        adjudication_undo,
        name="adjudication_undo",
    ),
]
