"""Backups under load, of large sites, and between databases: drills with measurements.

    python -m benchmarks.backups load [--labels 100000] [--seconds 15]
    python -m benchmarks.backups ways [--labels 100000]

``load``: fifty people label over HTTP, one sentence each every 0.7 s, while a backup is made. The
site restored from it, on the other database, must be consistent and must have every label
acknowledged before the backup began, with the same value. Submit times are reported before and
during the backup.

``ways``: a site with this many labels is moved from each database to both databases. The report
has the seconds of the whole command, processor seconds, size, and peak resident memory. The
tables of both sites must have equal hashes. Target databases already have their tables, as after
``migrate``.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.databases import postgres_database
from benchmarks.http_annotator import Annotator
from benchmarks.label_round_server import ROOT, LabelRoundServer, migrate, migrated_file
from benchmarks.label_throughput import sign_in

PASSPHRASE = "a passphrase for drills"
DATABASES = ("sqlite", "postgresql")
THINK = 0.7
BATCH = 5_000
LABELS = """
from annotation.labelling.models import Assignment
for key, label in Assignment.objects.filter(state="answered").values_list("public_id", "label"):
    print(key, label)
"""


@dataclass
class Done:
    """Cost of a command: seconds, processor seconds, and peak resident memory in MiB."""

    seconds: float
    cpu: float
    mib: float

    def __str__(self) -> str:
        return f"{self.seconds:9.1f} {self.cpu:5.1f} {self.mib:6.0f}"


@contextmanager
def empty_site(database: str, template: str = "") -> Iterator[LabelRoundServer]:
    """Yield a throw-away site with empty tables."""
    if database == "sqlite":
        site = LabelRoundServer()
        shutil.copy(migrated_file(), site.folder / "site.sqlite3")
        try:
            yield site
        finally:
            site.remove()
        return
    with postgres_database(template) as url:
        site = LabelRoundServer(database_url=url)
        try:
            yield site
        finally:
            site.remove()


@contextmanager
def migrated_database() -> Iterator[str]:
    """Yield the name of a PostgreSQL database with tables, used only as a template."""
    with postgres_database() as url:
        migrate(url)
        yield urlsplit(url).path.removeprefix("/")


def run(site: LabelRoundServer, *arguments: object) -> Done:
    """Run a command of a site and return its cost; raise an error if it fails."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=ROOT,
            env=site.environment | {"BACKUP_PASSPHRASE": PASSPHRASE},
            stdout=told,
            stderr=subprocess.STDOUT,
        )
        _pid, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        told.seek(0)
        output = told.read()
    if status:
        raise RuntimeError(output[-2000:])
    return Done(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def contents(path: Path) -> dict[str, str]:
    """Return a hash of the contents of each table in a backup."""
    from cqa_site.upkeep.backups.archive import Archive

    with Archive(path) as archive:
        return {part.table.name: part.content for part in archive.manifest.tables}


# -- invented labels --------------------------------------------------------------------------


def fill(labels: int) -> None:
    """Add three labels to each sentence of a closed round, as if given by thirty people."""
    from annotation.labelling.models import Assignment, LabelRound, Slot, VoteEvent
    from benchmarks.made_rounds import label
    from cqa_site.people.models import Rater, Study, User
    from cqa_site.rounds.lifecycle import close_round, open_round

    study, boss = Study.objects.create(name="Filled"), User.objects.get(email="boss@bench.example")
    wanted = {"controls": 30, "items": -(-labels // 3), "votes": 3}
    label_round: LabelRound = label(wanted, study, boss, [])
    open_round(round_=label_round, actor=boss)
    raters = Rater.objects.bulk_create(
        Rater(study=study, external_id=f"filled-{n}", name=f"Filled {n}") for n in range(30)
    )
    slots = list(Slot.objects.filter(round=label_round).order_by("pk"))
    given = Assignment.objects.bulk_create(
        (
            Assignment(
                round=label_round,
                item_id=slot.item_id,
                rater=raters[(slot.item_id + slot.number) % 30],
                slot=slot,
                state="answered",
                label=slot.order % 4,
            )
            for slot in slots
        ),
        batch_size=BATCH,
    )
    VoteEvent.objects.bulk_create(
        (
            VoteEvent(assignment=each, client_key=f"{n}", kind="answer", label=each.label)
            for n, each in enumerate(given)
        ),
        batch_size=BATCH,
    )
    Slot.objects.filter(round=label_round).update(state="done")
    close_round(round_=label_round, actor=boss)


def filled_site(site: LabelRoundServer, labels: int, people: int = 1, items: int = 30) -> None:
    """Create an open round and a closed round with the labels."""
    site.people, site.items, site.controls = people, items, items // 10
    site.prepare()
    site.python("-m", "benchmarks.backups", "fill", "--labels", str(labels))


# -- under load -------------------------------------------------------------------------------


def under_load(database: str, template: str, options: argparse.Namespace) -> str:
    """Back up a site while people label, restore it into the other database, and compare both."""
    other = DATABASES[database == "sqlite"]
    with empty_site(database, template) as site, empty_site(other, template) as restored:
        (site.folder / "site.sqlite3").unlink(missing_ok=True)
        filled_site(site, options.labels, people=50, items=3_000)
        site.start()
        people = sign_in(site, 50)
        path = restored.folder / "backup.zip"
        before, during, acknowledged, backup = _labelled(site, people, path, options.seconds)
        run(restored, "restore", path)
        run(restored, "check_integrity")
        stored = dict(line.split() for line in restored.python("-c", _script(LABELS)).splitlines())
        lost = {k: v for k, v in acknowledged.items() if stored.get(k) != str(v)}
        if lost:
            raise RuntimeError(f"{len(lost)} labels acknowledged before the backup are missing")
        later = len(stored) - options.labels - len(acknowledged)
        return (
            f"{database:10}  {options.labels:7,}  {len(acknowledged):12,}  {later:11,}  "
            f"{backup.seconds:8.1f}  {_p95(before):6.0f} {max(before) * 1000:6.0f}  "
            f"{_p95(during):6.0f} {max(during) * 1000:6.0f}  {len(during) / backup.seconds:5.1f}"
        )


def _labelled(
    site: LabelRoundServer, people: list[Annotator], path: Path, seconds: float
) -> tuple[list[float], list[float], dict[str, int], Done]:
    """Return submit times before and during a backup, the labels before it, and the backup."""
    ends_at = time.monotonic() + 10 * 60
    stopped = threading.Event()
    threads = [
        threading.Thread(target=_label_until, args=(person, ends_at, stopped)) for person in people
    ]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    marks = [len(person.acknowledged.seconds) for person in people]
    acknowledged = {k: v for each in people for k, v in each.acknowledged.labels.copy().items()}
    backup = run(site, "backup", path)
    ends = [len(person.acknowledged.seconds) for person in people]
    stopped.set()
    for thread in threads:
        thread.join()
    known = [person.acknowledged.seconds for person in people]
    before = [s for each, mark in zip(known, marks, strict=True) for s in each[:mark]]
    # Include one more per person: the submit in progress when the backup ended.
    during = [s for each, a, b in zip(known, marks, ends, strict=True) for s in each[a : b + 1]]
    return before, during, acknowledged, backup


class _Stopped(Exception):
    """Raised if a person is told to stop before the next submit."""


def _label_until(person: Annotator, ends_at: float, stopped: threading.Event) -> None:
    submit = person._submit

    def unless_stopped(path: str, fields: dict, deadline: float) -> bytes:
        if stopped.is_set():
            raise _Stopped
        return submit(path, fields, deadline)

    person._submit = unless_stopped  # type: ignore[method-assign]
    with suppress(_Stopped):
        person.label_until_done(ends_at, THINK)


def _p95(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)] * 1000


def _script(text: str) -> str:
    return f"import django; django.setup()\n{text}"


# -- between databases ------------------------------------------------------------------------


def each_way(site: LabelRoundServer, database: str, template: str) -> Iterator[str]:
    """Back up a site, restore it into both databases, and back up the results again."""
    path = site.folder / "backup.zip"
    made = run(site, "backup", path)
    wanted = contents(path)
    for other in DATABASES:
        with empty_site(other, template) as restored:
            done = run(restored, "restore", path)
            again = restored.folder / "again.zip"
            run(restored, "backup", again)
            if contents(again) != wanted:
                raise RuntimeError(f"{database} to {other}: tables differ")
            run(restored, "check_integrity")
            size = f"{path.stat().st_size / 2**20:8.1f}"
            yield f"{database:10}  {other:10}  {made}  {size}  {done}"


def each_way_from_both(labels: int) -> Iterator[str]:
    with migrated_database() as template:
        for database in DATABASES:
            with empty_site(database, template) as site:
                filled_site(site, labels)
                yield from each_way(site, database, template)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("drill", choices=("load", "ways", "fill"))
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_args()
    if options.drill == "fill":
        import django

        django.setup()
        fill(options.labels)
    elif options.drill == "load":
        print(
            "database     labels  acknowledged  after that  backup s  before: p95, max ms"
            "  during: p95, max ms  labels/s"
        )
        with migrated_database() as template:
            for database in DATABASES:
                print(under_load(database, template, options), flush=True)
    else:
        print("from        into         backup s   cpu    MiB  file MiB  restore s   cpu    MiB")
        for row in each_way_from_both(options.labels):
            print(row, flush=True)


if __name__ == "__main__":
    main()
