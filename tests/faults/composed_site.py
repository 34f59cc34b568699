"""A site whose web server and workers are those of compose.yaml; see `benchmarks.composed`."""

import threading
import time
from dataclasses import dataclass, field

from benchmarks.composed import Composed
from benchmarks.http_annotator import Annotator
from benchmarks.label_round_server import PASSWORD, collected_files
from tests.faults.fault_site import FaultSite, wait_until


class WaitingAnnotator(Annotator):
    """Pauses after some labels until the site is down, so that somebody meets the outage.

    Without the pause, people are done before a slow judge lets the drill get that far.
    """

    def __init__(self, port: int, base: str, seed: int, *, pause_after: int) -> None:
        super().__init__(port, base, seed)
        self.pause_after, self.outage = pause_after, threading.Event()

    def _label(self, *arguments) -> tuple[list[dict], str]:
        if len(self.acknowledged.labels) >= self.pause_after:
            self.outage.wait(300)
        return super()._label(*arguments)


@dataclass
class ComposedSite(FaultSite):
    """Fills the database of an installation and asks it; the nursery starts no worker here."""

    settings: str = "cqa_site.settings"
    values: dict[str, str] = field(default_factory=dict)
    redis: str = "redis://127.0.0.1:6379/9"
    composed: Composed | None = None

    def __post_init__(self) -> None:
        elsewhere = {
            "DATABASE_URL": self.database_url,
            "CELERY_BROKER_URL": self.redis,
            "CACHE_URL": self.redis,
            "EGRESS_ALLOW": f"127.0.0.1/32:{self.stub_port}",
            # Nobody here waits half a minute for what a killed worker left.
            "CALL_LEASE_SECONDS": str(self.lease),
            "JOB_LEASE_SECONDS": str(self.lease),
            "CALL_BREAK_SECONDS": "0.5",
            "LOG_LEVEL": "ERROR",
        }
        static = collected_files(self.settings)
        self.composed = Composed(elsewhere, values=self.values, static=static)

    @property
    def environment(self) -> dict[str, str]:
        """That of the web server."""
        return self.composed.environment("web") | {"DJANGO_SETTINGS_MODULE": self.settings}

    def annotators(self) -> list[WaitingAnnotator]:
        """Everybody, signed in; what a proxy says is said by them."""
        host, half = self.composed.host, self.items * self.votes // self.people // 2
        people = [
            WaitingAnnotator(self.composed.port, self.work, seed=number, pause_after=half)
            for number in range(self.people)
        ]
        for number, person in enumerate(people):
            person.headers = {
                "Host": host,
                "Origin": f"https://{host}",
                "X-Forwarded-Proto": "https",
                "X-Forwarded-For": f"192.0.2.{number + 1}",
            }
            person.sign_in(f"a{number}@bench.example", PASSWORD)
        return people

    def remove(self) -> None:
        """Everything with it."""
        self.composed.remove()
        super().remove()


@dataclass
class Lived:
    """What came of a site that was labelled and judged while its processes were ended."""

    people: list[Annotator]
    ends: list[str]
    facts: dict
    in_flight: set[tuple[int, int]]
    # How long each process took to end when it was asked to.
    asked: list[dict[str, float]]


def live_through(site: ComposedSite, *, kills: int = 1, downs: int = 1) -> Lived:
    """Label and judge; kill the workers in turn, then end and start everything."""
    composed, ends, in_flight, asked = site.composed, [], set(), []
    people = site.annotators()
    with site.stub(latency=0.3) as stub:
        run = site.begin(stub, limit=8)
        threads = [threading.Thread(target=_label, args=(person, ends)) for person in people]
        for thread in threads:
            thread.start()
        for number in range(kills):
            victim, other = f"worker-{1 + number % 2}", f"worker-{2 - number % 2}"
            if other not in composed.running:
                composed.start(other)
            _carried(stub, 16)
            composed.kill(victim)
            # A commit that was on its way still counts.
            time.sleep(0.05)
            in_flight |= site.leases()
        for _number in range(downs):
            _carried(stub, 16)
            asked.append(composed.down())
            for person in people:
                person.outage.set()
            left = site.leases() - in_flight
            assert not left, f"a worker that was asked to end left {left}"
            composed.up()
        for thread in threads:
            thread.join()
        site.wait(run, 120)
        # Every sentence has the one label that the judge gave, and was paid for as often as the
        # attempts say.
        facts = site.check(run, kept=site.items + site.controls)
    return Lived(people, ends, facts, in_flight, asked)


def _label(person: Annotator, ends: list[str]) -> None:
    ends.append(person.label_until_done(time.monotonic() + 600))


def _carried(stub, more: int) -> None:
    """Wait for some more requests."""
    wanted = stub.counts["requests"] + more
    wait_until(lambda: stub.counts["requests"] >= wanted, 120, every=0.01)
