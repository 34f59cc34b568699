"""The label page itself, for people at work and for researchers who try it."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.labelling.actions.serving import DONE
from annotation.labelling.models.campaigns import Campaign
from annotation.labelling.models.votes import Assignment
from cqa_site.people.access import StudyRequest
from cqa_site.rounds.how_far import HowFar

from .label_payload import item_payload, segments_of


@dataclass(frozen=True)
class LabelWays:
    """Where answers go and where the page leads."""

    page: str
    answer: str
    next: str
    alive: str
    answers: str


@dataclass(frozen=True)
class Shown:
    """What a label page shows: the items in hand, and the one on the screen or why not."""

    campaign: Campaign
    waiting: list[Assignment]
    current: Assignment | None
    far: HowFar
    reason: str = ""
    notice: str = ""


def ways_of(campaign: Campaign) -> LabelWays:
    """Those of people at work."""
    ids = [campaign.study.public_id, campaign.public_id]
    names = ("label", "label_answer", "label_next", "label_alive", "label_answers")
    return LabelWays(*(reverse(name, args=ids) for name in names))


def render_label(
    request: StudyRequest,
    shown: Shown,
    context: Mapping[str, Any],
    page: Mapping[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the page; ``context`` and ``page`` are what differs, for template and script."""
    current, campaign, far = shown.current, shown.campaign, shown.far
    is_change = current is not None and current.state in DONE
    for_script = {
        "user": str(request.user.public_id),
        "campaign": str(campaign.public_id),
        "beat": min(60, campaign.lease_minutes * 20),
        "items": [item_payload(row) for row in shown.waiting],
        "progress": {"answered": far.done, "total": far.all, "seconds": far.seconds},
        "state": shown.reason,
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
        "reason": shown.reason,
        "notice": shown.notice,
    }
    name = "label" if current else "label_state"
    template = f"annotation/labelling/{name}.html"
    return render(request, template, around | dict(context), status=status)
