"""Pages for crowd links: entry, end of participation, and the researchers' list."""

import uuid
from dataclasses import astuple
from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, gettext_lazy as lazy
from django.views.decorators.http import require_POST, require_safe

from cqa_site.people.access import (
    RESEARCHERS,
    PersonRequest,
    StudyRequest,
    memberships_of,
    study_page,
)
from cqa_site.people.models import Study, new_secret
from cqa_site.people.views.sign_in import BACKEND
from cqa_site.people.views.studies import closed_door
from ..access import count_examples
from ..forms import PRESETS, FaultForm, ParticipantLinkForm, PlatformConnectionForm
from ..kind import kind_of, round_head
from ..models import Participant, ParticipantLink, Round
from ..onboarding.actions import has_survey_left
from ..progress import paces_of, skips_paid
from . import participants
from .participants import (
    CLOSED,
    ELSEWHERE,
    ENDED,
    FULL,
    TAKEN,
    NoEntry,
    PlatformIds,
    browser_secret,
    find_link,
    hold_place,
    keep_browser_secret,
    release_place,
    require_entry,
    take_part,
)
from .participation import (
    NotReported,
    completion_code,
    confirm_fault,
    finish_participation,
    is_out,
    lost_answer,
    report_fault,
    standing_of,
    stop_participation,
    work_address,
)
from .pay import summaries_of
from .tokens import EntryRefused, KeysUnavailable, entry_ids

# Entry through a crowd platform's link.
#
# Opening the link only checks the platform's ids, moves them into the session and redirects to a
# clean URL, which describes the task. The button there signs the participant in, so that other
# sites cannot do so in their name, and ties the participation to the browser with a cookie.

SESSION_KEY = "crowd_entry"


@require_safe
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """Check the link and the ids; redirect to a clean URL."""
    link = find_link(secret)
    if link is None:
        return _closed(request, "unknown")
    try:
        ids = entry_ids(request, link)
    except (EntryRefused, KeysUnavailable) as refusal:
        return _closed(request, type(refusal), at=link.platform)
    if ids is None:
        names = (link.participant_param, link.study_param, link.session_param)
        return _closed(request, "no_ids", at=", ".join(filter(None, names)))
    if request.user.is_authenticated:
        return _signed_in(request, link, ids)
    request.session[SESSION_KEY] = [secret, *astuple(ids)]
    return redirect("join_start")


def join_start(request: HttpRequest) -> HttpResponse:
    """Describe the task; a POST signs the participant in and opens the round."""
    if SESSION_KEY not in request.session:
        # A participant who is already signed in, or somebody whose session has expired.
        if getattr(request.user, "is_participant", False) or browser_secret(request):
            return redirect("participation_back")
        return _closed(request, "no_entry")
    secret, *ids = request.session[SESSION_KEY]
    link = find_link(secret)
    if link is None:
        return _closed(request, "unknown")
    platform_ids = PlatformIds(*ids)
    if link.entry == link.Entry.SIGNED and not platform_ids.is_verified:
        return _closed(request, EntryRefused, at=link.platform)
    if request.user.is_authenticated:
        return _signed_in(request, link, platform_ids)
    browser = browser_secret(request)
    try:
        known = require_entry(link=link, ids=platform_ids, browser=browser)
        free = 0 if known else kind_of(link.round).count_free(link.round)
        if not known and not free:
            is_open = link.round.state == Round.State.OPEN
            return _no_room(request, link, "no_items" if is_open else "not_running")
        if request.method != "POST":
            return _start_page(request, link, known, free)
        browser = browser or new_secret()
        participant = take_part(link=link, ids=platform_ids, browser=browser)
    except NoEntry as refusal:
        if str(refusal) == TAKEN:
            return _closed(request, TAKEN, at=link.platform)
        return _no_room(request, link, str(refusal))
    request.session.pop(SESSION_KEY, None)
    login(request, participant.user, backend=BACKEND)  # rotates the session key
    return keep_browser_secret(_to_work(participant), browser)


def _start_page(
    request: HttpRequest, link: ParticipantLink, known: Participant | None, free: int
) -> HttpResponse:
    """Describe the task to a participant; new participants can get at most ``free`` items."""
    kind, count = kind_of(link.round), min(free, link.required_items)
    context = {"link": link, "is_short": free < link.required_items, "known": known}
    if known:
        context["standing"] = standing_of(known)
    else:
        context |= {"asks": kind.asks(count), "practice": count_examples(link.round)}
        if link.round.skip_share is not None:
            context["skips"] = skips_paid(link.round, link.required_items)
    return render(request, "rounds/crowd/join.html", context)


def _signed_in(request: HttpRequest, link: ParticipantLink, ids: PlatformIds) -> HttpResponse:
    participant = (
        Participant.objects.select_related("study", "link__round")
        .filter(user=request.user.pk, link=link, participant_id=ids.participant)
        .first()
    )
    if participant is not None:
        # The session proves the same as the cookie, which the person may have deleted.
        browser = browser_secret(request) or new_secret()
        hold_place(participant=participant, browser=browser)
        return keep_browser_secret(_to_work(participant), browser)
    return _closed(request, "signed_in", at=str(request.user))


def _to_work(participant: Participant) -> HttpResponse:
    if participant.outcome != Participant.Outcome.RUNNING:
        return redirect("participation_end")
    return redirect(work_address(participant))


# Reasons for refusing entry, with status, title, text and advice. ``at`` is the platform unless a
# comment says otherwise.
DOORS: dict[Any, tuple[int, Any, Any, Any]] = {
    "unknown": (
        404,
        lazy("This link does not exist"),
        lazy("It may be incomplete. Open the study on the platform again."),
        "",
    ),
    "no_entry": (
        404,
        lazy("Open the study from its platform"),
        lazy("This page works only if you open it through the platform's link."),
        lazy(
            "Go to the study on the platform and open it again. The link there leads to this page."
        ),
    ),
    # Here ``at`` is the parameter names.
    "no_ids": (
        400,
        lazy("The link has no participant ID"),
        lazy("The platform must fill in these values: %(at)s."),
        lazy("Open the study on the platform again. Previews and copied links may not work."),
    ),
    # Here ``at`` is the person.
    "signed_in": (
        409,
        lazy("You are signed in as someone else"),
        lazy("This browser is signed in as: %(at)s."),
        lazy("Sign out, then open the platform's link again."),
    ),
    EntryRefused: (
        403,
        lazy("The platform's signature is missing or not valid"),
        lazy("This study only accepts people who come directly from %(at)s. Nothing was stored."),
        lazy("Open the study on the platform again. Old, copied and changed links do not work."),
    ),
    KeysUnavailable: (
        503,
        lazy("The platform's signature cannot be checked at the moment"),
        lazy("This site could not reach %(at)s. Nothing was stored."),
        lazy("Wait a minute, then open the study on the platform again."),
    ),
    TAKEN: (
        409,
        lazy("This session belongs to another browser"),
        lazy(
            "Someone started with this ID in another browser. Their work cannot be seen "
            "or changed from here."
        ),
        lazy(
            "If it was you, open the study in that browser. If you no longer have it, write to "
            "the researchers on %(at)s, who can release your session."
        ),
    ),
}


def _closed(request: HttpRequest, why: Any, *, at: str = "") -> HttpResponse:
    status, title, text, advice = DOORS[why]
    return closed_door(
        request,
        status=status,
        title=title,
        text=text % {"at": at},
        advice=advice % {"at": at},
        sign_out=why == "signed_in",
    )


# Reasons why a person cannot take part: title, text, and whether a completion code is shown.
CANNOT = lazy("You cannot take part")
IS_FULL = lazy("The study is full")
NO_ROOM = {
    CLOSED: (CANNOT, lazy("The study no longer accepts new participants."), False),
    FULL: (IS_FULL, lazy("All places in the study are taken."), True),
    ELSEWHERE: (CANNOT, lazy("You have already taken part in this study."), False),
    ENDED: (CANNOT, lazy("The researchers ended your participation."), False),
    "no_items": (IS_FULL, lazy("Other people have done all items or are working on them."), True),
    "not_running": (
        lazy("The study is not running"),
        lazy("The researchers have paused or ended it."),
        True,
    ),
}


def _no_room(request: HttpRequest, link: ParticipantLink, why: str) -> HttpResponse:
    """Explain, before asking for consent, why a person cannot take part; create no participant."""
    title, text, has_code = NO_ROOM[why]
    code = link.no_work_code if has_code else ""
    context = {"link": link, "title": title, "text": text, "code": code}
    context["address"] = link.address_for(code)
    return render(request, "rounds/crowd/no_room.html", context, status=410)


# End of a participation: completion code, remaining work, fault reports.


@login_required
def participation_end(request: PersonRequest) -> HttpResponse:
    """Show the completion code if the participation is over, otherwise the remaining work."""
    participant = _participant(request)
    if participant.outcome != Participant.Outcome.RUNNING:
        if _has_survey(participant):
            ids = [participant.study.public_id, participant.link.round.public_id]
            return redirect("round_survey", *ids)
        code = completion_code(participant)
        address = participant.link.address_for(code, participant.participant_id)
        context = {"participant": participant, "code": code, "address": address}
        return render(request, "rounds/crowd/ended.html", context)
    if request.method == "POST" and not finish_participation(participant=participant):
        messages.info(request, _("You still have items left to do."))
    elif request.method == "POST":
        return redirect("participation_end")
    return _running_page(request, participant, FaultForm())


@login_required
def participation_stop(request: PersonRequest) -> HttpResponse:
    """Ask participants who stop whether their answers should count; a POST records the choice."""
    participant = _participant(request)
    choice, standing = request.POST.get("choice"), standing_of(participant)
    is_running = participant.outcome == Participant.Outcome.RUNNING
    if is_running and choice in ("keep", "withdraw"):
        stop_participation(participant=participant, withdraws=choice == "withdraw")
    elif is_running and standing.left:
        context = {"participant": participant, "standing": standing}
        context["work"] = work_address(participant)
        return render(request, "rounds/crowd/stop.html", context)
    return redirect("participation_end")


@login_required
@require_POST
def participation_fault(request: PersonRequest) -> HttpResponse:
    """Store a fault report; end the participation if the server also recorded a fault."""
    participant = _participant(request)
    form = FaultForm(request.POST)
    if not form.is_valid():
        return _running_page(request, participant, form)
    report_fault(
        participant=participant,
        comment=form.cleaned_data["comment"],
        lost_answer=lost_answer(request),
    )
    return redirect("participation_end")


def _participant(request: PersonRequest) -> Participant:
    """Return the signed-in person's participation while their membership is valid."""
    participant = get_object_or_404(
        Participant.objects.select_related("study", "link__round", "user"), user=request.user
    )
    if not memberships_of(request.user).filter(study=participant.study).exists():
        raise Http404
    return participant


def _has_survey(participant: Participant) -> bool:
    """Whether a person who completed the work must see the survey before the code."""
    is_complete = participant.outcome == Participant.Outcome.COMPLETED
    return is_complete and has_survey_left(participant.link.round, participant.user)


def _running_page(
    request: PersonRequest, participant: Participant, form: FaultForm
) -> HttpResponse:
    standing, has_to_end = standing_of(participant), is_out(participant)
    may_work = standing.left > 0 and not (has_to_end or standing.is_out_of_items)
    context = {
        "participant": participant,
        "standing": standing,
        "is_out": has_to_end,
        "may_work": may_work or (standing.is_over_skips and not has_to_end),
        "work": work_address(participant),
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "rounds/crowd/running.html", context, status=status)


# Crowd links of a round and their participants, for researchers.

PAGE_SIZE = 50
SHOWN_LINKS = 100


@study_page(*RESEARCHERS)
def crowd_links(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """List a round's links and their participants; a POST creates a link."""
    round_ = _round(study, any_round_id)
    preset = PRESETS.get(request.GET.get("platform", ""), {})
    form = ParticipantLinkForm(request.POST or None, initial=preset, round_=round_)
    if request.method != "POST" or not form.is_valid():
        return links_page(request, round_, status=422 if form.errors else 200, form=form)
    link, secret = participants.create_link(
        round_=round_, actor=request.user, **form.link_fields()
    )
    address = participants.entry_address(request, link, secret)
    return links_page(request, round_, new_link=link, address=address)


@participants.link_page
@require_POST
def crowd_link_close(request: StudyRequest, link: ParticipantLink) -> HttpResponse:
    participants.close_link(link=link, actor=request.user)
    messages.success(request, _("Link closed. People who have joined can finish."))
    return redirect("crowd_links", link.study.public_id, link.round.public_id)


@study_page(*RESEARCHERS, only="POST")
def participant_release(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, person_id: uuid.UUID
) -> HttpResponse:
    """Release the participation to the next browser with this person's ID."""
    release_place(participant=_person(study, any_round_id, person_id), actor=request.user)
    text = _("Session released. The next browser that opens the link with this ID takes it over.")
    messages.success(request, text)
    return redirect("crowd_links", study.public_id, any_round_id)


@study_page(*RESEARCHERS, only="POST")
def participant_fault(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, person_id: uuid.UUID
) -> HttpResponse:
    """Confirm a participant's report, so that they see the code for faults."""
    person = _person(study, any_round_id, person_id)
    try:
        confirm_fault(participant=person, actor=request.user)
        messages.success(request, _("Fault confirmed. The person's page shows the code for it."))
    except NotReported:
        messages.error(request, _("This person reported no fault, or their work has ended."))
    return redirect("crowd_links", study.public_id, any_round_id)


def _round(study: Study, any_round_id: uuid.UUID) -> Round:
    return get_object_or_404(participants.crowd_rounds(study), public_id=any_round_id)


def _person(study: Study, any_round_id: uuid.UUID, person_id: uuid.UUID) -> Participant:
    people = participants.participants_of(_round(study, any_round_id))
    return get_object_or_404(people, user__public_id=person_id)


def links_page(
    request: StudyRequest,
    round_: Round,
    *,
    status: int = 200,
    connection: PlatformConnectionForm | None = None,
    **context: object,
) -> HttpResponse:
    """Show the links of a round; ``connection`` is an invalid form that was submitted."""
    most = kind_of(round_).most_items(round_)
    page = Paginator(participants.participants_of(round_), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    links = list(participants.links_of(round_)[:SHOWN_LINKS])
    if connection and connection.link not in links:
        links.append(connection.link)
    for link in links:
        is_refused = connection is not None and connection.link.pk == link.pk
        vars(link)["connection"] = connection if is_refused else PlatformConnectionForm(link=link)
    fixed = {
        **round_head(round_),
        "form": context.get("form") or ParticipantLinkForm(round_=round_),
        "most_items": most,
        "asks_too_much": any(link.is_open and link.required_items > most for link in links),
        "links": links,
        "pay": summaries_of(round_, links),
        "presets": PRESETS,
        "is_preset": request.GET.get("platform", "") in PRESETS,
        "page": page,
        "paces": paces_of(round_),
    }
    return render(request, "rounds/crowd/links.html", fixed | context, status=status)
