"""One prepared site for each database; every scenario starts a run of its own on it."""

import socket
from urllib.parse import urlsplit

import pytest

from benchmarks.databases import postgres_answers, postgres_database
from benchmarks.label_round_server import free_port, migrate
from tests.faults.fault_site import FaultSite
from tests.faults.nursery import Nursery

REDIS = "redis://127.0.0.1:6379"


def redis_answers() -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", 6379)) == 0


@pytest.fixture(scope="session")
def sqlite_sites():
    yield from prepared(FaultSite(stub_port=free_port()))


@pytest.fixture(scope="session")
def migrated():
    """A PostgreSQL database with every migration applied, which is only copied."""
    if not postgres_answers():
        pytest.skip("PostgreSQL does not answer on 127.0.0.1:5432")
    with postgres_database() as url:
        migrate(url)
        yield urlsplit(url).path.removeprefix("/")


@pytest.fixture(scope="session")
def postgres_sites(migrated):
    broker = f"{REDIS}/6" if redis_answers() else "filesystem://"
    with postgres_database(migrated) as url:
        yield from prepared(FaultSite(database_url=url, stub_port=free_port(), broker=broker))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def site(request):
    """The site of one database, with no worker and no run."""
    yield from emptied(request.getfixturevalue(f"{request.param}_sites"))


@pytest.fixture
def postgres_site(postgres_sites):
    """The site on PostgreSQL, with no worker and no run."""
    yield from emptied(postgres_sites)


def emptied(site: FaultSite):
    yield site
    # Also after a failure, so that no scenario carries what another left.
    site.nursery.kill_all()
    site.forget_runs()


def prepared(site: FaultSite):
    site.people, site.items, site.controls = 1, 900, 100
    site.lease, site.workers = 30, 1
    try:
        site.prepare()
        with Nursery(site.environment) as nursery:
            site.nursery = nursery
            yield site
    finally:
        site.remove()
