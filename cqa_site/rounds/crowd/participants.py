"""Crowd links, participants, and the browsers to which participants are tied."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from cqa_site.people.access import RESEARCHERS, StudyRequest, memberships_of, record, study_page
from cqa_site.people.actions import hold_people
from cqa_site.people.models import Membership, Rater, Role, Study, User, hash_secret, new_secret
from cqa_site.rounds.kind import TaskKind, kinds
from cqa_site.rounds.models import Participant, ParticipantLink, Round

# The browser of a crowd participant.
#
# Anybody can type a platform's id into the URL of a crowd link, or copy a signed URL. Each
# participation is therefore tied to one browser: the first browser stores a secret in a cookie,
# and the database stores its hash. A researcher can release the participation to a new browser.

# Longer than any crowd study, so that people can return to their code.
LIFETIME = timedelta(days=180)


def browser_secret(request: HttpRequest) -> str:
    """Return the browser's secret; empty if it has none or its signature is invalid."""
    return request.get_signed_cookie(settings.PLACE_COOKIE_NAME, default="") or ""


def keep_browser_secret(response: HttpResponse, secret: str) -> HttpResponse:
    """Set the secret as a cookie that scripts cannot read."""
    set_private_cookie(response, settings.PLACE_COOKIE_NAME, secret, LIFETIME)
    return response


def set_private_cookie(response: HttpResponse, name: str, value: str, lifetime: timedelta) -> None:
    """Set a signed cookie that scripts cannot read and forms on other sites cannot send."""
    response.set_signed_cookie(
        name,
        value,
        max_age=lifetime,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def place_hash(link: ParticipantLink, browser: str) -> str:
    """Hash the browser's secret per link, so that hashes cannot be compared across links."""
    return hash_secret(f"{link.public_id}:{browser}")


def is_open_to(participant: Participant, browser: str) -> bool:
    """Whether the participation belongs to the browser with this secret, or was released."""
    browser_hash = participant.browser_hash
    return not browser_hash or (
        bool(browser) and browser_hash == place_hash(participant.link, browser)
    )


def hold_place(*, participant: Participant, browser: str) -> None:
    wanted = place_hash(participant.link, browser)
    if participant.browser_hash != wanted:
        participant.browser_hash = wanted
        participant.save(update_fields=["browser_hash"])


@transaction.atomic
def release_place(*, participant: Participant, actor: User) -> None:
    """Release the participation to the next browser with this id; end the person's sessions."""
    participant.browser_hash = ""
    participant.save(update_fields=["browser_hash"])
    participant.user.set_unusable_password()  # a new random value, which no session matches
    participant.user.save(update_fields=["password"])
    record_participant(participant, "participant_place_released", actor=actor)


def record_participant(
    participant: Participant,
    verb: str,
    *,
    actor: User | None = None,
    reason: str = "",
    **details: Any,
) -> None:
    """Record an event of a participant; without ``actor``, the participant is the actor."""
    record(
        study=participant.study,
        actor=actor or participant.user,
        verb=verb,
        subject=str(participant.user),
        reason=reason,
        link=str(participant.link.public_id),
        **details,
    )


class NoEntry(Exception):
    """Entry is refused: the link is closed or full, or the id has already been used."""


CLOSED, FULL, ELSEWHERE, TAKEN, ENDED = "closed", "full", "elsewhere", "taken", "ended"


@dataclass(frozen=True)
class PlatformIds:
    """The ids that a platform appends to the link.

    Unless a token signs them, they are unverified, because anybody can type them.
    """

    participant: str
    study: str = ""
    session: str = ""
    is_verified: bool = False


@transaction.atomic
def create_link(*, round_: Round, actor: User, **fields: Any) -> tuple[ParticipantLink, str]:
    """Create a link to one round; return it with its secret, which is not stored."""
    secret = new_secret()
    link = ParticipantLink.objects.create(
        study=round_.study,
        round=round_,
        secret_hash=hash_secret(secret),
        created_by=actor,
        **fields,
    )
    record(
        study=round_.study,
        actor=actor,
        verb="participant_link_created",
        subject=round_.name,
        link=str(link.public_id),
        platform=link.platform,
        max_participants=link.max_participants,
    )
    return link, secret


@transaction.atomic
def close_link(*, link: ParticipantLink, actor: User) -> None:
    """Close the link to new participants; current participants may finish."""
    closed = ParticipantLink.objects.filter(pk=link.pk, closed_at=None).update(
        closed_at=timezone.now()
    )
    if closed:
        record_link(link, "participant_link_closed", actor)


def record_link(link: ParticipantLink, verb: str, actor: User | None, **details: Any) -> None:
    """Record an event of a link in the study's history."""
    about = {"link": str(link.public_id)} | details
    record(study=link.study, actor=actor, verb=verb, subject=link.platform, **about)


def crowd_kinds() -> list[TaskKind]:
    return [kind for kind in kinds() if kind.takes_crowd]


def crowd_rounds(study: Study) -> QuerySet[Round]:
    """Return the rounds of a study that accept crowd participants, each with its kind's row."""
    names = [kind.name for kind in crowd_kinds()]
    rows = [kind.row for kind in crowd_kinds()]
    return Round.objects.filter(study=study, kind__in=names).select_related("study", *rows)


def links_of(round_: Round) -> QuerySet[ParticipantLink]:
    """Return a round's links, newest first, each with the number of people who ``joined``."""
    links = ParticipantLink.objects.filter(round=round_.pk).select_related("study", "round")
    return links.annotate(joined=Count("participants")).order_by("-created_at", "-pk")


def link_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Decorate ``view(request, link, …)`` for researchers: find the round and its link."""

    @study_page(*RESEARCHERS)
    @wraps(view)
    def page(
        request: StudyRequest,
        study: Study,
        any_round_id: uuid.UUID,
        link_id: uuid.UUID,
        **more: Any,
    ) -> HttpResponse:
        round_ = get_object_or_404(crowd_rounds(study), public_id=any_round_id)
        link = get_object_or_404(links_of(round_), public_id=link_id)
        link.study, link.round = study, round_
        return view(request, link, **more)

    return page


def participants_of(round_: Round) -> QuerySet[Participant]:
    """Return the participants of a round's links, newest first, each with a ``rater_id``."""
    own = Rater.objects.filter(study=OuterRef("study"), user=OuterRef("user"))
    people = Participant.objects.filter(link__round=round_.pk)
    people = people.annotate(rater_id=Subquery(own.values("pk")[:1]))
    return people.select_related("study", "user", "link").order_by("-created_at", "-pk")


def entry_address(request: HttpRequest, link: ParticipantLink, secret: str) -> str:
    """Return the link's URL, with placeholders that the platform fills in."""
    names = (link.participant_param, link.study_param, link.session_param)
    query = "&".join(f"{name}={{{{%{name}%}}}}" for name in names if name)
    if link.platform.strip().lower() == "sona":
        query = f"{link.participant_param}=%SURVEY_CODE%"
    return f"{request.build_absolute_uri(reverse('join', args=[secret]))}?{query}"


def find_link(secret: str) -> ParticipantLink | None:
    """Return the link with this secret, whatever its state."""
    return (
        ParticipantLink.objects.select_related("study", "round")
        .filter(secret_hash=hash_secret(secret))
        .first()
    )


def require_entry(*, link: ParticipantLink, ids: PlatformIds, browser: str) -> Participant | None:
    """Return the participation of this browser through the link, if any.

    Raises `NoEntry` if the link is closed or full, the person took part through another link or
    was removed, or another browser has already used the person's session on the platform. People
    who have joined can still enter a closed or full link to finish. A browser that has only an id
    gets the same response whether or not the id belongs to a participant, so that nobody can
    identify participants by trying ids.
    """
    holders = _holders(link, ids)
    own = [holder for holder in holders if is_open_to(holder, browser)]
    here = next((participant for participant in own if participant.link_id == link.pk), None)
    if here is None:
        if not own and any(ids.session and ids.session == holder.session_id for holder in holders):
            raise NoEntry(TAKEN)
        _require_room(link)
        if own:
            raise NoEntry(ELSEWHERE)
    elif not memberships_of(here.user).filter(study=here.study).exists():
        raise NoEntry(ENDED)
    elif ids.is_verified and here.is_verified and ids.session != here.session_id:
        raise NoEntry(ELSEWHERE)
    return here


@transaction.atomic
def take_part(*, link: ParticipantLink, ids: PlatformIds, browser: str) -> Participant:
    """Return the participant with these ids; create one for the first ``browser`` to use them.

    Raises `NoEntry` as `require_entry` does, or if another browser has the participation. Only
    here does the response depend on the id, because a person with a new id becomes a participant.
    """
    hold_people(link.study)
    require_entry(link=link, ids=ids, browser=browser)
    holders = _holders(link, ids)
    known = next((holder for holder in holders if holder.link_id == link.pk), None)
    if known is None and not holders:
        return _make_participant(link, ids, browser)
    if known is None or not is_open_to(known, browser):
        raise NoEntry(TAKEN)
    hold_place(participant=known, browser=browser)
    if ids.is_verified and not known.is_verified and ids.session == known.session_id:
        known.is_verified = True
        known.save(update_fields=["is_verified"])
    if ids.session != known.session_id:
        record_participant(known, "participant_came_with_another_session")
    return known


@transaction.atomic
def note_fault(*, participant: Participant, comment: str) -> None:
    participant.fault_report = comment
    participant.save(update_fields=["fault_report"])
    record_participant(participant, "participant_reported_a_fault", reason=comment)


@transaction.atomic
def end_participation(
    *,
    participant: Participant,
    outcome: str,
    reason: str = "",
    actor: User | None = None,
    **details: Any,
) -> None:
    """Record the outcome of a participation once; the outcome determines the code shown."""
    ended = Participant.objects.filter(
        pk=participant.pk, outcome=Participant.Outcome.RUNNING
    ).update(outcome=outcome, ended_at=timezone.now())
    if ended:
        verb = "participant_ended"
        record_participant(
            participant, verb, actor=actor, reason=reason, outcome=outcome, **details
        )


def _holders(link: ParticipantLink, ids: PlatformIds) -> list[Participant]:
    """Return the participants with this id in the round, through any link of the platform.

    With a signed token, all rounds of the study are searched, because people may take part only
    once.
    """
    scope = {"study": link.study_id} if ids.is_verified else {"link__round": link.round_id}
    places = Participant.objects.select_related("user", "study", "link__round").filter(
        link__platform=link.platform, participant_id=ids.participant, **scope
    )
    return list(places.order_by("pk"))


def _make_participant(link: ParticipantLink, ids: PlatformIds, browser: str) -> Participant:
    user = User.objects.create_user(None)
    Membership.objects.create(study=link.study, user=user, role=Role.ANNOTATOR)
    participant = Participant.objects.create(
        study=link.study,
        link=link,
        user=user,
        participant_id=ids.participant,
        platform_study_id=ids.study,
        session_id=ids.session,
        is_verified=ids.is_verified,
        browser_hash=place_hash(link, browser),
    )
    record_participant(participant, "participant_joined")
    return participant


def _require_room(link: ParticipantLink) -> None:
    link.refresh_from_db(fields=["closed_at", "expires_at", "max_participants"])
    if not link.is_valid:
        raise NoEntry(CLOSED)
    if link.participants.count() >= link.max_participants:
        raise NoEntry(FULL)
