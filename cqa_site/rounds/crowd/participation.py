"""End of a participation, and middleware for participants' browsers."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, ResolverMatch, resolve, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from cqa_site.people.access import memberships_of
from cqa_site.people.actions import rater_for
from cqa_site.people.models import User, hash_secret
from cqa_site.web.pages import Middleware
from ..kind import kind_of
from ..models import Participant, ParticipantLink, Place, Round
from ..onboarding.actions import end_of
from ..onboarding.steps import step_progress
from ..progress import skipped_by, skips_paid
from ..typing_signals import forget_typing
from .participants import (
    browser_secret,
    crowd_kinds,
    end_participation,
    note_fault,
    place_hash,
    set_private_cookie,
)

# Outcomes of a participation.
#
# The server determines the outcome from its own rows. Completed work stays
# completed even if it is later left out of the figures.
#
# A fault is something that the server noticed (an answer that it could not store,
# or a round that stopped while the person was working) or that a researcher
# confirmed. A person's report is stored, but is not sufficient on its own.

SCREENED_OUT = {
    "stopped": Participant.Outcome.SCREENED_OUT,
    "not_qualified": Participant.Outcome.NOT_QUALIFIED,
}


@dataclass(frozen=True)
class ParticipantProgress:
    """The numbers of items answered by a participant, required by the link, and available."""

    answered: int
    required: int
    most: int
    skipped: int = 0
    allowed: float = 0
    # Whether the round has no items for this person at present.
    is_nothing_left: bool = False

    @property
    def left(self) -> int:
        return max(0, self.required - self.answered)

    @property
    def is_out_of_items(self) -> bool:
        """Whether the person has done too few items and the round has no more items for them."""
        return self.left > 0 and (self.answered >= self.most or self.is_nothing_left)

    @property
    def is_over_skips(self) -> bool:
        return self.skipped > self.allowed

    @property
    def is_unpaid(self) -> bool:
        """Whether skips exceed the limit, or at least two items were done and all were skipped."""
        return self.is_over_skips or 1 < self.skipped == self.answered


class NotReported(Exception):
    """There is no fault report to confirm, or the participation is over."""


def standing_of(participant: Participant) -> ParticipantProgress:
    """Count the participant's work in their link's round; assigns no items."""
    round_, required = participant.link.round, participant.link.required_items
    kind, place = kind_of(round_), place_of(participant)
    is_done = kind.is_done_by(round_, place) if place else not kind.count_free(round_)
    return ParticipantProgress(
        kind.count_own([round_], participant.user).get(round_.pk, 0),
        required,
        kind.most_items(round_),
        skipped_by(round_, participant.user),
        skips_paid(round_, required),
        is_nothing_left=is_done,
    )


def place_of(participant: Participant, *, is_locked: bool = False) -> Place | None:
    """Return the participant's enrolment in the round; None before the first visit."""
    places = Place.objects.filter(round=participant.link.round, rater__user=participant.user)
    places = places.select_for_update(of=("self",)) if is_locked else places
    return places.select_related("rater", "round").first()


def work_address(participant: Participant) -> str:
    round_ = participant.link.round
    ids = [participant.study.public_id, round_.public_id]
    return reverse(kind_of(round_).work_page, args=ids)


def is_out(participant: Participant) -> bool:
    """Whether a failed practice, a rule or a researcher keeps the participant from working."""
    place = place_of(participant)
    return bool(place and (place.is_held_back or place.is_excluded or place.is_stopped))


@transaction.atomic
def finish_participation(*, participant: Participant) -> bool:
    """End the participation if it is over; return False if work is left."""
    outcome = _outcome(participant)
    if outcome is None:
        return False
    end_participation(participant=participant, outcome=outcome)
    return True


@transaction.atomic
def stop_participation(*, participant: Participant, withdraws: bool) -> None:
    """End the participation early; withdrawn answers are voided and never counted."""
    ends, standing = Participant.Outcome, standing_of(participant)
    place = place_of(participant, is_locked=True)
    if not Participant.objects.filter(pk=participant.pk, outcome=ends.RUNNING).exists():
        return
    if place:
        kind_of(participant.link.round).stop(place, withdraws=withdraws)
        forget_typing(participant.link.round, place, is_all=withdraws)
    if place and withdraws:
        # Answers still arriving from another tab are stored, but do not count.
        place.excluded_at, place.exclusion_reason = timezone.now(), _("Withdrawn by the person")
        place.save(update_fields=["excluded_at", "exclusion_reason"])
    SKIPS = ends.SKIPS if standing.is_over_skips else ends.STOPPED
    outcome = ends.WITHDRAWN if withdraws else SKIPS
    end_participation(participant=participant, outcome=outcome, answers=standing.answered)


@transaction.atomic
def report_fault(*, participant: Participant, comment: str, lost_answer: bool) -> bool:
    """Store the report; return True if a recorded fault has ended the participation.

    ``lost_answer`` means that a server error lost an answer from this browser. If the person
    skipped all or too many items, a researcher must confirm the report.
    """
    if participant.outcome != Participant.Outcome.RUNNING:
        return False
    note_fault(participant=participant, comment=comment)
    standing = standing_of(participant)
    if standing.is_unpaid or not (lost_answer or _was_cut_short(participant, standing)):
        return False
    end_participation(participant=participant, outcome=Participant.Outcome.FAULT, reason=comment)
    return True


@transaction.atomic
def confirm_fault(*, participant: Participant, actor: User) -> None:
    """End a participation because a researcher confirms a fault; raises ``NotReported``."""
    is_running = participant.outcome == Participant.Outcome.RUNNING
    if not (is_running and participant.fault_report):
        raise NotReported
    end_participation(
        participant=participant,
        outcome=Participant.Outcome.FAULT,
        reason=participant.fault_report,
        actor=actor,
    )


def completion_code(participant: Participant) -> str:
    """Return the code for the outcome; empty during the participation."""
    link = participant.link
    codes = {
        Participant.Outcome.COMPLETED: link.completed_code,
        Participant.Outcome.SCREENED_OUT: link.screened_out_code,
        Participant.Outcome.NO_WORK: link.no_work_code,
        Participant.Outcome.FAULT: link.fault_code,
        Participant.Outcome.SKIPS: link.skips_code or link.screened_out_code,
        Participant.Outcome.STOPPED: link.stopped_code,
        Participant.Outcome.WITHDRAWN: link.stopped_code,
        Participant.Outcome.DECLINED: link.declined_code or link.stopped_code,
        Participant.Outcome.FAILED_CHECK: link.failed_check_code or link.screened_out_code,
        Participant.Outcome.NOT_QUALIFIED: link.not_qualified_code or link.screened_out_code,
    }
    return codes.get(Participant.Outcome(participant.outcome), "")


def _was_cut_short(participant: Participant, standing: ParticipantProgress) -> bool:
    """Whether the round stopped while the participant was working."""
    is_open = participant.link.round.state == Round.State.OPEN
    return standing.answered > 0 and standing.left > 0 and not is_open


def _outcome(participant: Participant) -> Participant.Outcome | None:
    standing = standing_of(participant)
    if standing.is_over_skips:
        return Participant.Outcome.SKIPS
    if standing.left == 0:
        return Participant.Outcome.COMPLETED
    membership = memberships_of(participant.user).get(study=participant.study)
    round_ = participant.link.round
    reason = kind_of(round_).why_none(round_, rater_for(membership=membership))
    if reason == "steps" and (place := place_of(participant)):
        end = end_of(step_progress(round_, place))
        return Participant.Outcome(end) if end else None
    if reason in ("", "steps", "retry"):
        return None
    if reason in SCREENED_OUT:
        return SCREENED_OUT[reason]
    if standing.is_unpaid:
        return Participant.Outcome.SKIPS
    if _was_cut_short(participant, standing):
        return Participant.Outcome.FAULT
    return Participant.Outcome.NO_WORK


# Middleware for the browsers of crowd participants.
#
# Participants who are signed out have neither an email address nor a password. The cookie of their
# browser identifies them, and the requested page identifies the study. An answer lost to a server
# error is noted in a signed cookie, because the database may be unavailable. Only the server can
# write this cookie, and it is valid only for the browser that it was written for.

NOTE_LIFETIME = timedelta(days=1)
# Maximum number of links, newest first, that are searched for a participation.
LOOKED_AT = 100
# Pages that participants use outside a study.
OWN_PAGES = ("home", "account", "participation_end", "participation_stop", "participation_fault")


class NoteLostAnswers(Middleware):
    """Set a cookie in the browser of a participant whose answer could not be stored."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code >= 500 and request.method == "POST" and _is_answer(request):
            secret = browser_secret(request)
            if secret:
                name = settings.LOST_ANSWER_COOKIE_NAME
                set_private_cookie(response, name, hash_secret(secret), NOTE_LIFETIME)
        return response


def lost_answer(request: HttpRequest) -> bool:
    """Whether a server error lost an answer from this browser in the last day."""
    note = request.get_signed_cookie(settings.LOST_ANSWER_COOKIE_NAME, "", max_age=NOTE_LIFETIME)
    secret = browser_secret(request)
    return bool(secret) and note == hash_secret(secret)


class ShowWayBack(Middleware):
    """Redirect participants from the sign-in form to a help page."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Redirect participants to the help page; show the form to everybody else."""
        if request.method == "GET" and request.path == reverse("account_login"):
            page = request.GET.get("next", "")
            name, link = _find(request, page)
            if link or (name in OWN_PAGES and browser_secret(request)):
                return redirect(f"{reverse('participation_back')}?{urlencode({'next': page})}")
        return self.get_response(request)


@require_safe
def way_back(request: HttpRequest) -> HttpResponse:
    """Tell participants that nothing is lost, and where to open the study again."""
    if request.user.is_authenticated:
        return redirect("home")
    _name, link = _find(request, request.GET.get("next", ""))
    return render(request, "rounds/crowd/signed_out.html", {"link": link})


def _find(request: HttpRequest, page: str) -> tuple[str | None, ParticipantLink | None]:
    """Return the page's name and the link through which this browser joined its study."""
    match = _match(page.partition("?")[0])
    if match is None:
        return None, None
    study, secret = match.kwargs.get("study_id"), browser_secret(request)
    if not (study and secret):
        return match.url_name, None
    links = ParticipantLink.objects.filter(study__public_id=study)[:LOOKED_AT]
    hashes = {place_hash(link, secret): link for link in links}
    places = Participant.objects.filter(browser_hash__in=hashes)
    return match.url_name, hashes.get(places.values_list("browser_hash", flat=True).first() or "")


def _is_answer(request: HttpRequest) -> bool:
    """Whether crowd participants send their work to the requested URL."""
    match = _match(request.path_info)
    pages = {page for kind in crowd_kinds() for page in kind.answer_pages}
    return match is not None and match.url_name in pages


def _match(path: str) -> ResolverMatch | None:
    try:
        return resolve(path)
    except Resolver404:
        return None
