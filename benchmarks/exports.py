"""Time, file size and memory growth of each export of 100,000 votes.

    python benchmarks/exports.py
    python benchmarks/exports.py --votes 20000

The votes are invented; their packed table is stored directly in a snapshot, in a database
created for the run. Each format runs in its own process. Growth is the increase in that process's
peak resident memory since the export began.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMATS = ("csv", "jsonl", "xlsx", "parquet")
CONTENTS = ("votes", "annotators", "crowdkit")


def start(folder: str) -> None:
    """Load the site with its data in ``folder``."""
    os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "cqa_site.settings"}
    os.environ |= {"LOG_LEVEL": "ERROR", "JOBS_INLINE": "true"}
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()


def lines_of(votes: int, items: int):
    """Yield rows of a snapshot's table, with sentences of about 120 characters."""
    from annotation.figures.reports.snapshots import COLUMNS

    yield ",".join(COLUMNS) + "\r\n"
    sentence = (
        "Invented sentence {0}: tea keeps longer than coffee, and in point {0} it is cheaper."
    )
    for n in range(votes):
        item, rater = n % items, n // items * 37 + n % 211
        yield (
            f'item-{item},tea,coffee,"{sentence.format(item)} It says so twice, {item}.",,,'
            f"rater-{rater % 400:032d},person,{n % 4},answered,false,false,"
            f"2024-02-03T04:{n // 60 % 60:02d}:{n % 60:02d}.000123Z,{1000 + n % 5000},,false,,"
            f"{n // 5 % 9},{n % 5}\r\n"
        )


def prepare(folder: str, votes: int) -> None:
    start(folder)
    from django.core.management import call_command

    call_command("migrate", verbosity=0, run_syncdb=True)
    from annotation.figures.models import Snapshot
    from annotation.labelling.actions.rounds import default_guideline
    from annotation.labelling.models import LabelRound
    from cqa_site.people.models import Study
    from cqa_site.results.models import pack

    study = Study.objects.create(name="Benchmark")
    label_round = LabelRound.objects.create(
        study=study, name="Benchmark", guideline=default_guideline(study)
    )
    packed, sha256 = pack(line.encode() for line in lines_of(votes, max(1, votes // 3)))
    from django.utils import timezone

    now = timezone.now()
    Snapshot.objects.create(
        label_round=label_round,
        number=1,
        rows=packed,
        sha256=sha256,
        computed_at=now,
        frozen_at=now,
    )


def peak() -> float:
    """Return the peak resident memory so far, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(folder: str, content: str, format: str) -> None:
    start(folder)
    from annotation.exports.actions import request_exports
    from annotation.exports.models import ExportFile
    from annotation.figures.models import Snapshot
    from cqa_site.files.actions.exports import ExportOptions
    from cqa_site.people.models import User

    snapshot = Snapshot.objects.defer("rows").select_related("label_round__study").get()
    actor, _created = User.objects.get_or_create(email="benchmark@example.org")
    Path("/proc/self/clear_refs").write_text("5")  # Forget the memory peak of loading the site.
    before = peak()
    started = time.perf_counter()
    request_exports(
        label_round=snapshot.label_round,
        snapshot=snapshot,
        contents=[content],
        format=format,
        options=ExportOptions(with_comments=True),
        actor=actor,
    )
    seconds = time.perf_counter() - started
    grown = peak() - before
    file = ExportFile.objects.latest("pk")
    print(
        f"{content:<11}{format:<9}{file.rows:>9,}{seconds:>9.1f}"
        f"{file.size / 2**20:>9.1f}{grown:>9.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--votes", type=int, default=100_000)
    parser.add_argument("--one", nargs=3, metavar=("FOLDER", "CONTENT", "FORMAT"))
    asked = parser.parse_args()
    if asked.one:
        measure(*asked.one)
        return
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, asked.votes)
        print(f"{'content':<11}{'format':<9}{'rows':>9}{'seconds':>9}{'MB':>9}{'grown MB':>9}")
        for content in CONTENTS:
            for format in FORMATS:
                command = [sys.executable, __file__, "--one", folder, content, format]
                subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
