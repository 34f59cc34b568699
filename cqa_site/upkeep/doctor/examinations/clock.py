"""Is it the same time everywhere: here, at the database, and in what is stored?"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.db import connection, models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cqa_site.people.models import AuditEvent, User
from cqa_site.runs.models import Attempt, Job, Reply, WorkerBeat

from ..examining import Family, examination
from ..findings import Finding, look, well, wrong

# Leases are renewed within seconds; sign-in codes and tokens of others allow for half a minute.
A_LITTLE, TOO_MUCH = timedelta(seconds=2), timedelta(seconds=15)
# Rows are stamped by several machines; so far ahead no two clocks of a site are.
MINUTE = "%Y-%m-%d %H:%M UTC"
AHEAD = timedelta(minutes=2)
STAMPS: tuple[tuple[type[models.Model], str], ...] = (
    (AuditEvent, "at"), (Attempt, "opened_at"), (Job, "created_at"), (Reply, "at"),
    (User, "created_at"), (WorkerBeat, "seen_at"),
)  # fmt: skip


@examination(Family.DATABASE, gettext_lazy("Clock"), asks_database=True)
def clock() -> Finding:
    """Whether this machine, the database and stored rows agree about the time."""
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
    """How far this machine's clock is ahead; SQLite has no other."""
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
    remedy = _("Let both machines keep time by NTP. Whether this one does, tells:")
    say = wrong if abs(off) > TOO_MUCH else look
    return say(says % seconds, remedy, "timedatectl status")


def _newest_rows() -> Iterator[datetime]:
    """When the last row of each table says that it was made."""
    for model, field in STAMPS:
        rows = model._default_manager.order_by("-pk").values_list(field, flat=True)
        yield from rows[:1]


def _rows_of_tomorrow(newest: datetime, now: datetime) -> Finding:
    says = _(
        "The newest row in the database is from %(newest)s, and here it is %(now)s: a clock was "
        "or is wrong."
    ) % {"newest": f"{newest:{MINUTE}}", "now": f"{now:{MINUTE}}"}
    remedy = _("Set this machine's clock, or wait until the time of that row has come.")
    return wrong(says, remedy, "timedatectl status")
