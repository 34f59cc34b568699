"""One measured run of the engine or of another runner."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.databases import postgres_database
from benchmarks.judging_engine import EngineRun, running_engine
from benchmarks.judging_meter import RUNNER_CORE, STUB_CORE, Meter, has_ended, on_core
from benchmarks.judging_peers import PEERS, Peer, PeerMissing
from benchmarks.judging_rows import RESUME_ROWS, Row, Scenario, counted
from benchmarks.judging_site import end
from benchmarks.judging_stub import StubProcess, running_stub

REDIS = os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1:6379/8")
LONGEST = 1_500.0


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
    """Return the row with facts from the ledger."""
    facts = carried.facts()
    if facts["state"] != "done":
        raise RuntimeError(f"the run is {facts['state']}")
    remarks = []
    if carried.resumed is not None:
        remarks.append("the books balance")
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
    """Stop a run halfway, multiply its ledger rows, then resume, kill and again resume the run."""
    carried.start()
    while carried.stub.counts["answered"] < scenario.calls // 2:
        time.sleep(0.05)
    end(carried.worker)
    rows = carried.multiply(row.calls // scenario.calls)
    began = time.monotonic()
    carried.browser.sees_the_end(carried.run)
    page = time.monotonic() - began
    orderly = carried.new_worker()
    time.sleep(1.0)
    carried.kill()
    return replace(
        row,
        calls=rows,
        resumed=carried.resumed,
        peak_mib=carried.meter.peak_mib("worker"),
        note=f"after an orderly stop {orderly:.1f} s; progress fragment {page * 1000:.0f} ms",
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
        status = carry(runner, runner.command(), stub, meter, kill_at(scenario))
        if scenario.is_killed:
            before = (time.monotonic(), stub.counts["requests"])
            status, resumed = go_on(runner, stub, meter, *before)
        wall = time.monotonic() - began
        row = counted(row, stub, meter, "runner")
        remarks = [f"ended with {status}"] if status else []
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
    """Return the number of answers after which the runner is killed; 0 for never."""
    return scenario.calls // 2 if scenario.is_killed else 0


def scored_by(runner: Peer, remarks: list[str]) -> int | None:
    """Return the number of scores reported; without a report, add a remark and return None."""
    try:
        return runner.scored()
    except (OSError, subprocess.CalledProcessError, KeyError, ValueError, TypeError):
        remarks.append("left no result: " + runner.log.read_text()[-200:].replace("\n", " "))
        return None


def carry(
    runner: Peer, command: list[str], stub: StubProcess, meter: Meter, kill_at: int = 0
) -> int:
    """Run a command to its end or until ``kill_at`` answers; return its exit status."""
    with on_core(RUNNER_CORE):
        process = runner.start(command)
    meter.watch(process.pid, "runner")
    until = time.monotonic() + LONGEST
    while not has_ended(process.pid):
        meter.sample()
        is_half = kill_at and stub.counts["answered"] >= kill_at
        if is_half or time.monotonic() > until:
            os.killpg(process.pid, signal.SIGKILL)
            break
        time.sleep(0.05)
    while not has_ended(process.pid):
        time.sleep(0.01)
    meter.sample()
    return process.wait()


def go_on(
    runner: Peer, stub: StubProcess, meter: Meter, at: float, before: int
) -> tuple[int, float | None]:
    """Run the resuming command; return its exit status and the time of its first request."""
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
