"""The page with one sentence to label, and its preview for researchers."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.corpus.methods.sentences import SentencePart, split_sentence
from annotation.labelling.actions.serving import DONE
from annotation.labelling.forms import AnswerForm
from annotation.labelling.models.campaigns import Assignment, Campaign
from annotation.labelling.views.campaigns import FACE
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.access import MOST, tried_id
from cqa_site.rounds.pages.replies import trial_of
from cqa_site.rounds.pages.rounds import round_in
from cqa_site.rounds.progress import TaskProgress
from cqa_site.web.pages import wants_json

# What label pages may know: allow-lists, the same keys for every item.


def segments_of(row: Assignment) -> list[SentencePart]:
    """Return the sentence in parts, with the names of the two objects marked."""
    argument = row.item.argument
    return split_sentence(argument.text, argument.comparison.object1, argument.comparison.object2)


def item_payload(row: Assignment) -> dict[str, object]:
    """Return an item's content for a page."""
    comparison = row.item.argument.comparison
    return {
        "id": str(row.public_id),
        "object1": comparison.object1,
        "object2": comparison.object2,
        "segments": [{"text": part.text, "mark": part.mark} for part in segments_of(row)],
        "blank": row.item.argument.is_blank,
    }


def earlier_payload(row: Assignment, known: Mapping[int, str]) -> dict[str, object]:
    """Return an item with the rater's answer; a change must send ``known`` back."""
    return {
        "item": item_payload(row),
        "known": known.get(row.pk, ""),
        "answer": {
            "label": row.label,
            "skip_reason": row.skip_reason,
            "comment": row.comment,
            "flag": row.is_flagged,
        },
    }


# The label page itself, for people at work and for researchers who try it.


@dataclass(frozen=True)
class LabelWays:
    """Addresses that the page posts answers to and links to."""

    page: str
    answer: str
    next: str
    alive: str
    answers: str


@dataclass(frozen=True)
class LabelPageState:
    """Content of a label page: reserved items, and the current one or the reason for none."""

    campaign: Campaign
    waiting: list[Assignment]
    current: Assignment | None
    far: TaskProgress
    reason: str = ""
    notice: str = ""


def ways_of(campaign: Campaign) -> LabelWays:
    """Return the addresses for regular labelling."""
    ids = [campaign.study.public_id, campaign.public_id]
    names = ("label", "label_answer", "label_next", "label_alive", "label_answers")
    return LabelWays(*(reverse(name, args=ids) for name in names))


def render_label(
    request: StudyRequest,
    state: LabelPageState,
    context: Mapping[str, Any],
    page: Mapping[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the page.

    ``context`` and ``page`` are its specific values for template and script.
    """
    current, campaign, far = state.current, state.campaign, state.far
    is_change = current is not None and current.state in DONE
    for_script = {
        "user": str(request.user.public_id),
        "campaign": str(campaign.public_id),
        "beat": min(60, campaign.lease_minutes * 20),
        "items": [item_payload(row) for row in state.waiting],
        "progress": {
            "answered": far.done,
            "total": far.all,
            "seconds": far.seconds,
            "planned": campaign.expected_seconds,
        },
        "state": state.reason,
    }
    around = {
        "study": request.membership.study,
        "campaign": campaign,
        "page": for_script | dict(page),
        "far": far,
        "current": current,
        "segments": segments_of(current) if current else [],
        "is_change": is_change,
        "client_key": uuid.uuid4().hex,
        "reasons": Assignment.SkipReason.choices,
        "reason": state.reason,
        "notice": state.notice,
    }
    name = "label" if current else "label_state"
    template = f"annotation/labelling/{name}.html"
    return render(request, template, around | dict(context), status=status)


# The label page for researchers, as annotators see it; whatever they answer is not stored.
#
# The items are the first in the order of the round, control items among them and as little marked
# as for annotators. Nothing is reserved: the rows that the page shows were never made.


PREFETCH = 5


@study_page(*RESEARCHERS)
@require_safe
def label_trial(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """Show an item of a round as annotators see it."""
    campaign, rows = _tried(study, campaign_id)
    return _page(request, campaign, rows, number)


@study_page(*RESEARCHERS)
@require_POST
def label_trial_answer(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID
) -> HttpResponse:
    """Respond to a trial answer as to a real one, without storing it."""
    campaign, rows = _tried(study, campaign_id)
    form = AnswerForm(request.POST)
    number = _number(rows, form.cleaned_data["item"]) if form.is_valid() else 1
    label = form.cleaned_data.get("label")
    is_skip = label is None and form.cleaned_data.get("skip_reason")
    if not form.is_valid() or not (is_skip or label in campaign.guideline.values):
        notice = _("This answer was not stored: choose a label, or skip with a reason.")
        if wants_json(request):
            return JsonResponse({"error": "not_valid", "detail": notice}, status=422)
        return _page(request, campaign, rows, number, notice=notice, status=422)
    if not wants_json(request):
        after = trial_of(campaign, number, len(rows)).after
        return redirect(after or reverse("campaign", args=[study.public_id, campaign_id]))
    saved = {"id": str(rows[number - 1].public_id), "label": label}
    return JsonResponse({"saved": saved} | _coming(rows, number))


@study_page(*RESEARCHERS)
@require_safe
def label_trial_next(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the next items for a page that resumes."""
    _campaign, rows = _tried(study, campaign_id)
    return JsonResponse(_coming(rows, 0))


@study_page(*RESEARCHERS)
@require_POST
def label_trial_alive(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Respond without renewing; a trial holds no leases."""
    _tried(study, campaign_id)
    return HttpResponse(status=204)


def _tried(study: Study, campaign_id: uuid.UUID) -> tuple[Campaign, list[Assignment]]:
    """Return the campaign and unsaved rows for its first items; raises Http404."""
    campaign = round_in(FACE, study, campaign_id)
    items = campaign.items.select_related("argument__comparison").order_by("rank", "pk")[:MOST]
    rows = [
        Assignment(public_id=tried_id(campaign, number), item=item, campaign=campaign)
        for number, item in enumerate(items, 1)
    ]
    if not rows or not campaign.is_live:
        raise Http404
    return campaign, rows


def _number(rows: list[Assignment], item: uuid.UUID) -> int:
    for number, row in enumerate(rows, 1):
        if row.public_id == item:
            return number
    raise Http404


def _coming(rows: list[Assignment], number: int) -> dict[str, Any]:
    """Return the same data as the regular labelling page."""
    following = rows[number : number + PREFETCH]
    return {
        "next": [item_payload(row) for row in following],
        "progress": {"answered": number},
        "state": "" if following else "finished",
    }


def _page(
    request: StudyRequest,
    campaign: Campaign,
    rows: list[Assignment],
    number: int,
    *,
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    if not 1 <= number <= len(rows):
        raise Http404
    trial = trial_of(campaign, number, len(rows))
    far = TaskProgress(number - 1, len(rows) - number + 1, campaign.expected_seconds)
    waiting = rows[number - 1 : number - 1 + PREFETCH]
    state = LabelPageState(campaign, waiting, waiting[0], far, notice=notice)
    context = {
        "is_participant": False,
        "undo": None,
        "trial": trial,
        "ways": _ways(campaign, number, trial.round),
    }
    return render_label(request, state, context, {"change": None, "earlier": []}, status=status)


def _ways(campaign: Campaign, number: int, answers: str) -> LabelWays:
    ids = [campaign.study.public_id, campaign.public_id]
    return LabelWays(
        page=reverse("label_trial", args=[*ids, number]),
        answer=reverse("label_trial_answer", args=ids),
        next=reverse("label_trial_next", args=ids),
        alive=reverse("label_trial_alive", args=ids),
        answers=answers,
    )


BASE = "label-rounds/<uuid:campaign_id>/label/trial/"
urlpatterns = [
    path(f"{BASE}<int:number>/", label_trial, name="label_trial"),
    path(f"{BASE}answer/", label_trial_answer, name="label_trial_answer"),
    path(f"{BASE}next/", label_trial_next, name="label_trial_next"),
    path(f"{BASE}alive/", label_trial_alive, name="label_trial_alive"),
]
