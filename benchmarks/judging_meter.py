"""CPU seconds and memory of process trees, read from /proc, and which core runs what."""

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
# What PostgreSQL does for all of its databases; ours alone on a quiet machine.
SHARED = ("checkpointer", "background writer", "walwriter", "autovacuum")


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """What is started inside stays on one core, as with ``taskset``."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Meter:
    """Adds up the processes of some sessions; a process that ended keeps what it had used.

    `sample` must be called often: what a process uses between the last sample and its end is
    seen only if nobody has waited for it yet.
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
        """What was used until now does not count, and neither do earlier peaks."""
        self.sample(with_servers=True)
        self._before, self._server_before = dict(self._cpu), dict(self._server_cpu)
        self._rss = {}

    def sample(self, *, with_servers: bool = False) -> None:
        """Read what every process has used so far."""
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
    """Processor seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def highest_mib(pid: int | str = "self") -> float:
    """Largest resident memory that a process ever had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def has_ended(pid: int) -> bool:
    """Whether a child has ended; unlike ``poll`` it leaves what the child used to be read."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _serves(title: str, database: str) -> bool:
    if title.startswith("postgres:"):
        return f" {database} " in title or any(name in title for name in SHARED)
    return title.startswith("redis-server") or "/redis-server " in title


def _since(now: dict[int, float], before: dict[int, float]) -> float:
    return sum(used - before.get(pid, 0.0) for pid, used in now.items())
