"""Scenarios of the judging benchmark, measurements of a run, and their table."""

import statistics
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.judging_meter import Meter
from benchmarks.judging_stub import StubProcess

RESUME_ROWS = 200_000
RESUME_SEEDS = 2_000


@dataclass(frozen=True)
class Scenario:
    """Number of calls, calls in flight, and the stub's behaviour."""

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
    """Return the row with the counts of the stub and the meter."""
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


def median(rows: list[Row]) -> Row:
    """Return the row with the median span."""
    known = sorted((row for row in rows if row.span is not None), key=lambda row: row.span)
    if not known:
        return rows[0]
    middle = statistics.median_low([row.span for row in known])
    return next(row for row in known if row.span == middle)


def print_table(name: str, rows: list[Row]) -> None:
    """Print the rows of one scenario, omitting columns that are empty in all rows."""
    columns = [key for key in HEADS if any(getattr(row, key) not in (None, "") for row in rows)]
    print(f"\n### {name}\n")
    print("| " + " | ".join(HEADS[key] for key in columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(cell(getattr(row, key)) for key in columns) + " |", flush=True)


def cell(value: Any) -> str:
    """Return a value in the format of the table."""
    if value is None:
        return "–"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
