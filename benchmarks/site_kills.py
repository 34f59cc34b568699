"""Kill `manage.py site` repeatedly, and look for remaining processes.

    python -m benchmarks.site_kills
    python -m benchmarks.site_kills --times 10

Each round starts a site with its worker. It kills the command with SIGKILL at a random moment in
the first seconds after it has started other processes, and waits until all of them have ended.
Each process has a mark of the round in its environment, so none is missed and no other process is
mistaken for one. Linux only.
"""

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from uuid import uuid4

MARK = "SITE_KILLS_ROUND"
LATEST = 5.0
PATIENCE = 30.0


def main() -> int:
    """Print the results; return 1 if any process remained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        base = os.environ | {"DATA_DIR": folder, "STATIC_ROOT": f"{folder}/static"}
        prepare = [sys.executable, "manage.py", "demo"]
        subprocess.run(prepare, env=base, check=True, stdout=subprocess.DEVNULL)
        rounds = [one_round(base, rng.uniform(0, LATEST)) for _time in range(asked.times)]
    sizes, waits = zip(*rounds, strict=True)
    left = sum(wait is None for wait in waits)
    seconds = sorted(wait for wait in waits if wait is not None)
    print(f"{len(rounds)} kills, {sum(sizes)} processes beside the command at the moment of one")
    print(f"rounds that left a process: {left}")
    print(f"gone after: median {seconds[len(seconds) // 2]:.2f} s, longest {seconds[-1]:.2f} s")
    return 1 if left else 0


def one_round(base: dict[str, str], after: float) -> tuple[int, float | None]:
    """Return the number of child processes, and the seconds until all ended (None if never)."""
    mark = uuid4().hex
    site = subprocess.Popen(
        [sys.executable, "manage.py", "site", "--port", str(free_port())],
        env=base | {MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while len(marked(mark)) < 2:
        time.sleep(0.02)
    time.sleep(after)
    family = [pid for pid in marked(mark) if pid != site.pid]
    site.kill()
    site.wait()
    killed = time.monotonic()
    while marked(mark):
        if time.monotonic() - killed > PATIENCE:
            return len(family), None
        time.sleep(0.05)
    return len(family), time.monotonic() - killed


def marked(mark: str) -> list[int]:
    """Return the processes that inherited the mark; ended processes have no environment."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def free_port() -> int:
    """Return a currently unused port."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
