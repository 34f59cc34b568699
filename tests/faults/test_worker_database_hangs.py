"""A worker whose PostgreSQL accepts connections and answers nothing, in the midst of its work."""

import time
from urllib.parse import urlsplit

import pytest

from tests.faults.fault_site import wait_until
from tests.faults.nursery import Nursery, lives
from tests.faults.test_database_away import Proxy

pytestmark = pytest.mark.long
ROWS = 2_000
LEASE = 6
STALL = 30
IMPORT = """
import sys
import django
django.setup()
from cqa_site.files.actions.files import request_apply, store_upload
from cqa_site.files.actions.import_jobs import check_import
from cqa_site.people.models import Study, User
study, actor = Study.objects.get(), User.objects.get(email="boss@bench.example")
name, rows = sys.argv[1], int(sys.argv[2])
lines = [f"Topic of {name},Reason {number} of {name}.,1" for number in range(rows)]
file = store_upload(
    study=study, kind="argument_list", name=f"{name}.csv", actor=actor,
    chunks=["\\n".join(["topic,argument,stance", *lines]).encode()],
    options={"dataset": f"List {name}"},
)
check_import(import_file=file)
file.refresh_from_db()
request_apply(import_file=file, leave_out_rejected=False, update_changed=False, actor=actor)
"""
# The same server goes on, also on the connections that there were; or another one answers, and
# nobody ever on those.
WAYS = {"goes-on": lambda proxy: proxy.set("carry"), "is-replaced": Proxy.lose}


@pytest.fixture
def behind_proxy(postgres_site):
    """The site, a proxy before its database, and a nursery of workers behind that."""
    site = postgres_site
    parts = urlsplit(site.database_url)
    proxy = Proxy(parts.hostname, parts.port or 5432)
    through = parts._replace(netloc=f"{parts.username}@127.0.0.1:{proxy.port}").geturl()
    variables = {
        "DATABASE_URL": through,
        "JOB_LEASE_SECONDS": str(LEASE),
        "CALL_LEASE_SECONDS": str(LEASE),
        "SWEEP_SECONDS": "2",
    }
    with Nursery(site.environment, **variables) as nursery:
        yield site, proxy, nursery
    proxy.close()
    # So that the jobs can be deleted.
    site.sql("UPDATE files_importfile SET job_id = NULL")


def start(nursery: Nursery, kind: str) -> int:
    return nursery.celery("stalled") if kind == "celery" else nursery.work()


def jobs(site) -> list[tuple]:
    return site.sql("SELECT state, fence, losses, error FROM runs_job ORDER BY id")


def imported(site, name: str) -> int:
    """Arguments of an import, each of them once."""
    ends = f"WHERE text LIKE '% of {name}.'"
    rows = site.sql(f"SELECT count(*), count(DISTINCT text) FROM argsum_cellargument {ends}")
    assert rows[0][0] == rows[0][1]
    return rows[0][0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["celery", "work"])
def test_an_import_is_done_once_when_the_database_answers_again(behind_proxy, kind, way):
    site, proxy, nursery = behind_proxy
    name = f"{kind}-{way}"
    proxy.trap = b'INSERT INTO "argsum_cellargument"'
    worker = start(nursery, kind)
    site.python("-c", IMPORT, name, str(ROWS))
    wait_until(lambda: proxy.mode == "hang", 60, lambda: jobs(site))
    time.sleep(STALL)
    assert lives(worker)
    assert [state for state, *_rest in jobs(site)] == ["leased"]
    WAYS[way](proxy)
    answered = time.monotonic()
    wait_until(lambda: jobs(site)[0][0] != "leased", 60, lambda: jobs(site))
    print(f"{name}: ended {time.monotonic() - answered:.1f} s after the answer, {jobs(site)}")
    # Done again by the same worker, after a single loss.
    assert jobs(site) == [("done", 2, 1, "")]
    assert imported(site, name) == ROWS
    site.python("-c", IMPORT, f"{name}-2", "10")
    wait_until(lambda: jobs(site)[1][0] == "done", 30, lambda: jobs(site))
    assert lives(worker)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["celery", "work"])
def test_a_run_keeps_what_came_back_meanwhile(behind_proxy, kind, way):
    """Replies wait in memory: each is stored, and no request leaves or is paid for twice."""
    site, proxy, nursery = behind_proxy
    with site.stub(latency=0.1) as stub:
        run = site.begin(stub, sample=300)
        worker = start(nursery, kind)
        wait_until(lambda: site.ended() > 20, 60, every=0.01)
        proxy.set("hang")
        time.sleep(STALL)
        assert lives(worker)
        assert site.state_of(run) == "running"
        answered = stub.counts["answered"]
        assert site.ended() < answered < 300
        WAYS[way](proxy)
        again = time.monotonic()
        site.wait(run, 60)
        print(f"{kind}-{way}: ended {time.monotonic() - again:.1f} s after the answer")
        assert lives(worker)
        assert stub.counts["answered"] == 300
    site.check(run, kept=300)


def test_another_worker_takes_over_what_a_stalled_one_holds(behind_proxy):
    """Only one worker's way to the database is silent; what it brings later changes nothing."""
    site, proxy, nursery = behind_proxy
    with site.stub(latency=0.1) as stub:
        run = site.begin(stub, sample=300)
        stalled = start(nursery, "work")
        wait_until(lambda: site.ended() > 20, 60, every=0.01)
        proxy.set("hang")
        began = time.monotonic()
        other = site.nursery.work()
        site.wait(run, 90)
        print(f"taken over and ended {time.monotonic() - began:.1f} s after the stall began")
        proxy.set("carry")
        time.sleep(5)
        assert lives(stalled)
        assert lives(other)
    site.check(run, kept=300)
