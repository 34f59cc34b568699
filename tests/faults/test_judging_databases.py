"""The database goes away, fills up, or its clock jumps, while a run is carried."""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from benchmarks.label_round_server import free_port
from tests.faults.conftest import prepared
from tests.faults.fault_site import FaultSite, wait_until
from tests.faults.nursery import HASTY, kill, lives

FULL = """
CREATE FUNCTION disk_is_full() RETURNS trigger AS $$
BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END
$$ LANGUAGE plpgsql;
CREATE TRIGGER full_disk BEFORE INSERT ON runs_reply EXECUTE FUNCTION disk_is_full();
"""
FREE = "DROP TRIGGER full_disk ON runs_reply; DROP FUNCTION disk_is_full();"
ENDLESS = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@pytest.mark.long
def test_a_clock_that_jumps_a_day_stops_nothing(site):
    """Every lease and every waiting time a day off, again and again, and the holder dead."""
    with site.stub(latency=0.05, broken=0.1) as stub:
        run = site.begin(stub, sample=300)
        for number in range(6):
            wanted = stub.counts["requests"] + 15
            worker = site.nursery.work(after=HASTY)
            wait_until(lambda n=wanted: stub.counts["requests"] >= n, 30, every=0.02)
            kill(worker)
            jump(site, "+1" if number % 2 else "-1")
        site.nursery.work(after=HASTY)
        wait_until(
            lambda: jump(site, "+1") or stub.counts["requests"] > wanted + 30, 30, every=0.5
        )
        site.wait(run, 60)
        assert stub.counts["broken"]
    site.check(run)


def jump(site: FaultSite, days: str) -> None:
    """What a jump of the clock leaves behind: times that are a day off."""
    for state, field in (("leased", "lease_until"), ("ready", "run_after")):
        moved = f"{field} + interval '{days} day'"
        if not site.is_postgres:
            moved = f"datetime({field}, '{days} day')"
        site.sql(f"UPDATE runs_call SET {field} = {moved} WHERE state = '{state}'")


def test_a_full_disk_stops_the_run_until_there_is_room(site):
    """Nothing is stored for seconds; then the same worker goes on, and nothing is paid twice."""
    with site.stub(latency=0.1) as stub:
        run = site.begin(stub, sample=400)
        worker = site.nursery.work()
        wait_until(lambda: site.ended() > 20, 30, every=0.01)
        fill(site, worker)
        time.sleep(3.0)
        ended, answered = site.ended(), stub.counts["answered"]
        time.sleep(1.0)
        assert (site.ended(), stub.counts["answered"]) == (ended, answered)
        assert ended < answered < 400
        assert lives(worker)
        free(site, worker)
        site.wait(run, 60)
        assert stub.counts["answered"] == 400
    assert site.check(run, kept=400)["outcomes"] == {"replied": 400}


def fill(site: FaultSite, worker: int) -> None:
    if site.is_postgres:
        site.sql(FULL)
        return
    size = (site.folder / "site.sqlite3").stat().st_size
    resource.prlimit(worker, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def free(site: FaultSite, worker: int) -> None:
    if site.is_postgres:
        site.sql(FREE)
        return
    resource.prlimit(worker, resource.RLIMIT_FSIZE, ENDLESS)


@pytest.mark.long
def test_connections_that_are_cut_lose_nothing(postgres_site):
    site = postgres_site
    with site.stub(latency=0.1) as stub:
        run = site.begin(stub, sample=300)
        worker = site.nursery.work()
        for number in range(8):
            wait_until(lambda n=number: stub.counts["answered"] > 25 * n, 60, every=0.02)
            site.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        site.wait(run, 90)
        assert lives(worker)
    site.nursery.kill_all()
    site.check(run, kept=300)


@pytest.fixture
def restartable():
    """A site on a PostgreSQL server of its own, and how to stop that server at once."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders or os.getuid() != 0:
        pytest.skip("initdb was not found, or nobody may become its user")
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        if not can_write(folder):
            pytest.skip("there is no user postgres, or it may not write to TMPDIR")
        port = free_port()

        def postgres(program: str, *arguments: str) -> None:
            command = [folders[-1] / program, "-D", f"{folder}/data", *arguments]
            with open(f"{folder}/log", "ab") as log:
                subprocess.run(command, user="postgres", cwd=folder, check=True, stdout=log)

        postgres("initdb", "--auth", "trust")
        start = ["-w", "-l", f"{folder}/server", "-o", f"-p {port} -k {folder} -c fsync=off"]
        postgres("pg_ctl", "start", *start)
        try:
            url = f"postgres://postgres@127.0.0.1:{port}/postgres"
            for site in prepared(FaultSite(database_url=url, stub_port=free_port(), items=300)):
                yield site, lambda: postgres("pg_ctl", "restart", "-m", "immediate", *start)
        finally:
            postgres("pg_ctl", "stop", "-m", "immediate")


def can_write(folder: str) -> bool:
    """Give a folder to the user of the server, who may not come into those above it."""
    try:
        shutil.chown(folder, "postgres", "postgres")
    except LookupError:
        return False
    probe = ["test", "-w", folder]
    return (
        subprocess.run(probe, user="postgres", group="postgres", extra_groups=[]).returncode == 0
    )


@pytest.mark.long
def test_a_database_server_that_is_restarted_loses_nothing(restartable):
    """The worker outlives three crashes of its database."""
    site, restart = restartable
    with site.stub(latency=0.1) as stub:
        run = site.begin(stub)
        worker = site.nursery.work()
        for number in range(3):
            wait_until(lambda n=number: stub.counts["answered"] > 50 * (n + 1), 60, every=0.02)
            restart()
        site.wait(run, 120)
        assert lives(worker)
    site.check(run, kept=1000)
