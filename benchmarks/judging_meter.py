"""CPU seconds and memory of process trees, read from /proc, and pinning of processes to cores."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CORES = sorted(os.sched_getaffinity(0))
STUB_CORE, RUNNER_CORE = CORES[0], CORES[-1]
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 2**20
SERVER_SECONDS = 1.0
# Work that PostgreSQL does for all its databases; on an otherwise idle machine, only for ours.
SHARED = ("checkpointer", "background writer", "walwriter", "autovacuum")


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Keep processes that are started in the block on one core, as ``taskset`` does."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Meter:
    """The total use of the processes of some sessions; ended processes keep their last value.

    Call `sample` often: what a process uses between the last sample and its end is included only
    if its parent has not waited for it yet.
    """

    def __init__(self, database: str = "") -> None:
        self.sessions: dict[int, str] = {}
        self._database = database
        self._cpu: dict[int, float] = {}
        self._server_cpu: dict[int, float] = {}
        self._rss: dict[str, float] = {}
        self._before: dict[int, float] = {}
        self._server_before: dict[int, float] = {}
        self._server_at = 0.0

    def watch(self, session: int, role: str) -> None:
        """Count the processes of a session; ``role`` names it for `peak_mib`."""
        self.sessions[session] = role

    def begin(self) -> None:
        """Reset the measurement: earlier use and earlier peaks do not count."""
        self.sample(with_servers=True)
        self._before, self._server_before = dict(self._cpu), dict(self._server_cpu)
        self._rss = {}

    def sample(self, *, with_servers: bool = False) -> None:
        """Read the current use of every process."""
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if role := self.sessions.get(int(fields[3])):
                pid = int(stat.parent.name)
                self._cpu[pid] = (int(fields[11]) + int(fields[12])) / TICKS
                self._rss[role] = max(self._rss.get(role, 0.0), int(fields[21]) * PAGE_MIB)
        if self._database and (
            with_servers or time.monotonic() - self._server_at > SERVER_SECONDS
        ):
            self._sample_servers()

    @property
    def cpu(self) -> float:
        """CPU seconds of the watched sessions since `begin`."""
        return _since(self._cpu, self._before)

    @property
    def started(self) -> float:
        """CPU seconds of the watched sessions before `begin`."""
        return sum(self._before.values())

    @property
    def server_cpu(self) -> float:
        """CPU seconds of PostgreSQL and Redis since `begin`."""
        return _since(self._server_cpu, self._server_before)

    def peak_mib(self, role: str) -> float:
        """Largest resident memory of one process in a role since `begin`."""
        return self._rss.get(role, 0.0)

    def _sample_servers(self) -> None:
        self._server_at = time.monotonic()
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                title = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if _serves(title, self._database):
                    fields = (file.parent / "stat").read_text().rpartition(")")[2].split()
                    used = (int(fields[11]) + int(fields[12])) / TICKS
                    self._server_cpu[int(file.parent.name)] = used
            except OSError:
                continue


def cpu_seconds(pid: int) -> float:
    """Return the processor seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def highest_mib(pid: int | str = "self") -> float:
    """Return the peak resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def has_ended(pid: int) -> bool:
    """Whether a child has ended; unlike ``poll``, this keeps its resource use readable."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _serves(title: str, database: str) -> bool:
    if title.startswith("postgres:"):
        return f" {database} " in title or any(name in title for name in SHARED)
    return title.startswith("redis-server") or "/redis-server " in title


def _since(now: dict[int, float], before: dict[int, float]) -> float:
    return sum(used - before.get(pid, 0.0) for pid, used in now.items())
