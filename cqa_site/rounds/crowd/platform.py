"""Webhooks about submissions, and the connection of a link to its platform."""

import base64
import hashlib
import hmac
import json
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from cqa_site.people.access import StudyRequest
from cqa_site.people.models import User
from cqa_site.sealing import KeyUnreadable, seal, unseal
from ..forms import PlatformConnectionForm
from ..kind import kind_of
from ..models import Participant, ParticipantLink, PlatformEvent
from .pages import links_page
from .participants import end_participation, link_page, record_link
from .participation import place_of
from .tokens import PLATFORM_ID

LARGEST_BODY = 65_536
REPLAY_SECONDS = 300
STATUS_EVENT = "submission.status.change"
# Statuses of submissions on which work has ended without being completed here.
ENDS = {
    "RETURNED": Participant.Outcome.RETURNED,
    "REJECTED": Participant.Outcome.RETURNED,
    "TIMED-OUT": Participant.Outcome.TIMED_OUT,
}


@transaction.atomic
def connect_link(
    *,
    link: ParticipantLink,
    actor: User,
    platform_study: str,
    hook_secret: str,
    api_token: str = "",
    delete_secrets: bool = False,
) -> None:
    """Connect the link to a study on the platform; an empty secret keeps the stored secret."""
    changes: dict[str, Any] = {"platform_study": platform_study}
    if delete_secrets:
        changes |= {"hook_ciphertext": b"", "api_ciphertext": b""}
    if hook_secret:
        changes["hook_ciphertext"] = seal(hook_secret)
    if api_token:
        changes["api_ciphertext"] = seal(api_token)
    vars(link).update(changes)
    # Only the changed fields, because the secrets may have been deleted since the link was read.
    link.save(update_fields=[*changes])
    secrets = {
        "new_webhook_secret": bool(hook_secret),
        "new_api_token": bool(api_token),
        "secrets_deleted": delete_secrets,
    }
    verb = "participant_link_connected"
    record_link(link, verb, actor, platform_study=platform_study, **secrets)


@transaction.atomic
def apply_report(link: ParticipantLink, event_id: str, **report: Any) -> None:
    """Store a report once, and act on it if it is new and not out of date.

    If a submission was returned or timed out, the items reserved for the person are released.
    Their work is kept; an existing outcome and its code do not change.
    """
    event, is_new = PlatformEvent.objects.get_or_create(
        link=link, event_id=event_id, defaults=report
    )
    # Several people may have typed the same ID; the first person counts.
    person = link.participants.filter(session_id=event.submission).order_by("pk").first()
    if is_new and person:
        apply_status(person, event.status, event.sent_at)


@transaction.atomic
def apply_status(
    person: Participant, status: str, at: datetime, *, actor: User | None = None
) -> bool:
    """Store a status from the platform and act on it; return False if it is out of date."""
    # The enrolment is locked before the participant, as in all other code.
    place = place_of(person, is_locked=True)
    people = Participant.objects.select_related("study", "user", "link__round")
    person = people.select_for_update(of=("self",)).get(pk=person.pk)
    if person.platform_status_at and at < person.platform_status_at:
        return False
    person.platform_status, person.platform_status_at = status, at
    person.save(update_fields=["platform_status", "platform_status_at"])
    if status in ENDS and person.outcome == Participant.Outcome.RUNNING:
        if place:
            kind_of(person.link.round).stop(place, withdraws=False)
        end_participation(participant=person, outcome=ENDS[status], reason=status, actor=actor)
    return True


def plain_status(text: object) -> str:
    """Return a status in the platform's format, capitals with hyphens; raises ValueError."""
    status = str(text).strip().upper().replace("_", "-").replace(" ", "-")
    if not (PLATFORM_ID.fullmatch(status) and len(status) <= 30):
        raise ValueError
    return status


def signature_of(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature that the platform computes for a message."""
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


@csrf_exempt
@require_POST
def platform_hook(request: HttpRequest, link_id: uuid.UUID) -> HttpResponse:
    """Process a report from the platform; unsigned, foreign and old messages are ignored."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST_BODY:
        return HttpResponse(status=413)
    links = ParticipantLink.objects.select_related("study", "round")
    link = links.filter(public_id=link_id).first()
    if link is None or not _is_signed(request, link):
        return HttpResponse(status=403)
    try:
        report = _read_report(request)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return HttpResponse(status=400)
    if report:
        apply_report(link, **report)
    return HttpResponse(status=204)


@link_page
@require_POST
@sensitive_post_parameters("hook_secret", "api_token")
def crowd_link_connect(request: StudyRequest, link: ParticipantLink) -> HttpResponse:
    form = PlatformConnectionForm(request.POST, link=link)
    if not form.is_valid():
        return links_page(request, link.round, status=422, connection=form)
    connect_link(link=link, actor=request.user, **form.cleaned_data)
    messages.success(request, _("Connection saved."))
    return redirect("crowd_links", link.study.public_id, link.round.public_id)


def _is_signed(request: HttpRequest, link: ParticipantLink) -> bool:
    timestamp = request.headers.get("X-Prolific-Request-Timestamp", "")
    if not (link.hook_ciphertext and timestamp.isascii() and timestamp.isdigit()):
        return False
    if len(timestamp) > 12 or abs(time.time() - int(timestamp)) > REPLAY_SECONDS:
        return False
    try:
        expected = signature_of(unseal(link.hook_ciphertext), timestamp, request.body)
    except KeyUnreadable:
        return False
    signature = request.headers.get("X-Prolific-Request-Signature", "")
    return hmac.compare_digest(expected.encode(), signature.encode())


def _read_report(request: HttpRequest) -> dict[str, Any] | None:
    """Return the fields for a `PlatformEvent`; None for other messages. Raises ValueError."""
    message = json.loads(request.body)
    if not isinstance(message, dict):
        raise ValueError
    if message.get("event_type") != STATUS_EVENT:
        return None
    event_id, submission = request.headers.get("X-Event-ID", ""), message.get("resource_id")
    if not (PLATFORM_ID.fullmatch(event_id) and PLATFORM_ID.fullmatch(submission or "")):
        raise ValueError
    status = plain_status(message.get("status", ""))
    sent_at = datetime.fromtimestamp(float(request.headers.get("X-Timestamp", "")), UTC)
    return {"event_id": event_id, "submission": submission, "status": status, "sent_at": sent_at}
