"""Seconds and peak memory of importing comments, and of the pages that list them.

    python benchmarks/comment_imports.py
    python benchmarks/comment_imports.py --comments 10000

The comments are invented, of one column, in a database made for the run. The dry run, the import,
the same file again and a file of a tenth more run in processes of their own; memory is the peak of
the process, growth what it took above a loaded site.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STEPS = ("dry run", "import", "same again", "tenth more", "pages")
WHAT = (
    "the bus",
    "the tram",
    "the ticket app",
    "the driver",
    "the night line",
    "the stop",
    "a seat",
)
HOW = ("late", "too loud", "friendly", "dear", "clean", "crowded", "slow", "on time", "confusing")
WHEN = (
    "every day",
    "on Mondays",
    "at night",
    "since last year",
    "when it rains",
    "in the morning",
)


def start(folder: str) -> None:
    """Load the site with its data in ``folder``."""
    os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "cqa_site.settings"}
    os.environ |= {"LOG_LEVEL": "ERROR", "JOBS_INLINE": "true", "STATIC_ROOT": f"{folder}/static"}
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()


def write(path: Path, comments: int, words: int) -> None:
    """Comments of one to three sentences, most of them different; some say nothing."""
    draw = random.Random(1)
    with path.open("w") as file:
        file.write("comment\n")
        for number in range(comments):
            sentences = [
                f"{draw.choice(WHAT).capitalize()} number {draw.randrange(words)} is "
                f"{draw.choice(HOW)} {draw.choice(WHEN)}, and nobody tells me why."
                for _each in range(draw.choice((1, 1, 2, 3)))
            ]
            text = "n/a" if number % 50 == 0 else " ".join(sentences)
            file.write(f'"{text}"\n')


def prepare(folder: str, comments: int) -> None:
    """A database with a study, and both files."""
    start(folder)
    from django.core.management import call_command

    call_command("migrate", verbosity=0, run_syncdb=True)
    call_command("collectstatic", verbosity=0, interactive=False)
    from cqa_site.people.models import Study

    Study.objects.create(name="Benchmark")
    write(Path(folder) / "comments.csv", comments, comments)
    write(Path(folder) / "more.csv", comments + comments // 10, comments)


def peak() -> float:
    """Largest resident memory so far, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(folder: str, step: str) -> None:
    """One line of the table."""
    start(folder)
    if step == "pages":
        pages()
        return
    from argsum.datasets.models import CellArgument, Comment, CommentStatement
    from cqa_site.files.actions.reading import import_path
    from cqa_site.people.models import Study

    path = Path(folder) / ("more.csv" if step == "tenth more" else "comments.csv")
    before = peak()
    started, worked = time.perf_counter(), time.process_time()
    outcome = import_path(
        study=Study.objects.get(),
        kind="comments",
        path=path,
        name=path.name,
        options={"dataset": "Benchmark", "topic": "What do you think of the bus?"},
        write=step != "dry run",
    )
    seconds, work = time.perf_counter() - started, time.process_time() - worked
    rows = [model.objects.count() for model in (Comment, CommentStatement, CellArgument)]
    print(
        f"{step:<12}{outcome.counts['comments']['new']:>10,}{seconds:>9.1f}{work:>9.1f}{peak():>9.0f}"
        f"{peak() - before:>9.0f}" + "".join(f"{number:>12,}" for number in rows),
        flush=True,
    )


def pages() -> None:
    """Milliseconds and kilobytes of the lists, warm."""
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    from argsum.datasets.models import Cell
    from cqa_site.people.models import Membership, Study, User

    settings.ALLOWED_HOSTS = ["*"]
    study, cell = Study.objects.get(), Cell.objects.get()
    user = User.objects.create_user("benchmark@example.org", "a long password")
    Membership.objects.create(study=study, user=user, role="researcher")
    client = Client()
    client.force_login(user)
    asked = {
        "dataset": reverse("dataset", args=[study.public_id, cell.dataset.public_id]),
        "statements": reverse("cell", args=[study.public_id, cell.public_id]),
        "comments": reverse("cell_comments", args=[study.public_id, cell.public_id]),
    }
    last = f"{asked['comments']}?page=2000"
    asked |= {"last page": last, "search": f"{asked['comments']}?q=on+Mondays"}
    print(f"\n{'page':<12}{'ms':>8}{'kB':>8}")
    for name, url in asked.items():
        client.get(url)
        started = time.perf_counter()
        reply = client.get(url)
        took = time.perf_counter() - started
        assert reply.status_code == 200, (name, reply.status_code)
        print(f"{name:<12}{1000 * took:>8.0f}{len(reply.content) / 1000:>8.0f}", flush=True)


def main() -> None:
    """Every step in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--comments", type=int, default=100_000)
    parser.add_argument("--one", nargs=2, metavar=("FOLDER", "STEP"))
    asked = parser.parse_args()
    if asked.one:
        measure(*asked.one)
        return
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, asked.comments)
        print(
            f"{'step':<12}{'new':>10}{'seconds':>9}{'CPU s':>9}{'MB':>9}{'growth':>9}"
            f"{'comments':>12}{'statements':>12}{'different':>12}",
            flush=True,
        )
        for step in STEPS:
            command = [sys.executable, __file__, "--one", folder, step]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
