"""Run a module that ends with whoever started it: ``python -m cqa_site.leash MODULE ARGUMENT…``.

The starter holds the other end of standard input and writes nothing. When it is gone, by kill -9
too, the end is seen here, and the whole group of processes ends.
"""

import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

# Requests on their way may come back; the system takes whatever is left then.
GRACE_SECONDS = 5.0


def start(
    module: Sequence[str], *, quiet: bool = False, **environment: str
) -> subprocess.Popen[bytes]:
    """Start a module with its arguments as the head of a group that ends with this process.

    A quiet one may still write errors.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "cqa_site.leash", *module],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL if quiet else None,
        env=os.environ | environment,
        start_new_session=True,
    )


def main() -> None:
    """Become the module named first."""
    end = os.dup(0)
    # What the module starts is no part of the leash.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_end_with_starter, args=[end], daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _end_with_starter(end: int) -> None:
    while os.read(end, 1):
        pass
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
