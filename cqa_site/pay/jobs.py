"""Background jobs: fetch a platform's list of submissions, and send payments."""

from datetime import datetime

from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from cqa_site.people.models import User
from cqa_site.rounds.crowd.payments import (
    STATES,
    PaymentsChanged,
    begin_batch,
    doubt_unended,
    end_batch,
)
from cqa_site.rounds.crowd.submissions import store_submissions
from cqa_site.rounds.models import ParticipantLink
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue, handles
from cqa_site.runs.models import Job
from .platform_api import (
    PlatformRefused,
    PlatformUnclear,
    create_order,
    list_submissions,
    pay_order,
)

FETCH_JOB, SEND_JOB = "crowd_submissions", "crowd_payments"
# The maximum number of people that the platform pays with one order.
LARGEST_ORDER = 200


def start_job(kind: str, *, link: ParticipantLink, actor: User) -> Job:
    """Queue a job to fetch submissions or send payments for a link, or return the current job."""
    key = str(link.public_id)
    return enqueue(study=link.study, kind=kind, key=key, actor=actor, link=key)


def last_job(kind: str, link: ParticipantLink) -> Job | None:
    return Job.objects.filter(key=f"{kind}:{link.public_id}").order_by("-pk").first()


def last_fetch(link: ParticipantLink) -> datetime | None:
    """Return the time at which the newest list from the platform was requested."""
    done = Job.objects.filter(key=f"{FETCH_JOB}:{link.public_id}", state="done")
    return done.aggregate(at=Max("created_at"))["at"]


@handles(FETCH_JOB, sends=True)
def fetch_submissions(work: JobContext) -> None:
    link, at = _link(work), timezone.now()
    try:
        rows = list_submissions(link)
    except (PlatformRefused, PlatformUnclear) as problem:
        raise JobRefused(str(problem)) from None
    store_submissions(link=link, rows=rows, actor=work.job.created_by, at=at)


@handles(SEND_JOB, sends=True)
def send_payments(work: JobContext) -> None:
    """Send the confirmed payments of a link; payments are never resent automatically."""
    link = _link(work)
    # Payments left by a worker that ended in the middle of a request.
    doubt_unended(link)
    while payments := list(link.payments.filter(state=STATES.CONFIRMED)[:LARGEST_ORDER]):
        work.step(0)
        try:
            order = create_order(link, payments)
            begin_batch(link, payments, order)
        except (PlatformRefused, PlatformUnclear) as problem:
            raise JobRefused(_("%s This order was not paid.") % problem) from None
        except PaymentsChanged:
            continue
        # A worker that has lost its lease stops here and does not pay.
        work.step(0)
        _pay(link, order, work.job.created_by)


def _pay(link: ParticipantLink, order: str, actor: User | None) -> None:
    try:
        pay_order(link, order)
    except PlatformRefused as problem:
        end_batch(link, order, STATES.CONFIRMED, actor)
        raise JobRefused(_("%s This order was not paid.") % problem) from None
    except PlatformUnclear as problem:
        end_batch(link, order, STATES.UNKNOWN, actor)
        text = _("%s Check the platform, then mark the payments as paid or not paid.")
        raise JobRefused(text % problem) from None
    end_batch(link, order, STATES.PAID, actor)


def _link(work: JobContext) -> ParticipantLink:
    links = ParticipantLink.objects.select_related("study", "round")
    return links.get(study=work.study, public_id=work.payload["link"])
