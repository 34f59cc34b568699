"""Links for crowd platforms and the people who come through them."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from cqa_site.people.access import memberships_of, record
from cqa_site.people.models import (
    Membership,
    Participant,
    ParticipantLink,
    Role,
    Study,
    User,
    hash_secret,
    new_secret,
)

from .studies import hold_people


class LinkClosed(Exception):
    """The link was closed or ran out, and this person had not come in before."""


class LinkFull(Exception):
    """The link has let in as many people as it may."""


class TookPartElsewhere(Exception):
    """The same platform id came in through another link of this campaign."""


class ParticipationEnded(Exception):
    """An admin ended this person's membership."""


@dataclass(frozen=True)
class PlatformIds:
    """What the platform appends to the link; unverified, because anybody can type it."""

    participant: str
    study: str = ""
    session: str = ""


@transaction.atomic
def create_link(
    *, study: Study, campaign_ref: uuid.UUID, campaign_name: str, actor: User, **fields: Any
) -> tuple[ParticipantLink, str]:
    """Make a link for one campaign; the second value is the secret, which is not kept."""
    secret = new_secret()
    link = ParticipantLink.objects.create(
        study=study,
        campaign_ref=campaign_ref,
        secret_hash=hash_secret(secret),
        created_by=actor,
        **fields,
    )
    record(
        study=study,
        actor=actor,
        verb="participant_link_created",
        subject=campaign_name,
        link=str(link.public_id),
        platform=link.platform,
        max_participants=link.max_participants,
    )
    return link, secret


@transaction.atomic
def close_link(*, link: ParticipantLink, actor: User) -> None:
    """Let nobody new in; people who are in may finish."""
    closed = ParticipantLink.objects.filter(pk=link.pk, closed_at=None).update(
        closed_at=timezone.now()
    )
    if closed:
        record(
            study=link.study,
            actor=actor,
            verb="participant_link_closed",
            subject=link.platform,
            link=str(link.public_id),
        )


def links_of(*, study: Study, campaign_ref: uuid.UUID) -> QuerySet[ParticipantLink]:
    """The links of a campaign, newest first, each with how many people ``joined`` by it."""
    links = study.participant_links.filter(campaign_ref=campaign_ref).select_related("study")
    return links.annotate(joined=Count("participants")).order_by("-created_at", "-pk")


def placeholders(link: ParticipantLink) -> str:
    """The query as platforms want it: each parameter with a placeholder they fill in."""
    names = (link.participant_param, link.study_param, link.session_param)
    return "&".join(f"{name}={{{{%{name}%}}}}" for name in names if name)


def find_link(secret: str) -> ParticipantLink | None:
    """The link with this secret, whatever its state."""
    return (
        ParticipantLink.objects.select_related("study")
        .filter(secret_hash=hash_secret(secret))
        .first()
    )


def require_entry(*, link: ParticipantLink, ids: PlatformIds) -> None:
    """Raise ``LinkClosed``, ``LinkFull``, ``TookPartElsewhere`` or ``ParticipationEnded``.

    Somebody who was in before gets in again even when the link is closed or
    full, so that they can finish.
    """
    known = _known_participant(link, ids)
    if known is None:
        _require_room(link, ids)
    elif not memberships_of(known.user).filter(study=link.study).exists():
        raise ParticipationEnded


@transaction.atomic
def take_part(*, link: ParticipantLink, ids: PlatformIds) -> Participant:
    """Return the participant of these ids, made at the first visit; raises as above."""
    hold_people(link.study)
    require_entry(link=link, ids=ids)
    known = _known_participant(link, ids)
    if known is None:
        return _make_participant(link, ids)
    if ids.session != known.session_id:
        _record(known, "participant_came_with_another_session")
    return known


@transaction.atomic
def end_participation(*, participant: Participant, outcome: str, reason: str = "") -> None:
    """Fix how a participation ended, once; what is fixed decides the code shown."""
    ended = Participant.objects.filter(
        pk=participant.pk, outcome=Participant.Outcome.RUNNING
    ).update(outcome=outcome, ended_at=timezone.now())
    if ended:
        _record(participant, "participant_ended", reason=reason, outcome=outcome)


def _known_participant(link: ParticipantLink, ids: PlatformIds) -> Participant | None:
    return (
        Participant.objects.select_related("user", "study", "link")
        .filter(link=link, participant_id=ids.participant)
        .first()
    )


def _make_participant(link: ParticipantLink, ids: PlatformIds) -> Participant:
    user = User.objects.create_user(None)
    Membership.objects.create(study=link.study, user=user, role=Role.ANNOTATOR)
    participant = Participant.objects.create(
        study=link.study,
        link=link,
        user=user,
        participant_id=ids.participant,
        platform_study_id=ids.study,
        session_id=ids.session,
    )
    _record(participant, "participant_joined")
    return participant


def _require_room(link: ParticipantLink, ids: PlatformIds) -> None:
    link.refresh_from_db(fields=["closed_at", "expires_at", "max_participants"])
    if not link.is_open:
        raise LinkClosed
    elsewhere = Participant.objects.filter(
        link__study=link.study,
        link__campaign_ref=link.campaign_ref,
        link__platform=link.platform,
        participant_id=ids.participant,
    )
    if elsewhere.exists():
        raise TookPartElsewhere
    if link.participants.count() >= link.max_participants:
        raise LinkFull


def _record(participant: Participant, verb: str, reason: str = "", **details: Any) -> None:
    record(
        study=participant.study,
        actor=participant.user,
        verb=verb,
        subject=str(participant.user),
        reason=reason,
        link=str(participant.link.public_id),
        **details,
    )
