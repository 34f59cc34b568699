"""Cost of a submit with one table per sheet kind, or with a shared table plus a row per kind.

    python -m benchmarks.round_tables [--sheets 2000] [--rows 100000]

Both layouts have the same columns. A submit does the same as the engine for one sheet: lock and
read it, store the entries, write the event, create the next sheet and read it back. The layouts
alternate in one process, so that other load on the machine affects both. The last column reads
state, rater and total of many submitted sheets, as every figure does.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.databases import postgres_answers, postgres_database

HEAD = "database    layout                 queries  submits/s  p95 ms  read ms"
BATCH = 100


def layouts() -> dict[str, tuple[Any, Any]]:
    """Return the sheet and event classes of both layouts, which belong to no app."""
    from django.db import models

    class Work(models.Model):
        """The columns of every sheet (see `cqa_site.rounds.models.Sheet`)."""

        round = models.IntegerField()
        rater = models.IntegerField(db_index=True)
        slot = models.IntegerField(null=True, unique=True)
        state = models.CharField(max_length=9, default="open")
        replicate = models.PositiveSmallIntegerField(default=0)
        comment = models.TextField(blank=True)
        is_extra = models.BooleanField(default=False)
        place = models.PositiveIntegerField(default=0)
        draft = models.JSONField(null=True)
        version = models.PositiveIntegerField(default=0)
        client = models.CharField(max_length=36, blank=True)
        active_seconds = models.PositiveIntegerField(default=0)
        submitted_at = models.DateTimeField(null=True)
        created_at = models.DateTimeField(auto_now_add=True)

        class Meta:
            abstract = True
            app_label = "bench"

    class OneTable(Work):
        answer = models.IntegerField(db_index=True)
        points = models.JSONField(default=dict)
        total = models.FloatField(null=True)

        class Meta:
            app_label = "bench"
            indexes = [models.Index(fields=["round", "state", "id"], name="bench_one")]

    class Shared(Work):
        class Meta:
            app_label = "bench"
            indexes = [models.Index(fields=["round", "state", "id"], name="bench_two")]

    class TwoTables(Shared):
        answer = models.IntegerField(db_index=True)
        points = models.JSONField(default=dict)
        total = models.FloatField(null=True)

        class Meta:
            app_label = "bench"

    class OneEvent(models.Model):
        sheet = models.ForeignKey(OneTable, models.CASCADE, related_name="events")
        content = models.JSONField(default=dict)

        class Meta:
            app_label = "bench"

    class TwoEvent(models.Model):
        sheet = models.ForeignKey(Shared, models.CASCADE, related_name="events")
        content = models.JSONField(default=dict)

        class Meta:
            app_label = "bench"

    return {
        "own tables": (OneTable, (OneTable, OneEvent)),
        "shared table + own row": (TwoTables, (Shared, TwoTables, TwoEvent)),
    }


def submit(sheets: Any, number: int) -> None:
    """Submit one sheet and create the next."""
    from django.db import transaction
    from django.utils import timezone

    points = {f"C{each}": 1 for each in range(1, 16)}
    with transaction.atomic():
        sheet = sheets.objects.select_for_update(of=("self",)).get(place=number)
        sheet.points, sheet.total, sheet.state = points, 15.0, "submitted"
        sheet.submitted_at = timezone.now()
        sheet.save()
        sheet.events.create(content=points)
        made = sheets.objects.create(
            round=1, rater=number % 50, answer=number, place=number + 1, slot=number + 1
        )
        sheets.objects.get(pk=made.pk)


def fill(sheets: Any, rows: int) -> None:
    """Create submitted sheets of another round for reading."""
    from django.db import transaction

    with transaction.atomic():
        for number in range(rows):
            sheets(round=2, rater=number % 50, answer=number, state="submitted", total=12.0).save(
                force_insert=True
            )


def measure(name: str, count: int, rows: int) -> list[str]:
    """Return a row of the table for each layout."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    made = layouts()
    with connection.schema_editor() as editor:
        for _sheets, tables in made.values():
            for table in tables:
                editor.create_model(table)
    times: dict[str, list[float]] = {each: [] for each in made}
    queries = {}
    for each, (sheets, _tables) in made.items():
        sheets.objects.create(round=1, rater=0, answer=0, place=0, slot=0)
        with CaptureQueriesContext(connection) as found:
            submit(sheets, 0)
        queries[each] = sum("SAVEPOINT" not in row["sql"] for row in found.captured_queries)
    for start in range(1, count, BATCH):
        for each, (sheets, _tables) in made.items():
            for number in range(start, start + BATCH):
                began = time.perf_counter()
                submit(sheets, number)
                times[each].append(time.perf_counter() - began)
    lines = []
    for each, (sheets, _tables) in made.items():
        fill(sheets, rows)
        wanted = sheets.objects.filter(round=2, state="submitted")
        reads = []
        for _turn in range(3):
            began = time.perf_counter()
            list(wanted.values_list("rater", "state", "total"))
            reads.append(time.perf_counter() - began)
        taken = sorted(times[each])
        lines.append(
            f"{name:10}  {each:22} {queries[each]:7} {len(taken) / sum(taken):10.0f} "
            f"{taken[int(len(taken) * 0.95)] * 1000:7.1f} {min(reads) * 1000:8.0f}"
        )
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sheets", type=int, default=2_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--database", default="")
    args = parser.parse_args()
    if not args.database:
        print(HEAD, flush=True)
        run(args, "SQLite", f"sqlite:///{Path(tempfile.mkdtemp()) / 'bench.sqlite3'}")
        if postgres_answers():
            with postgres_database() as url:
                run(args, "PostgreSQL", url)
        return
    import django

    django.setup()
    for line in measure(args.database, args.sheets, args.rows):
        print(line, flush=True)


def run(args: argparse.Namespace, name: str, url: str) -> None:
    """Measure in a separate process, because settings are read only once."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "benchmarks.round_tables", "--database", name]
    command += ["--sheets", str(args.sheets), "--rows", str(args.rows)]
    env = os.environ | {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "cqa_site.settings"}
    subprocess.run(command, env=env, check=True)


if __name__ == "__main__":
    main()
