"""The platform's list of submissions, and its differences from the site's records."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from cqa_site.people.models import User
from ..models import Participant, ParticipantLink, PlatformSubmission
from .participants import record_link
from .participation import completion_code
from .platform import ENDS, apply_status

CHUNK = 500
# Statuses of people who may not have opened the link yet, and of people who have submitted.
NOT_HERE_YET = ("RESERVED", "ACTIVE", *ENDS)
HANDED_IN = ("AWAITING-REVIEW", "APPROVED", "PARTIALLY-APPROVED", "SCREENED-OUT")
# The platform's entries for people without a code.
NO_CODE = ("", "NOCODE")
PROBLEMS = {
    "unknown_here": _("Not found here"),
    "unknown_there": _("Not on the platform's list"),
    "other_person": _("Different participant"),
    "ended_there": _("Ended on the platform, still running here"),
    "other_status": _("Different status"),
    "missing_code": _("No code entered"),
    "other_code": _("Different code"),
}


@dataclass(frozen=True)
class SubmissionRow:
    """A submission from a platform's list."""

    submission: str
    participant_id: str
    status: str
    code: str = ""


@dataclass(frozen=True)
class SubmissionDifference:
    """A difference between the platform's and the site's record of a submission."""

    problem: str
    submission: str
    payee: str
    here: str
    there: str
    person: Participant | None = None
    listed: PlatformSubmission | None = None

    @property
    def title(self) -> str:
        return str(PROBLEMS[self.problem])


@transaction.atomic
def store_submissions(
    *,
    link: ParticipantLink,
    rows: Collection[SubmissionRow],
    actor: User | None,
    at: datetime | None = None,
) -> int:
    """Store the platform's list without ending participations; return the number of new rows.

    Storing the same list twice changes nothing. Rows from earlier lists stay. ``at`` is the time
    of the request to the platform (default: now); webhooks after it count as newer.
    """
    known = set(link.submissions.values_list("submission", flat=True))
    at = at or timezone.now()
    stored = [PlatformSubmission(link=link, seen_at=at, **asdict(row)) for row in rows]
    PlatformSubmission.objects.bulk_create(
        stored,
        batch_size=CHUNK,
        update_conflicts=True,
        unique_fields=["link", "submission"],
        update_fields=["participant_id", "status", "code", "seen_at"],
    )
    new = sum(row.submission not in known for row in rows)
    record_link(link, "crowd_submissions_stored", actor, rows=len(rows), new=new)
    return new


def differences(link: ParticipantLink) -> list[SubmissionDifference]:
    """Compare the platform's list with the link's participants; empty before the first list."""
    listed = {row.submission: row for row in link.submissions.all()}
    if not listed:
        return []
    # The list contains the people of all links that lead into the same study on the platform.
    others = Participant.objects.filter(study=link.study_id).exclude(link=link)
    elsewhere = set(others.values_list("session_id", "participant_id"))
    last_list = max(row.seen_at for row in listed.values())
    people = link.participants.select_related("user", "link__round", "study").order_by("pk")
    by_submission: dict[str, Participant] = {}
    for person in people:
        by_submission.setdefault(person.session_id, person)
    rows = []
    for submission, row in listed.items():
        known = by_submission.get(submission)
        problem = _problem(known, row)
        if problem and (known or (submission, row.participant_id) not in elsewhere):
            here = _here(known, problem) if known else ""
            there = row.code if problem.endswith("code") else row.status
            there = row.participant_id if problem == "other_person" else there
            texts = (problem, submission, row.participant_id, here, there)
            rows.append(SubmissionDifference(*texts, known, row))
    for person in people:
        is_listed = by_submission[person.session_id] is person and person.session_id in listed
        if not is_listed and person.created_at < last_list:
            about = (person.session_id, person.participant_id, person.get_outcome_display(), "")
            rows.append(SubmissionDifference("unknown_there", *about, person))
    return rows


def _problem(known: Participant | None, row: PlatformSubmission) -> str:
    """Return the first difference found in a submission; empty if there is no difference."""
    if known is None:
        return "" if row.status in NOT_HERE_YET else "unknown_here"
    if known.participant_id != row.participant_id:
        return "other_person"
    status, is_running = newest_status(known, row), known.outcome == Participant.Outcome.RUNNING
    if status in ENDS:
        if is_running:
            return "ended_there"
        return "other_status" if known.outcome == Participant.Outcome.COMPLETED else ""
    if status not in HANDED_IN:
        return ""
    if is_running or known.outcome in ENDS.values():
        return "other_status"
    if row.code in NO_CODE:
        return "missing_code" if completion_code(known) else ""
    return "" if row.code == completion_code(known) else "other_code"


def newest_status(known: Participant, row: PlatformSubmission | None) -> str:
    """Return the newer of the statuses from the list and the webhooks; empty if neither exists."""
    if row is None or (known.platform_status_at and known.platform_status_at > row.seen_at):
        return known.platform_status
    return row.status


def _here(known: Participant, problem: str) -> str:
    if problem == "other_person":
        return known.participant_id
    return completion_code(known) if problem.endswith("code") else known.get_outcome_display()


def reclaim_items(*, link: ParticipantLink, actor: User) -> int:
    """End participations that have ended on the platform, as webhooks do; return their number.

    Their reserved items go to other people, and their work is kept.
    """
    count = 0
    for row in differences(link):
        if row.problem == "ended_there" and row.person and row.listed:
            at = row.listed.seen_at
            count += apply_status(row.person, row.listed.status, at, actor=actor)
    return count
