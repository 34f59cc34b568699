"""Many annotators over HTTP at once, with the web server killed on the way.

Every acknowledged label must be in the database exactly once, no item may
have more or fewer counted votes than asked for, and nobody votes twice.
"""

import threading
import time
from collections import Counter
from functools import partial

import psycopg
import pytest

from benchmarks.databases import postgres_database
from benchmarks.http_annotator import Annotator
from benchmarks.label_round_server import PASSWORD, LabelRoundServer
from tests.faults.fault_site import SETTINGS

SECONDS = 240
site = partial(LabelRoundServer, settings=SETTINGS)
COUNTED = """
    SELECT i.id, count(a.id) FROM annotation_item i
    LEFT JOIN annotation_assignment a
      ON a.item_id = i.id AND a.state = 'answered' AND a.slot_id IS NOT NULL
    WHERE i.control_label IS NULL GROUP BY i.id
"""
TWICE = """
    SELECT item_id, rater_id FROM annotation_assignment
    WHERE state <> 'void' GROUP BY item_id, rater_id HAVING count(*) > 1
"""
LABELS = "SELECT public_id, label FROM annotation_assignment WHERE state = 'answered'"
EVENTS = """
    SELECT a.public_id, count(e.id) FROM annotation_assignment a
    JOIN annotation_voteevent e ON e.assignment_id = a.id GROUP BY a.public_id
"""


def annotators(server: LabelRoundServer, count: int) -> list[Annotator]:
    people = [Annotator(server.port, server.work, seed=n) for n in range(count)]
    for number, person in enumerate(people):
        person.sign_in(f"a{number}@bench.example", PASSWORD)
    return people


def label_everything(server: LabelRoundServer, people: list[Annotator], kills: int) -> list[str]:
    """Run everybody to the end; kill and restart the server ``kills`` times on the way."""
    ends: list[str] = []
    deadline = time.monotonic() + SECONDS
    threads = [
        threading.Thread(target=lambda p=person: ends.append(p.label_until_done(deadline)))
        for person in people
    ]
    for thread in threads:
        thread.start()
    for number in range(kills):
        wait_for(people, share=(number + 1) / (kills + 2), total=server.items * server.votes)
        server.kill()
        server.start()
    for thread in threads:
        thread.join()
    return ends


def wait_for(people: list[Annotator], share: float, total: int) -> None:
    """Return once that share of the votes was acknowledged, or everything stands still."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if sum(len(person.acknowledged.labels) for person in people) >= share * total:
            return
        time.sleep(0.05)


def query(server: LabelRoundServer, sql: str) -> list[tuple]:
    if server.database_url:
        with psycopg.connect(server.database_url) as connection:
            return connection.execute(sql).fetchall()
    import sqlite3

    with sqlite3.connect(server.folder / "site.sqlite3") as connection:
        return connection.execute(sql).fetchall()


def check(server: LabelRoundServer, people: list[Annotator], ends: list[str]) -> None:
    assert Counter(ends) == {"finished": len(people)}
    counted = dict(query(server, COUNTED))
    assert set(counted.values()) == {server.votes}, "an item has too many or too few votes"
    assert query(server, TWICE) == [], "somebody voted twice on an item"
    stored = {str(key).replace("-", ""): label for key, label in query(server, LABELS)}
    confirmed: dict[str, int] = {}
    for person in people:
        confirmed |= person.acknowledged.labels
    lost = {
        key: label for key, label in confirmed.items() if stored.get(key.replace("-", "")) != label
    }
    assert lost == {}, "acknowledged labels are missing or differ"
    assert set(dict(query(server, EVENTS)).values()) == {1}, "an answer was stored twice"
    assert "Every invariant holds" in server.python("manage.py", "check_integrity")


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.parametrize(
    ("people", "items", "kills"), [(8, 20, 1), pytest.param(50, 400, 3, marks=pytest.mark.long)]
)
def test_annotators_on_postgresql_with_kills(people, items, kills, migrated):
    with postgres_database(migrated) as url:
        server = site(database_url=url, people=people, items=items, controls=items // 10)
        race(server, people, kills)


@pytest.mark.parametrize(
    ("items", "kills"), [(20, 1), pytest.param(120, 3, marks=pytest.mark.long)]
)
def test_eight_annotators_on_sqlite_with_kills(items, kills):
    race(site(people=8, items=items, controls=items // 2, workers=1), 8, kills)


def race(server: LabelRoundServer, count: int, kills: int) -> None:
    try:
        server.prepare()
        server.start()
        people = annotators(server, count)
        check(server, people, label_everything(server, people, kills))
    finally:
        server.remove()
