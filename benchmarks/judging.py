"""Language models as judges: what a run costs in time, CPU and memory, and what gets lost.

    python -m benchmarks.judging [--scenario clean capped faults killed scale resume]
        [--runner bare engine-sqlite engine-postgresql inspect promptfoo]
        [--peers FOLDER] [--defaults] [--repeat 3] [--calls N] [--jsonl FILE]

Offline, against `benchmarks.judging_stub`. Scenarios:

- ``clean``: 2,000 calls of 200 ms, 64 in flight
- ``capped``: 600 calls; the server refuses what comes above 16 in flight (429, Retry-After 1)
- ``faults``: 600 calls, 32 in flight; a tenth is refused, a twentieth is cut in the middle
- ``killed``: 600 calls, 32 in flight; SIGKILL when half is answered, then the runner's way to
  go on
- ``scale``: ``clean`` with 50,000 calls (the engine only)
- ``resume``: SIGKILL in the middle of a run whose ledger has 200,000 rows (the engine only)

The stub has one core and the runner another. The engine's row counts its web server, its
worker with the sweeper, the form that starts the run and a look at the progress every two
seconds, with both processes running before; CPU of PostgreSQL and Redis stands apart. The
other runners start up with each evaluation, and that counts. See `benchmarks.judging_peers`
for how they are installed and set.
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.databases import postgres_answers, postgres_database
from benchmarks.judging_engine import EngineRun, running_engine
from benchmarks.judging_meter import RUNNER_CORE, STUB_CORE, Meter, has_ended, on_core
from benchmarks.judging_peers import PEERS, Peer, PeerMissing
from benchmarks.judging_stub import StubProcess, running_stub

REDIS = os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1:6379/8")
LONGEST = 1_500.0
RESUME_ROWS = 200_000
RESUME_SEEDS = 2_000


@dataclass(frozen=True)
class Scenario:
    """What is asked, how much at once, and how the stub behaves."""

    calls: int
    in_flight: int
    conduct: dict[str, Any]
    is_killed: bool = False
    only_engine: bool = False


SLOW = {"latency": 0.2}
SCENARIOS = {
    "clean": Scenario(2_000, 64, SLOW),
    "capped": Scenario(600, 64, SLOW | {"cap": 16, "retry_after": "1"}),
    "faults": Scenario(600, 32, SLOW | {"throttled": 0.1, "cut": 0.05, "faults_once": True}),
    "killed": Scenario(600, 32, SLOW, is_killed=True),
    "scale": Scenario(50_000, 64, SLOW, only_engine=True),
    "resume": Scenario(RESUME_SEEDS, 64, SLOW, is_killed=True, only_engine=True),
}
ENGINES = ("engine-sqlite", "engine-postgresql")


@dataclass
class Row:
    """One measured run; times in seconds, memory in MiB."""

    scenario: str
    runner: str
    calls: int
    wall: float | None = None
    span: float | None = None
    cpu: float | None = None
    cpu_ms: float | None = None
    server_cpu: float | None = None
    start_cpu: float | None = None
    per_second: float | None = None
    peak_mib: float | None = None
    in_flight: int | None = None
    refusals: int | None = None
    lost: int | None = None
    bad_scored: int | None = None
    sent_again: int | None = None
    resumed: float | None = None
    note: str = ""


HEADS = {
    "runner": "runner", "calls": "calls", "wall": "wall s", "span": "span s", "cpu": "CPU s",
    "cpu_ms": "CPU ms/call", "server_cpu": "database CPU s", "start_cpu": "start-up CPU s",
    "per_second": "calls/s", "peak_mib": "peak MiB", "in_flight": "most in flight",
    "refusals": "429", "lost": "without a score", "bad_scored": "bad bodies scored",
    "sent_again": "sent again", "resumed": "sends again after s", "note": "remarks",
}  # fmt: skip


def counted(row: Row, stub: StubProcess, meter: Meter, role: str) -> Row:
    """The row with what the stub and the meter counted."""
    counts = stub.counts
    return replace(
        row,
        span=counts["span"],
        cpu=meter.cpu,
        cpu_ms=meter.cpu / row.calls * 1000,
        per_second=counts["answered"] / counts["span"],
        peak_mib=meter.peak_mib(role),
        in_flight=counts["most_in_flight"],
        refusals=counts["capped"] + counts["throttled"],
        sent_again=counts["duplicates"],
    )


def engine(name: str, kind: str, scenario: Scenario, port: int) -> Row:
    """Measure the engine once."""
    is_postgres = kind == "engine-postgresql"
    database = postgres_database() if is_postgres else contextlib.nullcontext("")
    with database as url, running_stub(port, "relevance", scenario.conduct) as stub:
        broker = REDIS if is_postgres else "filesystem://"
        with running_engine(stub, url, broker, scenario.calls, scenario.in_flight) as carried:
            if name == "resume":
                return resume(Row(name, kind, RESUME_ROWS), carried, scenario)
            carried.start()
            carried.watch(LONGEST, kill_at=scenario.calls // 2 if scenario.is_killed else 0)
            row = counted(Row(name, kind, scenario.calls), stub, carried.meter, "worker")
            return with_facts(row, carried)


def with_facts(row: Row, carried: EngineRun) -> Row:
    """The row with what the ledger says."""
    facts = carried.facts()
    if facts["state"] != "done":
        raise RuntimeError(f"the run is {facts['state']}")
    remarks = []
    if carried.resumed is not None:
        remarks.append(f"{carried.in_flight} in flight when killed; the books balance")
    if facts["bad"]:
        remarks.append(f"{facts['recovered']} of {facts['bad']} bad ones right at the next try")
    return replace(
        row,
        wall=facts["ended_at"] - carried.began_at,
        server_cpu=carried.meter.server_cpu or None,
        start_cpu=carried.meter.started,
        lost=facts["planned"] - facts["scored"],
        bad_scored=facts["bad_scored"],
        resumed=carried.resumed,
        note="; ".join(remarks),
    )


def resume(row: Row, carried: EngineRun, scenario: Scenario) -> Row:
    """Kill the worker at half, grow the ledger by copies of its rows, start a worker."""
    carried.start()
    while carried.stub.counts["answered"] < scenario.calls // 2:
        time.sleep(0.05)
    os.killpg(carried.worker.pid, signal.SIGKILL)
    carried.worker.wait()
    rows = carried.multiply(row.calls // scenario.calls)
    began = time.monotonic()
    carried.browser.sees_the_end(carried.run)
    page = time.monotonic() - began
    carried.start_worker()
    carried.await_request(LONGEST)
    time.sleep(3.0)
    carried.meter.sample()
    return replace(
        row,
        calls=rows,
        resumed=carried.resumed,
        peak_mib=carried.meter.peak_mib("worker"),
        note=f"progress fragment {page * 1000:.0f} ms",
    )


def peer(name: str, kind: str, scenario: Scenario, port: int, peers: Path, *, best: bool) -> Row:
    """Measure another runner once."""
    made = PEERS[kind]
    label = kind if kind == "bare" else f"{kind}, {'best' if best else 'default'} settings"
    row = Row(name, label, scenario.calls)
    with (
        tempfile.TemporaryDirectory(prefix="counterpoint-peer-") as folder,
        running_stub(port, made.style, scenario.conduct) as stub,
        on_core(STUB_CORE),
    ):
        runner = made(
            stub.url, scenario.calls, scenario.in_flight, Path(folder), peers, best,
            capped="cap" in scenario.conduct,
        )  # fmt: skip
        try:
            runner.prepare()
        except PeerMissing as missing:
            return replace(row, note=f"not installed: {missing}")
        began = time.monotonic()
        meter, resumed = Meter(), None
        status, in_flight = carry(runner, runner.command(), stub, meter, kill_at(scenario))
        if scenario.is_killed:
            before = (time.monotonic(), stub.counts["requests"])
            status, resumed = go_on(runner, stub, meter, *before)
        wall = time.monotonic() - began
        row = counted(row, stub, meter, "runner")
        remarks = [f"{in_flight} in flight when killed"] if scenario.is_killed else []
        remarks += [f"ended with {status}"] if status else []
        scored = scored_by(runner, remarks)
        good = stub.counts["well_answered"]
        return replace(
            row,
            wall=wall,
            lost=None if scored is None else scenario.calls - scored,
            bad_scored=None if scored is None else max(0, scored - good),
            resumed=resumed,
            note="; ".join(remarks),
        )


def kill_at(scenario: Scenario) -> int:
    """At how many answers the runner is killed; 0 for never."""
    return scenario.calls // 2 if scenario.is_killed else 0


def scored_by(runner: Peer, remarks: list[str]) -> int | None:
    """How many scores the runner reports; None, with a remark, where it left no report."""
    try:
        return runner.scored()
    except (OSError, subprocess.CalledProcessError, KeyError, ValueError, TypeError):
        remarks.append("left no result: " + runner.log.read_text()[-200:].replace("\n", " "))
        return None


def carry(
    runner: Peer, command: list[str], stub: StubProcess, meter: Meter, kill_at: int = 0
) -> tuple[int, int]:
    """Run a command to its end, or until it is killed.

    Returns its exit status and how much was in flight when it was killed.
    """
    with on_core(RUNNER_CORE):
        process = runner.start(command)
    meter.watch(process.pid, "runner")
    until, in_flight = time.monotonic() + LONGEST, 0
    while not has_ended(process.pid):
        meter.sample()
        counts = stub.counts if kill_at else {}
        if time.monotonic() > until or (counts and counts["answered"] >= kill_at):
            os.killpg(process.pid, signal.SIGKILL)
            in_flight = counts.get("in_flight", 0)
            break
        time.sleep(0.05)
    while not has_ended(process.pid):
        time.sleep(0.01)
    meter.sample()
    return process.wait(), in_flight


def go_on(
    runner: Peer, stub: StubProcess, meter: Meter, at: float, before: int
) -> tuple[int, float | None]:
    """Run the command that resumes; return its exit status and when it first sent something."""
    with on_core(RUNNER_CORE):
        process = runner.start(runner.again())
    meter.watch(process.pid, "runner")
    resumed = None
    while not has_ended(process.pid) and time.monotonic() - at < LONGEST:
        meter.sample()
        if resumed is None and stub.counts["requests"] > before:
            resumed = time.monotonic() - at
        time.sleep(0.02)
    meter.sample()
    return process.wait(), resumed


def median(rows: list[Row]) -> Row:
    """The row whose span is the median one."""
    known = sorted((row for row in rows if row.span is not None), key=lambda row: row.span)
    if not known:
        return rows[0]
    middle = statistics.median_low([row.span for row in known])
    return next(row for row in known if row.span == middle)


def print_table(name: str, rows: list[Row]) -> None:
    """Print the rows of one scenario, without columns that are empty in all of them."""
    columns = [key for key in HEADS if any(getattr(row, key) not in (None, "") for row in rows)]
    print(f"\n### {name}\n")
    print("| " + " | ".join(HEADS[key] for key in columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(cell(getattr(row, key)) for key in columns) + " |", flush=True)


def cell(value: Any) -> str:
    """A value as the table shows it."""
    if value is None:
        return "–"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def measure(name: str, kind: str, options: argparse.Namespace, *, best: bool) -> Row | None:
    """The median of some runs; None where a runner does not take part."""
    scenario = SCENARIOS[name]
    if options.calls:
        scenario = replace(scenario, calls=options.calls)
    if kind == "engine-postgresql" and not postgres_answers():
        return Row(name, kind, scenario.calls, note="no PostgreSQL answers")
    if kind not in ENGINES and scenario.only_engine:
        return None
    rows = []
    for _ in range(options.repeat):
        if kind in ENGINES:
            rows.append(engine(name, kind, scenario, options.port))
        else:
            rows.append(peer(name, kind, scenario, options.port, options.peers, best=best))
        if options.jsonl:
            with options.jsonl.open("a") as file:
                file.write(json.dumps(asdict(rows[-1])) + "\n")
    return median(rows)


def main() -> None:
    """Run every combination that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    everybody = [*PEERS, *ENGINES]
    parser.add_argument("--scenario", nargs="*", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--runner", nargs="*", choices=everybody, default=everybody)
    parser.add_argument("--peers", type=Path, default=Path("peers"))
    parser.add_argument("--defaults", action="store_true", help="peers at their defaults, too")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--calls", type=int, default=0, help="another number of calls")
    parser.add_argument("--port", type=int, default=9600)
    parser.add_argument("--jsonl", type=Path, help="append every single run to this file")
    options = parser.parse_args()
    options.peers = options.peers.resolve()
    for name in options.scenario:
        rows = []
        for kind in options.runner:
            has_defaults = options.defaults and kind in ("inspect", "promptfoo")
            for best in (True, False) if has_defaults else (True,):
                rows.append(measure(name, kind, options, best=best))
        print_table(name, [row for row in rows if row is not None])


if __name__ == "__main__":
    main()
