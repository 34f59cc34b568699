"""Submits per second over real HTTP: login, page, and submit-and-next requests, for any task.

    python -m benchmarks.label_throughput [--kind label score] [--seconds 15] [--items 3000]

Each block of rows starts a fresh site with the production web server; N people, each with their
own session, work from one client process. ``submit`` is the POST that stores a response and
chooses the next item. ``next`` is the time until that item is available: labels arrive with the
response, and so does the page of the next sheet; an editing page has its own request. ``queries``
is the mean number per submit. ``think`` is a person's mean pause before each submit. Rows with 0
measure the capacity of the site (p95 is then about N divided by submits/s); rows with pauses
measure how long a person waits: a sentence takes under a second, an answer at least five. Client,
server and database share the machine's cores, so the figures are a lower bound.
"""

import argparse
import os
import statistics
import threading
import time

from benchmarks.databases import postgres_answers, postgres_database
from benchmarks.http_annotator import FORMS, Acknowledged, Annotator, SheetWorker
from benchmarks.label_round_server import PASSWORD, LabelRoundServer

HEAD = (
    "kind    database    items  processes  people  think s  submits      /s  queries"
    "  submit p50  p95 ms  next p50  p95 ms  longest ms  server MiB  load"
)
KINDS = ("label", *FORMS)
SENTENCE_SECONDS, SHEET_SECONDS = 0.7, 5.0
CONTROLS = 200
# The site's limit for one address.
SIGN_INS_A_MINUTE = 110


def sign_in(server: LabelRoundServer, count: int) -> list[Annotator]:
    """Sign everybody in once on the login page."""
    where = (server.port, server.work)
    people: list[Annotator] = [
        SheetWorker(*where, seed=n, kind=server.kind)
        if server.kind in FORMS
        else Annotator(*where, seed=n)
        for n in range(count)
    ]
    for number, person in enumerate(people):
        if number and number % SIGN_INS_A_MINUTE == 0:
            time.sleep(60)
        person.sign_in(f"a{number}@bench.example", PASSWORD)
        person.request("GET", person.base)
    return people


def measure(
    server: LabelRoundServer, people: list[Annotator], seconds: float, think: float
) -> str:
    """Let the people work for a while; return one row of the table."""
    for person in people:
        person.acknowledged = Acknowledged()
    deadline = time.monotonic() + seconds
    threads = [
        threading.Thread(target=person.label_until_done, args=(deadline, think))
        for person in people
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall = time.monotonic() - started
    done = [person.acknowledged for person in people]
    submits = sorted(second for each in done for second in each.seconds)
    until_next = sorted(second for each in done for second in each.until_next)
    queries = statistics.mean(number for each in done for number in each.queries)
    cells = (
        f"{server.kind:6}",
        f"{'PostgreSQL' if server.database_url else 'SQLite':10}",
        f"{server.items:6}",
        f"{server.workers:10}",
        f"{len(people):7}",
        f"{think:8.1f}",
        f"{len(submits):8}",
        f"{len(submits) / wall:7.1f}",
        f"{queries:8.1f}",
        *(f"{value:10.1f} {p95:8.1f}" for value, p95 in map(_p50_p95, (submits, until_next))),
        f"{submits[-1] * 1000:11.1f}",
        f"{server.resident_mib():11.0f}",
        f"{os.getloadavg()[0]:6.1f}",
    )
    return " ".join(cells)


def _p50_p95(seconds: list[float]) -> tuple[float, float]:
    """Return median and 95th percentile of sorted seconds, in milliseconds."""
    return statistics.median(seconds) * 1000, seconds[int(len(seconds) * 0.95)] * 1000


def run(kind: str, database_url: str, items: int, options: argparse.Namespace) -> None:
    """Print rows for each number of web processes and people on one prepared round."""
    server = LabelRoundServer(
        kind=kind,
        settings="benchmarks.counted_settings",
        database_url=database_url,
        people=max(options.annotators),
        items=items,
        controls=CONTROLS,
    )
    paced = SHEET_SECONDS if kind in FORMS else SENTENCE_SECONDS
    try:
        server.prepare()
        for server.workers in options.processes:
            server.start()
            people = sign_in(server, max(options.annotators))
            for count in options.annotators:
                for think in options.think or (0.0, paced):
                    print(measure(server, people[:count], options.seconds, think), flush=True)
            server.kill()
    finally:
        server.remove()


def main() -> None:
    """Run all selected combinations that the machine supports."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=["label"])
    parser.add_argument("--seconds", type=float, default=15)
    # Only label rounds support 100,000; by default, each kind has its own numbers.
    parser.add_argument("--items", type=int, nargs="*")
    parser.add_argument("--annotators", type=int, nargs="*", default=[1, 8, 50])
    parser.add_argument("--processes", type=int, nargs="*", default=[2])
    parser.add_argument("--think", type=float, nargs="*")
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    print(HEAD)
    for kind in options.kind:
        for items in options.items or ([3_000, 100_000] if kind == "label" else [3_000]):
            if "sqlite" in options.databases:
                run(kind, "", items, options)
            if "postgresql" in options.databases and postgres_answers():
                with postgres_database() as url:
                    run(kind, url, items, options)


if __name__ == "__main__":
    main()
