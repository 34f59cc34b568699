"""The engine in the judging benchmark, with its web server, worker and ledger.

The benchmark starts a run on its page and watches its progress fragment, as a person would; the
web server and the worker (with the sweeper) are the processes that `manage.py site` starts.
"""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.judging_browser import Researcher
from benchmarks.judging_ledger import FACTS, MULTIPLY
from benchmarks.judging_meter import RUNNER_CORE, STUB_CORE, Meter, on_core
from benchmarks.judging_site import JudgingSite, end
from benchmarks.judging_stub import StubProcess

LEASE = 30
DEADLINE = 30
POLL = 2.0
LOOK = 0.05
LONGEST_RESUME = 120.0


@dataclass
class EngineRun:
    """A run of the engine being measured."""

    site: JudgingSite
    stub: StubProcess
    meter: Meter
    browser: Researcher
    worker: subprocess.Popen
    run: str = ""
    began_at: float = 0.0
    resumed: float | None = None
    _polled: float = field(default=0.0)

    def start(self) -> None:
        """Start the run and the measurement."""
        self.meter.begin()
        self.began_at = time.time()
        self.run = self.browser.start_run()

    def watch(self, seconds: float, kill_at: int = 0) -> None:
        """Poll the progress until the run ends; kill the worker after ``kill_at`` answers."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.meter.sample()
            if kill_at and self.stub.counts["answered"] >= kill_at:
                kill_at = 0
                self.kill()
            if time.monotonic() - self._polled > POLL:
                self._polled = time.monotonic()
                if self.browser.sees_the_end(self.run):
                    return
            time.sleep(LOOK)
        raise RuntimeError(f"the run did not end within {seconds} s")

    def kill(self) -> None:
        """SIGKILL the worker, start another one, and time its first request."""
        self.meter.sample()
        end(self.worker, signal.SIGKILL)
        self.resumed = self.new_worker()

    def new_worker(self) -> float:
        """Start a worker on the runner's core; return the seconds until its first request."""
        began, before = time.monotonic(), self.stub.counts["requests"]
        self.worker = start_worker(self.site, self.meter)
        while self.stub.counts["requests"] == before:
            if time.monotonic() - began > LONGEST_RESUME:
                raise RuntimeError("the new worker sends nothing")
            self.meter.sample()
            time.sleep(0.01)
        return time.monotonic() - began

    def facts(self) -> dict:
        """Return facts from the ledger; raise an error if the ledger is inconsistent."""
        self.site.python("manage.py", "check_integrity")
        return json.loads(self.site.python("-c", FACTS, self.run).splitlines()[-1])

    def multiply(self, times: int) -> int:
        """Copy the ledger's rows ``times`` times; return the number of calls."""
        return int(self.site.python("-c", MULTIPLY, self.run, str(times)).split()[-1])


@contextmanager
def running_engine(
    stub: StubProcess, database_url: str, broker: str, calls: int, limit: int
) -> Iterator[EngineRun]:
    """Yield a site with a round of ``calls`` sentences and an idle web server and worker."""
    site = JudgingSite(
        database_url=database_url, people=1, items=calls - 1, controls=1, workers=1,
        stub_port=stub.port, broker=broker, lease=LEASE,
        variables={"CALL_BREAK_SECONDS": "60"},
    )  # fmt: skip
    meter = Meter(database_url.rpartition("/")[2])
    carried = None
    try:
        site.prepare()
        site.add_endpoint(stub.url, limit=limit, deadline=DEADLINE)
        with on_core(RUNNER_CORE):
            site.start()
        assert site.process is not None
        meter.watch(site.process.pid, "web")
        with on_core(STUB_CORE):
            carried = EngineRun(site, stub, meter, Researcher(site), start_worker(site, meter))
            wait_until_idle(meter)
            yield carried
    finally:
        if carried is not None:
            end(carried.worker)
        site.remove()


def start_worker(site: JudgingSite, meter: Meter) -> subprocess.Popen:
    """Start a worker on the runner's core, which looks for work on its own."""
    with on_core(RUNNER_CORE):
        worker = site.start_worker()
    meter.watch(worker.pid, "worker")
    return worker


def wait_until_idle(meter: Meter) -> None:
    """Wait until the processes have started and use under a tenth of a core for a second."""
    for _ in range(120):
        meter.begin()
        time.sleep(1.0)
        meter.sample()
        if meter.started > 1.0 and meter.cpu < 0.1:
            return
    raise RuntimeError("web server and worker do not come to rest")
