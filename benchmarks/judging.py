"""Language models as judges: time, CPU and memory of a run, and lost calls.

    python -m benchmarks.judging [--scenario clean capped faults killed scale resume]
        [--runner bare engine-sqlite engine-postgresql inspect promptfoo]
        [--peers FOLDER] [--defaults] [--repeat 3] [--calls N] [--jsonl FILE]

Runs offline, against `benchmarks.judging_stub`. Scenarios:

- ``clean``: 2,000 calls of 200 ms, 64 in flight
- ``capped``: 600 calls; the server refuses more than 16 in flight (429, Retry-After 1)
- ``faults``: 600 calls, 32 in flight; a tenth are refused, a twentieth are cut off in the middle
- ``killed``: 600 calls, 32 in flight; SIGKILL once half are answered, then the runner's own way of
  resuming
- ``scale``: ``clean`` with 50,000 calls (the engine only)
- ``resume``: SIGKILL in the middle of a run whose ledger has 200,000 rows (the engine only)

The stub and this script use the first core, the runner the last one; PostgreSQL and Redis, which
are already running, are assigned to cores by the system. The engine's row includes its web server,
its worker with the sweeper, the form that starts the run, and a request for the progress every two
seconds; the web server and the worker are already running. CPU of PostgreSQL and Redis is reported
separately. The other runners start up with each evaluation, and this time is included. The column
"most in flight" is an upper limit for the calls that a worker had in flight when it was killed.
See `benchmarks.judging_peers` for the installation and settings of the other runners.
"""

import argparse
import json
import signal
import sys
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.databases import postgres_answers
from benchmarks.judging_meter import RUNNER_CORE, STUB_CORE
from benchmarks.judging_peers import PEERS
from benchmarks.judging_rows import SCENARIOS, Row, median, print_table
from benchmarks.judging_runners import engine, peer

ENGINES = ("engine-sqlite", "engine-postgresql")


def measure(name: str, kind: str, options: argparse.Namespace, *, best: bool) -> Row | None:
    """Return the median of several runs, or None if a runner does not take part."""
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
    """Run all selected combinations."""
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
    # Also end started processes if this script is terminated.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    options.peers = options.peers.resolve()
    print(f"Stub on core {STUB_CORE}, runner on core {RUNNER_CORE}, median of {options.repeat}.")
    for name in options.scenario:
        rows = []
        for kind in options.runner:
            has_defaults = options.defaults and kind in ("inspect", "promptfoo")
            for best in (True, False) if has_defaults else (True,):
                rows.append(measure(name, kind, options, best=best))
        print_table(name, [row for row in rows if row is not None])


if __name__ == "__main__":
    main()
