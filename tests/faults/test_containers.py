"""What compose.yaml starts: labelled on and judged, a worker killed, down, up, nothing lost."""

import shutil

import pytest

from benchmarks.composed import listens
from benchmarks.databases import postgres_database
from benchmarks.label_round_server import free_port
from tests.faults.composed_site import ComposedSite, live_through
from tests.faults.nursery import Nursery
from tests.faults.test_label_race import check

pytestmark = pytest.mark.postgres


@pytest.fixture
def site(migrated):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    if not listens(6379):
        pytest.skip("Redis does not answer on 127.0.0.1:6379")
    with postgres_database(migrated) as url:
        site = ComposedSite(
            database_url=url,
            stub_port=free_port(),
            values={"WEB_PROCESSES": "1"},
            people=4,
            items=120,
            controls=20,
            votes=2,
        )
        try:
            with Nursery(site.environment) as site.nursery:
                site.fill()
                yield site
        finally:
            site.remove()


@pytest.mark.long
def test_nothing_is_lost_where_a_worker_is_killed_and_all_goes_down_and_up(site):
    site.composed.up(workers=2)
    assert "no issues" in site.composed.ask("web", "python", "manage.py", "check", "--deploy")
    lived = live_through(site)
    check(site, lived.people, lived.ends)
    assert sum(person.acknowledged.retries for person in lived.people), "nobody noticed"
    # Only what the killed worker had under way was asked again.
    assert site.lost() <= lived.in_flight
    assert lived.facts["attempts"] <= lived.facts["planned"] + len(lived.in_flight)
    assert [each.keys() for each in lived.asked] == [{"web", "worker-2"}]
