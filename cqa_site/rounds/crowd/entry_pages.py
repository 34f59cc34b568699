"""Coming in by a crowd platform's link.

Opening the link changes nothing: it checks the platform's ids, moves them
into the session and shows what awaits at a clean address. The button there
signs the participant in, so no foreign page can do it in their name, and binds
the place to the browser by a cookie.
"""

import re

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from cqa_site.people.models import new_secret
from cqa_site.people.views.invitations import BACKEND
from cqa_site.people.views.pages import closed_door
from cqa_site.rounds.kind import kind_of
from cqa_site.rounds.models import Participant, ParticipantLink, Round
from cqa_site.rounds.paces import skips_allowed
from cqa_site.rounds.qualifying import count_examples

from . import participants as actions
from .participants import PlatformIds, find_link, require_entry, take_part
from .participation import standing_of, work_address
from .place_cookie import browser_secret, keep_browser_secret
from .places import hold_place

SESSION_KEY = "crowd_entry"
PLATFORM_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@=-]{0,127}")


@require_safe
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """Check link and ids; go on at a clean address."""
    link = find_link(secret)
    if link is None:
        return _unknown_link(request)
    ids = _platform_ids(request, link)
    if ids is None:
        return _bad_ids(request, link)
    if request.user.is_authenticated:
        return _signed_in(request, link, ids)
    request.session[SESSION_KEY] = [secret, ids.participant, ids.study, ids.session]
    return redirect("join_start")


def join_start(request: HttpRequest) -> HttpResponse:
    """Say what awaits; a POST signs the participant in and opens the round."""
    secret, *ids = request.session.get(SESSION_KEY, ["", ""])
    link = find_link(secret)
    if link is None:
        return _unknown_link(request)
    platform_ids = PlatformIds(*ids)
    if request.user.is_authenticated:
        return _signed_in(request, link, platform_ids)
    browser = browser_secret(request)
    try:
        known = require_entry(link=link, ids=platform_ids, browser=browser)
        free = 0 if known else kind_of(link.round).count_free(link.round)
        if not known and not free:
            return _nothing_left(request, link)
        if request.method != "POST":
            return _start_page(request, link, known, free)
        browser = browser or new_secret()
        participant = take_part(link=link, ids=platform_ids, browser=browser)
    except actions.PlaceTaken:
        return _place_taken(request, link)
    except REFUSALS as refusal:
        return _refused(request, link, refusal)
    request.session.pop(SESSION_KEY, None)
    login(request, participant.user, backend=BACKEND)  # gives the session a new key
    return keep_browser_secret(_to_work(participant), browser)


def _start_page(
    request: HttpRequest, link: ParticipantLink, known: Participant | None, free: int
) -> HttpResponse:
    """What awaits somebody new, of whom no more can be asked than is there, or who comes back."""
    kind, asked = kind_of(link.round), min(free, link.required_items)
    context = {"link": link, "is_short": free < link.required_items, "known": known}
    if known:
        context["standing"] = standing_of(known)
    else:
        context |= {"asks": kind.asks(asked), "practice": count_examples(link.round)}
        allowed = skips_allowed(link.round, link.required_items)
        context["skips"] = allowed if link.round.skip_share is not None else None
    return render(request, "rounds/crowd/join.html", context)


def _platform_ids(request: HttpRequest, link: ParticipantLink) -> PlatformIds | None:
    """The ids of the address, or None when one is missing, repeated, too long or odd."""
    values = []
    for name in (link.participant_param, link.study_param, link.session_param):
        given = request.GET.getlist(name) if name else [""]
        if len(given) != 1 or (name and not PLATFORM_ID.fullmatch(given[0])):
            return None
        values.append(given[0])
    return PlatformIds(*values)


def _signed_in(request: HttpRequest, link: ParticipantLink, ids: PlatformIds) -> HttpResponse:
    participant = (
        Participant.objects.select_related("study", "link__round")
        .filter(user=request.user.pk, link=link, participant_id=ids.participant)
        .first()
    )
    if participant is not None:
        # The session proves the same as the cookie, which may have been deleted.
        browser = browser_secret(request) or new_secret()
        hold_place(participant=participant, browser=browser)
        return keep_browser_secret(_to_work(participant), browser)
    return closed_door(
        request,
        status=409,
        title=_("You are signed in as somebody else"),
        text=_("This browser is signed in as: %s.") % request.user,
        advice=_("Sign out, then open the link of the platform again."),
        sign_out=True,
    )


def _to_work(participant: Participant) -> HttpResponse:
    if participant.outcome != Participant.Outcome.RUNNING:
        return redirect("participation_end")
    return redirect(work_address(participant))


def _unknown_link(request: HttpRequest) -> HttpResponse:
    return closed_door(
        request,
        status=404,
        title=_("This link does not exist"),
        text=_("Open the study from the platform again, so that the whole link is used."),
    )


def _bad_ids(request: HttpRequest, link: ParticipantLink) -> HttpResponse:
    names = [link.participant_param, link.study_param, link.session_param]
    return closed_door(
        request,
        status=400,
        title=_("The link lacks your participant data"),
        text=_("It must carry these values, filled in by the platform: %s.")
        % ", ".join(name for name in names if name),
        advice=_("Open the study from the platform again; a preview or a copied link may fail."),
    )


def _place_taken(request: HttpRequest, link: ParticipantLink) -> HttpResponse:
    return closed_door(
        request,
        status=409,
        title=_("This place belongs to another browser"),
        text=_(
            "Somebody came with this id before, in another browser, and goes on there. "
            "Nothing of their work can be seen or changed from here."
        ),
        advice=_(
            "If it was you, open the study in the browser where you began. If you no longer have "
            "it, write to the researchers on %s: they can release your place."
        )
        % link.platform,
    )


REFUSALS = (
    actions.LinkClosed,
    actions.LinkFull,
    actions.TookPartElsewhere,
    actions.ParticipationEnded,
)


def _nothing_left(request: HttpRequest, link: ParticipantLink) -> HttpResponse:
    """Before anybody agrees to anything; nobody new is made."""
    is_open = link.round.state == Round.State.OPEN
    text = _("Other people have done or hold all items.")
    return _no_room(
        request,
        link,
        title=_("The study is full") if is_open else _("The study takes no work now"),
        text=text if is_open else _("The researchers have stopped it for now, or ended it."),
        code=link.no_work_code,
    )


def _no_room(request: HttpRequest, link: ParticipantLink, **words: str) -> HttpResponse:
    context = {"link": link, "address": link.address_for(words.get("code", "")), **words}
    return render(request, "rounds/crowd/no_room.html", context, status=410)


def _refused(request: HttpRequest, link: ParticipantLink, refusal: Exception) -> HttpResponse:
    texts = {
        actions.LinkClosed: _("The study no longer takes new participants."),
        actions.LinkFull: _("All places of the study are taken."),
        actions.TookPartElsewhere: _("You took part in this study before."),
        actions.ParticipationEnded: _("The researchers ended your participation."),
    }
    is_full = isinstance(refusal, actions.LinkFull)
    return _no_room(
        request,
        link,
        title=_("The study is full") if is_full else _("You cannot take part"),
        text=texts[type(refusal)],
        code=link.no_work_code if is_full else "",
    )
