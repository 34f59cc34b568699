"""How a crowd participant's work ends.

The server alone decides the outcome, from its own rows. Work that was done
counts as completed even when the labels were left out of the figures later:
whether labels are used and whether work was done are different questions.
"""

from dataclasses import dataclass

from django.db import transaction
from django.shortcuts import get_object_or_404

from annotation.models import Campaign
from cqa_site.people.access import memberships_of
from cqa_site.people.actions.participants import end_participation
from cqa_site.people.models import Participant

from .serving import member_participation, next_work, user_answered


@dataclass(frozen=True)
class Standing:
    """Items a participant has labelled or skipped, and how many the link asks for."""

    answered: int
    required: int

    @property
    def left(self) -> int:
        """Items still to do."""
        return max(0, self.required - self.answered)


def campaign_of(participant: Participant) -> Campaign:
    """The campaign of the link this participant came by; raises Http404."""
    return get_object_or_404(
        Campaign, study=participant.study, public_id=participant.link.campaign_ref
    )


def standing_of(participant: Participant) -> Standing:
    """Count the participant's work in the campaign of their link."""
    answered = user_answered(campaign=campaign_of(participant), user=participant.user)
    return Standing(answered, participant.link.required_items)


@transaction.atomic
def finish_participation(*, participant: Participant) -> bool:
    """End the participation if it is over; False while there is work to do."""
    outcome = _outcome(participant)
    if outcome is None:
        return False
    end_participation(participant=participant, outcome=outcome)
    return True


def report_fault(*, participant: Participant, comment: str) -> None:
    """End the participation because something does not work."""
    end_participation(participant=participant, outcome=Participant.Outcome.FAULT, reason=comment)


def completion_code(participant: Participant) -> str:
    """The code of the outcome; empty while the participation runs."""
    link = participant.link
    codes = {
        Participant.Outcome.COMPLETED: link.completed_code,
        Participant.Outcome.SCREENED_OUT: link.screened_out_code,
        Participant.Outcome.NO_WORK: link.no_work_code,
        Participant.Outcome.FAULT: link.fault_code,
    }
    return codes.get(Participant.Outcome(participant.outcome), "")


def _outcome(participant: Participant) -> Participant.Outcome | None:
    if standing_of(participant).left == 0:
        return Participant.Outcome.COMPLETED
    membership = memberships_of(participant.user).get(study=participant.study)
    campaign = campaign_of(participant)
    work = next_work(
        campaign=campaign,
        participation=member_participation(campaign=campaign, membership=membership),
    )
    if work.assignments:
        return None
    if work.reason == "stopped":
        return Participant.Outcome.SCREENED_OUT
    return Participant.Outcome.NO_WORK
