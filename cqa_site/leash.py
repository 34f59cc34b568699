"""Runner for a module that must end when the process that started it ends.

Call it with ``python -m cqa_site.leash MODULE ARGUMENT…``.

The starting process keeps the other end of standard input open and writes nothing. When it ends,
even by ``kill -9``, a guard process reads end-of-file and ends the whole process group. The guard
is outside the group; otherwise it would end before it could kill the group.
"""

import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

# Requests in flight may still return; processes left after that are killed.
GRACE_SECONDS = 5.0
LOOK_SECONDS = 0.05
# A worker finishes its current work before it ends.
ASKED_SECONDS = 10.0


def start(
    module: Sequence[str], *, quiet: bool = False, **environment: str
) -> subprocess.Popen[bytes]:
    """Start a module with arguments as the leader of a process group that ends with this process.

    With ``quiet``, the module's output is discarded, but not its errors.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "cqa_site.leash", *module],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL if quiet else None,
        env=os.environ | environment,
        start_new_session=True,
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a group's leader, kill it after a timeout, and end the remaining processes."""
    process.terminate()
    try:
        process.wait(ASKED_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _end_group(process.pid)


def main() -> None:
    """Become the module named by the first argument."""
    group = os.getpid()
    if os.fork() == 0:
        _guard(group)
    # Processes started by the module must not inherit this standard input.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _guard(group: int) -> None:
    """Wait until the pipe to the starting process closes, then end the group and this process."""
    try:
        os.setsid()
        while os.read(0, 1):
            pass
        _end_group(group)
    finally:
        os._exit(0)


def _end_group(group: int) -> None:
    """Ask all processes in a group to end, and kill the rest after the grace period."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)
        ends = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < ends:
            time.sleep(LOOK_SECONDS)
            # In a container, this may be the first process, which has to reap orphaned processes.
            with suppress(ChildProcessError):
                os.waitpid(-group, os.WNOHANG)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
