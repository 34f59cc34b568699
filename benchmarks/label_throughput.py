"""Labels per second over real HTTP: login, page, submit-and-next rounds.

    python -m benchmarks.label_throughput [--seconds 15] [--items 3000 100000]

Each block of rows starts a fresh site with the production web server; N
annotators, each with a session of its own, label from one client process. A
round is the POST that stores a label and returns the next items. ``think`` is
the mean pause of a person before each label; 0 asks how much the site can take
(then p95 is about N divided by labels/s), the paced rows ask how long a person
waits. Client, server and database share the machine's cores, so the figures
are a lower bound.
"""

import argparse
import statistics
import threading
import time

from benchmarks.campaign_server import PASSWORD, CampaignServer
from benchmarks.databases import postgres_answers, postgres_database
from benchmarks.http_annotator import Acknowledged, Annotator

HEAD = "database    items  annotators  think s  labels  labels/s  p50 ms  p95 ms  server MiB"
THINK_SECONDS = 0.7
CONTROLS = 200


def sign_in(server: CampaignServer, count: int) -> list[Annotator]:
    """Sign everybody in once, on the login page."""
    people = [Annotator(server.port, server.study, server.campaign, seed=n) for n in range(count)]
    for number, person in enumerate(people):
        person.sign_in(f"a{number}@bench.example", PASSWORD)
        person.request("GET", person.base)
    return people


def measure(server: CampaignServer, people: list[Annotator], seconds: float, think: float) -> str:
    """Let the annotators label for a while; return one row of the table."""
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
    rounds = sorted(second for person in people for second in person.acknowledged.seconds)
    p95 = rounds[int(len(rounds) * 0.95)]
    kind = "PostgreSQL" if server.database_url else "SQLite"
    cells = (
        f"{kind:10}",
        f"{server.items:6}",
        f"{len(people):11}",
        f"{think:8.1f}",
        f"{len(rounds):7}",
        f"{len(rounds) / wall:9.1f}",
        f"{statistics.median(rounds) * 1000:7.1f}",
        f"{p95 * 1000:7.1f}",
        f"{server.resident_mib():11.0f}",
    )
    return " ".join(cells)


def run(database_url: str, items: int, counts: list[int], seconds: float) -> None:
    """Print a row for each number of annotators on one prepared campaign."""
    server = CampaignServer(
        database_url=database_url, people=max(counts), items=items, controls=CONTROLS
    )
    try:
        server.prepare()
        server.start()
        people = sign_in(server, max(counts))
        for count in counts:
            for think in (0.0, THINK_SECONDS):
                print(measure(server, people[:count], seconds, think), flush=True)
    finally:
        server.remove()


def main() -> None:
    """Run every combination the machine can."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--items", type=int, nargs="*", default=[3_000, 100_000])
    parser.add_argument("--annotators", type=int, nargs="*", default=[1, 8, 50])
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    print(HEAD)
    for items in options.items:
        if "sqlite" in options.databases:
            run("", items, options.annotators, options.seconds)
        if "postgresql" in options.databases and postgres_answers():
            with postgres_database() as url:
                run(url, items, options.annotators, options.seconds)


if __name__ == "__main__":
    main()
