"""Examinations of workers, the broker and the clock."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection, models
from django.db.models import Max, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from cqa_site.judging.chat import Failure
from cqa_site.people.models import AuditEvent, User
from cqa_site.rounds.crowd.tokens import CLOCK_SECONDS, KeysUnavailable, fetch_keys_and_date
from cqa_site.rounds.models import ParticipantLink, Round
from cqa_site.runs.jobs import UNEXPECTED, workers_alive
from cqa_site.runs.models import Attempt, Call, Job, ProviderBatch, Reply, Run, WorkerBeat
from cqa_site.runs.processes import mark_of_code
from cqa_site.web.housekeeping import chore_record_path
from ..examination import Family, examination, first_line
from ..findings import Finding, look, manage, python, well, wrong

SECONDS = 2
# Options for Redis; other brokers use the timeout of the connection.
QUICK = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS}
# Messages only tell workers to look for work, and are obsolete after a minute.
MANY = 1_000


@examination(Family.WORK, gettext_lazy("Broker"))
def broker() -> Finding:
    """Connect to the broker and count the messages that no worker has fetched."""
    try:
        count = _messages()
    except Exception as problem:  # noqa: BLE001  every transport has errors of its own
        says = _("%(place)s does not respond (%(why)s); workers still pick up work, but later.")
        remedy = _("Start the server, or correct CELERY_BROKER_URL.")
        return wrong(says % {"place": _place(), "why": first_line(problem)}, remedy)
    if count > MANY:
        says = _("%(place)s contains %(n)d messages that no worker has fetched.")
        remedy = _("Start a worker; old messages are not needed and can be deleted:")
        command = python("-m celery -A cqa_site purge -f")
        return look(says % {"place": _place(), "n": count}, remedy, command)
    return well(
        _("%(place)s is reachable; messages waiting: %(n)d.") % {"place": _place(), "n": count}
    )


def _place() -> str:
    """Describe the broker without its password."""
    parts = urlsplit(settings.CELERY_BROKER_URL)
    if parts.scheme == "filesystem":
        return _("The message folder")
    return f"{parts.scheme}://{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _messages() -> int:
    """Count the waiting messages; may raise any exception from the transport."""
    from celery import current_app
    from kombu import Connection
    from kombu.exceptions import ChannelError

    url = settings.CELERY_BROKER_URL
    with Connection(  # type: ignore[no-untyped-call]  # Kombu has no types
        url,
        transport=getattr(settings, "CELERY_BROKER_TRANSPORT", None),
        transport_options=getattr(settings, "CELERY_BROKER_TRANSPORT_OPTIONS", {})
        | (QUICK if url.startswith("redis") else {}),
        connect_timeout=SECONDS,
    ) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
        channel = connection.default_channel
        try:
            return int(channel.queue_declare(current_app.conf.task_default_queue, passive=True)[1])
        except (ChannelError, *connection.channel_errors):
            return 0  # no worker has run yet


# Leases are renewed within seconds; sign-in codes and external tokens allow half a minute.
A_LITTLE, TOO_MUCH = timedelta(seconds=2), timedelta(seconds=15)
# Several machines write timestamps, but no correct clock is this far ahead of another.
MINUTE = "%Y-%m-%d %H:%M UTC"
AHEAD = timedelta(minutes=2)
STAMPS: tuple[tuple[type[models.Model], str], ...] = (
    (AuditEvent, "at"), (Attempt, "opened_at"), (Job, "created_at"), (Reply, "at"),
    (User, "created_at"), (WorkerBeat, "seen_at"),
)  # fmt: skip


@examination(Family.DATABASE, gettext_lazy("Clock"), asks_database=True)
def clock() -> Finding:
    """Check that the clocks of this machine and the database agree with stored timestamps."""
    off = _ahead_of_the_database()
    if abs(off) > A_LITTLE:
        return _clocks_differ(off)
    now = datetime.now(UTC)
    newest = max(_newest_rows(), default=now)
    if newest > now + AHEAD:
        return _rows_of_tomorrow(newest, now)
    zone = time.strftime("%Z")
    return well(
        _("%(utc)s UTC, %(local)s %(zone)s on this machine; the database agrees.")
        % {"utc": f"{now:%Y-%m-%d %H:%M:%S}", "local": time.strftime("%H:%M"), "zone": zone}
    )


def _ahead_of_the_database() -> timedelta:
    """Return how far this machine's clock is ahead of the database's clock (0 for SQLite)."""
    if connection.vendor == "sqlite":
        return timedelta(0)
    before = datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        there: datetime = cursor.fetchone()[0]
    return before + (datetime.now(UTC) - before) / 2 - there


def _clocks_differ(off: timedelta) -> Finding:
    seconds = abs(off.total_seconds())
    says = (
        _("This machine's clock is %.0f seconds ahead of the database server's.")
        if off > timedelta(0)
        else _("This machine's clock is %.0f seconds behind the database server's.")
    )
    remedy = _("Synchronize both clocks with NTP. To check this one, run:")
    say = wrong if abs(off) > TOO_MUCH else look
    return say(says % seconds, remedy, "timedatectl status")


def _newest_rows() -> Iterator[datetime]:
    """Yield the timestamp of the last row in each table."""
    for model, field in STAMPS:
        rows = model._default_manager.order_by("-pk").values_list(field, flat=True)
        yield from rows[:1]


def _rows_of_tomorrow(newest: datetime, now: datetime) -> Finding:
    says = _(
        "The newest row in the database is dated %(newest)s, but the time here is %(now)s: a "
        "clock was or is wrong."
    ) % {"newest": f"{newest:{MINUTE}}", "now": f"{now:{MINUTE}}"}
    remedy = _("Set this machine's clock, or wait until that row's time has passed.")
    return wrong(says, remedy, "timedatectl status")


# Workers, jobs, runs and endpoints

START = "make worker"
# Workers look for work every few seconds, but long jobs may occupy them for minutes.
STUCK = timedelta(minutes=15)
# Workers run housekeeping when they start and then every hour.
TOO_LONG = timedelta(hours=3)
AT_THE_PROVIDER = timedelta(days=2)
# Failures that a retry cannot fix.
REFUSED = (Failure.DENIED, Failure.KEY, Failure.QUOTA, Failure.CERTIFICATE, Failure.BLOCKED)


@examination(Family.WORK, gettext_lazy("Workers"), asks_database=True)
def workers() -> Finding:
    """Check that workers run, use this version of the code, and pick up waiting work."""
    alive, waits = workers_alive(), _oldest_waiting()
    if not alive:
        return _nobody_works(waits)
    present = mark_of_code()
    old = [beat for beat in alive if beat.code and beat.code != present]
    if old:
        says = _("The worker on %(host)s (process %(pid)d) runs different code from this process.")
        says %= {"host": old[0].host, "pid": old[0].process_id}
        return look(says, _("Restart the workers so that the whole site runs the same version."))
    if waits and waits < timezone.now() - STUCK:
        says = _("Work has been waiting for %s although a worker is running.") % timesince(waits)
        remedy = _(
            "Check the worker's log, then restart the worker. Starting another worker helps "
            "immediately:"
        )
        return wrong(says, remedy, START)
    hosts = ", ".join(sorted({beat.host for beat in alive}))
    says = ngettext(
        "%(n)d worker is running on %(hosts)s.",
        "%(n)d workers are running on %(hosts)s.",
        len(alive),
    )
    return well(says % {"n": len(alive), "hosts": hosts})


def _nobody_works(waits: datetime | None) -> Finding:
    last = WorkerBeat.objects.aggregate(last=Max("seen_at"))["last"]
    gone = _("No worker has ever reported")
    if last is not None:
        gone = _("The last worker stopped reporting %s ago") % timesince(last)
    remedy = _("Start the site, which also starts a worker, or start a worker alone:")
    if waits is None:
        return look(_("%s; no work is waiting.") % gone, remedy, START)
    says = _("%(gone)s, and work has been waiting for %(since)s.")
    # A new site is not broken.
    is_new = last is None and waits > timezone.now() - STUCK
    say = look if is_new else wrong
    return say(says % {"gone": gone, "since": timesince(waits)}, remedy, START)


def _oldest_waiting() -> datetime | None:
    """Return the due time of the job or call that has waited longest."""
    jobs = Job.objects.filter(state="ready", run_after__lte=Now()).order_by("run_after")
    first = [jobs.values_list("run_after", flat=True).first()]
    for rows in _due_calls():
        first.append(rows.order_by("run_after").values_list("run_after", flat=True).first())
    return min((moment for moment in first if moment), default=None)


def _due_calls() -> Iterator[QuerySet[Call]]:
    """Yield the due calls of each active run that has not sent any request recently."""
    lately = timezone.now() - STUCK
    for run in Run.objects.filter(state__in=Run.WORKING):
        calls = Call.objects.filter(run=run)
        if not Attempt.objects.filter(call__run=run, opened_at__gt=lately).exists():
            yield calls.filter(state="ready", run_after__lte=Now())


@examination(Family.WORK, gettext_lazy("Housekeeping"), asks_database=True)
def housekeeping() -> Finding:
    """Check that workers run housekeeping every hour."""
    path = chore_record_path()
    if not path.exists():
        return _never_kept()
    at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    failed = [name for name, count in json.loads(path.read_bytes()).items() if count is None]
    if failed:
        says = _("Housekeeping failed at this step: %s.") % ", ".join(failed)
        return wrong(says, _("The reason is in the log of:"), manage("housekeeping"))
    if at < timezone.now() - TOO_LONG and workers_alive():
        says = _("Housekeeping has not run for %s, although workers should run it every hour.")
        remedy = _("Restart the workers. Until then, run housekeeping by hand or with cron:")
        return wrong(says % timesince(at), remedy, manage("housekeeping"))
    return well(_("Ran %s ago.") % timesince(at))


def _never_kept() -> Finding:
    """Return the finding for a site where housekeeping has never run, such as a new site."""
    oldest = Job.objects.order_by("pk").values_list("created_at", flat=True).first()
    if oldest and oldest < timezone.now() - TOO_LONG and workers_alive():
        says = _("Housekeeping has never run, so expired data are not deleted.")
        remedy = _("Start a Celery worker, which runs housekeeping every hour, or use cron:")
        return wrong(says, remedy, manage("housekeeping"))
    return well(_("Not due yet."))


@examination(Family.WEB, gettext_lazy("Crowd platform"), asks_database=True)
def crowd_platform() -> Finding:
    """If an open link accepts signed entries, fetch the keys for them and compare clocks."""
    links = ParticipantLink.objects.exclude(entry=ParticipantLink.Entry.IDS)
    links = links.exclude(round__state=Round.State.CLOSED).filter(study__archived_at=None)
    if not links.filter(closed_at=None, expires_at__gt=timezone.now()).exists():
        return well(_("No open link accepts signed entries."))
    try:
        keys, date = fetch_keys_and_date()
    except KeysUnavailable as problem:
        says = _("The keys for signed entries cannot be fetched: %s.") % problem
        return wrong(
            says, _("Check CROWD_KEYS_URL, and make sure that this machine can reach it.")
        )
    if not keys:
        says = _("The address in CROWD_KEYS_URL lists no keys for signed entries.")
        return wrong(says, _("Check CROWD_KEYS_URL."))
    off = datetime.now(UTC) - date if date and date.tzinfo else timedelta(0)
    if abs(off) > timedelta(seconds=CLOCK_SECONDS):
        says = _("This machine's clock and the crowd platform's differ by %d seconds.")
        remedy = _("Valid tokens can be refused. Synchronize this clock with NTP:")
        return wrong(says % abs(off.total_seconds()), remedy, "timedatectl status")
    number = len(keys)
    says = ngettext("The platform publishes %d key.", "The platform publishes %d keys.", number)
    return well(says % number)


@examination(Family.WORK, gettext_lazy("Jobs"), asks_database=True)
def jobs() -> Finding:
    """Report jobs with unexpected errors; users see the reasons for refused jobs themselves."""
    lately = timezone.now() - timedelta(days=1)
    failed = Job.objects.filter(state="failed", error=UNEXPECTED, finished_at__gt=lately)
    if not (count := failed.count()):
        return well(_("No job failed in the past day."))
    says = ngettext(
        "%(n)d job failed in the past day; its type is %(kind)s.",
        "%(n)d jobs failed in the past day; the type of the most recent is %(kind)s.",
        count,
    ) % {"n": count, "kind": failed.latest("finished_at").kind}
    return look(says, _("The worker's log has the reason. Start the job again."))


@examination(Family.WORK, gettext_lazy("Runs"), asks_database=True)
def runs() -> Finding:
    """Report runs paused by a fault, and batches that their provider has not returned."""
    paused = Run.objects.filter(state=Run.State.PAUSED).exclude(
        pause_reason__in=("person", "budget", Run.RESTORED)
    )
    lost = ProviderBatch.objects.filter(
        state=ProviderBatch.State.SUBMITTED, created_at__lt=timezone.now() - AT_THE_PROVIDER
    )
    if count := paused.count():
        says = ngettext("A fault paused %d run.", "A fault paused %d runs.", count) % count
        return look(says, _("The run's page shows what to correct. Nothing is lost."))
    if count := lost.count():
        says = ngettext(
            "%d batch has been at its provider for more than two days.",
            "%d batches have been at their provider for more than two days.",
            count,
        )
        return look(says % count, _("Cancel the run, and start it again without batches."))
    return well(_("No run is stopped by a fault."))


@examination(Family.WORK, gettext_lazy("Endpoints"), asks_database=True)
def endpoints() -> Finding:
    """Report endpoints of active runs whose last request was permanently refused."""
    active = Run.objects.filter(state__in=Run.ACTIVE).select_related("endpoint")
    targets = {run.endpoint_id: run.endpoint for run in active}
    last = Attempt.objects.order_by("-pk").values_list("failure", flat=True)
    refused = [
        endpoint.name
        for pk, endpoint in targets.items()
        if last.filter(call__run__endpoint=pk).first() in REFUSED
    ]
    if not refused:
        return well(_("No endpoint key is refused."))
    says = _("The last request was permanently refused by: %s.") % ", ".join(sorted(refused))
    return look(says, _("Correct the key or the address on the endpoint's page, then resume."))
