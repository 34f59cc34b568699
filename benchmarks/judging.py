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

The stub and this script have the first core, the runner the last one; PostgreSQL and Redis,
which the machine already runs, are where the system puts them. The engine's row counts its
web server, its worker with the sweeper, the form that starts the run and a look at the
progress every two seconds, with both processes running before; CPU of PostgreSQL and Redis
stands apart. The other runners start up with each evaluation, and that counts. What a worker
had in flight when it was killed is at most the column "most in flight". See
`benchmarks.judging_peers` for how the others are installed and set.
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
    # What was started is ended, also when somebody ends this.
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
