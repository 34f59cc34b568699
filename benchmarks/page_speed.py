"""Server time, queries, and bytes of a first visit for every page.

    python -m benchmarks.page_speed
    python -m benchmarks.page_speed --votes 20000

The pages are those of the demo study and of a study with one of everything and this many votes,
as seen by each role that can reach them by links. They are requested through the whole site with
its middleware; times are the median of five requests after a first one, as wall-clock and
processor time. A first visit is the page with every style sheet, script, font and image that it
loads, compressed with gzip as the site sends it; over TLS, files are sent with Brotli, which is
smaller.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from benchmarks.page_walk import GZIP, Page, walk

REPEATS = 5
SHOWN = 10
RATERS, CONTROLS, VOTES_EACH = 60, 200, 3
# These are unlabelled, so that the labelling page has something to show.
UNTOUCHED = 300
BATCH = 5_000
# Limits: milliseconds, and bytes of a first visit.
SLOWEST = {"demo": 200, "votes": 400}
HEAVIEST, HEAVIEST_LABEL = 120_000, 45_000
HEAD = (
    f"{'page':<28}{'who':<12}{'ms':>7}{'CPU ms':>8}{'queries':>9}{'HTML kB':>9}"
    f"{'first visit kB':>16}"
)


@dataclass
class Row:
    """A page with its measurements."""

    page: Page
    ms: float
    cpu: float
    queries: int
    weight: int

    @property
    def is_heavy(self) -> bool:
        """Whether a first visit exceeds the limit."""
        return self.weight > heaviest(self.page.name)

    def __str__(self) -> str:
        page = self.page
        return (
            f"{page.name:<28}{page.who:<12}{self.ms:>7.0f}{self.cpu:>8.0f}{self.queries:>9}"
            f"{page.html / 1000:>9.1f}{self.weight / 1000:>16.1f}  {page.address}"
        )


def heaviest(name: str) -> int:
    """Return the maximum number of bytes of a first visit of a page."""
    return HEAVIEST_LABEL if name == "label" else HEAVIEST


def start(folder: str) -> None:
    """Load the site with its data and its static files in ``folder``."""
    os.environ |= {"DATA_DIR": folder, "STATIC_ROOT": f"{folder}/static", "JOBS_INLINE": "true"}
    os.environ |= {"LOG_LEVEL": "ERROR", "ALLOWED_HOSTS": "testserver"}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "benchmarks.counted_settings"}
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/benchmark.sqlite3"
    import django

    django.setup()


def load(client: Any, address: str) -> tuple[int, bytes]:
    """Return the size of a file as sent, and its content."""
    import gzip

    response = client.get(address, headers=GZIP)
    content = b"".join(response)
    packed = response.has_header("Content-Encoding")
    return len(content), gzip.decompress(content) if packed else content


def measured(who: str, client: Any, starts: list[str], without: set[str]) -> Iterator[Row]:
    """Yield a row for each page that a user can reach."""
    loaded = cache(partial(load, client))
    for page in walk(who, client, starts, without):
        walls, work = [], []
        for _turn in range(REPEATS):
            began, worked = time.perf_counter(), time.process_time()
            response = client.get(page.address, headers=GZIP)
            walls.append((time.perf_counter() - began) * 1000)
            work.append((time.process_time() - worked) * 1000)
        taken = statistics.median(walls), statistics.median(work)
        yield Row(page, *taken, int(response["X-Queries"]), page.weight(loaded))


def rows_of(people: dict[str, Any], starts: dict[str, list[str]]) -> list[Row]:
    """Return the rows of all users; for admins, only the pages that researchers do not see."""
    from django.test import Client

    from tests.cast import sign_in

    rows: list[Row] = []
    for who, person in people.items():
        client = sign_in(person) if person else Client()
        seen = {row.page.name for row in rows} - {"home", "study"}
        without = seen if who == "admin" else set()
        rows += measured(who, client, starts.get(who, ["/", "/accounts/login/"]), without)
    return rows


def demo_rows() -> list[Row]:
    """Return the rows of the demo study, whose pages are found by links alone."""
    from annotation.demo.actions import PEOPLE, build_demo
    from cqa_site.people.models import User

    build_demo()
    people = {str(role): User.objects.get(email=email) for email, role, _name in PEOPLE}
    order = ("researcher", "expert", "annotator", "admin")
    return rows_of({role: people[role] for role in order} | {"nobody": None}, {})


def vote_rows(votes: int) -> list[Row]:
    """Return the rows of a study with one of everything and many votes, starting at all URLs."""
    from django.urls import reverse

    from tests.everything import make_everything
    from tests.security.matrix import STUDY_ROUTES
    from tests.security.test_matrix import ROLES, World, parameters

    world = World(make_everything("Votes"))
    label_round = fill_votes(world, votes)
    large = {"study_id": world.study.public_id, "label_round_id": label_round.public_id}
    starts: dict[str, list[str]] = {}
    for letter in "read":
        names = [n for n, each in STUDY_ROUTES.items() if letter in each.roles and not each.post]
        here = [n for n in names if parameters(n) <= set(large)]
        starts[ROLES[letter]] = [
            *(reverse(n, kwargs={key: large[key] for key in parameters(n)}) for n in here),
            *(reverse(n, kwargs=world.kwargs(n)) for n in names),
        ]
    return rows_of({ROLES[each]: world.people[each] for each in "read"}, starts)


def fill_votes(world: Any, votes: int) -> Any:
    """Create an open round with this many votes, three per item, some on control items."""
    from annotation.consensus.actions.consensus import recompute_final_labels
    from annotation.figures.actions import LABEL_ROUNDS
    from annotation.labelling.models import LabelRound, Slot
    from benchmarks.made_rounds import label
    from cqa_site.people.models import Rater
    from cqa_site.results import snapshots
    from cqa_site.rounds.lifecycle import open_round
    from cqa_site.rounds.models import Place

    boss = world.people["r"]
    items = (votes - RATERS * CONTROLS) // VOTES_EACH + UNTOUCHED
    wanted = {"items": items, "controls": CONTROLS, "votes": VOTES_EACH}
    label_round = label(wanted, world.study, boss, [])
    open_round(round_=label_round, actor=boss)
    raters = Rater.objects.bulk_create(
        Rater(study=world.study, external_id=f"rater-{n}", name=f"Rater {n}")
        for n in range(RATERS)
    )
    Place.objects.bulk_create(Place(round=label_round, rater=each) for each in raters)
    store_votes(label_round, raters)
    done = Slot.objects.filter(round=label_round, assignment__isnull=False)
    done.update(state=Slot.State.DONE)
    recompute_final_labels(label_round)
    snapshots.refresh(LABEL_ROUNDS, label_round)
    return LabelRound.objects.get(pk=label_round.pk)


def store_votes(label_round: Any, raters: list[Any]) -> None:
    """Store votes with their events directly in the tables; most votes are right."""
    from datetime import timedelta

    from django.utils import timezone

    from annotation.labelling.models import Assignment, VoteEvent

    drawn, now = random.Random(1), timezone.now()

    def vote(n: int, item_id: int, rater: int, slot_id: int | None, known: int) -> Assignment:
        return Assignment(
            round=label_round,
            item_id=item_id,
            rater=raters[rater % RATERS],
            slot_id=slot_id,
            state=Assignment.State.ANSWERED,
            label=known if drawn.random() < 0.8 else drawn.randrange(4),
            block=n // RATERS // 5,
            position=n // RATERS % 5,
            served_at=now - timedelta(seconds=n + 20),
            answered_at=now - timedelta(seconds=n),
            active_ms=drawn.randrange(2_000, 20_000),
        )

    slots = label_round.slots.order_by("item_id", "number").values_list("item_id", "number", "pk")
    known = label_round.items.filter(control_label__isnull=False).values_list(
        "pk", "control_label"
    )
    wanted = [
        (item, item + number, pk, item % 4)
        for item, number, pk in slots[: len(slots) - UNTOUCHED * VOTES_EACH]
    ] + [(item, rater, None, right) for item, right in known for rater in range(RATERS)]
    made = Assignment.objects.bulk_create(
        (vote(n, *each) for n, each in enumerate(wanted)), batch_size=BATCH
    )
    VoteEvent.objects.bulk_create(
        (
            VoteEvent(
                assignment=row, client_key=str(row.public_id), kind="answer", label=row.label
            )
            for row in made
        ),
        batch_size=BATCH,
    )


def print_rows(title: str, limit: int, rows: list[Row]) -> None:
    """Print the slowest and heaviest pages, and all pages that exceed a limit."""
    times = [row.ms for row in rows]
    names = {row.page.name for row in rows}
    print(
        f"\n## {title}: {len(rows)} pages of {len(names)} addresses, "
        f"median {statistics.median(times):.0f} ms, "
        f"{statistics.median(row.weight for row in rows) / 1000:.0f} kB"
    )
    tables = {
        "slowest": sorted(rows, key=lambda row: -row.ms)[:SHOWN],
        "heaviest": sorted(rows, key=lambda row: -row.weight)[:SHOWN],
        "where people label": [row for row in rows if row.page.name == "label"],
        f"over {limit} ms": [row for row in rows if row.ms > limit],
        "over the limit of bytes": [row for row in rows if row.is_heavy],
    }
    for name, shown in tables.items():
        print(f"\n{name}: {'' if shown else 'none'}")
        if shown:
            print(HEAD, *shown, sep="\n", flush=True)


def main() -> None:
    """Fill a temporary site, visit its pages, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--votes", type=int, default=100_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start(folder)
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        call_command("createcachetable", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        print_rows("The demo study", SLOWEST["demo"], demo_rows())
        print_rows(f"{asked.votes:,} votes", SLOWEST["votes"], vote_rows(asked.votes))


if __name__ == "__main__":
    main()
