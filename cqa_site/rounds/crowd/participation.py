"""How a crowd participant's work ends.

The server alone decides the outcome, from its own rows. Work that was done
counts as completed even when it was left out of the figures later: whether it
is used and whether it was done are different questions.

A fault is what the server saw itself, an answer it could not store or a round
that stopped while the person was at work, or what a researcher confirmed. What
somebody writes is kept, and is no fault by itself.
"""

from dataclasses import dataclass

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from cqa_site.people.access import memberships_of
from cqa_site.people.actions.raters import rater_for
from cqa_site.people.models import User
from cqa_site.rounds.kind import kind_of
from cqa_site.rounds.models import Participant, Place, Round
from cqa_site.rounds.paces import skipped_by, skips_allowed

from .participants import end_participation, note_fault

SCREENED_OUT = ("stopped", "not_qualified")


@dataclass(frozen=True)
class Standing:
    """Items a participant has done, how many the link asks for and are there."""

    answered: int
    required: int
    most: int
    skipped: int = 0
    allowed: float = 0
    # Whether the round has nothing for this person at this moment.
    is_nothing_left: bool = False

    @property
    def left(self) -> int:
        """Items still to do."""
        return max(0, self.required - self.answered)

    @property
    def is_out_of_items(self) -> bool:
        """Whether the round has nothing more for this person, who did not do enough."""
        return self.left > 0 and (self.answered >= self.most or self.is_nothing_left)

    @property
    def is_over_skips(self) -> bool:
        """Whether more was skipped than the round allows."""
        return self.skipped > self.allowed


class NotReported(Exception):
    """There is no report of a fault to confirm, or the participation is over."""


def standing_of(participant: Participant) -> Standing:
    """Count the participant's work in the round of their link; serves nothing."""
    round_, required = participant.link.round, participant.link.required_items
    kind, place = kind_of(round_), place_of(participant)
    is_done = kind.is_done_by(round_, place) if place else not kind.count_free(round_)
    return Standing(
        kind.count_own([round_], participant.user).get(round_.pk, 0),
        required,
        kind.most_items(round_),
        skipped_by(round_, participant.user),
        skips_allowed(round_, required),
        is_nothing_left=is_done,
    )


def place_of(participant: Participant, *, is_locked: bool = False) -> Place | None:
    """Where the participant stands in the round; None before the first visit to its pages."""
    places = Place.objects.filter(round=participant.link.round, rater__user=participant.user)
    places = places.select_for_update(of=("self",)) if is_locked else places
    return places.select_related("rater", "round").first()


def work_address(participant: Participant) -> str:
    """The work page of the participant's round."""
    round_ = participant.link.round
    ids = [participant.study.public_id, round_.public_id]
    return reverse(kind_of(round_).work_page, args=ids)


def is_out(participant: Participant) -> bool:
    """Whether the practice, a rule or a researcher keeps somebody out of the round."""
    place = place_of(participant)
    return bool(place and (place.is_held_back or place.is_excluded or place.is_stopped))


@transaction.atomic
def finish_participation(*, participant: Participant) -> bool:
    """End the participation if it is over; False while there is work to do."""
    outcome = _outcome(participant)
    if outcome is None:
        return False
    end_participation(participant=participant, outcome=outcome)
    return True


@transaction.atomic
def stop_participation(*, participant: Participant, withdraws: bool) -> None:
    """End the work before it is done; withdrawn answers become void and count nowhere."""
    ends, answers = Participant.Outcome, standing_of(participant).answered
    place = place_of(participant, is_locked=True)
    if not Participant.objects.filter(pk=participant.pk, outcome=ends.RUNNING).exists():
        return
    if place:
        kind_of(participant.link.round).stop(place, withdraws=withdraws)
    if place and withdraws:
        # What is still on its way from another tab is kept and counts no more than the rest.
        place.excluded_at, place.exclusion_reason = timezone.now(), _("Withdrawn by the person")
        place.save(update_fields=["excluded_at", "exclusion_reason"])
    outcome = ends.WITHDRAWN if withdraws else ends.STOPPED
    end_participation(participant=participant, outcome=outcome, answers=answers)


@transaction.atomic
def report_fault(*, participant: Participant, comment: str, lost_answer: bool) -> bool:
    """Keep the report; end the participation if the server saw a fault, and say whether it did.

    ``lost_answer``: an answer of this browser met an error of the server.
    """
    if participant.outcome != Participant.Outcome.RUNNING:
        return False
    note_fault(participant=participant, comment=comment)
    if not (lost_answer or _was_cut_short(participant)):
        return False
    end_participation(participant=participant, outcome=Participant.Outcome.FAULT, reason=comment)
    return True


@transaction.atomic
def confirm_fault(*, participant: Participant, actor: User) -> None:
    """End a participation as a researcher found its report to be true; raises ``NotReported``."""
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
    """The code of the outcome; empty while the participation runs."""
    link = participant.link
    codes = {
        Participant.Outcome.COMPLETED: link.completed_code,
        Participant.Outcome.SCREENED_OUT: link.screened_out_code,
        Participant.Outcome.NO_WORK: link.no_work_code,
        Participant.Outcome.FAULT: link.fault_code,
        Participant.Outcome.SKIPS: link.skips_code or link.screened_out_code,
        Participant.Outcome.STOPPED: link.stopped_code,
        Participant.Outcome.WITHDRAWN: link.stopped_code,
    }
    return codes.get(Participant.Outcome(participant.outcome), "")


def _was_cut_short(participant: Participant) -> bool:
    """Whether the round stopped while somebody was at work in it."""
    standing = standing_of(participant)
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
    if not reason:
        return None
    if reason in SCREENED_OUT:
        return Participant.Outcome.SCREENED_OUT
    if _was_cut_short(participant):
        return Participant.Outcome.FAULT
    return Participant.Outcome.NO_WORK
