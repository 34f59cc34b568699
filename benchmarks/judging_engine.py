"""The engine in the judging benchmark: web server, worker, ledger, nothing left out.

A run is started on its page and watched on its progress fragment, as a person would; the web
server and the worker (with the sweeper) are the processes that `manage.py site` starts.
"""

import http.cookiejar
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.campaign_server import PASSWORD, ROOT
from benchmarks.judging_meter import RUNNER_CORE, STUB_CORE, Meter, on_core
from benchmarks.judging_site import JudgingSite, end
from benchmarks.judging_stub import StubProcess

LEASE = 30
DEADLINE = 30
POLL = 2.0
LOOK = 0.05
TOKEN = r'name="csrfmiddlewaretoken" value="([^"]+)"'
AGREED = r'name="agreed" value="([^"]+)"'
OPTION = r'<select name="{}".*?<option value="([^"]+)"'

FACTS = """
import json, sys
import django
django.setup()
from collections import Counter
from cqa_site.runs.models import Attempt, Run
run = Run.objects.select_related("budget").get(public_id=sys.argv[1])
bad = set(
    Attempt.objects.filter(call__run=run).exclude(unusable="").values_list("call", flat=True)
)
once = run.calls.filter(pk__in=bad, state="done", format_tries=1).count()
scored = run.judge_labels.filter(label__isnull=False)
print(json.dumps({
    "state": run.state,
    "ended_at": run.ended_at.timestamp() if run.ended_at else None,
    "planned": run.planned,
    "scored": scored.count(),
    "bad_scored": scored.exclude(call__reply__finish_reason="stop").count(),
    "bad": len(bad),
    "recovered": once,
    "outcomes": Counter(Attempt.objects.filter(call__run=run).values_list("outcome", flat=True)),
}))
"""
# Ledger rows as a large run has them, without sending it: copies of what the engine wrote.
MULTIPLY = """
import sys
import django
django.setup()
from django.db import connection
from cqa_site.runs.models import Attempt, Call, Run
run, times = Run.objects.get(public_id=sys.argv[1]), int(sys.argv[2])
is_postgres = connection.vendor == "postgresql"
def insert(model, values, source):
    fields = [f for f in model._meta.concrete_fields if not f.primary_key]
    quote = connection.ops.quote_name
    into = ", ".join(quote(f.column) for f in fields)
    what = ", ".join(values.get(f.column, "old." + quote(f.column)) for f in fields)
    copies = "WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < %s)"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({into}) {copies} SELECT {what} {source}",
            [times, run.pk],
        )
uuid = "gen_random_uuid()" if is_postgres else "lower(hex(randomblob(16)))"
place = f"old.position + copy.n * {run.planned}"
insert(
    Call,
    {"public_id": uuid, "replicate": "copy.n", "position": place},
    "FROM runs_call old CROSS JOIN copy WHERE old.run_id = %s AND old.state IN ('done', 'ready')",
)
insert(
    Attempt,
    {"call_id": "new.id"},
    "FROM copy JOIN runs_call new ON new.replicate = copy.n JOIN runs_call first ON "
    "first.run_id = new.run_id AND first.subject = new.subject AND first.replicate = 0 "
    "JOIN runs_attempt old ON old.call_id = first.id WHERE new.run_id = %s",
)
Run.objects.filter(pk=run.pk).update(planned=run.calls.count())
if is_postgres:
    connection.cursor().execute("ANALYZE")
print(run.calls.count())
"""


class Researcher:
    """A browser that is signed in."""

    def __init__(self, site: JudgingSite) -> None:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._open = urllib.request.build_opener(jar).open
        self._root = f"http://127.0.0.1:{site.port}"
        self._study = f"/s/{site.study}"
        self._new = f"{self._study}/campaigns/{site.campaign}/judges/new/"
        page, _answer = self.ask("/accounts/login/")
        self.ask("/accounts/login/", page, login="boss@bench.example", password=PASSWORD)

    def ask(self, path: str, form: str = "", **values: object):
        """Return a page and the answer it came in; with a form, post it."""
        body = None
        if form:
            token = _found(TOKEN, form)
            body = urllib.parse.urlencode(values | {"csrfmiddlewaretoken": token}).encode()
        with self._open(self._root + path, body, timeout=60) as answer:
            return answer.read().decode(), answer

    def start_run(self) -> str:
        """Fill in the form of a new run, agree to its price, and return the run's id."""
        page, _answer = self.ask(self._new)
        values = {
            "choice": "all", "endpoint": _found(OPTION.format("endpoint"), page),
            "prompt": _found(OPTION.format("prompt"), page), "batch_size": 20, "temperature": 0,
            "max_tokens": 200, "seed": 1, "replicates": 1, "preflight": "off", "mode": "live",
        }  # fmt: skip
        page, _answer = self.ask(self._new, page, **values)
        page, answer = self.ask(self._new, page, **values, agreed=_found(AGREED, page))
        return _found(r"/judges/runs/([0-9a-f-]{36})/", answer.url)

    def sees_the_end(self, run: str) -> bool:
        """Whether the progress fragment says that nothing happens any more."""
        _page, answer = self.ask(f"{self._study}/judges/runs/{run}/progress/")
        return answer.headers.get("HX-Trigger") == "job-ended"


@dataclass
class EngineRun:
    """One run of the engine while it is measured."""

    site: JudgingSite
    stub: StubProcess
    meter: Meter
    browser: Researcher
    worker: subprocess.Popen
    run: str = ""
    began_at: float = 0.0
    resumed: float | None = None
    in_flight: int = 0
    _polled: float = field(default=0.0)

    def start(self) -> None:
        """Start the run; from here on everything counts."""
        self.meter.begin()
        self.began_at = time.time()
        self.run = self.browser.start_run()

    def watch(self, seconds: float, kill_at: int = 0) -> None:
        """Poll the progress until the run ended; kill the worker at so many answers."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.meter.sample()
            if kill_at and (counts := self.stub.counts)["answered"] >= kill_at:
                self.in_flight, kill_at = counts["in_flight"], 0
                self.kill()
                self.await_request(seconds)
            if time.monotonic() - self._polled > POLL:
                self._polled = time.monotonic()
                if self.browser.sees_the_end(self.run):
                    return
            time.sleep(LOOK)
        raise RuntimeError(f"the run did not end within {seconds} s")

    def kill(self) -> None:
        """SIGKILL the worker and start another one at once."""
        self.meter.sample()
        end(self.worker, signal.SIGKILL)
        self.start_worker()

    def start_worker(self) -> None:
        """Start a worker on the runner's core."""
        self.worker = start_worker(self.site, self.meter)

    def await_request(self, seconds: float) -> None:
        """Measure how long the new worker takes until it sends something."""
        began, before = time.monotonic(), self.stub.counts["requests"]
        while self.stub.counts["requests"] == before:
            if time.monotonic() - began > seconds:
                raise RuntimeError("the new worker sends nothing")
            self.meter.sample()
            time.sleep(0.01)
        self.resumed = time.monotonic() - began

    def facts(self) -> dict:
        """What the ledger says; raises if its books do not balance."""
        self.site.python("manage.py", "check_integrity")
        return json.loads(self.site.python("-c", FACTS, self.run).splitlines()[-1])

    def multiply(self, times: int) -> int:
        """Copy the ledger's rows so many times; return how many calls there are."""
        return int(self.site.python("-c", MULTIPLY, self.run, str(times)).split()[-1])


@contextmanager
def running_engine(
    stub: StubProcess, database_url: str, broker: str, calls: int, limit: int
) -> Iterator[EngineRun]:
    """A site with a campaign of so many sentences, its web server and one worker, all idle."""
    site = JudgingSite(
        database_url=database_url, people=1, items=calls - 1, controls=1, workers=1,
        stub_port=stub.port, broker=broker, lease=LEASE,
        variables={"CELERY_SKIP_CHECKS": "true", "CALL_BREAK_SECONDS": "60"},
    )  # fmt: skip
    meter = Meter(database_url.rpartition("/")[2])
    worker = None
    try:
        site.prepare()
        site.add_endpoint(stub.url, limit=limit, deadline=DEADLINE)
        with on_core(RUNNER_CORE):
            site.start()
        assert site.process is not None
        meter.watch(site.process.pid, "web")
        worker = start_worker(site, meter)
        with on_core(STUB_CORE):
            carried = EngineRun(site, stub, meter, Researcher(site), worker)
            wait_until_idle(meter)
            yield carried
        worker = carried.worker
    finally:
        if worker is not None:
            end(worker)
        site.remove()


def start_worker(site: JudgingSite, meter: Meter) -> subprocess.Popen:
    """The worker as `manage.py site` starts it, with the sweeper in it."""
    schedule = site.folder / f"schedule-{os.urandom(4).hex()}"
    with on_core(RUNNER_CORE):
        worker = subprocess.Popen(
            [
                sys.executable, "-m", "celery", "--quiet", "-A", "cqa_site", "worker",
                "--pool", "threads", "--concurrency", "2",
                "--beat", "--schedule", str(schedule), "--loglevel", "ERROR",
            ],
            cwd=ROOT, env=site.environment, start_new_session=True,
        )  # fmt: skip
    meter.watch(worker.pid, "worker")
    return worker


def wait_until_idle(meter: Meter) -> None:
    """Until the processes have started: they use less than a tenth of a core for a second."""
    for _ in range(120):
        meter.begin()
        time.sleep(1.0)
        meter.sample()
        if meter.started > 1.0 and meter.cpu < 0.1:
            return
    raise RuntimeError("web server and worker do not come to rest")


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.DOTALL)
    if match is None:
        raise RuntimeError(f"the page has nothing like {pattern}")
    return match[1]
