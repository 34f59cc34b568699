"""Jobs as rows: asking for work, and whose job is claimed next."""

from datetime import timedelta
from unittest import mock

import pytest
from django.db import IntegrityError, OperationalError, connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from cqa_site.people.models import User
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from tests.cast import make_study

pytestmark = pytest.mark.django_db


def test_asking_again_gives_the_active_job_also_if_it_ends_meanwhile(monkeypatch):
    study = make_study()
    first = jobs.enqueue(study=study, kind="test", key="a")
    assert jobs.enqueue(study=study, kind="test", key="a") == first
    Job.objects.update(state="done")
    create, refusals = Job.objects.create, iter([IntegrityError()])

    def ended_meanwhile(**fields):
        """The insert meets the active job, which is done before it can be read."""
        if refusal := next(refusals, None):
            raise refusal
        return create(**fields)

    monkeypatch.setattr(Job.objects, "create", ended_meanwhile)
    again = jobs.enqueue(study=study, kind="test", key="a")
    assert (again != first, again.state) == (True, "ready")


def test_a_job_that_kills_its_workers_fails_and_the_next_one_is_taken():
    study = make_study()
    poison, other = (jobs.enqueue(study=study, kind="test", key=key) for key in "ab")
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(pk=poison.pk).update(
        state="leased", losses=jobs.MAX_LOSSES, lease_until=past
    )
    assert jobs.claim() == other
    poison.refresh_from_db()
    assert (poison.state, poison.finished_at is None) == ("failed", False)


@pytest.mark.parametrize(
    ("error", "state"), [(OperationalError("no answer"), "leased"), (ValueError(), "failed")]
)
def test_a_job_whose_database_went_away_is_left_to_the_next_worker(monkeypatch, error, state):
    monkeypatch.setitem(jobs.HANDLERS, "test", mock.Mock(side_effect=error))
    job = jobs.enqueue(study=make_study(), kind="test", key="a")
    jobs.run(jobs.claim())
    job.refresh_from_db()
    assert job.state == state


@pytest.mark.skipif(connection.vendor != "postgresql", reason="what is asked of PostgreSQL")
def test_reading_in_blocks_is_planned_for_all_rows_and_a_lost_server_is_noticed():
    with connection.cursor() as cursor:
        for name, value in (("cursor_tuple_fraction", "1"), ("tcp_keepalives_idle", "30")):
            cursor.execute(f"SHOW {name}")
            assert cursor.fetchone()[0] == value, name
    assert connection.connection.info.get_parameters()["keepalives_idle"] == "30"


BACKLOG = 1_500


@pytest.fixture(autouse=True)
def kinds(monkeypatch):
    """A quick kind and a long one."""
    monkeypatch.setattr(jobs, "HANDLERS", {})
    monkeypatch.setattr(jobs, "WEIGHTS", {})
    jobs.handles("quick")(lambda work: None)
    jobs.handles("long", is_long=True)(lambda work: None)


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def ask(study):
    """Ask for jobs: "a3 B1" are three quick ones of a person and a long one of another.

    "-" is the site itself.
    """
    asked = {}

    def ask(words):
        for word in words.split():
            name, kind = word[0].lower().strip("-"), "long" if word[0].isupper() else "quick"
            actor = name and User.objects.get_or_create(email=f"{name}@test.example")[0]
            for _ in range(int(word[1:])):
                asked[name] = asked.get(name, 0) + 1
                key = f"{name}{asked[name]}"
                jobs.enqueue(study=study, kind=kind, key=key, actor=actor or None)

    return ask


# What is asked for and what is claimed then, in turn; a number of claims whose order is no matter.
TURNS = {
    "people take turns however many jobs each has": ["a6 b2 c1", "a1 b1 c1 a2 b2 a3 a4 a5 a6"],
    "somebody new does not wait for what others asked before": [
        *("a20", 10, "b2", "b1 a11 b2", "-1", "1 a12")
    ],
    "an empty queue gives nobody credit for turns that others had": [
        *("b1 a10", 11, "b3 a2", "b2 b3 a11 b4 a12")
    ],
    "quick jobs go first, also before long ones of their own person": [
        *("A3 B2", "a1", "b3 c2", "b3 c1 b4 c2 b5 b1 a2 b2 a3")
    ],
}


def claimed(count=1, state="done"):
    """Claim and end jobs; return their keys in that order, without the kind."""
    keys = []
    for _ in range(count):
        job = jobs.claim()
        Job.objects.filter(pk=job.pk).update(state=state, lease_until=None)
        keys.append(job.key.partition(":")[2])
    return keys


@pytest.mark.parametrize("name", TURNS)
def test_whose_job_is_next(ask, name):
    steps = iter(TURNS[name])
    for asked, wanted in zip(steps, steps, strict=True):
        ask(asked)
        if isinstance(wanted, int):
            claimed(wanted)
        else:
            assert claimed(len(wanted.split())) == wanted.split()


def test_nobody_starves_while_others_ask_for_one_after_another(ask):
    ask("a10 b1 c1 d1")
    keys = []
    for _ in range(20):
        keys += claimed()
        if keys[-1][0] != "a":
            ask(f"{keys[-1][0]}1")
    assert len([key for key in keys if key[0] == "a"]) == 5


@pytest.mark.parametrize("state", ["done", "failed"])
def test_how_jobs_end_changes_no_turn(ask, state):
    ask("a4")
    Job.objects.filter(key="quick:a4").update(state="failed")
    claimed(2, state)
    ask("b1")
    assert claimed(2) == ["b1", "a3"]


def test_long_jobs_have_their_turn_while_quick_ones_keep_coming(ask):
    ask(f"A2 b{3 * Job.LONG}")
    keys = claimed(3 * Job.LONG)
    assert [keys.index("a1"), keys.index("a2")] == [Job.LONG - 1, 2 * Job.LONG]


def test_a_job_that_waits_for_packages_keeps_nobody_waiting(ask):
    ask("a3")
    jobs._put_back(jobs.claim(), "3 of 13 packages")
    ask("b1")
    Job.objects.update(run_after=Now())
    assert claimed(4) == ["b1", "a2", "a3", "a1"]


def test_a_lost_job_comes_before_all_that_wait(ask):
    ask("a2")
    job = jobs.claim()
    ask("b1")
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert jobs.claim() == job
    assert claimed(2) == ["b1", "a2"]


def uses(queries, *indexes):
    """Whether the database reads jobs by these indexes."""
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    lines = []
    with connection.cursor() as cursor:
        for query in queries:
            if query["sql"].startswith("SELECT") and "runs_job" in query["sql"]:
                cursor.execute(f"{explain} {query['sql']}")
                lines += [str(row[-1]) for row in cursor.fetchall()]
    assert not [line for line in lines if "job_ready" in line]
    return all(any(index in line for line in lines) for index in indexes)


def test_a_long_queue_makes_neither_asking_nor_claiming_dearer(ask, study):
    """Also after as many jobs that ended."""
    ask("a1")
    person = Job.objects.get().created_by
    fields = {"study": study, "kind": "quick", "created_by": person, "weight": 1}
    for state, fence in (("done", 1), ("ready", 0)):
        places = range(BACKLOG * (1 - fence), BACKLOG * (2 - fence))
        Job.objects.bulk_create(
            Job(position=place, key=f"quick:x{place}", state=state, fence=fence, **fields)
            for place in places
        )
    # What a database does by itself from time to time.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_job")
    with CaptureQueriesContext(connection) as asking:
        ask("a1")
    assert uses(asking, "job_clock", "job_person")
    ask("b1")
    with CaptureQueriesContext(connection) as claiming:
        assert claimed(3) == ["a1", "b1", f"x{BACKLOG}"]
    assert uses(claiming, "job_next")
    assert len([query for query in claiming if "runs_job" in query["sql"]]) == 3 * 6
