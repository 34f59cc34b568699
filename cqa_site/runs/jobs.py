"""The queue of background jobs: enqueue, claim and run jobs, and wake workers."""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from datetime import timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import Error, IntegrityError, close_old_connections, models, transaction
from django.db.models import F, Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from cqa_site.judging import packages
from cqa_site.people.models import Study, User
from cqa_site.web.housekeeping import chore
from cqa_site.web.logging import around
from cqa_site.web.outages import WorkerWatch, is_away
from .models import Job, WorkerBeat
from .processes import code_at_start, gone, this_worker

# Wake-up messages to workers, or immediate work in this process

log = logging.getLogger(__name__)
WAKE = "cqa_site.runs.tasks.wake"
# Steps of work in this process, in this order; each module registers its own steps.
INLINE: list[Callable[[], object]] = []
# An unreachable broker is not contacted again until this time, so that requests do not wait.
_quiet = {"until": 0.0}


def ring() -> None:
    """Wake a worker. If the broker is unreachable, a worker finds the work at its next sweep."""
    if settings.JOBS_INLINE:
        for work in INLINE:
            work()
        return
    if time.monotonic() < _quiet["until"]:
        return
    try:
        send()
    except Exception:
        _quiet["until"] = time.monotonic() + settings.SWEEP_SECONDS
        log.warning("broker unreachable; a worker will find the work", exc_info=True)


def send() -> None:
    """Send an empty wake-up message that expires after a minute."""
    current_app.send_task(WAKE, expires=60, ignore_result=True, retry=False)


# Claiming and running jobs: the same code for SQLite and PostgreSQL
#
# A worker claims ready rows with a lease and a fence, renews the lease while it works, and ends
# the job only under its own fence. A worker that died loses its lease (immediately, if the death
# can be detected), and the next drain claims the job again. After three losses, the job fails.

# Set at shutdown: no more work is claimed, and requests in flight return.
STOP = threading.Event()
MAX_LOSSES = 3
UNEXPECTED = "Unexpected error. The server log has the details."
# No job is planned further ahead; a later time means that a clock jumped.
LONGEST_WAIT = timedelta(hours=2)
ENQUEUE_TRIES = 3
# A live worker reports every ten seconds; after this time without a report, it counts as dead.
ALIVE = timedelta(minutes=1)
KEPT_BEATS = timedelta(days=7)
# Pause between tries of a job that waits for packages; also the maximum age of its note.
PACKAGES_PAUSE = timedelta(seconds=3)
HANDLERS: dict[str, Callable[["JobContext"], None]] = {}
# Kinds of jobs that contact other systems.
SENDING: set[str] = set()
WEIGHTS: dict[str, int] = {}


class JobRefused(Exception):
    """The job cannot be done; the message is shown to the person who requested it."""


class NotYet(Exception):
    """The job waits for another process to finish; the message becomes the job's note."""


class StaleWorker(Exception):
    """Another worker has claimed the job, so this worker's results must not count."""


@contextmanager
def refusing(
    refusals: tuple[type[Exception], ...],
    fail: Callable[[str], object] = lambda message: None,
    in_words: Callable[[Exception], str] = str,
) -> Iterator[None]:
    """End a refused job with the refusal's message, after calling ``fail`` with that message.

    After an unexpected error, ``fail`` is called with a general message instead.
    """
    try:
        yield
    except refusals as reason:
        message = in_words(reason)
        fail(message)
        raise JobRefused(message) from reason
    except (StaleWorker, NotYet):
        raise
    except Exception as error:
        if not is_away(error):
            fail(_("Unexpected error. See the server log for details."))
        raise


def handles(
    kind: str,
    needs: packages.PackagePart | None = None,
    *,
    sends: bool = False,
    is_long: bool = False,
) -> Callable[[Callable[["JobContext"], None]], Callable[["JobContext"], None]]:
    """Register ``function(work)`` as the handler of a kind of job.

    Jobs wait while the packages that they need are being downloaded. If packages are missing and
    are not being downloaded, the handler runs and refuses the job with its own message. Kinds with
    ``sends`` send something, directly or indirectly, and do nothing automatically in a copy of the
    site. Kinds with ``is_long`` take minutes and have lower priority.
    """
    if sends:
        SENDING.add(kind)
    WEIGHTS[kind] = Job.LONG if is_long else Job.QUICK

    def register(function: Callable[["JobContext"], None]) -> Callable[["JobContext"], None]:
        def handle(work: "JobContext") -> None:
            if needs:
                wait_for(needs)
            function(work)

        HANDLERS[kind] = handle
        return function

    return register


def wait_for(part: packages.PackagePart) -> None:
    """Raise NotYet while packages are being downloaded; call this function first in a handler."""
    state = packages.state(part)
    if state.is_fetching:
        raise NotYet(str(state))


def enqueue(
    *, study: Study | None, kind: str, key: str, actor: User | None = None, **payload: Any
) -> Job:
    """Queue a job, or return the active job with the same key; wake a worker after the commit.

    A job without a study belongs to the whole site.
    """
    active = Job.objects.filter(key=f"{kind}:{key}", state__in=["ready", "leased"])
    weight = WEIGHTS.get(kind, Job.QUICK)
    for _attempt in range(ENQUEUE_TRIES):
        try:
            with transaction.atomic():
                job = Job.objects.create(
                    study=study,
                    kind=kind,
                    key=f"{kind}:{key}",
                    payload=payload,
                    created_by=actor,
                    weight=weight,
                    position=Job.position_of(actor, weight),
                )
        except IntegrityError:
            # The active job may end between the two statements; then try to create one again.
            if active_job := active.first():
                return active_job
        else:
            transaction.on_commit(ring)
            return job
    return active.get()


def cancel(jobs: models.QuerySet[Job]) -> int:
    """Cancel all queued and running jobs in a queryset; workers stop at their next step."""
    return jobs.filter(state__in=Job.ACTIVE).update(
        state="failed", lease_until=None, finished_at=Now(), error=_("Cancelled.")
    )


class JobContext:
    """A handler's argument: the job, its payload, and a way to report progress."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.payload = job.payload
        self._reported = 0.0

    @property
    def study(self) -> Study:
        """The study of the job; raises LookupError for a job of the whole site."""
        if self.job.study is None:
            raise LookupError(f"Job {self.job.public_id} does not belong to a study.")
        return self.job.study

    def progress(self, done: int, total: int = 0, note: str = "") -> None:
        """Store progress at most twice a second; raises StaleWorker if the lease was lost."""
        now = time.monotonic()
        if now - self._reported < 0.5 and done != total:
            return
        self._reported = now
        self.step(done, total, note)

    def step(self, done: int, total: int = 0, note: str = "") -> None:
        """Store progress at once; raises StaleWorker if the worker has lost the job."""
        changed = self._mine().update(
            done=done, total=total, note=note, lease_until=Now() + settings.JOB_LEASE
        )
        if changed != 1:
            raise StaleWorker

    def finish(self) -> None:
        """End the job; call inside the transaction that stores the result."""
        if self._mine().update(state="done", lease_until=None, finished_at=Now()) != 1:
            raise StaleWorker

    def _mine(self) -> models.QuerySet[Job]:
        return Job.objects.filter(pk=self.job.pk, state="leased", fence=self.job.fence)


def claim() -> Job | None:
    """Claim a job whose worker died, otherwise the first due job; None if no job is due."""
    with transaction.atomic():
        rows = Job.objects.order_by("position", "id").select_for_update(skip_locked=True)
        job = rows.filter(_is_lost(), state="leased").first() or _first_due(rows)
        if job is None:
            return None
        losses = job.losses + (job.state == "leased")
        if losses > MAX_LOSSES:
            Job.objects.filter(pk=job.pk).update(
                state="failed",
                lease_until=None,
                finished_at=Now(),
                error="The worker stopped repeatedly on this job.",
            )
            return claim()
        Job.objects.filter(pk=job.pk).update(
            state="leased",
            leased_by=this_worker(),
            fence=F("fence") + 1,
            losses=losses,
            lease_until=Now() + settings.JOB_LEASE,
        )
        return Job.objects.select_related("study").get(pk=job.pk)


def _is_lost() -> models.Q:
    holders = Job.objects.filter(state="leased").values_list("leased_by", flat=True)
    return (
        models.Q(lease_until__lt=Now())
        | models.Q(leased_by__in=gone(holders))
        | models.Q(lease_until__gt=Now() + 2 * settings.JOB_LEASE)
    )


def _first_due(rows: models.QuerySet[Job]) -> Job | None:
    """Return the next waiting job; the query uses the position index for queues of any length."""
    pauses = models.Q(run_after__gt=Now(), run_after__lte=Now() + LONGEST_WAIT)
    return rows.filter(~pauses, state="ready").first()


def drain(max_seconds: float = 50.0) -> int:
    """Run due jobs until none is left or the time is up; return how many ran."""
    started, count = time.monotonic(), 0
    beat()
    while time.monotonic() - started < max_seconds and not STOP.is_set() and (job := claim()):
        run(job)
        count += 1
    return count


INLINE.append(drain)


def run(job: Job) -> None:
    """Run one claimed job until it is done or failed; log lines of the job contain its id."""
    began = time.monotonic()
    with around(
        "job",
        request=job.request_id,
        job=str(job.public_id),
        kind=job.kind,
        study=str(job.study.public_id) if job.study else "",
        worker=job.leased_by,
    ):
        _run(job)
        milliseconds = round(1000 * (time.monotonic() - began))
        log.info("job ended", extra={"fields": {"milliseconds": milliseconds}})


def _run(job: Job) -> None:
    work = JobContext(job)
    stop = threading.Event()
    if not settings.JOBS_INLINE:
        beat_on = partial(copy_context().run, _heartbeat, job, stop)
        threading.Thread(target=beat_on, daemon=True).start()
    try:
        HANDLERS[job.kind](work)
        Job.objects.filter(pk=job.pk, state="leased", fence=job.fence).update(
            state="done", lease_until=None, finished_at=Now()
        )
    except StaleWorker:
        log.warning("job %s was taken over", job.public_id)
    except NotYet as reason:
        _put_back(job, str(reason))
    except JobRefused as refusal:
        _fail(job, str(refusal))
    except Exception as error:
        if is_away(error):
            # A worker repeats the job once its lease has expired, at most `MAX_LOSSES` times.
            log.warning("job %s lost its database", job.public_id, exc_info=True)
            return
        log.exception("job %s failed", job.public_id)
        _fail(job, UNEXPECTED)
    finally:
        stop.set()


def watch_database() -> None:
    """Free this worker's threads if the database does not respond for the length of a lease."""
    WorkerWatch(settings.JOB_LEASE.total_seconds()).start()


def beat() -> None:
    """Record that this process is alive."""
    WorkerBeat.objects.update_or_create(
        worker=this_worker(),
        defaults={
            "host": socket.gethostname(),
            "process_id": os.getpid(),
            "code": code_at_start(),
            "seen_at": Now(),
        },
    )


@chore("heartbeats of stopped workers")
def forget_workers() -> int:
    """Delete workers whose last heartbeat is more than a week older than the newest one."""
    newest = WorkerBeat.objects.aggregate(at=Max("seen_at"))["at"]
    if newest is None:
        return 0
    return WorkerBeat.objects.filter(seen_at__lt=newest - KEPT_BEATS).delete()[0]


def is_worker_alive() -> bool:
    """Whether any worker has reported within the last minute."""
    return _recent_beats().exists()


def workers_alive() -> list[WorkerBeat]:
    """Return workers that reported within the last minute and are not known to have ended."""
    beats = list(_recent_beats())
    dead = gone(beat.worker for beat in beats)
    return [beat for beat in beats if beat.worker not in dead]


def _recent_beats() -> models.QuerySet[WorkerBeat]:
    return WorkerBeat.objects.filter(seen_at__gt=Now() - ALIVE)


def _put_back(job: Job, note: str) -> None:
    """Requeue a job behind the other jobs of the same person, so that they do not wait for it."""
    Job.objects.filter(pk=job.pk, fence=job.fence, state="leased").update(
        state="ready",
        lease_until=None,
        run_after=Now() + PACKAGES_PAUSE,
        position=Job.position_of(job.created_by, job.weight),
        note=note[: Job.NOTE_LENGTH],
    )


def _fail(job: Job, message: str) -> None:
    Job.objects.filter(pk=job.pk, fence=job.fence).update(
        state="failed", lease_until=None, finished_at=Now(), error=message
    )


def _heartbeat(job: Job, stop: threading.Event) -> None:
    """Renew the lease from a separate thread until the handler returns."""
    while not stop.wait(settings.JOB_LEASE.total_seconds() / 3):
        try:
            close_old_connections()
            Job.objects.filter(pk=job.pk, state="leased", fence=job.fence).update(
                lease_until=Now() + settings.JOB_LEASE
            )
            beat()
        except Error:
            # Another process may hold a write lock for long. The next heartbeat may still be in
            # time; if not, the fence prevents two workers from storing results.
            log.warning("the heartbeat of job %s missed a turn", job.public_id, exc_info=True)
    close_old_connections()
