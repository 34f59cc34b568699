"""Drill from compose.yaml and an empty database: labels, judging, kills, stops and restarts.

    python -m benchmarks.containers [--people 20] [--items 1000] [--kills 10] [--downs 3]

A longer version of `tests/faults/test_containers.py`, in which the migration service creates the
tables. Needs PostgreSQL and Redis on this machine.
"""

import argparse
import time

from benchmarks.databases import postgres_database
from benchmarks.label_round_server import free_port

VOTES = 2


def main() -> None:
    """Run the drill and print its result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--downs", type=int, default=3)
    options = parser.parse_args()
    with postgres_database() as url:
        drill(url, options)


def drill(url: str, options: argparse.Namespace) -> None:
    """Run everything on one database; any loss or duplicate fails an assertion."""
    from tests.faults.composed_site import ComposedSite, live_through
    from tests.faults.nursery import Nursery
    from tests.faults.test_label_race import check

    site = ComposedSite(
        database_url=url,
        stub_port=free_port(),
        people=options.people,
        items=options.items,
        controls=options.items // 10,
        votes=VOTES,
    )
    try:
        started = time.monotonic()
        site.composed.up(workers=2)
        print(f"up from an empty database: {time.monotonic() - started:.1f} s")
        with Nursery(site.environment) as site.nursery:
            site.fill()
            lived = live_through(site, kills=options.kills, downs=options.downs)
            check(site, lived.people, lived.ends)
            assert site.lost() <= lived.in_flight
    finally:
        site.remove()
    labels = sum(len(person.acknowledged.labels) for person in lived.people)
    retries = sum(person.acknowledged.retries for person in lived.people)
    slowest = max(max(each.values()) for each in lived.asked)
    print(f"{options.kills} workers killed, {options.downs} times down and up")
    print(f"labels: {labels} acknowledged, all there; {retries} submits sent again")
    print(f"calls: {lived.facts['planned']} planned and ended, {lived.facts['attempts']} sent,")
    print(f"  {len(lived.in_flight)} of them were with workers when these were killed")
    print(f"ended within {slowest:.1f} s of being asked")


if __name__ == "__main__":
    main()
